"""A layout: what lies on a drive, layer upon layer, bottom up.

Each layer says where it begins inside the one below. What is left out, because it shifts nothing:
sizes of file systems, numbers of partitions, names of volumes.

Where a header's size follows from how it was made, so does the layer's beginning:

- LUKS1: eight key slots of 4000 stripes of the key, each rounded up to 4 KiB, behind 4 KiB of
  header: 8 + 8 * up(4000 * key_bytes / 512, 8) sectors, rounded up to the payload's alignment
  (2048 sectors since cryptsetup 1.2.0, before that 8). LUKS2: 16 MiB (cryptsetup 2.1 and later).
- LVM: 4 KiB of label and the metadata area, rounded up to the data alignment (1 MiB since LVM
  2.02.73, before that 64 KiB).
- md: the data offset is stored; 128 MiB is what mdadm 3.2.5 and later aim for.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.machine.align.notation import Geometry

STRIPED = ("0", "4", "5", "6", "10")
PARITY_DISKS = {"4": 1, "5": 1, "6": 2}
UNNAMED = "file system"
"""The type of a file system of which only is known that there is one."""
_STRIPES_OF_A_KEY = 4000
_KEY_SLOTS = 8


@dataclass(frozen=True)
class Partition:
    """A partition of what is below: of the drive, or, as a BSD label in a slice, of a partition.

    Attributes
    ----------
    start
        Where it begins, in bytes.
    size
        Its length in bytes; None where it does not matter.
    kind
        ``partition`` or ``label``.
    """

    start: int
    size: int | None = None
    kind: str = "partition"

    @property
    def name(self) -> str:
        """What people call it."""
        return "BSD label" if self.kind == "label" else "partition"


@dataclass(frozen=True)
class Crypt:
    """Encryption: a header, and behind it the payload.

    Attributes
    ----------
    start
        Where the payload begins, in bytes.
    format
        ``luks2``, ``luks1``, ``plain``, ``veracrypt``, ``truecrypt`` or ``bitlocker``.
    """

    start: int
    format: str = "luks2"
    kind = "crypt"

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.format} payload"


@dataclass(frozen=True)
class PhysicalVolume:
    """An LVM physical volume: extents of equal size behind the metadata.

    Attributes
    ----------
    start
        Where the first extent begins (``pe_start``).
    extent
        Size of an extent; a logical volume may begin at any of them.
    metadata_bytes
        What metadatasize asked for, which is in `start` already; 0 where it was not given.
    """

    start: int = 2**20
    extent: int = 4 * 2**20
    metadata_bytes: int = 0
    kind = "lvm"

    @property
    def name(self) -> str:
        """What people call it."""
        return "LVM extents"


@dataclass(frozen=True)
class Array:
    """A RAID, each of whose members looks as the layers below say.

    Attributes
    ----------
    level
        ``0``, ``1``, ``4``, ``5``, ``6``, ``10``.
    disks
        Members that hold data or parity.
    chunk
        What lies together on one member, in bytes.
    start
        Where the data begin on each member (md's data offset).
    """

    level: str
    disks: int
    chunk: int = 512 * 2**10
    start: int = 128 * 2**20
    kind = "raid"

    @property
    def name(self) -> str:
        """What people call it."""
        return f"RAID {self.level} {'chunks' if self.striped else 'data'}"

    @property
    def striped(self) -> bool:
        """Whether neighbouring chunks lie on different members."""
        return self.level in STRIPED

    @property
    def data_disks(self) -> int:
        """Members' worth of data in a stripe."""
        if self.level == "10":
            return self.disks // 2
        return self.disks - PARITY_DISKS.get(self.level, 0)

    @property
    def stripe(self) -> int:
        """Bytes of data in a stripe."""
        return self.chunk * self.data_disks


@dataclass(frozen=True)
class FileSystem:
    """A file system, which begins where its device does.

    Attributes
    ----------
    type
        ``ext4``, ``xfs``, ``btrfs``, ``ntfs``, ``ufs``, …
    stripe_unit, stripe_width
        What it was told of the array, in bytes; None where nothing.
    ashift
        ZFS's smallest record is 2 to this power, in bytes; None where that is not known.
    """

    type: str = UNNAMED
    stripe_unit: int | None = None
    stripe_width: int | None = None
    ashift: int | None = None
    start: int = 0
    kind = "filesystem"

    @property
    def name(self) -> str:
        """What people call it."""
        return self.type

    @property
    def knows_stripe(self) -> bool:
        """Whether it was told of an array."""
        return self.stripe_unit is not None or self.stripe_width is not None


Layer = Partition | Crypt | PhysicalVolume | Array | FileSystem


@dataclass(frozen=True)
class Layout:
    """Layers, bottom up.

    Attributes
    ----------
    layers
        The lowest first.
    geometry
        The drive's sectors, tracks and cylinders.
    drive
        The profile that the layout is for, where it names one.
    """

    layers: tuple[Layer, ...]
    geometry: Geometry = Geometry()
    drive: str | None = None

    @property
    def encryption(self) -> Crypt | None:
        """The lowest encryption, if any."""
        return next((each for each in self.layers if isinstance(each, Crypt)), None)

    @property
    def partition(self) -> Partition | None:
        """The partition of the drive itself, if there is one."""
        found = (each for each in self.layers if isinstance(each, Partition))
        return next(found, None)


def luks1_payload(key_bits: int, align_sectors: int = 2048) -> int:
    """Where cryptsetup puts the payload of LUKS1, in bytes.

    Examples
    --------
    >>> [luks1_payload(bits, 8) // 512 for bits in (128, 256, 512)]
    [1032, 2056, 4040]
    >>> luks1_payload(512, 256) // 2**10
    2048
    """
    slot = _round_up(-(-_STRIPES_OF_A_KEY * (key_bits // 8) // 512), 8)
    return _round_up(8 + _KEY_SLOTS * slot, align_sectors) * 512


def first_extent(metadata_bytes: int, alignment: int) -> int:
    """Where pvcreate puts the first extent, in bytes.

    Examples
    --------
    >>> first_extent(250 * 2**10, 64 * 2**10) // 2**10
    256
    """
    return _round_up(4096 + metadata_bytes, alignment)


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
