"""Rates over virtual time, out of the sums per interval that a result holds.

Sums are added up before they are divided: a short interval in which the host wrote a handful of
pages while garbage collection went on would else show a write amplification of hundreds. Requests
are those of one job, to its own end; write amplification is of the drive, for all jobs that ran
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DIRECTIONS = ("read", "write", "trim")
_BYTES = ("nand_host_bytes_written", "nand_bytes_written")
_PAGES = ("host_pages_written", "nand_pages_written")


@dataclass(frozen=True)
class Series:
    """What a job did, one entry per whole interval.

    Attributes
    ----------
    times_s
        Middle of the interval, in seconds of virtual time since the run began.
    iops
        Requests a second.
    bytes_done
        Bytes that were read, written or trimmed in the interval.
    """

    times_s: list[float]
    iops: list[float]
    bytes_done: list[int]

    @classmethod
    def of(
        cls, lab: Mapping[str, Any], most: int | None = None, direction: str | None = None
    ) -> Series | None:
        """Return the series of a job's ``ssdlab`` object; None where it has none.

        Parameters
        ----------
        lab
            The object.
        most
            At most so many entries, each over several intervals; None keeps the intervals.
        direction
            ``read``, ``write`` or ``trim``; None adds them up.
        """
        sums = lab.get("time_series")
        if not sums:
            return None
        directions = _DIRECTIONS if direction is None else (direction,)
        requests = _added([sums[f"{each}s"] for each in directions])
        axis = _Axis.of(sums, len(requests), most)
        counts = axis.column(requests)
        done = axis.column(_added([sums[f"{each}_bytes"] for each in directions]))
        return cls(axis.times_s(), [count / axis.interval_s for count in counts], done)


@dataclass(frozen=True)
class Amplification:
    """Write amplification of a drive, one entry per whole interval.

    Attributes
    ----------
    times_s
        Middle of the interval, in seconds of virtual time since the run began.
    factors
        Bytes programmed per byte that the host wrote; None where it wrote none.
    """

    times_s: list[float]
    factors: list[float | None]

    @classmethod
    def of(cls, lab: Mapping[str, Any], most: int | None = None) -> Amplification | None:
        """Return that of the drive of a job's ``ssdlab`` object; None where it has none.

        `most` is as of `Series.of`.
        """
        # Results of version 0.1 have one series, which holds both.
        sums = lab.get("drive_time_series") or lab.get("time_series")
        if not sums:
            return None
        axis = _Axis.of(sums, len(sums["host_pages_written"]), most)
        # Results of schema version 1 count mapping units alone.
        in_bytes = "nand_bytes_written" in sums
        keys = _BYTES if in_bytes else _PAGES
        host, nand = (axis.column(sums[key]) for key in keys)
        return cls(axis.times_s(), [b / a if a else None for a, b in zip(host, nand, strict=True)])


@dataclass(frozen=True)
class _Axis:
    """Which intervals make an entry."""

    start_s: float
    interval_s: float
    width: int
    entries: int

    @classmethod
    def of(cls, sums: Mapping[str, Any], intervals: int, most: int | None) -> _Axis:
        start, interval = sums["start_ns"] / 1e9, sums["interval_ns"] / 1e9
        whole = round((sums["end_ns"] / 1e9 - start) // interval)
        # The last interval is cut short by the end of the run; too few requests make no rate.
        entries = max(1, min(whole, intervals))
        width = 1 if most is None else -(-entries // most)
        return cls(start, interval * width, width, entries - entries % width)

    def column(self, values: Sequence[int]) -> list[int]:
        return [sum(values[at : at + self.width]) for at in range(0, self.entries, self.width)]

    def times_s(self) -> list[float]:
        count = self.entries // self.width
        return [self.start_s + (index + 0.5) * self.interval_s for index in range(count)]


def _added(columns: Sequence[Sequence[int]]) -> list[int]:
    return [sum(entries) for entries in zip(*columns, strict=True)]
