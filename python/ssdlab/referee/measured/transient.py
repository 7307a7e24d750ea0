"""The transient of uniform writes behind a sequential fill, minute by minute.

The drive writes at its fresh rate up to the knee, then collects blocks that are all nearly full,
and recovers. A minute belongs to the stretch of drive writes in which it ends. With *n* minutes of
mean *m* in the first quarter of a drive write, of which *k* passed at the fresh rate *f*::

    k = whole minutes of the knee at the fresh rate
    dip = (n m - k f) / (n - k)                        what the minutes behind those come to
    lowest tenth = the least mean of a tenth of a drive write

The least *minute* is not published. The published lowest rates (298, 210 and 174 MiB/s) are not it,
though they were taken for it: up to a quarter of a drive write the minutes behind the fresh ones
have a mean of 280, 197 and 133 MiB/s. They fit as means of tenths, which their places (0.3, 0.2 and
0.3 drive writes) suggest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from ssdlab.engine.series import Series
from ssdlab.experiment.kept import Figures
from ssdlab.referee.measured.rows import Stretch, Transient

_MIB = 1 << 20
MINUTE_S = 60
QUARTER, HALF = 0.25, 0.5
"""Ends of the first two stretches, in drive writes."""
_TENTHS = 10


@dataclass(frozen=True)
class Minute:
    """Drive writes at its end, and its rate in MiB/s."""

    end: float
    rate: float


def minutes(series: Series, parts: int, capacity_bytes: int) -> list[Minute]:
    """Return the minutes of a slice's run, as those of the whole drive.

    Parameters
    ----------
    capacity_bytes
        Of the slice, of which there are `parts`.
    """
    step = series.times_s[1] - series.times_s[0]
    done = np.concatenate([[0.0], np.cumsum(series.bytes_done)])
    times = np.arange(len(done)) * step
    ends = np.arange(0, times[-1], MINUTE_S)
    written = np.interp(ends, times, done)
    rates = np.diff(written) * parts / MINUTE_S / _MIB
    return [
        Minute(float(end / capacity_bytes), float(rate))
        for end, rate in zip(written[1:], rates, strict=True)
    ]


def mean_between(every: Sequence[Minute], first: float, last: float) -> float:
    """Return the mean rate of the minutes that end behind `first` and not behind `last`.

    It is infinite where none does: a fresh drive may write more than a tenth of itself in a minute.
    """
    found = [each.rate for each in every if first < each.end <= last]
    return fmean(found) if found else math.inf


def fresh_minutes(transient: Transient, capacity_bytes: int) -> int:
    """Return how many whole minutes a drive of this capacity writes at its fresh rate.

    Examples
    --------
    >>> fresh_minutes(Transient("wd", 1030.0, 0.1369, 174.0, 0.3), 960197124096)
    2
    """
    return int(transient.knee * capacity_bytes / (transient.fresh * _MIB * MINUTE_S))


def measured_dip(transient: Transient, quarter: Stretch, capacity_bytes: int) -> float:
    """Return the mean rate of the minutes behind the fresh ones, up to a quarter of a drive write.

    Examples
    --------
    By hand: of 14 minutes with a mean of 261.3 two passed at 1030 MiB/s.

    >>> wd = Transient("wd", 1030.0, 0.1369, 174.0, 0.3)
    >>> round(measured_dip(wd, Stretch("wd", 0.25, 261.3, 14), 960197124096), 1)
    133.2
    """
    fresh = fresh_minutes(transient, capacity_bytes)
    behind = quarter.rate * quarter.minutes - fresh * transient.fresh
    return behind / (quarter.minutes - fresh)


def figures(every: Sequence[Minute], fresh: int) -> Figures:
    """Return what is judged of a run's minutes, of which so many are fresh: rates in MiB/s."""
    tenths = [(tenth / _TENTHS, (tenth + 1) / _TENTHS) for tenth in range(int(HALF * _TENTHS))]
    return {
        "dip": mean_between(every[fresh:], 0, QUARTER),
        "recovery": mean_between(every, QUARTER, HALF),
        "lowest_tenth": min(mean_between(every, *tenth) for tenth in tenths),
    }
