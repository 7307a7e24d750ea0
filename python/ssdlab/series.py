"""Rates over virtual time, out of the sums per interval that a result holds.

Sums are added up before they are divided: a short interval in which the host wrote a handful of
pages while garbage collection went on would else show a write amplification of hundreds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DIRECTIONS = ("read", "write", "trim")


@dataclass(frozen=True)
class Series:
    """Columns with one entry per whole interval.

    Attributes
    ----------
    times_s
        Middle of the interval, in seconds of virtual time since the run began.
    iops
        Requests a second.
    bytes_done
        Bytes that were read, written or trimmed in the interval.
    write_amplification
        Pages programmed per page the host wrote; None where it wrote none.
    """

    times_s: list[float]
    iops: list[float]
    bytes_done: list[int]
    write_amplification: list[float | None]

    @classmethod
    def of(cls, lab: Mapping[str, Any], most: int | None = None) -> Series | None:
        """Return the series of a job's ``ssdlab`` object; None where it has none.

        Parameters
        ----------
        lab
            The object.
        most
            At most so many entries, each over several intervals; None keeps the intervals.
        """
        sums = lab.get("time_series")
        if not sums:
            return None
        start, interval = sums["start_ns"] / 1e9, sums["interval_ns"] / 1e9
        requests = _added(sums, "{}s")
        whole = round((sums["end_ns"] / 1e9 - start) // interval)
        # The last interval is cut short by the end of the run; too few requests make no rate.
        entries = max(1, min(whole, len(requests)))
        width = 1 if most is None else -(-entries // most)
        entries -= entries % width
        interval *= width

        def column(values: Sequence[int]) -> list[int]:
            return [sum(values[at : at + width]) for at in range(0, entries, width)]

        host, nand = column(sums["host_pages_written"]), column(sums["nand_pages_written"])
        return cls(
            [start + (index + 0.5) * interval for index in range(len(host))],
            [count / interval for count in column(requests)],
            column(_added(sums, "{}_bytes")),
            [b / a if a else None for a, b in zip(host, nand, strict=True)],
        )


def _added(sums: Mapping[str, Any], key: str) -> list[int]:
    columns = [sums[key.format(direction)] for direction in _DIRECTIONS]
    return [sum(entries) for entries in zip(*columns, strict=True)]
