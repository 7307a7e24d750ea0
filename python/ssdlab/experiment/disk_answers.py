"""What a drive with bytes (`disks`) answers: handles, what a loss of power took, figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handle:
    """A command that was submitted.

    Attributes
    ----------
    name
        What the drive knows it by; no other command of the process has it.
    operation
        ``read``, ``write``, ``flush``, ``trim`` or ``write_zeroes``.
    offset, length
        Its first byte and its bytes.
    write
        Of a write, its number on this drive, counted from 1, as `LostSector.write` has it; else 0.
    """

    name: int
    operation: str
    offset: int
    length: int
    write: int


@dataclass(frozen=True, slots=True)
class LostSector:
    """A sector that a loss of power took something from.

    Attributes
    ----------
    offset
        The sector's first byte.
    write
        The number of the write that is gone, counted from 1, as `Disk.write` returns it; 0 where
        none is known, of a sector that cannot be read.
    was_acknowledged
        Whether that write had been told to be done.
    what
        ``lost``: what stood there before stands there again; ``torn``: so it is, while other
        sectors of the same unit, programmed with it, are new; ``rolled-back``: flash had it, and
        fell back; ``unreadable``: a media error until it is written.
    acknowledged, flushed
        The last write to the sector that was acknowledged, and the last that the program was
        promised, by a flush, by FUA or by a buffer that is not volatile. None where there was none,
        and on a drive without faults, which keeps no such account.
    breaks_promise
        Whether the drive broke its word: what stands there is older than what it had promised, or
        torn, or cannot be read. Never on a drive without faults.
    """

    offset: int
    write: int
    was_acknowledged: bool
    what: str = "lost"
    acknowledged: int | None = None
    flushed: int | None = None
    breaks_promise: bool = False


@dataclass(frozen=True, slots=True)
class PowerCut:
    """What a loss of power took.

    Attributes
    ----------
    lost
        Writes that are gone, and sectors that cannot be read, sector by sector.
    dropped
        Commands that were under way, and never end.
    undo_dropped
        Stretches (offset, length) that a fault might have taken back and could not, since what had
        stood there was no longer kept.
    """

    lost: tuple[LostSector, ...]
    dropped: tuple[Handle, ...]
    undo_dropped: tuple[tuple[int, int], ...] = ()

    @property
    def broken_promises(self) -> tuple[LostSector, ...]:
        """What the drive is to blame for; all else that a program misses is the program's fault."""
        return tuple(each for each in self.lost if each.breaks_promise)


@dataclass(frozen=True, slots=True)
class Stats:
    """What a drive is like, and what it has counted.

    Attributes
    ----------
    condition
        What it was brought into (`ssdlab.engine.conditions`).
    read_only
        Whether it takes no more writes.
    write_amplification
        Bytes written to flash per byte that the program wrote, since the drive was opened; None
        where it wrote nothing.
    counters
        All that the drive counts (docs/reference/glossary.md), since it was opened.
    """

    condition: str
    read_only: bool
    write_amplification: float | None
    counters: Mapping[str, int]
