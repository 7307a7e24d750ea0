"""What to type for a chosen alignment in the tools of Linux, Windows and FreeBSD.

Positions are given in sectors wherever a tool takes them as they are: `parted -a none` with ``s``
and `sfdisk` with bare sectors round nothing. Options are those of the versions named, whose manual
pages are the sources. Left out: making a new partition table, which empties the drive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ssdlab.align.grid import Grid, boundaries
from ssdlab.align.layout import Array, Layout
from ssdlab.errors import SsdlabError

SYSTEMS = ("linux", "windows", "freebsd")
_LUKS2_HEADER_BYTES = 16 * 2**20
_MD_OFFSET_BYTES = 128 * 2**20
_LVM_EXTENT_BYTES = 4 * 2**20
_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class Lines:
    """What to type into one tool.

    Attributes
    ----------
    tool
        Its name.
    version
        The version whose options these are.
    source
        Where they are documented.
    lines
        To be typed in this order.
    note
        What to know; may be empty.
    """

    tool: str
    version: str
    source: str
    lines: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """A partition to be made, and what comes into it.

    Attributes
    ----------
    start, size
        In bytes; `size` None reaches to the end of the drive.
    grid
        What is to be fitted.
    device
        The drive.
    array
        The striped array that the file system will lie on, if any.
    """

    start: int
    size: int | None
    grid: Grid
    device: str = "/dev/sdX"
    array: Array | None = None

    @property
    def sector_bytes(self) -> int:
        """The drive's logical sector."""
        return self.grid.geometry.sector_bytes

    @property
    def target(self) -> str:
        """The device that everything else goes onto: the array, or the partition."""
        return "/dev/md0" if self.array else device_of(self.device)

    @property
    def inner_step_bytes(self) -> int:
        """What has to be fitted there; on an array its stripe, of which members know nothing."""
        return self.array.stripe if self.array else self.grid.data_step_bytes


def plan(layout: Layout, grid: Grid, device: str) -> Plan:
    """Make a plan of a layout, whose partition has to fit the grid.

    Raises
    ------
    SsdlabError
        There is no partition, or it does not fit.
    """
    partition = layout.partition
    if partition is None:
        raise SsdlabError("no partition among the layers; add --layer partition:start=1MiB")
    if partition.start % grid.step_bytes:
        found = boundaries(partition.start, grid)
        sector = grid.geometry.sector_bytes
        raise SsdlabError(
            f"partition: start {partition.start // sector}s is not a multiple of "
            f"{grid.step_bytes // sector} sectors; the next one is {found.next // sector}s"
        )
    arrays = (each for each in layout.layers if isinstance(each, Array) and each.striped)
    return Plan(partition.start, partition.size, grid, device, next(arrays, None))


def device_of(device: str, number: int = 1) -> str:
    """Name a partition as Linux does.

    Examples
    --------
    >>> device_of("/dev/sda"), device_of("/dev/nvme0n1", 2)
    ('/dev/sda1', '/dev/nvme0n1p2')
    """
    return f"{device}{'p' if device[-1:].isdigit() else ''}{number}"


def commands(wanted: Plan, systems: tuple[str, ...] = SYSTEMS) -> list[Lines]:
    """Say what to type for a plan."""
    found: list[Lines] = []
    if "linux" in systems:
        found.extend(_linux(wanted))
    if "windows" in systems:
        found.append(_diskpart(wanted))
    if "freebsd" in systems:
        found.append(_gpart(wanted))
    return found


def _linux(wanted: Plan) -> Iterator[Lines]:
    yield _parted(wanted)
    yield _sfdisk(wanted)
    if wanted.array is not None:
        yield _mdadm(wanted, wanted.array)
    yield _cryptsetup(wanted)
    yield _lvm(wanted)
    yield from _file_systems(wanted, wanted.array)


def _parted(wanted: Plan) -> Lines:
    first = wanted.start // wanted.sector_bytes
    last = "100%" if wanted.size is None else f"{first + wanted.size // wanted.sector_bytes - 1}s"
    make = f"parted -s -a none {wanted.device} mkpart primary {first}s {last}"
    check = f"parted -s {wanted.device} align-check optimal 1"
    return Lines("parted", "3.5", "parted(8)", (make, check), "on GPT 'primary' is only a name")


def _sfdisk(wanted: Plan) -> Lines:
    first = wanted.start // wanted.sector_bytes
    size = "" if wanted.size is None else f", size={wanted.size // wanted.sector_bytes}"
    line = f"echo 'start={first}{size}' | sfdisk --append {wanted.device}"
    return Lines(
        "sfdisk", "util-linux 2.38.1", "sfdisk(8)", (line,), "bare sectors are not rounded"
    )


def _cryptsetup(wanted: Plan) -> Lines:
    step = wanted.inner_step_bytes
    offset = -(-_LUKS2_HEADER_BYTES // step) * step // 512
    line = f"cryptsetup luksFormat --type luks2 --offset {offset} {wanted.target}"
    note = "--offset counts 512-byte sectors; it stands in for --align-payload, which is deprecated"
    return Lines("cryptsetup", "2.6.1", "cryptsetup-luksFormat(8)", (line,), note)


def _lvm(wanted: Plan) -> Lines:
    alignment = wanted.inner_step_bytes
    # A multiple of it, so that every volume begins on one, and no smaller than LVM's own 4 MiB.
    extent = -(-_LVM_EXTENT_BYTES // alignment) * alignment
    lines = (
        f"pvcreate --dataalignment {alignment // 1024}k {wanted.target}",
        f"vgcreate --physicalextentsize {extent // 1024}k vg0 {wanted.target}",
        f"pvs -o +pe_start {wanted.target}",
    )
    return Lines("pvcreate", "LVM 2.03.16", "pvcreate(8), vgcreate(8)", lines)


def _mdadm(wanted: Plan, array: Array) -> Lines:
    step = wanted.grid.data_step_bytes
    offset = -(-_MD_OFFSET_BYTES // step) * step // 1024
    line = (
        f"mdadm --create /dev/md0 --level={array.level} --raid-devices={array.disks} "
        f"--chunk={array.chunk // 1024} --data-offset={offset}K MEMBER…"
    )
    return Lines("mdadm", "4.2", "mdadm(8)", (line,), "MEMBER: the partition of each drive")


def _file_systems(wanted: Plan, array: Array | None) -> Iterator[Lines]:
    target = wanted.target
    ext4, xfs = f"mkfs.ext4 {target}", f"mkfs.xfs {target}"
    if array is not None:
        stride = array.chunk // _BLOCK_BYTES
        options = f"stride={stride},stripe_width={stride * array.data_disks}"
        ext4 = f"mkfs.ext4 -b {_BLOCK_BYTES} -E {options} {target}"
        xfs = f"mkfs.xfs -d su={array.chunk // 1024}k,sw={array.data_disks} {target}"
    note = "trims the device first" if array is None else ""
    yield Lines("mkfs.ext4", "e2fsprogs 1.47.0", "mke2fs(8)", (ext4,), note)
    yield Lines("mkfs.xfs", "xfsprogs 6.1.0", "mkfs.xfs(8)", (xfs,), note)
    nothing = "has no option for a stripe below it; it begins where its device does"
    yield Lines(
        "mkfs.btrfs", "btrfs-progs 6.2", "mkfs.btrfs(8)", (f"mkfs.btrfs {target}",), nothing
    )


def _diskpart(wanted: Plan) -> Lines:
    start, step = wanted.start // 1024, wanted.grid.data_step_bytes // 1024
    size = "" if wanted.size is None else f" size={wanted.size // 2**20}"
    lines = (
        "select disk N",
        f"create partition primary{size} offset={start} align={step}",
        "format fs=ntfs quick",
    )
    note = (
        "offset and align in KiB, size in whole MiB; Windows begins at 1 MiB by itself since Vista"
    )
    if wanted.start % 1024:
        note = f"diskpart counts in KiB and cannot begin at byte {wanted.start}; {note}"
    return Lines(
        "diskpart",
        "Windows Vista and later",
        "learn.microsoft.com: create partition primary",
        lines,
        note,
    )


def _gpart(wanted: Plan) -> Lines:
    first = wanted.start // wanted.sector_bytes
    size = "" if wanted.size is None else f" -s {wanted.size // wanted.sector_bytes}"
    line = f"gpart add -t freebsd-ufs -b {first}{size} ada0"
    checks = ("newfs -E /dev/ada0p1", "diskinfo -v /dev/ada0p1")
    note = (
        "on MBR -t freebsd, which makes ada0s1 and cuts sizes to whole tracks; -E trims; diskinfo "
        "shows the offset"
    )
    return Lines("gpart", "FreeBSD 13", "gpart(8), newfs(8)", (line, *checks), note)
