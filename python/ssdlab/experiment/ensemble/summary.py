"""What an ensemble says of a figure: median, 5 to 95 %, and the assumptions that it hangs on.

The interval has two parts: what the draws leave open, and what the model misses of real drives,
where that is known (`ssdlab.experiment.ensemble.model_error`); the median is that of the draws.

The influence of an assumption is Spearman's rank correlation of its place in its range with the
figure, over the draws: +1 where the figure only rises with it, −1 where it only falls. Left out:
what two assumptions do together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ssdlab.experiment.comparison import Metric
from ssdlab.experiment.ensemble import model_error
from ssdlab.experiment.ensemble.draw import Draw

T = TypeVar("T")

LOW, HIGH = 0.05, 0.95
_LEAST_INFLUENCE = 0.3
"""Weaker correlations are not told of: with some dozens of draws they come by chance."""
_MOST_TOLD = 3


@dataclass(frozen=True)
class DrawnFigure:
    """A figure of one job over an ensemble.

    Attributes
    ----------
    job
        Its name.
    metric
        Which figure.
    point
        Of the profile as it is.
    low, high
        5 and 95 %, with the model's own error where it is known.
    median
        Of the draws.
    drawn
        5 and 95 % of the draws alone.
    model_error
        Relative standard deviation at the median; None where it is not known.
    influences
        Rank correlations with each assumption by key, the strongest first.
    draws
        The figure of each draw, in their order; None where it has none.
    """

    job: str
    metric: Metric[Any]
    point: float
    low: float
    median: float
    high: float
    drawn: tuple[float, float]
    model_error: float | None
    influences: dict[str, float]
    draws: tuple[float | None, ...]

    def hangs_on(self) -> dict[str, float]:
        """Return the strongest influences."""
        return strongest(self.influences)

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return {
            "job": self.job,
            "metric": self.metric.key,
            "label": self.metric.label,
            "point": self.point,
            "low": self.low,
            "median": self.median,
            "high": self.high,
            "drawn_low": self.drawn[0],
            "drawn_high": self.drawn[1],
            "model_error": self.model_error,
            "influences": self.influences,
            "draws": list(self.draws),
        }


def strongest(influences: Mapping[str, float]) -> dict[str, float]:
    """Return the influences that are told of, of all, the strongest first."""
    strong = [(key, r) for key, r in influences.items() if abs(r) >= _LEAST_INFLUENCE]
    return dict(strong[:_MOST_TOLD])


def summarise(
    job: str,
    metric: Metric[Any],
    point: float,
    drawn: Sequence[Draw],
    draws: Sequence[float | None],
) -> DrawnFigure:
    """Summarise a figure over its draws, of which one at least has it.

    Parameters
    ----------
    point
        Of the profile as it is.
    drawn
        Where each draw lies in the ranges.
    draws
        Its figure; None where it has none.
    """
    import numpy as np

    values = [(draw, value) for draw, value in zip(drawn, draws, strict=True) if value is not None]
    figures = [value for _, value in values]
    start, median, end = (float(each) for each in np.quantile(figures, [LOW, 0.5, HIGH]))
    low, high = model_error.interval(metric.key, figures, (LOW, HIGH))
    error = model_error.deviation(metric.key, median)
    places = {key: [draw[key] for draw, _ in values] for key in values[0][0]}
    influences = _influences(places, figures)
    ends = (start, end)
    return DrawnFigure(job, metric, point, low, median, high, ends, error, influences, tuple(draws))


def figures(
    job: str,
    metrics: Sequence[Metric[T]],
    point: T,
    drawn: Sequence[Draw],
    of_draws: Sequence[T | None],
) -> list[DrawnFigure]:
    """Summarise all figures that both the profile and a draw have.

    Parameters
    ----------
    job
        What they are of.
    metrics
        Which figures there can be.
    point
        What the profile gave.
    drawn
        Where each draw lies in the ranges.
    of_draws
        What it gave; None where it gave nothing.
    """
    found = []
    for metric in metrics:
        figure = metric.read(point)
        draws = [None if each is None else metric.read(each) for each in of_draws]
        if figure is not None and any(value is not None for value in draws):
            found.append(summarise(job, metric, figure, drawn, draws))
    return found


def _influences(places: Mapping[str, list[float]], figures: Sequence[float]) -> dict[str, float]:
    from scipy.stats import spearmanr

    if len(figures) < 3 or min(figures) == max(figures):
        return {}
    drawn = {key: each for key, each in places.items() if min(each) < max(each)}
    found = {key: float(spearmanr(each, figures).statistic) for key, each in drawn.items()}
    return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))
