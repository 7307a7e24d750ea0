"""Reads what stands on what from sysfs; names of devices are checked before they become paths.

Left out: ZFS (its devices are found only by its own tools) and bcachefs, which the audit says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.ground.unread import Unread
from ssdlab.real import forms
from ssdlab.real.device import SECTOR_BYTES, Below, Device, whole
from ssdlab.real.mapper import read_tables
from ssdlab.real.mounts import read_mounts
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

MOST_DEVICES = 4096
"""How many block devices are looked at."""
_QUEUE = (
    "rotational",
    "discard_max_bytes",
    "discard_granularity",
    "optimal_io_size",
    "minimum_io_size",
    "physical_block_size",
    "logical_block_size",
    "scheduler",
    "write_cache",
    "fua",
    "nr_requests",
    "read_ahead_kb",
)
_MD = (
    "level",
    "chunk_size",
    "mismatch_cnt",
    "sync_action",
    "last_sync_action",
    "degraded",
    "raid_disks",
    "array_state",
    "metadata_version",
)
_NAME = re.compile(r"[A-Za-z0-9][\w!.:-]*", re.ASCII)
_PSEUDO = re.compile(r"(ram|zram|nbd|fd|sr)\d")
_PATH = re.compile(r"nvme(\d+)c\d+n(\d+)")
"""One way to an NVMe namespace that the kernel itself joins; the namespace is nvme0n1."""


def read_topology(system: System) -> Topology:
    """Read what stands on what."""
    devices: dict[str, Device] = {}
    unread: list[Unread] = []
    ways: dict[str, list[str]] = {}
    for name in system.entries("/sys/block")[:MOST_DEVICES]:
        if _PSEUDO.match(name) or not _NAME.fullmatch(name):
            continue
        way = _PATH.fullmatch(name)
        if way:
            ways.setdefault(f"nvme{way[1]}n{way[2]}", []).append(name)
            continue
        for device in _with_partitions(system, name, unread):
            if device.size_bytes > 0 or _is_inactive_array(device):
                devices[device.name] = device
    for name, paths in ways.items():
        if name in devices:
            devices[name].details["paths"] = " ".join(paths)
    unread += read_tables(system, devices)
    uses, mounts = read_mounts(system, devices, unread)
    return Topology(devices, uses, mounts, unread)


def _is_inactive_array(device: Device) -> bool:
    """Whether it is an array that was found and not started; a container of Intel's is none."""
    version = device.details.get("metadata_version", "")
    is_container = version.startswith("external:") and version[9:10] not in ("/", "-")
    return device.kind == "md" and bool(device.below) and not is_container


def _with_partitions(system: System, name: str, unread: list[Unread]) -> Iterator[Device]:
    folder = f"/sys/block/{name}"
    whole_device = _device(system, name, folder, unread)
    yield whole_device
    for entry in system.entries(folder):
        is_part = entry.startswith(name) and _NAME.fullmatch(entry)
        start = forms.read(system, "start", f"{folder}/{entry}/start", unread) if is_part else None
        if start is None:
            continue
        offset = (whole(start) or 0) * SECTOR_BYTES
        partition = Device(
            name=entry,
            kind="partition",
            label=_node(entry),
            size_bytes=_bytes(system, f"{folder}/{entry}", unread),
            below=[Below(name, offset)],
            queue=whole_device.queue,
        )
        for key in ("alignment_offset", "partition"):
            _keep(system, partition.details, key, f"{folder}/{entry}/{key}", unread)
        yield partition


def _node(name: str) -> str:
    """Name the device's file; what sysfs writes as an exclamation mark is a slash."""
    return f"/dev/{name.replace('!', '/')}"


def _bytes(system: System, folder: str, unread: list[Unread]) -> int:
    return (whole(forms.read(system, "size", f"{folder}/size", unread)) or 0) * SECTOR_BYTES


def _device(system: System, name: str, folder: str, unread: list[Unread]) -> Device:
    device = Device(
        name=name,
        kind="drive",
        label=_node(name),
        size_bytes=_bytes(system, folder, unread),
        below=[Below(slave, None) for slave in system.entries(f"{folder}/slaves")],
    )
    for key in _QUEUE:
        _keep(system, device.queue, key, f"{folder}/queue/{key}", unread)
    if name.startswith("dm-"):
        _read_mapped(system, device, folder, unread)
    elif name.startswith("md"):
        _read_md(system, device, folder, unread)
    elif name.startswith("loop"):
        device.kind = "loop"
        _keep(system, device.details, "backing_file", f"{folder}/loop/backing_file", unread)
    elif name.startswith("bcache"):
        _read_bcache(system, device)
    else:
        _read_drive(system, device, folder, unread)
    return device


def _keep(system: System, store: dict[str, str], key: str, path: str, unread: list[Unread]) -> None:
    text = forms.read(system, key, path, unread)
    if text is not None:
        store[key] = text


def _read_drive(system: System, device: Device, folder: str, unread: list[Unread]) -> None:
    for key in ("model", "vendor", "rev", "firmware_rev", "queue_depth", "type"):
        _keep(system, device.details, key, f"{folder}/device/{key}", unread)
    # Its SCSI address, host:channel:target:lun, which leads to the driver of its host.
    addresses = system.entries(f"{folder}/device/scsi_device")
    if addresses and re.fullmatch(r"\d+(:\d+){3}", addresses[0]):
        device.details["address"] = addresses[0]
        host = addresses[0].partition(":")[0]
        _keep(
            system, device.details, "driver", f"/sys/class/scsi_host/host{host}/proc_name", unread
        )


def _read_mapped(system: System, device: Device, folder: str, unread: list[Unread]) -> None:
    """Read what needs no root; what kind it is tells the table, which may be kept from us."""
    _keep(system, device.details, "name", f"{folder}/dm/name", unread)
    _keep(system, device.details, "uuid", f"{folder}/dm/uuid", unread)
    uuid = device.details.get("uuid", "")
    is_crypt = re.match(r"CRYPT-(LUKS\d|PLAIN|TCRYPT|LOOPAES|BITLK|FVAULT2)", uuid)
    device.kind = "crypt" if is_crypt else "lvm" if device.is_volume else "mapped"
    if uuid.startswith("mpath-"):
        device.kind = "multipath"
    if "name" in device.details:
        device.label = f"/dev/mapper/{device.details['name']}"


def _read_md(system: System, device: Device, folder: str, unread: list[Unread]) -> None:
    device.kind = "md"
    for key in _MD:
        _keep(system, device.details, key, f"{folder}/md/{key}", unread)
    below = {each.device: each for each in device.below}
    for entry in system.entries(f"{folder}/md"):
        if entry.startswith("dev-"):
            member = entry.removeprefix("dev-")
            sectors = whole(system.read(f"{folder}/md/{entry}/offset"))
            offset = None if sectors is None else sectors * SECTOR_BYTES
            state = system.read(f"{folder}/md/{entry}/state") or ""
            in_use = not state or "in_sync" in state or "write_mostly" in state
            below[member] = Below(member, offset, "data" if in_use else "spare")
    device.below = list(below.values())


def _read_bcache(system: System, device: Device) -> None:
    device.kind = "bcache"
    for place, below in enumerate(device.below):
        policy = f"/sys/class/block/{below.device}/bcache/cache_replacement_policy"
        if system.read(policy) is not None:
            device.below[place] = Below(below.device, None, "cache")
