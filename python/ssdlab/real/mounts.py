"""What is mounted and used as swap, and what only a mount tells of what is below.

A btrfs of several devices is one device of kind ``btrfs`` here, above all of them: mountinfo names
a single one, ``/sys/fs/btrfs/UUID/devices`` all. A loop device stands on the file system that its
file is on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.ground.unread import Unread
from ssdlab.real import forms
from ssdlab.real.device import Below, Device, Mount, Use
from ssdlab.real.mapper import numbers
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

_Devices = dict[str, Device]
_BTRFS = "/sys/fs/btrfs"
_MOUNTS = "/proc/self/mountinfo"
_UUID = re.compile(r"[\w-]+", re.ASCII)


def read_mounts(
    system: System, devices: _Devices, unread: list[Unread]
) -> tuple[list[Use], list[Mount]]:
    """Read uses and mounts; adds the devices of btrfs, and what loop devices stand on."""
    finder = _Finder(system, devices)
    pools = _btrfs_pools(system, devices, unread)
    mounts, uses = [], []
    for kind, place, number, source, options in _lines(system, unread):
        device = finder.find(number, source)
        name = "" if device is None else pools.get(device.name, device.name)
        if kind != "btrfs" and device is not None:
            name = device.name
        mounts.append(Mount(place, kind, name))
        if name:
            uses.append(Use(name, place, kind, options))
    uses = _one_each([*uses, *_swaps(system, finder)])
    _add_files(Topology(devices, uses, mounts), finder)
    return uses, mounts


def _one_each(uses: list[Use]) -> list[Use]:
    """Leave out what is mounted twice at one place; the last one is what is seen there."""
    last: dict[tuple[str, str], Use] = {}
    for use in uses:
        last.pop((use.device, use.place), None)
        last[use.device, use.place] = use
    return list(last.values())


class _Finder:
    """Finds devices by number and by name."""

    def __init__(self, system: System, devices: _Devices) -> None:
        self._system = system
        self._by_number = numbers(system, devices)
        self._by_label = {f"/dev/{name}": device for name, device in devices.items()}
        self._by_label |= {device.label: device for device in devices.values()}

    def find(self, number: str, label: str) -> Device | None:
        """Find by number, else by name; btrfs has a number of its own."""
        return self._by_number.get(number) or self.named(label)

    def named(self, label: str) -> Device | None:
        """Find by name, through links too."""
        if label in self._by_label or not label.startswith("/dev/"):
            return self._by_label.get(label)
        return self._by_label.get(self._system.real(label) or label)


def _lines(
    system: System, unread: list[Unread]
) -> Iterator[tuple[str, str, str, str, frozenset[str]]]:
    """Give kind, place, number, source and options of every mount."""
    lines = (system.read(_MOUNTS) or "").splitlines()
    for row, line in enumerate(lines, 1):
        front, _, back = line.partition(" - ")
        words, kinds = front.split(), back.split()
        if len(words) < 6 or len(kinds) < 3:
            if line.strip():
                why = "a mount has ten fields at least, a dash between them (proc(5))"
                unread.append(Unread(f"{_MOUNTS}, line {row}", line, why))
            continue
        options = frozenset({*words[5].split(","), *kinds[2].split(",")})
        yield kinds[0], unescape(words[4]), words[2], unescape(kinds[1]), options


def _btrfs_pools(system: System, devices: _Devices, unread: list[Unread]) -> dict[str, str]:
    """Add a device for every btrfs of several; gives the pool's name by its members'."""
    pools: dict[str, str] = {}
    for number, uuid in enumerate(each for each in system.entries(_BTRFS) if _UUID.fullmatch(each)):
        members = [each for each in system.entries(f"{_BTRFS}/{uuid}/devices") if each in devices]
        missing = _missing(system, f"{_BTRFS}/{uuid}/devinfo", unread)
        if len(members) + missing < 2 or not members:
            continue
        pool = Device(
            f"btrfs-{number}",
            "btrfs",
            "btrfs on " + ", ".join(devices[member].label for member in members),
            sum(devices[member].size_bytes for member in members),
            [Below(member, None) for member in members],
        )
        pool.details["degraded"] = str(missing)
        devices[pool.name] = pool
        pools.update((member, pool.name) for member in members)
    return pools


def _missing(system: System, folder: str, unread: list[Unread]) -> int:
    paths = (f"{folder}/{each}/missing" for each in system.entries(folder))
    return sum(forms.read(system, "missing", path, unread) == "1" for path in paths)


def _swaps(system: System, finder: _Finder) -> Iterator[Use]:
    for line in (system.read("/proc/swaps") or "").splitlines():
        words = line.split()
        device = finder.named(unescape(words[0])) if words else None
        if device is not None:
            yield Use(device.name, "[swap]", "swap")


def _add_files(topology: Topology, finder: _Finder) -> None:
    """Put every loop device on what holds its file."""
    for device in topology.devices.values():
        path = device.details.get("backing_file", "")
        if device.kind != "loop" or not path:
            continue
        lower = finder.named(path)
        if lower is not None:
            device.below = [Below(lower.name, None, "zeroes")]
            continue
        mount = topology.mount_of(path.removesuffix(" (deleted)"))
        if mount is not None and mount.device:
            device.below = [Below(mount.device, None, "file")]
            device.details["mount"] = mount.place


def unescape(text: str) -> str:
    """Undo procfs' octal escapes of blanks."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
