"""What was measured: rates by pattern, the transient, latencies; files of ``data/measured``.

Left out: the transient beyond half a drive write, and loads that a drive does not keep up with.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from statistics import fmean

from ssdlab.study.twin.patterns import UNIFORM

DRIVES = ("sk-hynix-pe8110-960gb", "samsung-pm9a3-960gb", "wd-dc-960gb")
"""Profiles of the drives that were measured."""

POLICY_ROW = "never-rewritten 0.4"
"""The row that the victim policy of each profile was chosen by."""
JOIN_ROW = ("sk-hynix-pe8110-960gb", "zipf-1.0")
"""Drive and pattern that how far back the write buffer of all profiles joins was fitted to."""

FITTED_LOADS = (10_000, 20_000)
"""Rates, in requests a second, whose latencies the profiles were fitted to."""

HALF_LOADS = {
    "sk-hynix-pe8110-960gb": 40_000,
    "samsung-pm9a3-960gb": 40_000,
    "wd-dc-960gb": 30_000,
}
"""The rate nearest to half of what a drive writes when it is steady, of those not fitted to."""

_MOST_DRIFT = 0.1


@dataclass(frozen=True)
class MeasuredRow:
    """Rates of 4 KiB writes in a pattern.

    Attributes
    ----------
    drive, pattern
        Profile, and the pattern's name (`patterns`).
    drive_writes
        What was written in all, in capacities.
    median, p10, p90
        MiB/s over 60 to 99 % of the run.
    drift
        Last eighth of that window / first eighth.
    """

    drive: str
    pattern: str
    drive_writes: float
    median: float
    p10: float
    p90: float
    drift: float

    @property
    def drifts(self) -> bool:
        """Whether the rate moves by more than a tenth, so that the median is not a steady rate."""
        return abs(self.drift - 1) > _MOST_DRIFT + 1e-9

    @property
    def fitted(self) -> bool:
        """Whether the profile was fitted to it."""
        return self.pattern in (UNIFORM, POLICY_ROW) or (self.drive, self.pattern) == JOIN_ROW


@dataclass(frozen=True)
class Transient:
    """Uniform writes after a sequential fill: MiB/s fresh, the lowest, and where (drive writes).

    The lowest is a mean over a tenth of a drive write (`transient`).
    """

    drive: str
    fresh: float
    knee: float
    lowest: float
    lowest_at: float


@dataclass(frozen=True)
class Stretch:
    """Minutes that end in a quarter of a drive write: where it ends, mean MiB/s, how many."""

    drive: str
    end: float
    rate: float
    minutes: int


@dataclass(frozen=True)
class Latency:
    """Percentiles in µs of a probe beside writes at a fixed rate, in requests a second."""

    drive: str
    rate: int
    read_p50: float
    read_p99: float
    read_p999: float
    write_p50: float
    write_p99: float


def rows(drive: str) -> list[MeasuredRow]:
    """Return the rates of a drive; a pattern that was measured twice is one row, the mean of both.

    Examples
    --------
    >>> [row.median for row in rows("sk-hynix-pe8110-960gb") if row.pattern == "zipf-0.2"]
    [327.4]
    """
    measured = [
        MeasuredRow(each["drive"], each["pattern"], *(float(each[key]) for key in _FIGURES))
        for each in _read("patterns")
        if each["drive"] == drive
    ]
    return merged(measured)


_FIGURES = ("drive_writes", "median", "p10", "p90", "drift")


def merged(measured: list[MeasuredRow]) -> list[MeasuredRow]:
    """Return one row a pattern, in the order of the first."""
    by_pattern: dict[str, list[MeasuredRow]] = {}
    for row in measured:
        by_pattern.setdefault(row.pattern, []).append(row)
    return [_mean(same) for same in by_pattern.values()]


def _mean(same: list[MeasuredRow]) -> MeasuredRow:
    if len(same) == 1:
        return same[0]
    figures = {key: round(fmean(getattr(row, key) for row in same), 4) for key in _FIGURES}
    return MeasuredRow(same[0].drive, same[0].pattern, **figures)


def transient(drive: str) -> Transient:
    """Return the transient of a drive."""
    (found,) = (each for each in _read("transient") if each["drive"] == drive)
    return Transient(
        drive, *(float(found[key]) for key in ("fresh", "knee", "lowest", "lowest_at"))
    )


def stretch(drive: str, end: float) -> Stretch:
    """Return the stretch of a drive's transient that ends at so many drive writes."""
    (found,) = (
        each
        for each in _read("stretches")
        if (each["drive"], float(each["drive_writes_end"])) == (drive, end)
    )
    return Stretch(drive, end, float(found["mib_per_s"]), int(found["minutes"]))


def latency(drive: str, rate: int) -> Latency:
    """Return the percentiles of a drive at a rate."""
    (found,) = (
        each for each in _read("latency") if (each["drive"], each["rate"]) == (drive, str(rate))
    )
    keys = ("read_p50", "read_p99", "read_p999", "write_p50", "write_p99")
    return Latency(drive, rate, *(float(found[key]) for key in keys))


def _read(name: str) -> Iterator[dict[str, str]]:
    file = resources.files("ssdlab.data").joinpath(f"measured/{name}.csv")
    lines = file.read_text("utf-8").splitlines()
    yield from csv.DictReader(line for line in lines if not line.startswith("#"))
