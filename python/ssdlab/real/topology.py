"""What stands on what: file systems and swap, and the block devices below them down to the drives.

``reading`` reads it from sysfs and procfs, ``mapper`` adds what device-mapper's tables tell,
``mounts`` what is mounted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.ground.unread import Unread
from ssdlab.real.device import DISCARD_ROLES, Device, Mount, Use
from ssdlab.real.volumes import group_and_volume

_MOST_LAYERS = 32


@dataclass
class Topology:
    """All devices and what they are used for.

    Attributes
    ----------
    devices
        By kernel name.
    uses
        In the order in which they were mounted.
    mounts
        All that is mounted, those without a block device too.
    unread
        What was read of them and is not understood.
    """

    devices: dict[str, Device]
    uses: list[Use]
    mounts: list[Mount] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    _users: dict[str, list[Use]] | None = None
    _above: dict[str, list[Device]] | None = None
    _last: dict[str, int] | None = None

    def layers(
        self, name: str, roles: frozenset[str] | None = None
    ) -> Iterator[tuple[Device, int | None]]:
        """Give a device and everything below it once, top down, with offsets from ``name``.

        The offset is where the top's first byte lies on that layer; None where it is unknown or
        where data is spread, so that it has no one place. With ``roles`` only what is reached
        through these.
        """
        seen: set[str] = set()
        queue: list[tuple[str, int | None, int]] = [(name, 0, 0)]
        while queue:
            current, offset, depth = queue.pop(0)
            device = self.devices.get(current)
            if device is None or current in seen or depth > _MOST_LAYERS:
                continue
            seen.add(current)
            yield device, offset
            for below in device.below:
                if roles is not None and below.role not in roles:
                    continue
                known = offset is not None and below.offset_bytes is not None
                place = (offset or 0) + (below.offset_bytes or 0) if known else None
                queue.append((below.device, place, depth + 1))

    def trimmed_layers(self, name: str) -> list[Device]:
        """Give the layers that discards have to pass or arrive at, top down."""
        return [device for device, _ in self.layers(name, DISCARD_ROLES)]

    def drives(self, name: str) -> list[Device]:
        """Give the drives that a device stands on."""
        return [device for device, _ in self.layers(name) if device.kind == "drive"]

    def path(self, name: str) -> str:
        """Name the layers from a device down to its drives."""
        return " > ".join(device.label for device, _ in self.layers(name))

    def users(self, name: str) -> list[Use]:
        """Give what is stored on a device, however many layers above."""
        if self._users is None:
            self._users = {}
            for use in self.uses:
                for layer, _ in self.layers(use.device):
                    self._users.setdefault(layer.name, []).append(use)
        return self._users.get(name, [])

    def above(self, name: str) -> list[Device]:
        """Give the devices that stand on one, however many layers above, sorted by name."""
        if self._above is None:
            self._above = {}
            for upper in sorted(self.devices):
                for layer, _ in self.layers(upper):
                    if layer.name != upper:
                        self._above.setdefault(layer.name, []).append(self.devices[upper])
        return self._above.get(name, [])

    def directly_above(self, name: str) -> list[Device]:
        """Give the devices that stand on one without another between."""
        return [
            upper
            for upper in self.above(name)
            if any(below.device == name for below in upper.below)
        ]

    def partitions(self, drive: str) -> list[Device]:
        """Give the partitions of a drive, or of an array."""
        return [device for device in self.directly_above(drive) if device.kind == "partition"]

    def is_used(self, name: str) -> bool:
        """Whether anything stands on a device: a file system, swap, or another device."""
        return bool(self.users(name) or self.above(name))

    def mounted_at(self, place: str) -> Use | None:
        """Give what is mounted at a place: of several the last, which hides the others."""
        found = [use for use in self.uses if use.place == (place.rstrip("/") or "/")]
        return found[-1] if found else None

    def mount_of(self, path: str) -> Mount | None:
        """Give the file system that a path is on: the deepest place, and there the last one."""
        found: Mount | None = None
        for mount in self.mounts:
            inside = path == mount.place or path.startswith(mount.place.rstrip("/") + "/")
            if inside and (found is None or len(mount.place) >= len(found.place)):
                found = mount
        return found

    def is_hidden(self, use: Use) -> bool:
        """Whether a later mount lies over a place, or over a folder on the way to it."""
        if self._last is None:
            self._last = {each.place: place for place, each in enumerate(self.mounts)}
        mine = self._last.get(use.place, -1)
        if mine < 0 or self.mounts[mine].device != use.device:
            return True
        parts = use.place.strip("/").split("/")
        parents = {"/" + "/".join(parts[:count]) for count in range(len(parts))} - {use.place}
        return any(self._last.get(parent, -1) > mine for parent in parents)

    def named(self, word: str) -> Device | None:
        """Find a device by what people call it: the kernel's name, device-mapper's or LVM's."""
        short = word.removeprefix("/dev/")
        for device in self.devices.values():
            if word in (device.label, device.name) or short == device.name.replace("!", "/"):
                return device
            if device.is_volume and short == "/".join(group_and_volume(device.mapped_name)):
                return device
        return None
