"""Every partition of a listing held against a grid, each for itself, by the one rule (`rule`).

A partition in which no data lie (a container, a boot loader's, a reserved one) is shown, and not
judged. A rounded start fits, to the listing's precision, where the unit is many times as large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm

from ssdlab.machine.align.findings import LayerFinding, check
from ssdlab.machine.align.grid import TRACK, Grid, Unit
from ssdlab.machine.align.layout import Layout, Partition
from ssdlab.machine.align.listings.model import CONTAINER, ListedDisk, ListedPartition, Listing
from ssdlab.machine.align.rule import (
    GOOD_PRACTICE_BYTES,
    Judgement,
    Standing,
    containers,
    judgement,
    worst,
)


@dataclass(frozen=True)
class JudgedPartition:
    """A partition, and what it fits.

    Attributes
    ----------
    listed
        What the listing says of it.
    fits
        For each unit of the grid: yes, no, or None where the listing does not tell.
    judgement
        The verdict, whether it is judged or not.
    as_printed
        It is aligned to the precision of the listing, which rounds.
    findings
        What `check` finds, where the start is known exactly.
    remedy
        How to put it right; empty where it fits or is not judged.
    """

    listed: ListedPartition
    fits: tuple[tuple[Unit, bool | None], ...]
    judgement: Judgement
    as_printed: bool
    findings: tuple[LayerFinding, ...]
    remedy: str

    @property
    def aligned(self) -> bool | None:
        """Whether it fits what is a must; None where the listing does not tell."""
        return aligned(self.judgement)


def aligned(found: Judgement) -> bool | None:
    """Say whether what is a must fits; None where that is not known."""
    return None if found is Judgement.NOT_KNOWN else found is not Judgement.MISALIGNED


@dataclass(frozen=True)
class JudgedDisk:
    """A drive of a listing, and the verdict on each partition."""

    listed: ListedDisk
    partitions: tuple[JudgedPartition, ...]
    grid: Grid

    @property
    def judged(self) -> list[JudgedPartition]:
        """Those in which data lie."""
        return [each for each in self.partitions if not each.listed.idle]

    @property
    def judgement(self) -> Judgement:
        """The worst of the partitions that are judged; not known where its own are not listed."""
        own = [Judgement.NOT_KNOWN] if self.listed.unseen else []
        return worst([*own, *(each.judgement for each in self.judged)])

    @property
    def aligned(self) -> bool | None:
        """Whether all partitions that are judged fit what is a must; None where not known."""
        return aligned(self.judgement)


def judge(listing: Listing, grid: Grid) -> list[JudgedDisk]:
    """Judge every partition of every drive.

    Parameters
    ----------
    listing
        What was read; what was not, is the caller's to show.
    grid
        What to fit; its sector gives way to the listing's.
    """
    return [_judge_disk(disk, grid) for disk in listing.disks]


def _judge_disk(disk: ListedDisk, grid: Grid) -> JudgedDisk:
    geometry = grid.geometry
    if disk.sector_bytes is not None:
        geometry = replace(geometry, sector_bytes=disk.sector_bytes)
    units = (*grid.units, *_shown(disk, grid))
    fitted = Grid(units, geometry)
    disk = replace(disk, partitions=_with_containers(disk.partitions))
    return JudgedDisk(disk, tuple(_judge(each, fitted) for each in disk.partitions), fitted)


def _with_containers(partitions: Sequence[ListedPartition]) -> tuple[ListedPartition, ...]:
    """Take those that hold others whole for containers, where no type says otherwise."""
    spans = [
        None if each.start.byte is None or each.size is None else (each.start.byte, each.size)
        for each in partitions
    ]
    held = containers(spans)
    return tuple(
        replace(each, idle=CONTAINER) if place in held and each.may_hold and not each.idle else each
        for place, each in enumerate(partitions)
    )


def _shown(disk: ListedDisk, grid: Grid) -> Iterator[Unit]:
    """Show also what the drive reports, where that is another size."""
    known = {unit.bytes for unit in grid.units}
    reported = (("physical sector", disk.physical_bytes), ("optimal I/O", disk.optimal_bytes))
    for name, size in reported:
        if size and size not in known and size > (disk.sector_bytes or size):
            known.add(size)
            yield Unit(name, size, standing=Standing.SHOWN, source="the listing")


def _judge(listed: ListedPartition, grid: Grid) -> JudgedPartition:
    units = list(_counting(listed, grid))
    exact = [(unit, listed.start.fits(unit.bytes)) for unit in units]
    printed = _as_printed(listed, exact)
    fits = tuple(printed or exact)
    found = judgement((unit.standing, each) for unit, each in fits)
    findings = _findings(listed, grid)
    is_well = listed.idle or found in (Judgement.ALIGNED, Judgement.NOT_KNOWN)
    remedy = "" if is_well else _remedy(listed, grid, findings)
    return JudgedPartition(listed, fits, found, printed is not None, findings, remedy)


def _as_printed(
    listed: ListedPartition, exact: list[tuple[Unit, bool | None]]
) -> list[tuple[Unit, bool | None]] | None:
    """Take a rounded start for the multiple of the largest judged unit that it seems to be.

    None where the listing's precision does not tell, or where it is not needed.
    """
    judged = [(unit, fits) for unit, fits in exact if unit.judged]
    if not judged or all(fits is not None for _, fits in judged):
        return None
    step = lcm(*(unit.bytes for unit, _ in judged))
    if not listed.start.fits_as_printed(step):
        return None
    return [(unit, True if unit.judged else fits) for unit, fits in exact]


def _findings(listed: ListedPartition, grid: Grid) -> tuple[LayerFinding, ...]:
    byte = listed.start.byte
    if byte is None:
        return ()
    kind = "label" if listed.is_label else "partition"
    layout = Layout((Partition(byte, listed.size, kind),), grid.geometry)
    return tuple(replace(each, name=listed.name) for each in check(layout, grid))


def _remedy(listed: ListedPartition, grid: Grid, findings: Sequence[LayerFinding]) -> str:
    worst = next((each for each in findings if each.decides and not each.aligned), None)
    if worst is not None:
        return worst.remedy
    units = (unit.bytes for unit in _counting(listed, grid) if unit.judged)
    sector = grid.geometry.sector_bytes
    return f"begin at a multiple of {lcm(sector, GOOD_PRACTICE_BYTES, *units) // sector} sectors"


def _counting(listed: ListedPartition, grid: Grid) -> Iterator[Unit]:
    """Give the units that a partition is held against."""
    return (unit for unit in grid.units if not (listed.is_label and unit.kind == TRACK))
