"""A profile from MQSim's configuration, and what cannot be carried over.

    dies a channel   = chips a channel · dies a chip
    exported         = physical · (1 − Overprovisioning_Ratio), in whole mapping units
    RGA              = d-choices of d = ⌊log₂(blocks of a plane)⌋, the set that MQSim draws
    watermark        = GC_Exec_Threshold · blocks of a plane, at least one block

MQSim maps pages, and a smaller write reads the rest of its page first, so the mapping unit is a
page. It acknowledges what lies in its cache and loses no power, so the buffer counts as protected.
Left out, and named: everything that this model has no counterpart of.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ssdlab.study.mqsim.elements import Elements

GivenParameter = tuple[str, Any, str]
"""Key, value, and the elements that it came from."""

_KINDS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
_POLICIES = {"GREEDY": "greedy", "FIFO": "fifo", "RANDOM": "random", "RGA": None}
_MOST_SATA_DEPTH = 32
_SUSPENDS = ("NONE", "PROGRAM", "ERASE", "PROGRAM_ERASE")
_OF_A_RUN = ("Enabled_Preconditioning", "Seed")
"""Which a drive has not."""


def profile_of(path: Path, root: ElementTree.Element) -> tuple[str, list[str]]:
    """Return a profile in TOML, and the elements that are not in it.

    Parameters
    ----------
    path
        Of the configuration.
    root
        What is in it.

    Raises
    ------
    SsdlabError
        It lacks an element, or describes a drive that this model does not have.
    """
    leaves = [each for each in root.iter() if len(each) == 0]
    given = Elements(str(path), leaves)
    given.word("Memory_Type", ("FLASH",))
    parts = (_sizes, _flash, _wear, _translation, _controller, _link, _buffer)
    numbers = [number for part in parts for number in part(given)]
    given.pass_over(*_OF_A_RUN)
    return _text(path, numbers), given.unasked()


def _sizes(given: Elements) -> Iterator[GivenParameter]:
    share = given.number("Overprovisioning_Ratio")
    if share >= 1:
        raise given.refused(f"Overprovisioning_Ratio: {share:g}: must be below 1")
    page, physical = given.count("Page_Capacity"), _physical_bytes(given)
    exported = int(physical * (1 - share)) // page * page
    yield "capacity_bytes", exported, "the geometry, less Overprovisioning_Ratio"
    yield "sector_bytes", 512, "MQSim counts sectors of 512 B"


def _physical_bytes(given: Elements) -> int:
    names = ("Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip", "Plane_No_Per_Die")
    blocks = math.prod(map(given.count, (*names, "Block_No_Per_Plane")))
    return blocks * given.count("Page_No_Per_Block") * given.count("Page_Capacity")


def _flash(given: Elements) -> Iterator[GivenParameter]:
    cell = given.word("Flash_Technology", tuple(_KINDS))
    chips, dies = given.count("Chip_No_Per_Channel"), given.count("Die_No_Per_Chip")
    yield "nand.cell", cell.lower(), "Flash_Technology"
    yield "nand.channels", given.count("Flash_Channel_Count"), "Flash_Channel_Count"
    yield "nand.dies_per_channel", chips * dies, "Chip_No_Per_Channel · Die_No_Per_Chip"
    for key, name in (
        ("planes", "Plane_No_Per_Die"),
        ("blocks_per_plane", "Block_No_Per_Plane"),
        ("pages_per_block", "Page_No_Per_Block"),
        ("page_bytes", "Page_Capacity"),
        ("spare_bytes", "Page_Metadat_Capacity"),
    ):
        yield f"nand.{key}", given.count(name), name
    for key, name in (("read_us", "Page_Read_Latency"), ("program_us", "Page_Program_Latency")):
        times = {kind: given.number(f"{name}_{kind}") / 1e3 for kind in _KINDS["TLC"]}
        taken = [times[kind] for kind in _KINDS[cell]]
        yield f"nand.{key}", taken if len(set(taken)) > 1 else taken[0], name
    yield "nand.erase_us", given.number("Block_Erase_Latency") / 1e3, "Block_Erase_Latency"
    yield "nand.erase_growth", 0, "MQSim's erases do not grow slower"
    width = given.count("Flash_Channel_Width")
    rate = given.number("Channel_Transfer_Rate") * width
    yield "nand.channel_mb_per_s", rate, "Channel_Transfer_Rate · Flash_Channel_Width"
    yield "nand.copyback", given.is_true("Use_Copyback_for_GC"), "Use_Copyback_for_GC"
    yield from _suspension(given)


def _wear(given: Elements) -> Iterator[GivenParameter]:
    yield "reliability.rated_cycles", given.count("Block_PE_Cycles_Limit"), "Block_PE_Cycles_Limit"
    yield "reliability.factory_bad_share", 0, "MQSim has no bad blocks"


def _suspension(given: Elements) -> Iterator[GivenParameter]:
    """Suspend both or none: a drive that suspends erases alone is not in this model."""
    if given.word("CMD_Suspension_Support", _SUSPENDS) == "PROGRAM_ERASE":
        yield "nand.suspend", True, "CMD_Suspension_Support"
        yield "nand.suspend_us", given.number("Suspend_Program_Time") / 1e3, "Suspend_Program_Time"


def _translation(given: Elements) -> Iterator[GivenParameter]:
    given.word("Address_Mapping", ("PAGE_LEVEL",))
    yield "ftl.mapping_unit_bytes", given.count("Page_Capacity"), "Page_Capacity: a map of pages"
    if not given.is_true("Ideal_Mapping_Table"):
        yield "ftl.mapping_cache_bytes", given.count("CMT_Capacity"), "CMT_Capacity"
    blocks = given.count("Block_No_Per_Plane")
    policy = given.word("GC_Block_Selection_Policy", tuple(_POLICIES))
    choices = max(int(math.log2(blocks)), 1)
    yield "ftl.gc", _POLICIES[policy] or f"d-choices:{choices}", "GC_Block_Selection_Policy"
    yield "ftl.frontiers", "host-gc", "MQSim writes moved pages into blocks of their own"
    low = max(round(given.number("GC_Exec_Threshold") * blocks), 1)
    yield "ftl.gc_low_blocks", low, "GC_Exec_Threshold"
    yield "ftl.gc_high_blocks", low + 1, "MQSim collects one block at a time"
    is_dynamic = given.is_true("Dynamic_Wearleveling_Enabled")
    yield "ftl.dynamic_wear_leveling", is_dynamic, "Dynamic_Wearleveling_Enabled"
    if given.is_true("Static_Wearleveling_Enabled"):
        limit = given.count("Static_Wearleveling_Threshold")
        yield "ftl.static_wear_cycles", limit, "Static_Wearleveling_Threshold"


def _controller(given: Elements) -> Iterator[GivenParameter]:
    for key in ("read_command_us", "write_command_us"):
        yield f"controller.{key}", 0, "MQSim's controller takes no time for a command"
    if not _is_nvme(given):
        delay = given.number("SATA_Processing_Delay") / 1e3
        for key in ("read_latency_us", "write_latency_us"):
            yield f"controller.{key}", delay, "SATA_Processing_Delay"


def _link(given: Elements) -> Iterator[GivenParameter]:
    depth = given.count("IO_Queue_Depth")
    if _is_nvme(given):
        rate = given.number("PCIe_Lane_Bandwidth") * 1000 * given.count("PCIe_Lane_Count")
        yield "link.protocol", "nvme", "HostInterface_Type"
        yield "link.mb_per_s", rate, "PCIe_Lane_Bandwidth · PCIe_Lane_Count"
    else:
        depth = min(depth, _MOST_SATA_DEPTH)
        yield "link.protocol", "sata-ncq", "HostInterface_Type"
        yield "link.mb_per_s", 600, "MQSim's SATA has no rate of its own: SATA 6 Gbit/s"
    yield "link.queue_depth", depth, "IO_Queue_Depth"


def _is_nvme(given: Elements) -> bool:
    return given.word("HostInterface_Type", ("NVME", "SATA")) == "NVME"


def _buffer(given: Elements) -> Iterator[GivenParameter]:
    kind = given.word("Caching_Mechanism", ("SIMPLE", "ADVANCED", "TURNED_OFF"))
    size = given.count("Data_Cache_Capacity")
    size = 0 if kind == "TURNED_OFF" else size
    yield "buffer.bytes", size, "Caching_Mechanism, Data_Cache_Capacity"
    yield "buffer.power_loss_protected", True, "MQSim acknowledges cached writes, loses no power"


def _text(path: Path, numbers: list[GivenParameter]) -> str:
    title = f"MQSim, {path.name}"
    lines = [
        f"title = {_toml(title)}",
        f"summary = {_toml(f'imported from the configuration {path.name} of MQSim')}",
    ]
    section = None
    for key, value, source in numbers:
        first, _, name = key.rpartition(".")
        if first != section:
            lines += ["", f"[{first}]"] if first else [""]
            section = first
        said = _toml(f"{path.name} of MQSim: {source}")
        lines.append(f'{name} = {{ value = {_toml(value)}, kind = "assumed", source = {said} }}')
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Write a value as TOML has it, which JSON does too for what is written here."""
    return json.dumps(value, ensure_ascii=False)
