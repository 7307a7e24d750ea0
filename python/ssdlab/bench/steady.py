"""Steady state as the standard has it, over the rounds of a window.

    max(y) − min(y)      ≤ 20 % of the average
    |slope| · (n − 1)    ≤ 10 % of the average      (the rise of the least-squares line: n = 5)

Both limits belong to the steady side; y is the tracking variable of a test. Where it is zero
throughout, the drive has done nothing, and that is not steady. Source: SNIA PTS-E 1.1, the
definition of steady state and the pseudo code of the IOPS test (7.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from ssdlab.bench.plan import StopRule


@dataclass(frozen=True)
class Steadiness:
    """How a window is judged, with all that a reader needs to check it.

    Attributes
    ----------
    rounds
        Numbers of the rounds in the window, from 1.
    values
        The tracking variable in them.
    average
        Their mean.
    data_range, allowed_range
        Maximum less minimum, and its limit.
    slope, intercept
        Least-squares line over the position in the window, 0 … n − 1.
    excursion, allowed_excursion
        Rise or fall of that line over the window, and its limit.
    correlation
        Pearson's, of position and value; None where the values do not differ.
    steady
        Both limits hold, and the average is above zero.
    """

    rounds: tuple[int, ...]
    values: tuple[float, ...]
    average: float
    data_range: float
    allowed_range: float
    slope: float
    intercept: float
    excursion: float
    allowed_excursion: float
    correlation: float | None
    steady: bool


def judge(values: Sequence[float], rule: StopRule) -> Steadiness | None:
    """Judge the newest window; None while there are too few rounds.

    Parameters
    ----------
    values
        The tracking variable of every round so far.
    rule
        Window, stride and limits.
    """
    sampled = range(rule.stride - 1, len(values), rule.stride)
    if len(sampled) < rule.window:
        return None
    places = sampled[-rule.window :]
    return _judged(tuple(places), tuple(float(values[place]) for place in places), rule)


def _judged(places: tuple[int, ...], window: tuple[float, ...], rule: StopRule) -> Steadiness:
    average = sum(window) / len(window)
    slope, correlation = _line(window, average)
    data_range = max(window) - min(window)
    excursion = abs(slope) * (len(window) - 1)
    allowed_range = rule.range_share * average
    allowed_excursion = rule.excursion_share * average
    return Steadiness(
        rounds=tuple(place + 1 for place in places),
        values=window,
        average=average,
        data_range=data_range,
        allowed_range=allowed_range,
        slope=slope,
        intercept=average - slope * (len(window) - 1) / 2,
        excursion=excursion,
        allowed_excursion=allowed_excursion,
        correlation=correlation,
        steady=average > 0 and data_range <= allowed_range and excursion <= allowed_excursion,
    )


def _line(window: Sequence[float], average: float) -> tuple[float, float | None]:
    """Slope a round, and the correlation."""
    middle = (len(window) - 1) / 2
    across = sum((x - middle) * (y - average) for x, y in enumerate(window))
    along = sum((x - middle) ** 2 for x in range(len(window)))
    spread = sum((y - average) ** 2 for y in window)
    slope = across / along if along else 0.0
    return slope, across / sqrt(along * spread) if along * spread > 0 else None
