"""Mystery drives: drawn from a base's ranges, measured with noise, and fitted blind.

What is done is kept in target/fit, and a part that was stopped goes on there. It is done again
after a change of the engine, of the fit or of the measurements.
"""

from __future__ import annotations

import hashlib
import math
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.result import Job, Result
from ssdlab.experiment.parallel import run_all
from ssdlab.study.fitting.measurement import MeasuredLoad, Measurement, figure
from ssdlab.study.fitting.point import FittedDrive
from ssdlab.study.fitting.refine import Refined, refine
from ssdlab.study.fitting.unknowns import FloatArray, Space, space_of
from ssdlab.study.fitting.waves import Fit, fit

ROOT = Path(__file__).parents[2]
T = TypeVar("T")


def load(flags: str, condition: str | None = None, span: float = 1.0) -> MeasuredLoad:
    """Return a load by its flags without dashes."""
    return MeasuredLoad(tuple(f"--{each}" for each in flags.split()), condition, span=span)


def perform(_names: Sequence[str], tasks: Sequence[Callable[..., Any]]) -> Sequence[Any]:
    """Carry out what a fit runs."""
    return run_all(tasks, stop=threading.Event())


@dataclass(frozen=True)
class Solved:
    """A mystery and what was found."""

    truth: FloatArray
    done: Fit
    refined: Refined

    @property
    def point(self) -> FittedDrive:
        return self.refined.point


@dataclass(frozen=True)
class Mysteries:
    """Drives of one base, measured in one way.

    Attributes
    ----------
    base, fixed
        The profile, and what is set on it besides.
    measured
        Loads, and the figure of each.
    draws
        Drives a wave of the fit.
    noise
        Relative standard deviation of what is measured.
    """

    base: str
    fixed: Settings
    measured: tuple[tuple[MeasuredLoad, str], ...]
    draws: int
    noise: float = 0.02

    @cached_property
    def space(self) -> Space:
        return space_of(self.base, self.fixed)

    @cached_property
    def _state(self) -> str:
        """Name the state of all that a mystery's outcome hangs on."""
        package = ROOT / "python" / "ssdlab"
        fitting = sorted((package / "study" / "fitting").glob("*.py"))
        assert fitting, "the fit is elsewhere"
        files = [*package.glob("_engine*.so"), *fitting]
        files += sorted((package / "data").glob("*ranges.toml"))
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        digest = hashlib.sha256(repr(own).encode())
        for each in files:
            digest.update(each.read_bytes())
        return digest.hexdigest()[:16]

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """Give what an earlier run kept under this name, or make it and keep it."""
        path = ROOT / "target" / "fit" / self._state / f"{name}.pickle"
        if not path.exists():
            made = pickle.dumps(make())
            path.parent.mkdir(parents=True, exist_ok=True)
            begun = path.with_suffix(".part")
            begun.write_bytes(made)
            begun.replace(path)
        found: T = pickle.loads(path.read_bytes())
        return found

    def measure(self, settings: Settings, number: int) -> list[Measurement]:
        """Measure a drive, with noise."""
        chance = np.random.default_rng(number)
        jobs: dict[MeasuredLoad, Job] = {}
        found = []
        for run, metric in self.measured:
            if run not in jobs:
                asked = replace(run.request(self.base, settings), seed=1000 + number)
                jobs[run] = Result.from_json(engine.run(asked)).job()
            value = figure(jobs[run], metric)
            assert value is not None
            noisy = value * math.exp(chance.normal(0.0, self.noise))
            found.append(Measurement(run, metric, noisy, self.noise, f"mystery {number}"))
        return found

    def fitted(self, measurements: Sequence[Measurement], number: int) -> Fit:
        """Fit a drive to measurements."""
        held_back = [False] * len(measurements)
        draws, seed = self.draws, number + 1
        return fit(self.space, measurements, held_back, draws=draws, seed=seed, perform=perform)

    def solved(self, number: int) -> Solved:
        """Draw a drive, measure it, and fit it; once for all tests."""

        def solve() -> Solved:
            working = [each for each in self.space.sobol(64, 777) if self.space.works(each)]
            truth = working[number]
            begun = time.process_time()
            done = self.fitted(self.measure(self.space.settings(truth), number), number)
            found = Solved(truth, done, refine(done, 1, perform))
            print(
                f"mystery {number}: {(time.process_time() - begun) / 60:.1f} min of processor time"
            )
            return found

        return self.kept(f"mystery-{number}", solve)
