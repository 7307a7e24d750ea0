"""Every partition of a listing held against a grid, each for itself.

The verdict of a drive is yes, no, or that the listing does not tell; a partition in which no data
lie (a container, a boot loader's, a reserved one) is shown, and not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm

from ssdlab.align.findings import Finding, check
from ssdlab.align.grid import TRACK, Grid, Unit
from ssdlab.align.layout import Layout, Partition
from ssdlab.align.listings.model import ListedDisk, ListedPartition


@dataclass(frozen=True)
class JudgedPartition:
    """A partition, and what it fits.

    Attributes
    ----------
    listed
        What the listing says of it.
    fits
        For each unit of the grid: yes, no, or None where the listing does not tell.
    aligned
        The verdict; None where the listing does not tell.
    findings
        What `check` finds, where the start is known exactly.
    remedy
        How to put it right; empty where it fits or is not judged.
    """

    listed: ListedPartition
    fits: tuple[tuple[Unit, bool | None], ...]
    aligned: bool | None
    findings: tuple[Finding, ...]
    remedy: str


@dataclass(frozen=True)
class JudgedDisk:
    """A drive of a listing, and the verdict on each partition."""

    listed: ListedDisk
    partitions: tuple[JudgedPartition, ...]
    grid: Grid

    @property
    def aligned(self) -> bool | None:
        """Whether all partitions that are judged fit; None where that is not known."""
        verdicts = [each.aligned for each in self.partitions if not each.listed.idle]
        if False in verdicts:
            return False
        return None if None in verdicts else True


def judge(disks: Sequence[ListedDisk], grid: Grid) -> list[JudgedDisk]:
    """Judge every partition of every drive.

    Parameters
    ----------
    disks
        What the listing says.
    grid
        What to fit; its sector gives way to the listing's.
    """
    return [_judge_disk(disk, grid) for disk in disks]


def _judge_disk(disk: ListedDisk, grid: Grid) -> JudgedDisk:
    geometry = grid.geometry
    if disk.sector_bytes in (512, 4096):
        geometry = replace(geometry, sector_bytes=disk.sector_bytes)
    units = (*grid.units, *_shown(disk, grid))
    fitted = Grid(units, geometry)
    return JudgedDisk(disk, tuple(_judge(each, fitted) for each in disk.partitions), fitted)


def _shown(disk: ListedDisk, grid: Grid) -> Iterator[Unit]:
    """Show also what the drive reports, where that is another size."""
    known = {unit.bytes for unit in grid.units}
    reported = (("physical sector", disk.physical_bytes), ("optimal I/O", disk.optimal_bytes))
    for name, size in reported:
        if size and size not in known and size > (disk.sector_bytes or size):
            known.add(size)
            yield Unit(name, size, required=False, source="the listing")


def _judge(listed: ListedPartition, grid: Grid) -> JudgedPartition:
    fits = tuple((unit, listed.start.fits(unit.bytes)) for unit in _counting(listed, grid))
    required = [found for unit, found in fits if unit.required]
    aligned: bool | None = None
    if False in required:
        aligned = False
    elif None not in required:
        aligned = True
    findings = _findings(listed, grid)
    remedy = "" if listed.idle or aligned is not False else _remedy(listed, grid, findings)
    return JudgedPartition(listed, fits, aligned, findings, remedy)


def _findings(listed: ListedPartition, grid: Grid) -> tuple[Finding, ...]:
    byte = listed.start.byte
    if byte is None:
        return ()
    kind = "label" if listed.is_label else "partition"
    layout = Layout((Partition(byte, listed.size, kind),), grid.geometry)
    return tuple(replace(each, name=listed.name) for each in check(layout, grid))


def _remedy(listed: ListedPartition, grid: Grid, findings: Sequence[Finding]) -> str:
    worst = next((each for each in findings if each.decides and not each.aligned), None)
    if worst is not None:
        return worst.remedy
    units = (unit.bytes for unit in _counting(listed, grid) if unit.required)
    sector = grid.geometry.sector_bytes
    return f"begin at a multiple of {lcm(sector, *units) // sector} sectors"


def _counting(listed: ListedPartition, grid: Grid) -> Iterator[Unit]:
    """Give the units that a partition is held against."""
    return (unit for unit in grid.units if not (listed.is_label and unit.kind == TRACK))
