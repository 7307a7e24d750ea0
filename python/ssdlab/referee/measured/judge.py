"""Judges a replay: each row's difference, the shares that are near enough, what misses.

A row that was fitted to is shown and not counted. A row whose rate drifts by more than a tenth has
no steady rate: it is judged against its p10 to p90, with no difference inside and the distance to
the nearer end outside. Left out: how a replay is run (`replay`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ssdlab.referee.measured.rows import Latency, MeasuredRow, Stretch, Transient
from ssdlab.referee.measured.transient import measured_dip

NEEDED = ((0.07, 0.65), (0.20, 0.85))
"""Within so much of what was measured, at least such a share of the rows."""

DIP_WITHIN = 0.15
LATENCY_WITHIN = {"write_p50": 0.30, "write_p99": 0.30, "read_p99": 0.40}


@dataclass(frozen=True)
class JudgedFigure:
    """A figure beside what was measured.

    Attributes
    ----------
    drive, what
        Which figure.
    measured, model
        Both values, in one unit.
    difference
        Of the model, as a share of what was measured.
    band
        p10 and p90 where they are what is judged; None else.
    fitted
        Whether the profile was fitted to it, so that it is not counted.
    """

    drive: str
    what: str
    measured: float
    model: float
    difference: float
    band: tuple[float, float] | None = None
    fitted: bool = False


def judge_rate(row: MeasuredRow, rate: float) -> JudgedFigure:
    """Judge a pattern's rate.

    Examples
    --------
    >>> drifting = MeasuredRow("d", "never-rewritten 0.8", 7, 360, 300, 400, 1.34)
    >>> judge_rate(drifting, 390).difference, judge_rate(drifting, 440).difference
    (0.0, 0.1)
    """
    if row.drifts:
        nearest = min(max(rate, row.p10), row.p90)
        difference, band = round(rate / nearest - 1, 12), (row.p10, row.p90)
    else:
        difference, band = rate / row.median - 1, None
    return JudgedFigure(row.drive, row.pattern, row.median, rate, difference, band, row.fitted)


def judge_transient(
    measured: Transient,
    quarter: Stretch,
    half: Stretch,
    capacity_bytes: int,
    model: Mapping[str, float],
) -> list[JudgedFigure]:
    """Judge the dip behind the knee, the recovery from it, and the lowest rate published."""
    compared = {
        "dip: minutes behind the fresh ones, to 0.25 drive writes": (
            measured_dip(measured, quarter, capacity_bytes),
            model["dip"],
        ),
        "dip: lowest tenth of a drive write": (measured.lowest, model["lowest_tenth"]),
        "recovery: minutes from 0.25 to 0.5 drive writes": (half.rate, model["recovery"]),
    }
    return [
        JudgedFigure(measured.drive, what, seen, made, made / seen - 1)
        for what, (seen, made) in compared.items()
    ]


def judge_latency(
    measured: Latency, model: Mapping[str, float], fitted: bool
) -> list[JudgedFigure]:
    """Judge the percentiles that are asked for."""
    return [
        JudgedFigure(
            measured.drive,
            f"{key.replace('_', ' ')} at {measured.rate:,} a second",
            getattr(measured, key),
            model[key],
            model[key] / getattr(measured, key) - 1,
            fitted=fitted,
        )
        for key in LATENCY_WITHIN
    ]


def counted(judged: Sequence[JudgedFigure]) -> list[JudgedFigure]:
    """Return the rows that were predicted, each pattern of a drive once."""
    once = {(each.drive, each.what): each for each in judged if not each.fitted}
    return list(once.values())


def share_within(judged: Sequence[JudgedFigure], limit: float) -> float:
    """Return the share of the predicted rows that are near enough."""
    rows = counted(judged)
    return sum(abs(each.difference) <= limit for each in rows) / len(rows) if rows else 0.0


def misses(judged: Sequence[JudgedFigure], limit: float) -> list[JudgedFigure]:
    """Return the predicted rows that are further away."""
    return [each for each in counted(judged) if abs(each.difference) > limit]


def failures(
    rates: Sequence[JudgedFigure], dips: Sequence[JudgedFigure], latencies: Sequence[JudgedFigure]
) -> list[str]:
    """Say what is not met; empty where all is."""
    found = [
        f"{share_within(rates, limit):.0%} of the rows are within {limit:.0%}, not {needed:.0%}"
        for limit, needed in NEEDED
        if share_within(rates, limit) < needed
    ]
    found += [_miss(each, DIP_WITHIN) for each in misses(dips, DIP_WITHIN)]
    for each in counted(latencies):
        limit = LATENCY_WITHIN["_".join(each.what.split()[:2])]
        if abs(each.difference) > limit:
            found.append(_miss(each, limit))
    return found


def _miss(each: JudgedFigure, limit: float) -> str:
    return f"{each.drive}, {each.what}: {each.difference:+.1%}, not within {limit:.0%}"
