"""What could be bought: a drive, the share of it that is left unused, and a layout.

A share u that the host never writes is spare. It makes no difference to the drive whether a
partition leaves it, or whether the drive exports so much less, so it is put as the latter:

    C' = C · (1 − u)        OP' = (1 + OP) · C / C' − 1

with the same blocks. So a drive with unused space is written all over, and the scale model of
steady state (docs/explanation/model.md, section 5) holds for it. Left out: space that was once
written; it has to be trimmed before it is spare.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters, sizes
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError

_GRAIN_BYTES = 2**20
SINGLE = "single"
MOST_UNUSED = 0.8
_LEAST_DRIVES = {0: 2, 1: 2, 5: 3, 6: 4, 10: 4}


@dataclass(frozen=True)
class Sheet:
    """Figures of a drive that closed forms need: bytes, seconds, counts.

    Attributes
    ----------
    capacity_bytes, physical_bytes, flash_bytes
        Exported; all blocks; all blocks but the bad ones.
    over_provisioning, spare_counts, rated_cycles
        As the profile has them.
    dies, row_bytes, unit_bytes, units_a_block
        Of the flash and its map.
    sense_s, program_s, slow_program_s
        The mean of the page kinds; programming at its fastest, and its slowest, where there is an
        SLC cache.
    least_read_s
        Of a page of the fastest kind, with the command's fixed latency.
    read_command_s, write_command_s
        The controller's time.
    link_bytes_per_s
        Of one direction.
    queue_depth
        Requests that it takes at a time.
    compresses
        Whether less may be programmed than was written.
    trims
        Whether it has TRIM.
    collects_idle
        Whether it collects, or empties an SLC cache, when it is idle.
    """

    capacity_bytes: int
    physical_bytes: int
    flash_bytes: float
    over_provisioning: float
    spare_counts: str
    rated_cycles: float
    dies: int
    row_bytes: int
    unit_bytes: int
    units_a_block: int
    sense_s: float
    program_s: float
    slow_program_s: float
    least_read_s: float
    read_command_s: float
    write_command_s: float
    link_bytes_per_s: float
    queue_depth: int
    compresses: bool
    trims: bool
    collects_idle: bool


@cache
def sheet(drive: str) -> Sheet:
    """Read the sheet of a profile.

    Raises
    ------
    SsdlabError
        There is no such drive, it has no flash, or it is a drive file.
    """
    shown = engine.show(drive)
    values = parameters(shown)
    if "nand.cell" not in values or shown.get("layers"):
        raise SsdlabError(f"{drive}: is no single SSD\ngive a profile that ssdlab drives lists")
    if shown.get("drive_file"):
        raise SsdlabError(f"{drive}: a drive file has its condition already\ngive its profile")
    return _sheet(shown, values)


def _sheet(shown: dict[str, Any], values: dict[str, Any]) -> Sheet:
    flash, wear = sizes(shown).flash, shown["wear"]
    programs = [values["nand.program_us"]]
    if values["ftl.slc_cache"] != "none":
        programs.append(values["nand.slc_program_us"])
    reads = _numbers(values["nand.read_us"])
    if values["ftl.slc_cache"] != "none":
        reads += _numbers(values["nand.slc_read_us"])
    return Sheet(
        capacity_bytes=sizes(shown).capacity_bytes,
        physical_bytes=flash.physical_bytes,
        flash_bytes=float(wear["flash_bytes"]),
        over_provisioning=_number(values["over_provisioning"]),
        spare_counts=str(values["ftl.spare_counts"]),
        rated_cycles=float(wear["rated_cycles"]),
        dies=round(_number(values["nand.channels"]) * _number(values["nand.dies_per_channel"])),
        row_bytes=flash.row_bytes,
        unit_bytes=flash.mapping_unit_bytes,
        units_a_block=max(1, flash.block_bytes // flash.mapping_unit_bytes),
        sense_s=min(_mean(values["nand.read_us"]), min(reads) if len(programs) > 1 else math.inf)
        / 1e6,
        program_s=min(_mean(each) for each in programs) / 1e6,
        slow_program_s=max(_mean(each) for each in programs) / 1e6,
        least_read_s=(min(reads) + _number(values["controller.read_latency_us"])) / 1e6,
        read_command_s=_number(values["controller.read_command_us"]) / 1e6,
        write_command_s=_number(values["controller.write_command_us"]) / 1e6,
        link_bytes_per_s=_number(values["link.mb_per_s"]) * 1e6,
        queue_depth=round(_number(values["link.queue_depth"])),
        compresses=str(values["controller.compression"]).lower() == "true",
        trims=str(values["ftl.trim"]).lower() == "true",
        collects_idle=str(values["ftl.idle_gc_after_ms"]) != "none",
    )


def _numbers(value: Any) -> list[float]:
    if isinstance(value, list):
        return [float(each) for each in value]
    return [float(str(value).split()[0])]


def _number(value: Any) -> float:
    return _numbers(value)[0]


def _mean(value: Any) -> float:
    numbers = _numbers(value)
    return sum(numbers) / len(numbers)


@dataclass(frozen=True)
class ArrayLayout:
    """One drive, or an array of equal drives.

    Attributes
    ----------
    layer
        As ``ssdlab run --layer`` takes it; empty for one drive.
    level, drives
        Of the array; level 0 of one drive is the drive.
    """

    layer: str
    level: int
    drives: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"RAID {self.level} of {self.drives}" if self.layer else SINGLE

    @property
    def layers(self) -> tuple[str, ...]:
        """What lies over the drives, as a request has it."""
        return (self.layer,) if self.layer else ()

    @property
    def data_drives(self) -> float:
        """Drives' worth of data that it holds."""
        held = {0: self.drives, 1: 1, 5: self.drives - 1, 6: self.drives - 2, 10: self.drives / 2}
        return float(held[self.level])

    @property
    def least_copies(self) -> float:
        """Bytes written to drives for each byte of the host, at least: whole stripes."""
        return self.drives / self.data_drives

    def smaller(self) -> ArrayLayout | None:
        """Return the same with a drive less (RAID 10: a pair); None where there is none."""
        fewer = self.drives - (2 if self.level == 10 else 1)
        if not self.layer or fewer < _LEAST_DRIVES[self.level]:
            return None
        return layout(self.layer.replace(f"disks={self.drives}", f"disks={fewer}"))


def layout(layer: str) -> ArrayLayout:
    """Read a layout: ``single``, or a RAID layer such as ``raid:level=5,disks=4``.

    Raises
    ------
    SsdlabError
        It is neither.
    """
    if layer == SINGLE:
        return ArrayLayout("", 0, 1)
    pairs = dict(part.partition("=")[::2] for part in layer.partition(":")[2].split(","))
    level, drives = (_count(pairs.get(name, "")) for name in ("level", "disks"))
    if not layer.startswith("raid:") or drives < _LEAST_DRIVES.get(level, drives + 1):
        raise SsdlabError(
            f"--layout {layer}: expected {SINGLE}, or a RAID with its level and disks\n"
            "such as raid:level=5,disks=4; ssdlab layers lists what else a RAID takes"
        )
    return ArrayLayout(layer, level, drives)


def _count(text: str) -> int:
    """Return a whole number of a few digits; −1 for anything else."""
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text) else -1


@dataclass(frozen=True)
class Candidate:
    """A drive, what is left unused of it, and a layout."""

    drive: str
    unused: float
    layout: ArrayLayout

    @property
    def exported_bytes(self) -> int:
        """What one drive exports without the unused part."""
        whole = sheet(self.drive).capacity_bytes
        if self.unused == 0:
            return whole
        return int(whole * (1 - self.unused)) // _GRAIN_BYTES * _GRAIN_BYTES

    @property
    def host_bytes(self) -> float:
        """What the host can keep on it."""
        return self.exported_bytes * self.layout.data_drives

    @property
    def bought_bytes(self) -> float:
        """What its drives export as they are sold."""
        return float(sheet(self.drive).capacity_bytes * self.layout.drives)

    @property
    def over_provisioning(self) -> float:
        """OP' of the drive without the unused part."""
        return self._effective(sheet(self.drive).over_provisioning)

    def settings(self, drawn: Settings = ()) -> Settings:
        """Return what differs from the profile.

        Parameters
        ----------
        drawn
            What a draw of the drive sets; its own spare keeps the share that is left unused.
        """
        if self.unused == 0:
            return drawn
        values = dict(drawn)
        own = float(values.get("over_provisioning", sheet(self.drive).over_provisioning))
        values["capacity_bytes"] = str(self.exported_bytes)
        values["over_provisioning"] = f"{self._effective(own):.6f}"
        # All its flash is there: its spare is stated, and does not follow from the capacity.
        values.setdefault("ftl.spare_counts", sheet(self.drive).spare_counts)
        return tuple(values.items())

    def _effective(self, own: float) -> float:
        return (1 + own) * sheet(self.drive).capacity_bytes / self.exported_bytes - 1

    @property
    def label(self) -> str:
        """What progress calls it."""
        return f"{self.drive}, {text.percent(self.unused, 0)} unused, {self.layout.name}"
