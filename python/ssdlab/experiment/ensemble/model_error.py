"""The model's own error: what it misses of a real drive, whatever its numbers are.

    the drive's figure = the model's figure · f,    f normal, mean 1, standard deviation s

s is 10.4 % for a **rate**: the root mean square of ln(model / measured) over the predicted rates of
docs/explanation/validation.md, Measured drives, before the buffer's reach was fitted; since then it
is 9.6 %, and intervals keep the wider one until all rows have been run anew. It was seen in random
writes of three drives, and stands for other rates too, as in `ssdlab reproduce`.

Of **write amplification** A it is min(s, 1 − 1/A). A write takes a + b·c there, with c copies for
each write, A = 1 + c, and b ≥ a, since a copy is read as well; so what shifts the rate by a share
shifts A by that share at most, and copies cannot be wrong by more than all of them. TBW and years
go as 1/A, and share its error.

Of **latencies** it is not known: six 99th percentiles were predicted of three drives, and missed by
−22 to +14 % (the same section), which is too few. They are left without it.
Left out: that a missing mechanism makes errors which are not normal, nor alike for all loads.
Commands load this module for its constants; statistics, which takes long to load, where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

MODEL_ERROR = 0.104
"""Standard deviation of a rate."""
LEFT_OUT = "those of latencies do not, since too few were measured to know it"
"""What has to be said beside intervals of latencies."""

_RATES = ("iops", "bytes_per_second")
_AMPLIFICATION = "write_amplification"
_STEPS = 201


def deviation(figure: str, value: float) -> float | None:
    """Return the model's relative error of a figure; None where it is not known.

    Parameters
    ----------
    figure
        A key of `ssdlab.experiment.comparison`: iops, bytes_per_second, write_amplification, …
    value
        The figure.

    Examples
    --------
    >>> deviation("iops", 3000.0), deviation("write_amplification", 3.0), deviation("p99_ns", 1.0)
    (0.104, 0.104, None)
    >>> deviation("write_amplification", 1.0)
    0.0
    """
    if figure in _RATES:
        return MODEL_ERROR
    if figure == _AMPLIFICATION:
        return min(MODEL_ERROR, max(0.0, 1 - 1 / value)) if value > 0 else 0.0
    return None


def quantiles(
    values: Sequence[float],
    deviations: Sequence[float],
    levels: Sequence[float],
    *,
    least: float = 0.0,
) -> list[float]:
    """Return quantiles of values of which each stands for a normal distribution around it.

    Parameters
    ----------
    values
        At least one.
    deviations
        The relative standard deviation of each.
    levels
        From 0 to 1.
    least
        What no figure can lie below.

    Examples
    --------
    >>> [round(each, 3) for each in quantiles([10.0], [0.1], [0.05, 0.5])]
    [8.355, 10.0]
    """
    from statistics import NormalDist

    import numpy as np

    normal = NormalDist()
    places = np.array([normal.inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS)])
    factors = 1 + np.outer(np.asarray(deviations, dtype=float), places)
    mixed = np.asarray(values, dtype=float)[:, None] * factors
    # Hazen's places are those of the steps: the middle of each share.
    found = np.quantile(np.maximum(mixed, least), levels, method="hazen")
    return [float(each) for each in found]


def interval(figure: str, values: Sequence[float], levels: Sequence[float]) -> list[float]:
    """Return quantiles of the draws' figures, with the model's own error where it is known.

    Parameters
    ----------
    figure, values
        As for `deviation`; a value a draw, at least one.
    levels
        From 0 to 1.
    """
    found = [deviation(figure, value) or 0.0 for value in values]
    # The least bytes that can be programmed for a byte, but where the drive compresses.
    least = min(1.0, *values) if figure == _AMPLIFICATION else 0.0
    return quantiles(values, found, levels, least=least)
