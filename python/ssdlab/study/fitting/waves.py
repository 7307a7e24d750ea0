"""Waves: runs, emulators and posterior by turns, each wave nearer to the drives that agree.

The first wave is spread evenly over the ranges. Each later one is drawn from the posterior that the
runs so far give, so that emulators are exact where it matters; they learn from all waves. The last
wave also runs what was held back: its drives are draws of a posterior that never saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssdlab.engine import Progress
from ssdlab.engine.request import Settings
from ssdlab.experiment.ensemble.runs import RunOrReason
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.study.fitting import forward
from ssdlab.study.fitting.emulator import Emulator, fit_emulator
from ssdlab.study.fitting.measurement import Measurement, loads
from ssdlab.study.fitting.posterior import Likelihood, sample
from ssdlab.study.fitting.unknowns import FloatArray, Space

WAVES = 4
_LEAST_RUNS = 8
"""With fewer drives that gave a figure nothing can be learnt."""

PerformAll = Callable[
    [Sequence[str], Sequence[Callable[[Progress], RunOrReason]]], Sequence[RunOrReason | None]
]
"""Runs tasks by their labels; None is one that was stopped."""


@dataclass(frozen=True)
class Fit:
    """What the waves gave.

    Attributes
    ----------
    space
        Of the unknowns.
    measurements, held_back
        All measurements, and whether each was held back.
    likelihood
        Of places, by those that were not held back.
    posterior
        Places that agree with them, a row each.
    last
        The last wave, with the figures of all measurements.
    places, figures
        Of all waves: a row a drive, figures of those that were not held back.
    runs
        How many were made.
    """

    space: Space
    measurements: tuple[Measurement, ...]
    held_back: tuple[bool, ...]
    likelihood: Likelihood
    posterior: FloatArray
    last: forward.Wave
    places: FloatArray
    figures: FloatArray
    runs: int

    @property
    def fitted(self) -> list[Measurement]:
        """Return the measurements that were not held back."""
        return _but(self.measurements, self.held_back)


def fit(
    space: Space,
    measurements: Sequence[Measurement],
    held_back: Sequence[bool],
    *,
    draws: int,
    seed: int,
    perform: PerformAll,
    waves: int = WAVES,
) -> Fit:
    """Fit the unknowns of a drive to measurements.

    Parameters
    ----------
    space
        Of the unknowns.
    measurements, held_back
        All measurements, and whether each is held back.
    draws
        Drives a wave.
    seed
        The one source of chance.
    perform
        Runs a wave's tasks.
    waves
        How many.

    Raises
    ------
    SsdlabError
        A load runs on none of the drives.
    Stopped
        `perform` was stopped.
    """
    fitted = _but(measurements, held_back)
    places: FloatArray = np.empty((0, len(space.unknowns)))
    figures: FloatArray = np.empty((0, len(fitted)))
    drawn, runs = space.sobol(draws, seed), 0
    for number in range(1, waves + 1):
        asked = list(measurements) if number == waves else fitted
        found = run_wave(space, drawn, asked, f"wave {number} of {waves}", seed, perform)
        runs += len(drawn) * len(loads(asked))
        columns = [asked.index(each) for each in fitted]
        places, figures = np.vstack([places, drawn]), np.vstack([figures, found[:, columns]])
        likelihood = likelihood_of(space, fitted, places, figures)
        posterior = sample(likelihood, seed + number)
        if number < waves:
            drawn = _working(space, posterior, draws, seed + number)
    last = forward.Wave(drawn, found)
    given = tuple(measurements), tuple(held_back)
    return Fit(space, *given, likelihood, posterior, last, places, figures, runs)


def run_point(done: Fit, settings: Settings, seed: int, perform: PerformAll) -> FloatArray:
    """Run all loads on the fitted drive.

    Parameters
    ----------
    done
        The fit.
    settings
        Of the drive.
    seed
        The one source of chance.
    perform
        Runs the tasks.

    Returns
    -------
    FloatArray
        A figure for each measurement; NaN where a run gave none.

    Raises
    ------
    SsdlabError
        There is no such drive.
    Stopped
        `perform` was stopped.
    """
    runs = loads(done.measurements)
    names = [f"fitted drive: {run.label}" for run in runs]
    outcomes = perform(names, forward.tasks_of(done.space, [settings], runs, seed))
    if any(each is None for each in outcomes):
        raise Stopped
    if said := [each for each in outcomes if isinstance(each, str)]:
        raise SsdlabError(f"the fitted drive does not work: {said[0]}\ntry another --seed")
    return np.asarray(forward.figures_of(outcomes, runs, done.measurements)[0])


def run_wave(
    space: Space,
    places: FloatArray,
    asked: Sequence[Measurement],
    name: str,
    seed: int,
    perform: PerformAll,
) -> FloatArray:
    """Run all loads on drives.

    Parameters
    ----------
    space
        Of the unknowns.
    places
        A row a drive.
    asked
        What is measured on each.
    name
        What progress calls the wave.
    seed
        The one source of chance.
    perform
        Runs the tasks.

    Returns
    -------
    FloatArray
        A row a drive, a column a measurement; NaN where a run gave none.

    Raises
    ------
    SsdlabError
        No drive gave a figure.
    Stopped
        `perform` was stopped.
    """
    runs = loads(asked)
    names = [f"{name}, drive {row + 1}: {run.label}" for row in range(len(places)) for run in runs]
    drives = [space.settings(row) for row in places]
    outcomes = perform(names, forward.tasks_of(space, drives, runs, seed))
    if any(each is None for each in outcomes):
        raise Stopped
    figures = forward.figures_of(outcomes, runs, asked)
    for column, measurement in enumerate(asked):
        if np.isfinite(figures[:, column]).sum() < _LEAST_RUNS:
            _complain(measurement, outcomes)
    return figures


def _complain(measurement: Measurement, outcomes: Sequence[RunOrReason | None]) -> None:
    """Refuse a measurement that the runs say nothing of."""
    said = next((each for each in outcomes if isinstance(each, str)), None)
    raise SsdlabError(
        f"{measurement.place}: {measurement.metric}: the simulator gives no such figure of "
        f"{measurement.load.label}\nleave it out, or name another metric"
        + (f"; a run said: {said}" if said else "")
    )


def emulators_of(space: Space, places: FloatArray, figures: FloatArray) -> list[Emulator]:
    """Return an emulator of each measurement, from what `run_wave` gave."""
    features, logs = space.features(places), np.log(figures)
    return [fit_emulator(features, logs[:, column]) for column in range(figures.shape[1])]


def likelihood_of(
    space: Space, fitted: Sequence[Measurement], places: FloatArray, figures: FloatArray
) -> Likelihood:
    """Return the likelihood of places, from what `run_wave` gave."""
    measured = np.log([each.value for each in fitted])
    spreads = np.array([each.spread for each in fitted])
    return Likelihood(space, emulators_of(space, places, figures), measured, spreads)


def _working(space: Space, posterior: FloatArray, count: int, seed: int) -> FloatArray:
    """Choose draws of the posterior that are drives."""
    order = np.random.default_rng(seed).permutation(len(posterior))
    chosen: list[FloatArray] = []
    for row in order:
        if len(chosen) < count and space.works(posterior[row]):
            chosen.append(posterior[row])
    if not chosen:
        raise SsdlabError(
            f"--drive {space.drive}: no drive that agrees with the measurements can work\n"
            "check the measurements, or give another --drive"
        )
    return np.array(chosen)


def _but(measurements: Sequence[Measurement], held_back: Sequence[bool]) -> list[Measurement]:
    return [each for each, held in zip(measurements, held_back, strict=True) if not held]
