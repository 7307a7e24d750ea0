"""One drive of the posterior, near the base profile.

A number is determined where the posterior's 90 % interval is less than half as long as the range's,
or, of a number with choices, where nine tenths of the posterior make the same. What is not
determined keeps the base profile's value; the others are those of the largest likelihood then, with
a weak pull to the base, within the posterior's 90 %. Where that agrees clearly worse than the best
drive of all, only a combination of numbers is determined: one more is freed, that which helps most,
and so on, as long as it helps. Left out: several drives that agree as well, of which this is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import differential_evolution

from ssdlab.study.fitting.posterior import Likelihood
from ssdlab.study.fitting.unknowns import FloatArray, Unknown

Flags = npt.NDArray[np.bool_]

LOW, HIGH = 0.05, 0.95
_MOST_LENGTH = 0.5
_LEAST_SHARE = 0.9
_WORSE = 0.5
"""By how much the logarithm of the likelihood may be below that of the best drive."""
_LEAST_GAIN = 0.1
"""By how much freeing one more number has to raise it, or none is freed any more."""
_PULL = 0.5
"""Of a place that is one from the base: less than what a measurement says."""
_LEAST_LENGTH = 1e-6
_BEGINNERS = 48
_GENERATIONS = 60


@dataclass(frozen=True)
class Estimate:
    """What is known of one unknown.

    Attributes
    ----------
    unknown
        Which.
    place
        The fitted drive's.
    low, high
        5 and 95 % of the posterior.
    determined
        By itself.
    freed
        Fitted with others, of which only a combination is determined.
    """

    unknown: Unknown
    place: float
    low: float
    high: float
    determined: bool
    freed: bool

    @property
    def fitted(self) -> bool:
        """Whether its value comes of the measurements."""
        return self.determined or self.freed


@dataclass(frozen=True)
class FittedDrive:
    """The fitted drive.

    Attributes
    ----------
    estimates
        Of each unknown.
    best
        Places of the largest likelihood, whatever is determined.
    """

    estimates: tuple[Estimate, ...]
    best: FloatArray

    @property
    def places(self) -> FloatArray:
        """Return the fitted drive's places."""
        return np.array([each.place for each in self.estimates])

    @property
    def kept(self) -> list[bool]:
        """Return which unknowns keep the base profile's values."""
        return [not each.fitted for each in self.estimates]


def point_of(likelihood: Likelihood, posterior: FloatArray, seed: int) -> FittedDrive:
    """Choose the drive.

    Parameters
    ----------
    likelihood
        Of places.
    posterior
        Places that agree, a row each.
    seed
        The one source of chance.
    """
    space = likelihood.space
    known = np.array(
        [
            is_determined(unknown, posterior[:, column])
            for column, unknown in enumerate(space.unknowns)
        ]
    )
    best = _best(likelihood, posterior, np.ones(len(known), bool), seed)
    wanted = _log(likelihood, best) - _WORSE
    free = known.copy()
    places = _best(likelihood, posterior, free, seed)
    while _log(likelihood, places) < wanted and not free.all():
        freer = free.copy()
        freer[_most_helpful(likelihood, posterior, free)] = True
        tried = _best(likelihood, posterior, freer, seed)
        if _log(likelihood, tried) < _log(likelihood, places) + _LEAST_GAIN:
            break
        free, places = freer, tried
    lows, highs = np.quantile(posterior, [LOW, HIGH], axis=0)
    estimates = tuple(
        Estimate(
            unknown,
            float(places[column]),
            float(lows[column]),
            float(highs[column]),
            bool(known[column]),
            bool(free[column] and not known[column]),
        )
        for column, unknown in enumerate(space.unknowns)
    )
    return FittedDrive(estimates, best)


def _log(likelihood: Likelihood, places: FloatArray) -> float:
    return float(likelihood.log(places[None, :])[0])


def is_determined(unknown: Unknown, places: FloatArray) -> bool:
    """Tell whether places of the posterior determine an unknown."""
    if unknown.steps is not None:
        steps = np.minimum((places * unknown.steps).astype(int), unknown.steps - 1)
        return bool(np.bincount(steps).max() >= _LEAST_SHARE * len(places))
    low, high = np.quantile(places, [LOW, HIGH])
    return bool(high - low < _MOST_LENGTH * (HIGH - LOW))


def _best(likelihood: Likelihood, posterior: FloatArray, free: Flags, seed: int) -> FloatArray:
    """Return the places of the largest likelihood with the others at the base."""
    columns = np.flatnonzero(free)
    base = likelihood.space.base
    if len(columns) == 0:
        return base

    def whole(some: FloatArray) -> FloatArray:
        places = np.tile(base, (some.shape[1], 1))
        places[:, columns] = some.T
        return places

    def cost(some: FloatArray) -> FloatArray:
        places = whole(some)
        return np.asarray(-likelihood.log(places) + _PULL * ((places - base) ** 2).sum(axis=1))

    begun = posterior[:, columns]
    begun = begun[np.argsort(cost(begun.T))[:_BEGINNERS]]
    lows, highs = np.quantile(posterior[:, columns], [LOW, HIGH], axis=0)
    highs = np.maximum(highs, lows + _LEAST_LENGTH)
    found = differential_evolution(
        cost,
        list(zip(lows, highs, strict=True)),
        init=np.clip(begun, lows, highs),
        maxiter=_GENERATIONS,
        vectorized=True,
        updating="deferred",
        polish=False,
        seed=seed,
    )
    return np.asarray(whole(found.x[:, None])[0])


def _most_helpful(likelihood: Likelihood, posterior: FloatArray, free: Flags) -> int:
    """Return which unknown lets the drive agree most when it is freed too."""
    base = likelihood.space.base

    def reached(column: int) -> float:
        places = np.where(free | (np.arange(len(free)) == column), posterior, base)
        return float(likelihood.log(places).max())

    return int(max(np.flatnonzero(~free), key=reached))
