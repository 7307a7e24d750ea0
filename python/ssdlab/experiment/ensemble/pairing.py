"""Ensembles compared draw by draw: draw k assumes alike on both sides, so ratios are taken of it.

    rₖ = bₖ / aₖ        the median and 5 to 95 % of these are shown

Beside it stands how wide the ratio would be if the draws were independent: the 5 to 95 % of bⱼ / aₖ
over all j and k. Both hold the model's own error as `ssdlab.experiment.ensemble.model_error` has
it: the paired ratio once, as in `ssdlab reproduce`; the independent one for each of its terms.
Left out: figures that are not positive, which have no ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab.experiment.ensemble import model_error
from ssdlab.experiment.ensemble.document import Arm, EnsembleFigure
from ssdlab.experiment.ensemble.summary import HIGH, LOW
from ssdlab.ground.errors import SsdlabError

HEADINGS = (
    "job",
    "figure",
    "baseline",
    "here",
    "ratio",
    "draws: 5 to 95 %",
    "with model error",
    "if independent",
    "draws",
)
"""Over `cells`."""
_MOST = 64
"""Of more figures, so many quantiles stand for them where all are held against all."""
_Ends = tuple[float, float]


@dataclass(frozen=True)
class PairedFigure:
    """A figure of a job on one side, against the baseline.

    Attributes
    ----------
    arm, job, metric, label
        Of what.
    baseline, value
        Medians over the draws that both have.
    baseline_shown, value_shown
        The same for people.
    pairs
        How many draws both have.
    point
        The ratio of the profiles as they are.
    low, median, high
        Of the ratio, draw by draw; the ends hold the model's own error where it is known.
    drawn
        5 and 95 % of the draws alone.
    independent
        5 and 95 % if the draws were independent, with the model's own error of both terms.
    """

    arm: str
    job: str
    metric: str
    label: str
    baseline: float
    value: float
    baseline_shown: str
    value_shown: str
    pairs: int
    point: float
    low: float
    median: float
    high: float
    drawn: _Ends
    independent: _Ends

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        told = asdict(self)
        return {key: value for key, value in told.items() if not key.endswith("_shown")}


@dataclass(frozen=True)
class Pairing:
    """What `compare` found: the arms (the first is the baseline), rows, remarks."""

    arms: list[str]
    seed: int
    rows: list[PairedFigure]
    remarks: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "baseline": self.arms[0],
            "arms": self.arms[1:],
            "ensemble": {"seed": self.seed, "interval": [LOW, HIGH]},
            "rows": [row.to_dict() for row in self.rows],
            "remarks": self.remarks,
        }


def compare(arms: Sequence[Arm]) -> Pairing:
    """Compare ensembles with the first of them.

    Raises
    ------
    SsdlabError
        There is nothing to compare, the draws have other seeds, or no figure is common.
    """
    if len(arms) < 2:
        raise SsdlabError("nothing to compare with: give two results, or one with several drives")
    baseline, others = arms[0], arms[1:]
    for each in others:
        if each.seed != baseline.seed:
            raise SsdlabError(
                f"{each.name}: drawn by seed {each.seed}, and {baseline.name} by seed "
                f"{baseline.seed}: no draw is common to both\nrun both with the same --seed"
            )
    rows = [row for arm in others for row in _rows(baseline, arm)]
    if not rows:
        told = "; ".join(f"{arm.name}: {', '.join(_jobs(arm))}" for arm in arms)
        raise SsdlabError(f"no job of the same name to compare: {told}")
    return Pairing([arm.name for arm in arms], baseline.seed, rows, _remarks(baseline, others))


def cells(row: PairedFigure) -> tuple[str, ...]:
    """Return a row for people: medians, the ratio's interval, and that of independent draws."""
    return (
        row.job,
        row.label,
        row.baseline_shown,
        row.value_shown,
        f"{row.median:.3f}",
        _told(row.drawn),
        "–" if (row.low, row.high) == row.drawn else _told((row.low, row.high)),
        _told(row.independent),
        str(row.pairs),
    )


def _told(ends: _Ends) -> str:
    return f"{ends[0]:.3f} … {ends[1]:.3f}"


def _jobs(arm: Arm) -> list[str]:
    return list(dict.fromkeys(each.job for each in arm.figures))


def _rows(baseline: Arm, arm: Arm) -> list[PairedFigure]:
    theirs = _by_place(arm)
    pairs = [
        (each, theirs[place]) for place, each in _by_place(baseline).items() if place in theirs
    ]
    found = [_row(arm.name, one, other) for one, other in pairs]
    return [row for row in found if row is not None]


def _by_place(arm: Arm) -> dict[tuple[str, str, int], EnsembleFigure]:
    """Return figures by job and metric; clones of a job come in their order."""
    found: dict[tuple[str, str, int], EnsembleFigure] = {}
    for each in arm.figures:
        number = sum((each.job, each.metric) == place[:2] for place in found)
        found[each.job, each.metric, number] = each
    return found


def _row(arm: str, one: EnsembleFigure, other: EnsembleFigure) -> PairedFigure | None:
    # Those of the shorter ensemble are the first of the longer one.
    both = [
        (a, b)
        for a, b in zip(one.draws, other.draws, strict=False)
        if a is not None and b is not None
    ]
    if not both or min(one.point, other.point, *(min(pair) for pair in both)) <= 0:
        return None
    before, after = ([pair[side] for pair in both] for side in (0, 1))
    (middle_before,), (middle_after,) = _quantiles(before, [0.5]), _quantiles(after, [0.5])
    ratios = [b / a for a, b in both]
    (median,) = _quantiles(ratios, [0.5])
    start, end = model_error.quantiles(ratios, [0.0] * len(ratios), (LOW, HIGH))
    errors = [max(_error(one.metric, a), _error(one.metric, b)) for a, b in both]
    low, high = model_error.quantiles(ratios, errors, (LOW, HIGH))
    return PairedFigure(
        arm,
        one.job,
        one.metric,
        one.label,
        baseline=middle_before,
        value=middle_after,
        baseline_shown=one.show(middle_before),
        value_shown=one.show(middle_after),
        pairs=len(both),
        point=other.point / one.point,
        low=low,
        median=median,
        high=high,
        drawn=(start, end),
        independent=_independent(one.metric, before, after),
    )


def _error(metric: str, value: float) -> float:
    return model_error.deviation(metric, value) or 0.0


def _independent(metric: str, before: Sequence[float], after: Sequence[float]) -> _Ends:
    """Return 5 and 95 % of the ratio of every figure to every other."""
    pairs = [(a, b) for a in _few(before) for b in _few(after)]
    errors = [math.hypot(_error(metric, a), _error(metric, b)) for a, b in pairs]
    low, high = model_error.quantiles([b / a for a, b in pairs], errors, (LOW, HIGH))
    return low, high


def _few(values: Sequence[float]) -> list[float]:
    if len(values) <= _MOST:
        return list(values)
    return _quantiles(values, [(step + 0.5) / _MOST for step in range(_MOST)])


def _quantiles(values: Sequence[float], levels: Sequence[float]) -> list[float]:
    import numpy as np

    return [float(each) for each in np.quantile(values, levels)]


def _remarks(baseline: Arm, others: Sequence[Arm]) -> list[str]:
    found = []
    for arm in others:
        common, theirs = _jobs(baseline), _jobs(arm)
        for job in sorted(set(common) ^ set(theirs)):
            only = baseline.name if job in common else arm.name
            found.append(f"job {job} is only in {only}: not compared")
    return found
