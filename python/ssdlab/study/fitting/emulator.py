"""An emulator: a figure at places that were not run, from those that were.

The logarithm of a figure is taken as a Gaussian process over the places x with the Matérn kernel of
order 5/2 and a length for each unknown (Rasmussen and Williams, Gaussian Processes for Machine
Learning, 2006, chapters 2, 4 and 5):

    k(x, x') = s²·(1 + √5·r + 5/3·r²)·exp(−√5·r),   r² = Σ ((xᵢ − xᵢ')/lᵢ)²

plus a nugget n² for the chance within a run. The s, l and n are those of the largest marginal
likelihood, with a penalty Σ 1/lᵢ, so that what does not matter has a great length. The variance is
stretched by what leaving out each run in turn shows. Left out: jumps, other than between steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from ssdlab.study.fitting.unknowns import FloatArray

_ROOT5 = math.sqrt(5.0)
_LENGTHS = (math.log(0.1), math.log(100.0))
_SCALES = (math.log(0.05), math.log(20.0))
_NUGGETS = (math.log(1e-3), math.log(1.0))
_PENALTY = 4.0
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True)
class Emulator:
    """A figure over the places.

    Attributes
    ----------
    features
        Of the runs, a row each.
    lengths
        Of each unknown.
    scale, nugget
        Standard deviations s and n, in units of `spread`.
    mean, spread
        Of the figure's logarithm over the runs.
    weights, inverse
        K⁻¹·y and K⁻¹, K the kernel's matrix of the runs.
    stretch
        What the variance is multiplied by.
    """

    features: FloatArray
    lengths: FloatArray
    scale: float
    nugget: float
    mean: float
    spread: float
    weights: FloatArray
    inverse: FloatArray
    stretch: float

    def predict(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the logarithm of the figure that a run there would give."""
        near = self.scale**2 * _matern(_distances(features, self.features, self.lengths))
        mean = near @ self.weights
        known = np.einsum("ij,ij->i", near @ self.inverse, near)
        variance = np.maximum(self.scale**2 - known, 0.0) + self.nugget**2
        return self.mean + self.spread * mean, self.spread**2 * self.stretch * variance


def fit_emulator(features: FloatArray, figures: FloatArray) -> Emulator:
    """Fit an emulator to runs.

    Parameters
    ----------
    features
        A row a run.
    figures
        Their logarithms; NaN for a run that gave none.
    """
    ran = np.isfinite(figures)
    features, figures = features[ran], figures[ran]
    mean, spread = float(figures.mean()), max(float(figures.std()), _LEAST_SPREAD)
    wanted = (figures - mean) / spread
    count = features.shape[1]
    found = minimize(
        _cost,
        np.array([*np.full(count, math.log(3.0)), 0.0, math.log(0.1)]),
        args=(wanted, (features[:, None, :] - features[None, :, :]) ** 2),
        jac=True,
        method="L-BFGS-B",
        bounds=[_LENGTHS] * count + [_SCALES, _NUGGETS],
        options={"maxiter": 100},
    ).x
    lengths, scale, nugget = np.exp(found[:-2]), math.exp(found[-2]), math.exp(found[-1])
    kernel = scale**2 * _matern(_distances(features, features, lengths))
    inverse = np.asarray(np.linalg.inv(kernel + nugget**2 * np.eye(len(wanted))), float)
    weights = inverse @ wanted
    # Leaving out run i: the residual is weights[i] / inverse[i, i], its variance 1 / inverse[i, i].
    stretch = max(float(np.mean(weights**2 / np.diag(inverse))), 1.0)
    return Emulator(features, lengths, scale, nugget, mean, spread, weights, inverse, stretch)


def _distances(one: FloatArray, other: FloatArray, lengths: FloatArray) -> FloatArray:
    one, other = one / lengths, other / lengths
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1)[None, :] - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)), float)


def _matern(distance: FloatArray) -> FloatArray:
    return np.asarray((1 + _ROOT5 * distance + 5 / 3 * distance**2) * np.exp(-_ROOT5 * distance))


def _cost(logs: FloatArray, wanted: FloatArray, squares: FloatArray) -> tuple[float, FloatArray]:
    """Return the negative logarithm of the marginal likelihood with its penalty, and the slope."""
    lengths, scale, nugget = np.exp(logs[:-2]), math.exp(logs[-2]), math.exp(logs[-1])
    distance = np.sqrt(squares @ lengths**-2)
    kernel = scale**2 * _matern(distance)
    noise = nugget**2 * np.eye(len(wanted))
    factor = cho_factor(kernel + noise, lower=True)
    weights = cho_solve(factor, wanted)
    inverse = cho_solve(factor, np.eye(len(wanted)))
    cost = 0.5 * wanted @ weights + float(np.log(np.diag(factor[0])).sum())
    outer = inverse - np.outer(weights, weights)
    by_length = scale**2 * 5 / 3 * (1 + _ROOT5 * distance) * np.exp(-_ROOT5 * distance)
    slopes = 0.5 * np.tensordot(outer * by_length, squares, 2) * lengths**-2
    slope = [
        *(slopes - _PENALTY / lengths),
        float((outer * kernel).sum()),
        float(np.trace(outer)) * nugget**2,
    ]
    return cost + _PENALTY * float((1 / lengths).sum()), np.array(slope)
