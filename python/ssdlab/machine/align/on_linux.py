"""What to type on Linux.

`sfdisk` with bare sectors and `parted -a none` with ``s`` round nothing. Every layer is made on
what the one below made: partitions on drives, the array on all partitions, and so on. Left out:
VeraCrypt, TrueCrypt and BitLocker, which are made in their own programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import lcm

from ssdlab.machine.align.layout import (
    UNNAMED,
    Array,
    Crypt,
    FileSystem,
    Layer,
    Partition,
    PhysicalVolume,
)
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.tools import LayoutPlan, Lines, device_of, not_made, pool

_BLOCK_BYTES = 4096
_TRIM = "--allow-discards"
_ANY_DRIVE = "/dev/sdX"
_MEMBERS = "MEMBER…"
_EXTENT_GRAIN_BYTES = 128 * 2**10
"""An extent is a power of two or a multiple of this (vgcreate(8))."""


class _Chain:
    """The devices that the lines so far have made, and the names that are taken."""

    def __init__(self, wanted: LayoutPlan) -> None:
        self.wanted = wanted
        self.devices = wanted.devices or (_ANY_DRIVE,)
        self.on_drives = True
        self._counts: dict[str, int] = {}

    def number(self, kind: str) -> int:
        """Count names of one kind from 0."""
        self._counts[kind] = self._counts.get(kind, -1) + 1
        return self._counts[kind]

    def made(self, *devices: str) -> None:
        """Go up to what was made."""
        self.devices, self.on_drives = devices, False


def lines(wanted: LayoutPlan) -> Iterator[Lines]:
    """Give the lines for every layer, bottom up.

    Raises
    ------
    NotMade
        Linux has no command for a layer.
    """
    chain = _Chain(wanted)
    for layer in wanted.layers:
        yield from _layer(chain, layer)


def _layer(chain: _Chain, layer: Layer) -> Iterator[Lines]:
    if isinstance(layer, Partition):
        yield from _partition(chain, layer)
    elif isinstance(layer, Array):
        yield _array(chain, layer)
    elif isinstance(layer, Crypt):
        yield _crypt(chain, layer)
    elif isinstance(layer, PhysicalVolume):
        yield _volume(chain, layer)
    else:
        yield from _file_systems(chain, layer)


def _partition(chain: _Chain, layer: Partition) -> Iterator[Lines]:
    wanted = chain.wanted
    if layer.kind == "label" or wanted.is_slice(layer):
        raise not_made("linux", layer, "BSD labels are made on FreeBSD: --system freebsd")
    if wanted.new or not chain.on_drives:
        made = tuple(f"echo 'label: gpt' | sfdisk {device}" for device in chain.devices)
        note = "this makes a new partition table: what the drive holds is lost"
        yield Lines("sfdisk", "util-linux 2.38.1", "sfdisk(8)", made, note)
    first, sector = layer.start // wanted.sector_bytes, wanted.sector_bytes
    size = "" if layer.size is None else f", size={layer.size // sector}"
    typed = tuple(
        f"echo 'start={first}{size}' | sfdisk --append {device}" for device in chain.devices
    )
    note = "bare sectors are not rounded"
    if not wanted.new and chain.on_drives:
        note += (
            "; a drive without a partition table gets one by --new; on a drive that already has "
            "partitions, put the new one's number in place of the 1 in all that follows"
        )
    if wanted.array and not wanted.devices and chain.on_drives:
        note += "; do this on every drive of the array"
    yield Lines("sfdisk", "util-linux 2.38.1", "sfdisk(8)", typed, note)
    if wanted.all_tools:
        yield _parted(chain, layer)
    chain.made(*(device_of(device) for device in chain.devices))


def _parted(chain: _Chain, layer: Partition) -> Lines:
    sector = chain.wanted.sector_bytes
    first = layer.start // sector
    last = "100%" if layer.size is None else f"{first + layer.size // sector - 1}s"
    typed = []
    for device in chain.devices:
        typed.append(f"parted -s -a none {device} mkpart primary {first}s {last}")
        typed.append(f"parted -s {device} align-check optimal 1")
    note = "in place of sfdisk; on GPT 'primary' is only a name"
    return Lines("parted", "3.5", "parted(8)", tuple(typed), note)


def _array(chain: _Chain, layer: Array) -> Lines:
    step = chain.wanted.grid.data_step_bytes
    offset = -(-layer.start // step) * step // 1024
    chunk = f" --chunk={layer.chunk // 1024}" if layer.striped else ""
    members = " ".join(chain.devices) if chain.wanted.devices else _MEMBERS
    name = f"/dev/md{chain.number('md')}"
    line = (
        f"mdadm --create {name} --metadata=1.2 --level={layer.level} "
        f"--raid-devices={layer.disks}{chunk} --data-offset={offset}K {members}"
    )
    notes = _changed("the array's data offset", layer.start, offset * 1024)
    if not chain.wanted.devices:
        notes.append(f"{_MEMBERS}: what was made on each drive; --device names them")
    chain.made(name)
    return Lines("mdadm", "4.2", "mdadm(8)", (line,), "; ".join(notes))


def _crypt(chain: _Chain, layer: Crypt) -> Lines:
    if layer.format not in ("luks1", "luks2", "plain"):
        raise not_made("linux", layer, "it is made in its own program; luks2 is Linux's own")
    typed, made = [], []
    for device in chain.devices:
        name = f"crypt{chain.number('crypt')}"
        step = lcm(chain.wanted.step_above(layer), _BLOCK_BYTES)
        offset = -(-layer.start // step) * step // 512
        if layer.format == "plain":
            how = "--cipher aes-xts-plain64 --key-size 512 --hash sha256"
            how += f" --offset {offset}" if offset else ""
            typed.append(f"cryptsetup open {_TRIM} --type plain {how} {device} {name}")
        else:
            kind = f"--type {layer.format} --offset {offset}"
            typed += [
                f"cryptsetup luksFormat {kind} {device}",
                f"cryptsetup open {_TRIM} {device} {name}",
            ]
        made.append(f"/dev/mapper/{name}")
    chain.made(*made)
    note = "--offset counts 512-byte sectors; " if "--offset" in typed[0] else ""
    note += "".join(f"{each}; " for each in _changed("the payload", layer.start, offset * 512))
    note += "--allow-discards lets TRIM through, but shows which blocks are free"
    source = "cryptsetup-luksFormat(8), cryptsetup-open(8)"
    return Lines("cryptsetup", "2.6.1", source, tuple(typed), note)


def _volume(chain: _Chain, layer: PhysicalVolume) -> Lines:
    alignment = chain.wanted.step_above(layer)
    start = max(-(-layer.start // alignment), 1) * alignment
    # A multiple of it, so that every volume begins on one, and one that vgcreate takes.
    grain = lcm(alignment, _EXTENT_GRAIN_BYTES)
    extent = -(-layer.extent // grain) * grain
    number = chain.number("vg")
    devices = " ".join(chain.devices)
    typed = (
        f"pvcreate --dataalignment {_sized(start)} {devices}",
        f"vgcreate --physicalextentsize {_sized(extent)} vg{number} {devices}",
        f"lvcreate --extents 100%FREE --name lv{number} vg{number}",
        f"pvs -o +pe_start {devices}",
    )
    chain.made(f"/dev/vg{number}/lv{number}")
    source = "pvcreate(8), vgcreate(8), lvcreate(8)"
    notes = [
        *_instead_of_metadatasize(layer, start),
        *_changed("the first extent", layer.start, start),
        *_changed("the extents' size", layer.extent, extent),
        "pvs shows where the extents begin",
    ]
    return Lines("lvm", "LVM 2.03.16", source, typed, "; ".join(notes))


def _instead_of_metadatasize(layer: PhysicalVolume, start: int) -> list[str]:
    """Say what became of metadatasize, with which old guides put the first extent in its place."""
    if not layer.metadata_bytes:
        return []
    return [
        f"--dataalignment {_sized(start)} stands for metadatasize={_sized(layer.metadata_bytes)}: "
        "it names where the first extent begins, which metadatasize does only by way of rounding, "
        "and the room before it holds the metadata"
    ]


def _changed(what: str, asked: int, made: int) -> list[str]:
    """Say that something is not as it was asked for, and why."""
    if asked == made:
        return []
    return [f"{what}: {binary_size(asked)} was asked for, {binary_size(made)} is what fits"]


def _file_systems(chain: _Chain, layer: FileSystem) -> Iterator[Lines]:
    kinds = [layer.type]
    if layer.type == UNNAMED:
        kinds = ["ext4", "xfs", "btrfs"] if chain.wanted.all_tools else ["ext4"]
    elif layer.type not in _MAKERS:
        raise not_made("linux", layer, "--system freebsd has it")
    for device in chain.devices:
        for kind in kinds:
            made = _MAKERS[kind](chain.wanted, layer, device)
            other = "" if kind == kinds[0] else f"in place of mkfs.{kinds[0]}"
            yield replace(made, note="; ".join(note for note in (other, made.note) if note))


def _told(wanted: LayoutPlan, layer: FileSystem) -> tuple[int | None, int | None]:
    """Give stripe unit and stripe width to tell: the array's, the layer's, or the hint."""
    array = wanted.array
    if array is not None and array.striped:
        return array.chunk, array.stripe
    if layer.knows_stripe:
        return layer.stripe_unit, layer.stripe_width
    return None, wanted.hint


def _note(wanted: LayoutPlan, width: int | None) -> str:
    if any(isinstance(each, (Array, Crypt)) for each in wanted.layers):
        return ""
    hint = f"; {width // 1024} KiB are a hint to its allocator" if width else ""
    return f"trims the device first{hint}"


def _ext4(wanted: LayoutPlan, layer: FileSystem, device: str) -> Lines:
    unit, width = _told(wanted, layer)
    given = (("stride", unit), ("stripe_width", width))
    told = [
        f"{key}={size // _BLOCK_BYTES}" for key, size in given if size and not size % _BLOCK_BYTES
    ]
    options = f"-b {_BLOCK_BYTES} -E {','.join(told)} " if told else ""
    line = f"mkfs.ext4 {options}{device}"
    note = _note(wanted, width if told else None)
    return Lines("mkfs.ext4", "e2fsprogs 1.47.0", "mke2fs(8)", (line,), note)


def _xfs(wanted: LayoutPlan, layer: FileSystem, device: str) -> Lines:
    unit, width = _told(wanted, layer)
    unit = unit or width
    options = ""
    if unit and not unit % _BLOCK_BYTES:
        options = f"-d su={unit // 1024}k,sw={(width or unit) // unit} "
    line = f"mkfs.xfs {options}{device}"
    note = _note(wanted, unit if options else None)
    return Lines("mkfs.xfs", "xfsprogs 6.1.0", "mkfs.xfs(8)", (line,), note)


def _btrfs(wanted: LayoutPlan, layer: FileSystem, device: str) -> Lines:
    note = "has no option for a stripe below it; it begins where its device does"
    line = f"mkfs.btrfs {device}"
    return Lines("mkfs.btrfs", "btrfs-progs 6.2", "mkfs.btrfs(8)", (line,), note)


def _plain(
    program: str, version: str, source: str
) -> Callable[[LayoutPlan, FileSystem, str], Lines]:
    def make(wanted: LayoutPlan, layer: FileSystem, device: str) -> Lines:
        return Lines(program.split()[0], version, source, (f"{program} {device}",), tried=False)

    return make


def _zfs(wanted: LayoutPlan, layer: FileSystem, device: str) -> Lines:
    return pool(wanted.ashift(layer), device, "OpenZFS 2.1")


def _sized(number: int) -> str:
    """Write a size for LVM: KiB, or sectors where it is no whole number of KiB."""
    return f"{number // 1024}k" if number % 1024 == 0 else f"{number // 512}s"


_MAKERS: dict[str, Callable[[LayoutPlan, FileSystem, str], Lines]] = {
    "ext4": _ext4,
    "xfs": _xfs,
    "btrfs": _btrfs,
    "f2fs": _plain("mkfs.f2fs", "f2fs-tools 1.15", "mkfs.f2fs(8)"),
    "fat": _plain("mkfs.fat -F 32", "dosfstools 4.2", "mkfs.fat(8)"),
    "ntfs": _plain("mkfs.ntfs --quick", "ntfs-3g 2022.10.3", "mkntfs(8)"),
    "swap": _plain("mkswap", "util-linux 2.38.1", "mkswap(8)"),
    "zfs": _zfs,
}
