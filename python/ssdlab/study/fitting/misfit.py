"""Outliers, and drives that no places explain.

The best drive's residuals z are looked at. Up to a fifth of the measurements may be outliers: those
with |z| above 4. Of the rest, Σ z² is compared with the chi-square distribution of as many degrees
of freedom; beyond its quantile of 99.9 % the drive is not explained. That is lenient: fitting takes
degrees away, so that few measurements explain themselves whatever they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.measurement import Measurement
from ssdlab.study.fitting.unknowns import FloatArray

OUTLYING = 4.0
_MOST_OUTLIERS = 0.2
_SURE = 0.999


@dataclass(frozen=True)
class Misfit:
    """How badly the best drive agrees.

    Attributes
    ----------
    residuals
        z of each measurement.
    outliers
        Whether each is one.
    sum_of_squares, limit
        Of the others, and what it may be.
    """

    residuals: FloatArray
    outliers: tuple[bool, ...]
    sum_of_squares: float
    limit: float

    @property
    def unexplained(self) -> bool:
        """Whether no drive of the ranges agrees."""
        return self.sum_of_squares > self.limit


def misfit_of(residuals: FloatArray) -> Misfit:
    """Judge the residuals of the best drive.

    Examples
    --------
    >>> judged = misfit_of(np.array([0.5, -1.0, 9.0, 1.0, 0.2]))
    >>> judged.outliers, judged.unexplained
    ((False, False, True, False, False), False)
    """
    most = int(_MOST_OUTLIERS * len(residuals))
    farthest = np.argsort(-np.abs(residuals))[:most]
    outliers = tuple(
        bool(index in farthest and abs(residual) > OUTLYING)
        for index, residual in enumerate(residuals)
    )
    rest = residuals[~np.array(outliers, bool)]
    limit = float(chi2.ppf(_SURE, max(len(rest), 1)))
    return Misfit(residuals, outliers, float((rest**2).sum()), limit)


def check_explained(
    judged: Misfit, fitted: Sequence[Measurement], expected: FloatArray, drive: str
) -> None:
    """Refuse a drive that no places explain.

    Parameters
    ----------
    judged
        The best drive's.
    fitted
        What it was fitted to.
    expected
        What the best drive gives.
    drive
        The base profile's name.

    Raises
    ------
    Unexplained
        With the measurements that do not agree.
    """
    if not judged.unexplained:
        return
    order = np.argsort(-np.abs(judged.residuals))
    said = [
        f"  {fitted[index].place}: {fitted[index].label}: measured "
        f"{text.significant(fitted[index].value)}, at best {text.significant(expected[index])}"
        for index in order
        if abs(judged.residuals[index]) > 2
    ]
    raise Unexplained(
        f"no drive of the ranges of {drive} explains these measurements "
        f"(misfit {judged.sum_of_squares:.0f}, {judged.limit:.0f} at most); not explained are:\n"
        + "\n".join(said)
        + "\nno profile was written: check these measurements and their conditions, or give a "
        "--drive whose published and fitted numbers are those of yours"
    )


class Unexplained(SsdlabError):
    """No drive of the ranges explains the measurements."""
