"""What an ensemble says of a figure: median, 5 to 95 %, and the assumptions that it hangs on.

The interval has two parts: what the draws leave open, and what the model misses of real drives,
where that is known (`ssdlab.ensemble.model_error`); the median is that of the draws.

The influence of an assumption is Spearman's rank correlation of its place in its range with the
figure, over the draws: +1 where the figure only rises with it, −1 where it only falls. Left out:
what two assumptions do together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.comparison import Metric
from ssdlab.ensemble import model_error
from ssdlab.ensemble.draw import Draw

LOW, HIGH = 0.05, 0.95
_LEAST_INFLUENCE = 0.3
"""Weaker correlations are not told of: with some dozens of draws they come by chance."""
_MOST_TOLD = 3


@dataclass(frozen=True)
class Figure:
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
    """

    job: str
    metric: Metric
    point: float
    low: float
    median: float
    high: float
    drawn: tuple[float, float]
    model_error: float | None
    influences: dict[str, float]

    def hangs_on(self) -> dict[str, float]:
        """Return the strongest influences."""
        strong = [(key, r) for key, r in self.influences.items() if abs(r) >= _LEAST_INFLUENCE]
        return dict(strong[:_MOST_TOLD])

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return {
            "job": self.job,
            "metric": self.metric.key,
            "point": self.point,
            "low": self.low,
            "median": self.median,
            "high": self.high,
            "drawn_low": self.drawn[0],
            "drawn_high": self.drawn[1],
            "model_error": self.model_error,
            "influences": self.influences,
        }


def summarise(
    job: str, metric: Metric, point: float, values: Sequence[tuple[Draw, float]]
) -> Figure:
    """Summarise a figure over its draws, of which there is at least one."""
    import numpy as np

    figures = [value for _, value in values]
    start, median, end = (float(each) for each in np.quantile(figures, [LOW, 0.5, HIGH]))
    low, high = model_error.interval(metric.key, figures, (LOW, HIGH))
    error = model_error.deviation(metric.key, median)
    places = {key: [draw[key] for draw, _ in values] for key in values[0][0]}
    influences = _influences(places, figures)
    return Figure(job, metric, point, low, median, high, (start, end), error, influences)


def _influences(places: Mapping[str, list[float]], figures: Sequence[float]) -> dict[str, float]:
    from scipy.stats import spearmanr

    if len(figures) < 3 or min(figures) == max(figures):
        return {}
    drawn = {key: each for key, each in places.items() if min(each) < max(each)}
    found = {key: float(spearmanr(each, figures).statistic) for key, each in drawn.items()}
    return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))
