"""What a drive with bytes (`ssdlab.disks`) answers: handles, what a loss of power took, figures."""

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
    """A write that is gone from a sector.

    Attributes
    ----------
    offset
        The sector's first byte.
    write
        The number of the write, counted from 1, as `Disk.write` returns it.
    was_acknowledged
        Whether it had been told to be done; not that it was durable: no durable write is lost.
    """

    offset: int
    write: int
    was_acknowledged: bool


@dataclass(frozen=True, slots=True)
class PowerCut:
    """What a loss of power took.

    Attributes
    ----------
    lost
        Writes that are gone, sector by sector.
    dropped
        Commands that were under way, and never end.
    """

    lost: tuple[LostSector, ...]
    dropped: tuple[Handle, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """What a drive is like, and what it has counted.

    Attributes
    ----------
    condition
        What it was brought into (`ssdlab.conditions`).
    read_only
        Whether it takes no more writes.
    write_amplification
        Bytes written to flash per byte that the program wrote, since the drive was opened; None
        where it wrote nothing.
    counters
        All that the drive counts (docs/glossary.md), since it was opened.
    """

    condition: str
    read_only: bool
    write_amplification: float | None
    counters: Mapping[str, int]
