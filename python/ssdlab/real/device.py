"""A block device, what it stands on, and what it is used for."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

SECTOR_BYTES = 512
PARITY = frozenset({"raid4", "raid5", "raid6"})
REDUNDANT = PARITY | {"raid1", "raid10"}
DISCARD_ROLES = frozenset({"data", "path", "file"})
"""Roles of what discards have to arrive at."""
_VIRTUAL = re.compile(
    r"QEMU|VMware|VBOX|Virtual[ _]?Disk|Msft|^Xen|PersistentDisk|Amazon (Elastic|EC2)|"
    r"VDISK|BlockVolume|Red Hat|Bhyve|Parallels|Linode",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Below:
    """A device that another stands on.

    Attributes
    ----------
    device
        Its kernel name.
    offset_bytes
        Where the upper one's data begins on it; None where that could not be seen.
    role
        What it is for: ``data``; ``path`` (one of several ways to the same drive); ``file`` (a
        file system with the file that the upper one is); ``zeroes`` (a device below a loop device,
        which turns discards into writes of zeroes); ``metadata``, ``cache``, ``spare``.
    """

    device: str
    offset_bytes: int | None
    role: str = "data"


@dataclass
class Device:
    """A block device.

    Attributes
    ----------
    name
        The kernel's: ``sda``, ``sda1``, ``dm-0``, ``md0``; ``btrfs-`` and a number for the devices
        of one btrfs together.
    kind
        ``drive``, ``partition``, ``md``, ``loop``, ``bcache``, ``btrfs``, or the device-mapper
        target: ``crypt``, ``lvm`` (a linear or striped volume), ``raid`` (LVM's), ``mirror``,
        ``cache``, ``writecache``, ``thin``, ``thin-pool``, ``integrity``, ``verity``,
        ``multipath``, ``linear`` (no volume of LVM's), ``mapped`` (any other, or not seen).
    label
        What people call it, such as ``/dev/mapper/home``.
    size_bytes
        Its size.
    below
        What it stands on.
    queue
        Attributes of its queue; a partition has those of its drive.
    details
        What else was read, by name.
    """

    name: str
    kind: str
    label: str
    size_bytes: int
    below: list[Below] = field(default_factory=list)
    queue: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The label as it is typed into a shell."""
        return shlex.quote(self.label)

    @property
    def mapped_name(self) -> str:
        """Device-mapper's name, or the kernel's."""
        return self.details.get("name", self.name)

    @property
    def is_volume(self) -> bool:
        """Whether LVM made it."""
        return self.details.get("uuid", "").startswith("LVM-")

    @property
    def is_virtual(self) -> bool:
        """Whether it is a virtual machine's drive, which does not say what is below it."""
        if self.kind != "drive":
            return False
        told = f"{self.details.get('vendor', '')} {self.details.get('model', '')}".strip()
        return bool(re.match(r"vd[a-z]|xvd[a-z]", self.name) or _VIRTUAL.search(told))

    def number(self, attribute: str) -> int | None:
        """Give a number from its queue."""
        return whole(self.queue.get(attribute))

    def has(self, *options: str) -> bool:
        """Whether one of these words is among the options of its device-mapper table."""
        return bool(set(options) & set(self.details.get("options", "").split()))


@dataclass(frozen=True)
class Use:
    """What a device is used for.

    Attributes
    ----------
    device
        Its kernel name.
    place
        Where it is mounted, or ``[swap]``.
    kind
        The file system, or ``swap``.
    options
        How it is mounted.
    """

    device: str
    place: str
    kind: str
    options: frozenset[str] = frozenset()

    @property
    def word(self) -> str:
        """The place as it is typed into a shell."""
        return shlex.quote(self.place)


@dataclass(frozen=True)
class Mount:
    """A mounted file system, on a block device or not.

    Attributes
    ----------
    place
        Where.
    kind
        The file system.
    device
        The kernel name of its device; empty where it has none that is known.
    """

    place: str
    kind: str
    device: str


def whole(text: str | None) -> int | None:
    """Read a whole number; None for anything else."""
    if text is None or not re.fullmatch(r"-?\d{1,20}", text):
        return None
    return int(text)
