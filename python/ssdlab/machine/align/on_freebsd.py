"""What to type on FreeBSD. Read up in its manual pages, not carried out.

A BSD label lies in a slice of an MBR table; without one, partitions are GPT's. gpart cuts slices to
whole tracks, so a slice begins at a multiple of 63 sectors, and the label in it puts that right.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.align.layout import UNNAMED, FileSystem, Partition
from ssdlab.machine.align.tools import LayoutPlan, Lines, not_made, pool

_VERSION = "FreeBSD 13"
_ANY_DRIVE = "ada0"
_TYPES = {
    UNNAMED: "freebsd-ufs",
    "ufs": "freebsd-ufs",
    "zfs": "freebsd-zfs",
    "swap": "freebsd-swap",
}


def lines(wanted: LayoutPlan) -> Iterator[Lines]:
    """Give the lines for every layer, bottom up.

    Raises
    ------
    NotMade
        FreeBSD has no command for a layer.
    """
    device = wanted.devices[0] if wanted.devices else _ANY_DRIVE
    device = device.removeprefix("/dev/")
    for layer in wanted.layers:
        if isinstance(layer, Partition) and layer.kind == "label":
            yield _label(wanted, layer, device)
            device += "a"
        elif isinstance(layer, Partition):
            yield from _partition(wanted, layer, device)
            device += "s1" if wanted.is_slice(layer) else "p1"
        elif isinstance(layer, FileSystem) and layer.type in _TYPES:
            yield from _file_system(wanted, layer, device)
        else:
            raise not_made("freebsd", layer, "it has partition, label and filesystem of ufs, zfs")


def _partition(wanted: LayoutPlan, layer: Partition, device: str) -> Iterator[Lines]:
    is_slice = wanted.is_slice(layer)
    if wanted.new:
        scheme = "mbr" if is_slice else "gpt"
        note = "this makes a new partition table: what the drive holds is lost"
        yield _gpart((f"gpart create -s {scheme} {device}",), note)
    kind = "freebsd" if is_slice else _TYPES.get(_above(wanted), "freebsd-ufs")
    note = "a slice; gpart cuts it to whole tracks" if is_slice else ""
    yield _gpart((_add(wanted, layer, kind, device),), note)


def _label(wanted: LayoutPlan, layer: Partition, device: str) -> Lines:
    kind = _TYPES.get(_above(wanted), "freebsd-ufs")
    typed = (f"gpart create -s BSD {device}", _add(wanted, layer, kind, device))
    return _gpart(
        (*typed, f"diskinfo -v /dev/{device}a"),
        "-b counts from the slice; diskinfo's stripeoffset is the byte on the drive",
    )


def _add(wanted: LayoutPlan, layer: Partition, kind: str, device: str) -> str:
    sector = wanted.sector_bytes
    size = "" if layer.size is None else f" -s {layer.size // sector}"
    return f"gpart add -t {kind} -i 1 -b {layer.start // sector}{size} {device}"


def _above(wanted: LayoutPlan) -> str:
    top = wanted.layers[-1]
    return top.type if isinstance(top, FileSystem) else UNNAMED


def _gpart(typed: tuple[str, ...], note: str) -> Lines:
    return Lines("gpart", _VERSION, "gpart(8), diskinfo(8)", typed, note, tried=False)


def _file_system(wanted: LayoutPlan, layer: FileSystem, device: str) -> Iterator[Lines]:
    if layer.type == "swap":
        line = f"swapon /dev/{device}"
        yield Lines("swapon", _VERSION, "swapon(8)", (line,), tried=False)
    elif layer.type == "zfs":
        ashift = wanted.ashift(layer)
        yield pool(ashift, f"/dev/{device}", "OpenZFS, FreeBSD 13")
        if wanted.all_tools:
            yield _gnop(ashift, device)
    else:
        line = f"newfs -E /dev/{device}"
        yield Lines("newfs", _VERSION, "newfs(8)", (line,), "-E trims the device", tried=False)


def _gnop(ashift: int, device: str) -> Lines:
    """Make a pool on a device that pretends to have larger sectors."""
    typed = (
        f"gnop create -S {1 << ashift} /dev/{device}",
        f"zpool create tank /dev/{device}.nop",
        "zpool export tank",
        f"gnop destroy /dev/{device}.nop",
        "zpool import tank",
        "zdb -C tank | grep ashift",
    )
    note = "in place of the former, if zpool knows no ashift; the gnop device is needed only once"
    return Lines("gnop", "FreeBSD 8 to 12", "gnop(8), zpool(8)", typed, note, tried=False)
