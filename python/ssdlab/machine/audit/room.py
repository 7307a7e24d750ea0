"""How much room a drive has to collect garbage in, beside what its maker kept back.

Room is what no partition covers, what no volume of LVM's has, and free space of file systems whose
TRIM reaches the drive. What was never partitioned or allocated is assumed to be clean. Free space
that the drive never hears of is none; nor is swap, nor an SSD that serves as a cache. Layers that
take a whole device (encryption, arrays) hand on the share of room that is above them. What a hot
spare holds, nobody tells.

How full an area is that nothing is mounted from, cannot be seen; such areas below a hundredth of
the drive (boot loaders) are taken for full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ssdlab.ground.unread import Unread
from ssdlab.machine.audit.checks.discard import passes_discards
from ssdlab.machine.audit.finding import Machine
from ssdlab.real.device import DISCARD_ROLES, Device, Use, whole
from ssdlab.real.volumes import group_and_volume

WANTED = 1 / 9
"""A tenth of the drive, as a share of the rest."""
_SMALL = 0.01
_FREE = ("stat", "-f", "-c", "%S %b %f")
"""Block size, blocks and free blocks of a file system, as statfs(2) tells them; coreutils."""
_EXTENTS = tuple(
    "pvs --readonly --segments --noheadings --units b --nosuffix --separator | "
    "-o pv_name,vg_name,lv_name,pvseg_size,vg_extent_size".split()
)
_MOST_DEPTH = 32
_MOST_SHARE = 100
"""Of an empty drive the rest is nothing; it is told as a hundred times."""


@dataclass(frozen=True)
class Room:
    """What of a device can serve as spare area, in bytes.

    Attributes
    ----------
    unpartitioned, unallocated, free
        Without a partition; in a volume group or thin pool, without a volume; free in file systems.
    places
        The file systems that ``free`` is of.
    unseen
        Why some of it could not be looked at; that is counted as none.
    """

    unpartitioned: float = 0.0
    unallocated: float = 0.0
    free: float = 0.0
    places: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def bytes(self) -> float:
        """All of it."""
        return self.unpartitioned + self.unallocated + self.free

    def __add__(self, other: Room) -> Room:
        """Add what is beside it."""
        return Room(
            self.unpartitioned + other.unpartitioned,
            self.unallocated + other.unallocated,
            self.free + other.free,
            self.places + other.places,
            self.unseen + other.unseen,
        )

    def scaled(self, factor: float) -> Room:
        """Give the share of it that lies on one of the devices below."""
        return Room(
            self.unpartitioned * factor,
            self.unallocated * factor,
            self.free * factor,
            self.places,
            self.unseen,
        )

    def share(self, size_bytes: int) -> float:
        """Give it as a share of the rest of a device, which is in use."""
        return self.bytes / max(size_bytes - self.bytes, size_bytes / _MOST_SHARE)

    def __str__(self) -> str:
        """List its parts."""
        parts = {
            "unpartitioned": self.unpartitioned,
            "unallocated": self.unallocated,
            f"free in {', '.join(dict.fromkeys(self.places))}": self.free,
        }
        told = [f"{size / 2**30:.1f} GiB {name}" for name, size in parts.items() if size]
        return ", ".join(told) or "none"


def room_of(machine: Machine, drive: Device, is_trimmed: Callable[[Use], bool]) -> Room:
    """Look how much room a drive has.

    Parameters
    ----------
    machine
        The machine.
    drive
        The drive.
    is_trimmed
        Whether what a use deletes is trimmed, down to this drive.
    """
    return _Walk(machine, drive, is_trimmed).of(drive, 0)


@dataclass
class _Walk:
    """Goes from a drive up to what is mounted."""

    machine: Machine
    drive: Device
    is_trimmed: Callable[[Use], bool]

    def of(self, device: Device, depth: int) -> Room:
        """Give the room on a device."""
        topology = self.machine.topology
        uses = [use for use in topology.users(device.name) if use.device == device.name]
        if uses:
            return self._mounted(device, uses)
        above = topology.directly_above(device.name)
        if depth > _MOST_DEPTH:
            return Room()
        if device.kind == "thin-pool":
            return self._pool(device)
        if any(upper.kind == "partition" for upper in above):
            return self._partitioned(device, above, depth)
        if not above:
            return self._idle(device)
        spare_of = [upper.label for upper in above if _role(upper, device) == "spare"]
        if spare_of:
            because = f"{device.label} is a spare of {spare_of[0]}, and may be full or empty"
            return Room(unseen=(because,))
        above = [upper for upper in above if _role(upper, device) in DISCARD_ROLES]
        if any(upper.is_volume for upper in above) and not device.is_volume:
            return self._group(device, above, depth)
        return self._covered(device, above, depth)

    def _mounted(self, device: Device, uses: list[Use]) -> Room:
        use = uses[-1]
        if use.kind == "swap" or not any(map(self.is_trimmed, uses)):
            return Room()
        seen = [each for each in uses if not self.machine.topology.is_hidden(each)]
        if not seen:
            return Room(unseen=(f"another file system is mounted over {use.place}",))
        place = seen[-1].place
        told = self.machine.system.run(*_FREE, place) or ""
        numbers = told.split()
        if len(numbers) > 3:
            strange = Unread(f"stat -f {place}", told, "three numbers were expected")
            if strange not in self.machine.topology.unread:
                self.machine.topology.unread.append(strange)
            return Room(unseen=(f"stat -f does not show how full {place} is",))
        size, blocks, free = (whole(each) or 0 for each in (*numbers, "", "", "")[:3])
        if size <= 0 or not 0 <= free <= blocks or not blocks:
            return Room(unseen=(f"stat -f does not show how full {place} is",))
        # btrfs counts several devices and copies its own way: only the share is comparable.
        spread = device.kind == "btrfs"
        room = free / blocks * device.size_bytes if spread else float(free * size)
        return Room(free=min(room, device.size_bytes), places=(place,))

    def _partitioned(self, device: Device, above: list[Device], depth: int) -> Room:
        parts = [upper for upper in above if upper.kind == "partition"]
        left = max(0, device.size_bytes - sum(part.size_bytes for part in parts))
        return sum((self.of(part, depth + 1) for part in parts), Room(unpartitioned=left))

    def _idle(self, device: Device) -> Room:
        if device.size_bytes < _SMALL * self.drive.size_bytes:
            return Room()
        return Room(unseen=(f"{device.label} is not mounted, and may be full or empty",))

    def _covered(self, device: Device, above: list[Device], depth: int) -> Room:
        """Hand on the share of what takes the whole of it, or what each of several has."""
        if len(above) == 1:
            factor = device.size_bytes / max(1, above[0].size_bytes)
            return self.of(above[0], depth + 1).scaled(factor)
        if any(upper.kind in _SPREAD for upper in above):
            because = f"how {device.label} is divided among several arrays is not known here"
            return Room(unseen=(because,))
        return sum((self.of(upper, depth + 1) for upper in above), Room())

    def _pool(self, pool: Device) -> Room:
        """Give what a thin pool never handed out, or got back and passed on."""
        used = re.search(
            rf"^{re.escape(pool.mapped_name)}: \d+ \d+ thin-pool \d+ \d+/\d+ (\d+)/(\d+)",
            self.machine.system.run("dmsetup", "status") or "",
            re.MULTILINE,
        )
        if used is None or not int(used[2]):
            because = f"how full {pool.label} is tells dmsetup status, which only root may ask"
            return Room(unseen=(because,))
        # What was freed counts as never handed out; the drive has to have heard of it.
        if not all(map(passes_discards, self.machine.topology.trimmed_layers(pool.name))):
            return Room()
        left = max(0.0, 1 - int(used[1]) / int(used[2]))
        return Room(unallocated=left * pool.size_bytes)

    def _group(self, device: Device, above: list[Device], depth: int) -> Room:
        """Give what LVM has left of a physical volume, and what its volumes have."""
        extents = list(_extents(self.machine, device))
        if not extents:
            because = f"what {device.label} has unallocated tells pvs, which only root may ask"
            return Room(unseen=(because,))
        uppers = self.machine.topology.directly_above(device.name)
        active = {group_and_volume(upper.mapped_name): upper for upper in uppers}
        total = Room()
        for group, name, size in extents:
            upper = active.get((group, name.strip("[]")))
            if not name:
                total += Room(unallocated=size)
            elif upper in above:
                total += self.of(upper, depth + 1).scaled(size / max(1, upper.size_bytes))
            elif upper is None and size >= _SMALL * self.drive.size_bytes:
                total += Room(unseen=(f"{group}/{name} is not active, and may be full or empty",))
        return total


def _role(upper: Device, lower: Device) -> str:
    """Say what one device is for to another that stands on it."""
    return next((below.role for below in upper.below if below.device == lower.name), "")


_SPREAD = frozenset({"md", "raid", "mirror", "btrfs"})
"""What lays its data over several devices: how much of each, it does not say."""


def _extents(machine: Machine, device: Device) -> Iterator[tuple[str, str, int]]:
    """Give group, volume (empty: none) and bytes of every piece of a physical volume."""
    for line in (machine.system.run(*_EXTENTS) or "").splitlines():
        words = [word.strip() for word in line.split("|")]
        if len(words) != 5:
            continue
        found = machine.topology.named(words[0])
        count, size = whole(words[3]), whole(words[4])
        if found is not None and found.name == device.name and count and size:
            yield words[1], words[2], count * size
