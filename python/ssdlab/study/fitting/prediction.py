"""How well measurements that were held back are predicted.

The drives of the last wave are draws of the posterior; what they give, each scattered by the
measurement's spread and the model's own error, is the predictive distribution. No emulator has a
part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssdlab.study.fitting.measurement import Measurement
from ssdlab.study.fitting.point import HIGH, LOW
from ssdlab.study.fitting.posterior import MODEL_ERROR
from ssdlab.study.fitting.unknowns import FloatArray

_SCATTERED = 200


@dataclass(frozen=True)
class MeasurementPrediction:
    """A measurement that was held back, and what was expected.

    Attributes
    ----------
    measurement
        Which.
    low, median, high
        5, 50 and 95 % of the predictive distribution.
    """

    measurement: Measurement
    low: float
    median: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether it lies in the 90 % interval."""
        return self.low <= self.measurement.value <= self.high

    @property
    def difference(self) -> float:
        """By how much the expectation differs from what was measured (relative)."""
        return self.median / self.measurement.value - 1


def predict(
    measurement: Measurement, figures: FloatArray, seed: int
) -> MeasurementPrediction | None:
    """Predict a measurement.

    Parameters
    ----------
    measurement
        That was held back.
    figures
        Of the drives of the last wave; NaN for one that gave none.
    seed
        Of the scatter.

    Returns
    -------
    MeasurementPrediction
        None where no drive gave a figure.
    """
    given = figures[np.isfinite(figures)]
    if len(given) == 0:
        return None
    scatter = np.hypot(measurement.spread, MODEL_ERROR)
    chance = np.random.default_rng(seed).normal(0.0, scatter, (_SCATTERED, len(given)))
    low, median, high = np.quantile(given * np.exp(chance), [LOW, 0.5, HIGH])
    return MeasurementPrediction(measurement, float(low), float(median), float(high))
