"""Refinement: the chosen drive is run, and the emulators learn from it, by turns.

Emulators are rough between the runs that they know, and a drive that is chosen by them lies between
those. So it is run, its figures join the others, and it is chosen anew, until it gives what was
expected of it. The fitted drive is the one of them that agrees best, by its own figures:

    z = (y − ln figure) / √(spread² + the model's own error²),   Student-t as for the posterior

Left out: drawing the posterior anew; its intervals are those of the last wave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.point import FittedDrive, point_of
from ssdlab.study.fitting.posterior import Likelihood, log_student
from ssdlab.study.fitting.unknowns import FloatArray
from ssdlab.study.fitting.waves import Fit, PerformAll, likelihood_of, run_point

STEPS = 6
_AS_EXPECTED = 0.01
"""A figure is what was expected of it when it is off by less (relative)."""


@dataclass(frozen=True)
class Refined:
    """The fitted drive.

    Attributes
    ----------
    point
        What is known of its numbers.
    figures
        Its own, of each measurement.
    likelihood
        Of places, by all that was run.
    """

    point: FittedDrive
    figures: FloatArray
    likelihood: Likelihood


def refine(done: Fit, seed: int, perform: PerformAll, steps: int = STEPS) -> Refined:
    """Choose a drive and run it, until it gives what was expected.

    Parameters
    ----------
    done
        The waves.
    seed
        The one source of chance.
    perform
        Runs the tasks.
    steps
        Runs of a drive at most.

    Raises
    ------
    SsdlabError
        None of the chosen drives works.
    Stopped
        `perform` was stopped.
    """
    tried: list[tuple[float, Refined]] = []
    fitted = np.array([not held for held in done.held_back])
    places, figures = done.places, done.figures
    likelihood = done.likelihood
    for step in range(steps):
        point = point_of(likelihood, done.posterior, seed + step)
        try:
            own = run_point(done, done.space.settings(point.places, point.kept), seed, perform)
        except SsdlabError:
            if step:
                break
            raise
        tried.append((agreement(likelihood, own[fitted]), Refined(point, own, likelihood)))
        if _is_as_expected(likelihood, point, own[fitted]):
            break
        places, figures = np.vstack([places, point.places]), np.vstack([figures, own[fitted]])
        likelihood = likelihood_of(done.space, done.fitted, places, figures)
    return replace(max(tried, key=lambda each: each[0])[1], likelihood=likelihood)


def agreement(likelihood: Likelihood, figures: FloatArray) -> float:
    """Return the logarithm of the likelihood of a drive that was run, up to a constant."""
    return float(log_student(likelihood.measured - np.log(figures), likelihood.scales()).sum())


def _is_as_expected(likelihood: Likelihood, point: FittedDrive, figures: FloatArray) -> bool:
    expected = likelihood.expected(point.places)
    return bool(np.all(np.abs(figures / expected - 1) < _AS_EXPECTED))
