"""Rates over virtual time, out of the sums per interval that a result holds."""

from __future__ import annotations

from collections.abc import Mapping
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
    def of(cls, lab: Mapping[str, Any]) -> Series | None:
        """Return the series of a job's ``ssdlab`` object; None where it has none."""
        sums = lab.get("time_series")
        if not sums:
            return None
        requests = _added(sums, "{}s")
        start, interval = sums["start_ns"] / 1e9, sums["interval_ns"] / 1e9
        whole = round((sums["end_ns"] / 1e9 - start) // interval)
        # The last interval is cut short by the end of the run; too few requests make no rate.
        entries = slice(0, max(1, min(whole, len(requests))))
        host, nand = sums["host_pages_written"][entries], sums["nand_pages_written"][entries]
        return cls(
            [start + (index + 0.5) * interval for index in range(len(host))],
            [count / interval for count in requests[entries]],
            _added(sums, "{}_bytes")[entries],
            [b / a if a else None for a, b in zip(host, nand, strict=True)],
        )


def _added(sums: Mapping[str, Any], key: str) -> list[int]:
    columns = [sums[key.format(direction)] for direction in _DIRECTIONS]
    return [sum(entries) for entries in zip(*columns, strict=True)]
