"""The posterior: places from 0 to 1, evenly likely before, that agree with the measurements.

A measurement's logarithm y is Student-t about the emulator's mean m(x), with 4 degrees of freedom,
so that an outlier pulls little:

    z = (y − m(x)) / s(x),   s² = spread² + the model's own error² + the emulator's variance

Sampled is by sequential Monte Carlo (Del Moral, Doucet and Jasra, J. R. Stat. Soc. B 68, 2006): a
population goes from the prior to the posterior by powers of the likelihood, resampled at each, and
moved by differences of two of its members (ter Braak, Stat. Comput. 16, 2006) or by drawing one
place anew. Left out: errors that measurements share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from ssdlab.study.fitting.emulator import Emulator
from ssdlab.study.fitting.unknowns import FloatArray, Space

MODEL_ERROR = 0.015
"""What smaller drives, and all that a simulator leaves out, may miss (relative)."""
_FREEDOM = 4.0
_POPULATION = 1024
_MOVES = 6
_LAST_MOVES = 24
_KEPT = 0.5
"""Share of the population that is as good as kept from one power to the next."""
_MOST_POWERS = 60


@dataclass(frozen=True)
class Likelihood:
    """How well places agree with what was measured.

    Attributes
    ----------
    space
        Of the places.
    emulators
        One a measurement.
    measured
        Logarithms of the values.
    spreads
        Their relative standard deviations.
    """

    space: Space
    emulators: Sequence[Emulator]
    measured: FloatArray
    spreads: FloatArray

    def residuals(self, places: FloatArray) -> FloatArray:
        """Return z: a row a drive, a column a measurement."""
        return self._residuals(places)[0]

    def expected(self, places: FloatArray) -> FloatArray:
        """Return what each measurement would be on one drive."""
        features = self.space.features(places[None, :])
        return np.exp([float(each.predict(features)[0][0]) for each in self.emulators])

    def log(self, places: FloatArray) -> FloatArray:
        """Return the logarithm of the likelihood, up to a constant."""
        residuals, scales = self._residuals(places)
        return np.asarray(log_student(residuals * scales, scales).sum(axis=1))

    def scales(self) -> FloatArray:
        """Return the scale of each measurement about a drive that was run."""
        return np.sqrt(self.spreads**2 + MODEL_ERROR**2)

    def _residuals(self, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        features = self.space.features(places)
        found = [emulator.predict(features) for emulator in self.emulators]
        means = np.stack([mean for mean, _ in found], axis=1)
        variances = np.stack([variance for _, variance in found], axis=1)
        scales = np.sqrt(self.spreads**2 + MODEL_ERROR**2 + variances)
        return (self.measured - means) / scales, scales


def log_student(differences: FloatArray, scales: FloatArray) -> FloatArray:
    """Return the logarithms of Student-t densities, up to a constant."""
    residuals = differences / scales
    return np.asarray(
        -np.log(scales) - (_FREEDOM + 1) / 2 * np.log1p(residuals**2 / _FREEDOM), float
    )


def sample(likelihood: Likelihood, seed: int, population: int = _POPULATION) -> FloatArray:
    """Return places of the posterior, a row each.

    Parameters
    ----------
    likelihood
        Of places.
    seed
        The one source of chance.
    population
        How many.
    """
    chance = np.random.default_rng(seed)
    places = likelihood.space.sobol(population, seed)
    logs = likelihood.log(places)
    power = 0.0
    for _ in range(_MOST_POWERS):
        step = _step(logs, power)
        chosen = _resampled(np.exp(step * (logs - logs.max())), chance)
        places, logs, power = places[chosen], logs[chosen], power + step
        for _ in range(_LAST_MOVES if power >= 1 else _MOVES):
            places, logs = _moved(likelihood, places, logs, power, chance)
        if power >= 1:
            break
    return places


def _step(logs: FloatArray, power: float) -> float:
    """Return by how much the power may rise; halved until the population stays good enough."""
    step = 1.0 - power
    while _as_good_as(np.exp(step * (logs - logs.max()))) < _KEPT and step > 1e-6:
        step *= 0.7
    return step


def _as_good_as(weights: FloatArray) -> float:
    """Return the share of equal members that is as good as these weighted ones (ESS)."""
    return float(weights.sum() ** 2 / (weights**2).sum() / len(weights))


def _resampled(weights: FloatArray, chance: Generator) -> npt.NDArray[np.intp]:
    """Choose members by weight, at even distances."""
    count = len(weights)
    marks = (np.arange(count) + chance.random()) / count
    return np.minimum(np.searchsorted(np.cumsum(weights / weights.sum()), marks), count - 1)


def _moved(
    likelihood: Likelihood, places: FloatArray, logs: FloatArray, power: float, chance: Generator
) -> tuple[FloatArray, FloatArray]:
    """Propose a move for each member, and take it by Metropolis's rule."""
    proposed = np.where(
        chance.random(len(places))[:, None] < 0.6,
        _by_differences(places, chance),
        _by_drawing_one(places, chance),
    )
    proposed_logs = likelihood.log(proposed)
    taken = np.log(chance.random(len(places))) < power * (proposed_logs - logs)
    return np.where(taken[:, None], proposed, places), np.where(taken, proposed_logs, logs)


def _by_differences(places: FloatArray, chance: Generator) -> FloatArray:
    count, unknowns = places.shape
    one, other = places[chance.permutation(count)], places[chance.permutation(count)]
    moves = chance.random((count, unknowns)) < chance.choice([0.2, 0.5, 1.0], (count, 1))
    reach = 2.38 / np.sqrt(2 * np.maximum(moves.sum(axis=1, keepdims=True), 1))
    # Now and then the whole difference, which leads from one mode to another.
    reach = np.where(chance.random((count, 1)) < 0.1, 1.0, reach)
    jitter = chance.normal(0.0, 1e-3, places.shape)
    return _reflected(places + moves * (reach * (one - other) + jitter))


def _by_drawing_one(places: FloatArray, chance: Generator) -> FloatArray:
    drawn = places.copy()
    rows = np.arange(len(places))
    drawn[rows, chance.integers(places.shape[1], size=len(places))] = chance.random(len(places))
    return drawn


def _reflected(places: FloatArray) -> FloatArray:
    """Fold what left the range back into it, which keeps moves as likely as their reverse."""
    folded = np.mod(places, 2.0)
    return np.where(folded > 1, 2 - folded, folded)
