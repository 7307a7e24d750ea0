"""A layout held against a grid: what fits, what does not, what it costs and how to put it right.

What counts is where the topmost layer lies: a label may well put right what its slice got wrong.
The layers below it show where an offset comes from. Where a layer lies on a striped array it is
also held against chunk and stripe; the stripe counts where there is parity, because a write that
does not fill it is a read-modify-write. Left out: what a file system does inside itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm

from ssdlab.machine.align.grid import DEFAULT_UNITS, FLASH, TRACK, Grid, Unit
from ssdlab.machine.align.layout import (
    PARITY_DISKS,
    Array,
    Crypt,
    FileSystem,
    Layer,
    Layout,
    Partition,
    PhysicalVolume,
)
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.places import Offsets, Spot, Straddle, spots, straddles
from ssdlab.machine.align.rule import Judgement, Standing, judgement

_LARGEST_RECORD_BYTES = 2**16
"""ZFS takes an ashift of 16 at most (zpoolprops(7))."""
BELOW_FIRST = "the layer below does not fit; mend that first"


@dataclass(frozen=True)
class LayerFinding:
    """A layer held against a unit.

    Attributes
    ----------
    layer
        Its place in the layout, from 0.
    name
        What it is.
    drive_byte
        Where it begins on the drive, or on each member of an array.
    array_byte
        Where it begins in the striped array it lies on; None without one.
    unit
        What it is held against.
    aligned
        It fits the unit, wherever it may begin.
    decides
        The verdict depends on it.
    remainder, worst_remainder
        How far behind the unit's last multiple it begins, and may begin at worst.
    straddling
        Sizes of writes that cross boundaries for no good reason.
    remedy
        How to put it right; empty where it fits.
    """

    layer: int
    name: str
    drive_byte: int
    array_byte: int | None
    unit: Unit
    aligned: bool
    decides: bool
    remainder: int
    worst_remainder: int
    straddling: tuple[Straddle, ...]
    remedy: str


@dataclass(frozen=True)
class _Step:
    """A layer on its way up: where it begins, and what it begins on."""

    number: int
    layer: Layer
    below: Spot
    spot: Spot
    top: bool
    grid: Grid


def check(layout: Layout, grid: Grid) -> list[LayerFinding]:
    """Hold every layer of a layout against every unit of a grid, and against the array it lies on.

    Returns
    -------
    list of LayerFinding
        Bottom up; `verdict` judges them.
    """
    placed = spots(layout)
    last = len(layout.layers) - 1
    findings: list[LayerFinding] = []
    for number, layer in enumerate(layout.layers):
        step = _Step(number, layer, placed[number], placed[number + 1], number == last, grid)
        findings.extend(_against_drive(step))
        findings.extend(_against_array(step))
        findings.extend(_against_hint(step))
        findings.extend(_records(step))
    return findings


def verdict(findings: Sequence[LayerFinding]) -> Judgement:
    """Judge a layout by what decides."""
    return judgement((each.unit.standing, each.aligned) for each in findings if each.decides)


def misaligned(findings: Sequence[LayerFinding]) -> bool:
    """Whether something that decides, and is a must, does not fit."""
    return verdict(findings) is Judgement.MISALIGNED


def _against_drive(step: _Step) -> Iterator[LayerFinding]:
    for unit in step.grid.units:
        of_table = isinstance(step.layer, Partition) and step.layer.kind == "partition"
        if unit.kind == TRACK and not of_table:
            continue
        needed = lcm(step.grid.advised_step_bytes if unit.judged else unit.bytes, unit.bytes)
        places, effective = step.spot.against(unit.bytes)
        stands, beneath = step.below.against(unit.bytes)
        remedy = _remedy(step, stands, stands.fits(beneath), effective, needed)
        decides = unit.judged and (step.top or unit.kind == TRACK)
        yield _finding(step, unit, places, effective, decides, remedy)


def _against_array(step: _Step) -> Iterator[LayerFinding]:
    array = step.below.array
    if array is None:
        return
    parity = array.level in PARITY_DISKS
    good, shown = Standing.GOOD_PRACTICE, Standing.SHOWN
    chunk = Unit("chunk", array.chunk, FLASH, good, "the array")
    standing = good if parity else shown
    name = f"stripe of {array.data_disks} chunks"
    stripe = Unit(name, array.stripe, FLASH, standing, "the array")
    for unit in (chunk, stripe):
        stands, places = step.below.within, step.spot.within
        remedy = _remedy(step, stands, stands.fits(unit.bytes), unit.bytes, array.stripe)
        yield _finding(step, unit, places, unit.bytes, unit.judged and step.top, remedy)
    if isinstance(step.layer, FileSystem):
        yield from _told(step, chunk, step.layer.stripe_unit, "stripe_unit")
        yield from _told(step, stripe, step.layer.stripe_width, "stripe_width")


def _against_hint(step: _Step) -> Iterator[LayerFinding]:
    """Hold a file system on a single drive against what it was told: it counts from its start."""
    layer = step.layer
    if not isinstance(layer, FileSystem) or step.below.array is not None:
        return
    for key, told in (("stripe_unit", layer.stripe_unit), ("stripe_width", layer.stripe_width)):
        if told is not None:
            unit = Unit(f"{key} given", told, FLASH, Standing.MUST, "the layout")
            places, effective = step.spot.against(told)
            needed = lcm(step.grid.advised_step_bytes, told)
            begin = f"make the layer below begin at a multiple of {binary_size(needed)}"
            remedy = f"{begin}, or leave out {key}"
            yield _finding(step, unit, places, effective, True, remedy)


def _records(step: _Step) -> Iterator[LayerFinding]:
    """Hold ZFS's smallest record, 2 to the power of ashift, against the drive's pages.

    Where that is not given it is not known: ZFS took what the drive reported when the pool was
    made, and drives with 4 KiB pages report 512 bytes.
    """
    layer = step.layer
    if not isinstance(layer, FileSystem) or layer.type != "zfs":
        return
    shift = record_shift(step.grid)
    remedy = (
        f"zdb -C POOL shows its ashift; where that is below {shift}, back up, zpool create -o "
        f"ashift={shift}, and restore: the ashift of a vdev cannot be changed"
    )
    for page in _pages(step.grid) or [DEFAULT_UNITS[0]]:
        size = None if layer.ashift is None else 1 << layer.ashift
        name = "records, whose ashift is not given" if size is None else f"ashift={layer.ashift}"
        unit = Unit(
            f"{name}, against the {page.name}", page.bytes, FLASH, Standing.MUST, page.source
        )
        yield _finding(step, unit, Offsets(0, size or 512), page.bytes, True, remedy)


def record_shift(grid: Grid) -> int:
    """Give the ashift with which ZFS's records hold the drive's pages whole, 12 or more."""
    sizes = [page.bytes for page in (DEFAULT_UNITS[0], *_pages(grid))]
    return max(sizes).bit_length() - 1


def _pages(grid: Grid) -> list[Unit]:
    """Give the units that a record can hold, which are powers of two as it is."""
    return [
        unit
        for unit in grid.units
        if unit.kind == FLASH
        and unit.required
        and unit.bytes <= _LARGEST_RECORD_BYTES
        and not unit.bytes & (unit.bytes - 1)
    ]


def _told(step: _Step, unit: Unit, told: int | None, key: str) -> Iterator[LayerFinding]:
    """Hold what the file system was told of the array against what it is."""
    if told is None:
        return
    what = Unit(f"{key}, being the {unit.name}", unit.bytes, FLASH, Standing.MUST, "the array")
    found = _finding(step, what, Offsets(0), unit.bytes, True, "")
    remedy = f"set {key} to {binary_size(unit.bytes)}, not {binary_size(told)}"
    yield found if told == unit.bytes else replace(found, aligned=False, remedy=remedy)


def _finding(
    step: _Step, unit: Unit, places: Offsets, effective: int, decides: bool, remedy: str
) -> LayerFinding:
    aligned = places.fits(effective)
    spot = step.spot
    return LayerFinding(
        layer=step.number,
        name=step.layer.name,
        drive_byte=spot.drive.start,
        array_byte=None if spot.array is None else spot.within.start,
        unit=unit,
        aligned=aligned,
        decides=decides,
        remainder=places.start % effective,
        worst_remainder=places.worst_remainder(effective),
        straddling=() if aligned else tuple(straddles(places, effective)),
        remedy="" if aligned else remedy,
    )


def _remedy(step: _Step, stands: Offsets, sound_below: bool, unit: int, needed: int) -> str:
    layer = step.layer
    if not sound_below and not (isinstance(layer, Partition) and stands.step == 0):
        return BELOW_FIRST
    if isinstance(layer, Array) and layer.striped and unit % layer.chunk and layer.chunk % unit:
        return f"mdadm --create --chunk: a multiple of {binary_size(unit)}"
    start = layer.start + -(stands.start + layer.start) % needed
    return _begin_at(layer, start, needed, step.grid.geometry.sector_bytes)


def _begin_at(layer: Layer, start: int, needed: int, sector_bytes: int) -> str:
    if isinstance(layer, Partition):
        return f"begin at sector {start // sector_bytes} ({binary_size(start)})"
    if isinstance(layer, Crypt) and layer.format.startswith("luks"):
        return f"cryptsetup luksFormat --offset {start // 512}"
    if isinstance(layer, Crypt):
        return f"{layer.format} fixes where its payload begins; begin the partition accordingly"
    if isinstance(layer, PhysicalVolume):
        extent = -(-layer.extent // needed) * needed
        return (
            f"pvcreate --dataalignment {needed // 1024}k, then vgcreate --physicalextentsize "
            f"{extent // 1024}k"
        )
    if isinstance(layer, Array):
        return f"mdadm --create --data-offset={start // 1024}K"
    return "move the device it stands on"
