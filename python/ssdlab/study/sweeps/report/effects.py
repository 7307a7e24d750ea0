"""Main effects: what a factor does to a figure, in the mean over everything else.

For each level and each seed the figure's mean over all points is taken; over the seeds these have a
mean m and a standard deviation s, and with n seeds the interval is

    m ± t(0.975, n − 1) · s / √n         (Student's t)

A factor with many levels, such as a sampled range, is cut into groups of as many points. Left out:
interactions, which the small multiples show.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.study.sweeps.study import as_text

MOST_LEVELS = 12
_GROUPS = 8


@dataclass(frozen=True)
class Effect:
    """A level's mean.

    Attributes
    ----------
    level
        The level, or the middle of a group of them.
    mean
        Over all points that have it.
    half
        Half of the interval; None with a single seed.
    """

    level: Any
    mean: float
    half: float | None


def effects(rows: Sequence[Mapping[str, Any]], factor: str, figure: str) -> list[Effect]:
    """Return the main effect of a factor on a figure, level by level.

    Examples
    --------
    >>> rows = [{"a": a, "f": a * 10.0 + seed, "seed": seed} for a in (1, 2) for seed in (1, 2, 3)]
    >>> [(each.level, each.mean, round(each.half, 3)) for each in effects(rows, "a", "f")]
    [(1, 12.0, 2.484), (2, 22.0, 2.484)]
    """
    known = [row for row in rows if row[figure] is not None and row[factor] is not None]
    return [
        Effect(level, *_mean([(row["seed"], row[figure]) for row in of_level]))
        for level, of_level in grouped(known, factor)
    ]


def grouped(
    rows: Sequence[Mapping[str, Any]], factor: str
) -> list[tuple[Any, list[Mapping[str, Any]]]]:
    """Return the rows of each level in order; of many levels, groups of them by their middle."""
    values = {row[factor] for row in rows}
    if all(isinstance(value, int | float) for value in values):
        ordered: list[Any] = sorted(values)
    else:
        # Texts stay in the order in which the study has them.
        ordered = list(dict.fromkeys(row[factor] for row in rows))
    if len(ordered) > MOST_LEVELS and not isinstance(ordered[0], str):
        step = math.ceil(len(ordered) / _GROUPS)
        lots = [ordered[at : at + step] for at in range(0, len(ordered), step)]
    else:
        lots = [[value] for value in ordered]
    group_of = {value: number for number, lot in enumerate(lots) for value in lot}
    found: list[list[Mapping[str, Any]]] = [[] for _ in lots]
    for row in rows:
        found[group_of[row[factor]]].append(row)
    return [(lot[len(lot) // 2], of) for lot, of in zip(lots, found, strict=True)]


def label(level: Any) -> str:
    """Write a level for people, without needless digits."""
    return f"{level:.4g}" if isinstance(level, float) else as_text(level)


def _mean(pairs: Sequence[tuple[int, float]]) -> tuple[float, float | None]:
    by_seed: dict[int, list[float]] = {}
    for seed, value in pairs:
        by_seed.setdefault(seed, []).append(value)
    means = [statistics.fmean(values) for values in by_seed.values()]
    if len(means) < 2:
        return means[0], None
    from scipy.stats import t  # here: it takes as long to load as a short run

    half = t.ppf(0.975, len(means) - 1) * statistics.stdev(means) / math.sqrt(len(means))
    return statistics.fmean(means), float(half)
