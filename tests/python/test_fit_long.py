"""Ten mystery drives, fitted blind, and one outside the ranges: `make test-long PART=fit`.

SSDLAB_FIT is `all`, or how many of the ten are fitted. Each is drawn from the ranges of the 80 GB
S3500, measured whole with a noise of 2 %, and fitted without a look at what was drawn. It takes
more than an hour; what is done is kept in target/fit, and a part that was stopped goes on there. It
is done again after a change of the engine, of the fit or of the measurements.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from ssdlab import engine
from ssdlab.engine.endurance import lifetime_years
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Job, Result
from ssdlab.experiment.parallel import run_all
from ssdlab.study.fitting.measurement import MeasuredLoad, Measurement, figure
from ssdlab.study.fitting.misfit import misfit_of
from ssdlab.study.fitting.point import Point
from ssdlab.study.fitting.profile import profile_text
from ssdlab.study.fitting.refine import Refined, refine
from ssdlab.study.fitting.unknowns import Array, space_of
from ssdlab.study.fitting.waves import Fit, fit

ROOT = Path(__file__).parents[2]
T = TypeVar("T")
GIVEN = os.environ.get("SSDLAB_FIT")
pytestmark = pytest.mark.skipif(GIVEN is None, reason="a part of make test-long")
MYSTERIES = range(10 if GIVEN in (None, "all") else int(GIVEN))
BASE = "intel-dc-s3500-80gb"
SPACE = space_of(BASE)
NOISE = 0.02
DRAWS = 32


def load(flags: str, condition: str | None = None, span: float = 1.0) -> MeasuredLoad:
    return MeasuredLoad(tuple(f"--{each}" for each in flags.split()), condition, span=span)


RANDOM = "bs=4k time_based norandommap"
STEADY = load(f"rw=randwrite iodepth=32 runtime=30 {RANDOM}", "steady")
"""Half a minute: in four seconds write amplification differs by up to 12 % from seed to seed."""
UNUSED = load(f"rw=randwrite iodepth=32 runtime=10 size=60% {RANDOM}", "steady", 0.6)
"""With 40 % unused, as `--plan` asks first: it tells spare area from what else is written."""
MEASURED: tuple[tuple[MeasuredLoad, str], ...] = (
    (STEADY, "iops"),
    (STEADY, "write_amplification"),
    (UNUSED, "iops"),
    (UNUSED, "write_amplification"),
    (load(f"rw=randwrite iodepth=1 runtime=1 {RANDOM}"), "mean_us"),
    (load(f"rw=randread iodepth=1 runtime=1 {RANDOM}", "steady"), "mean_us"),
    (load(f"rw=randread iodepth=32 runtime=1 {RANDOM}", "steady"), "iops"),
    (load("rw=write bs=128k iodepth=32 runtime=2 time_based"), "mb_per_s"),
    (load("rw=read bs=128k iodepth=32 runtime=1 time_based"), "mb_per_s"),
    (load(f"rw=randrw rwmixread=70 iodepth=32 runtime=10 {RANDOM}", "steady"), "read_iops"),
    (load(f"rw=randrw rwmixread=70 iodepth=32 runtime=10 {RANDOM}", "steady"), "read_p99_us"),
    (load(f"rw=randrw rwmixread=50 iodepth=8 runtime=10 {RANDOM}", "steady"), "iops"),
)


@cache
def state() -> str:
    """Name the state of all that a mystery's outcome hangs on."""
    package = ROOT / "python" / "ssdlab"
    files = [*package.glob("_engine*.so"), *sorted((package / "fitting").glob("*.py"))]
    files += sorted((package / "data").glob("*ranges.toml"))
    digest = hashlib.sha256(repr((MEASURED, NOISE, DRAWS, BASE)).encode())
    for each in files:
        digest.update(each.read_bytes())
    return digest.hexdigest()[:16]


def kept(name: str, make: Callable[[], T]) -> T:
    """Give what an earlier run kept under this name, or make it and keep it."""
    path = ROOT / "target" / "fit" / state() / f"{name}.pickle"
    if not path.exists():
        made = pickle.dumps(make())
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(".part")
        begun.write_bytes(made)
        begun.replace(path)
    found: T = pickle.loads(path.read_bytes())
    return found


@dataclass(frozen=True)
class Solved:
    """A mystery and what was found."""

    truth: Array
    done: Fit
    refined: Refined

    @property
    def point(self) -> Point:
        return self.refined.point


def measure(settings: Settings, number: int) -> list[Measurement]:
    """Measure a whole drive, with noise."""
    chance = np.random.default_rng(number)
    jobs: dict[MeasuredLoad, Job] = {}
    found = []
    for run, metric in MEASURED:
        if run not in jobs:
            asked = replace(run.request(BASE, settings), seed=1000 + number)
            jobs[run] = Result.from_json(engine.run(asked)).job()
        value = figure(jobs[run], metric)
        assert value is not None
        noisy = value * math.exp(chance.normal(0.0, NOISE))
        found.append(Measurement(run, metric, noisy, NOISE, f"mystery {number}"))
    return found


def perform(_names: Sequence[str], tasks: Sequence[Callable[..., Any]]) -> Sequence[Any]:
    return run_all(tasks, stop=threading.Event())


def fitted(measurements: Sequence[Measurement], number: int) -> Fit:
    held_back = [False] * len(measurements)
    return fit(SPACE, measurements, held_back, draws=DRAWS, seed=number + 1, perform=perform)


@cache
def solved(number: int) -> Solved:
    def solve() -> Solved:
        working = [each for each in SPACE.sobol(32, 777) if SPACE.works(each)]
        truth = working[number]
        begun = time.process_time()
        done = fitted(measure(SPACE.settings(truth), number), number)
        found = Solved(truth, done, refine(done, 1, perform))
        print(f"mystery {number}: {(time.process_time() - begun) / 60:.1f} min of processor time")
        return found

    return kept(f"mystery-{number}", solve)


def run(asked: RunRequest) -> Job:
    return Result.from_json(engine.run(replace(asked, seed=77))).job()


def predictions(drive: str, settings: Settings) -> dict[str, float]:
    """Give what was not measured: unused space, TRIM, lifetime, an array."""
    part = load(f"rw=randwrite iodepth=32 runtime=30 size=80% {RANDOM}", "steady", 0.8)
    trims = load(f"rw=randtrimwrite iodepth=8 runtime=30 {RANDOM}", "steady")
    array = load(f"rw=randwrite iodepth=32 runtime=30 {RANDOM}", "used")
    unused, trimmed = (run(each.request(drive, settings)) for each in (part, trims))
    raid = run(replace(array.request(drive, settings), layers=("raid:level=5,disks=4",)))
    worn = run(STEADY.request(drive, settings))
    amplifications = [each.write_amplification for each in (unused, trimmed, worn)]
    assert all(amplifications)
    shown = engine.show(drive, settings)["wear"]
    years = lifetime_years(
        shown["flash_bytes"], shown["rated_cycles"], float(amplifications[2] or 0), 1e9
    )
    return {
        "write amplification, 20 % unused": float(amplifications[0] or 0),
        "IOPS, 20 % unused": unused.iops(),
        "write amplification, TRIM": float(amplifications[1] or 0),
        "lifetime": years,
        "IOPS, RAID 5": raid.iops(),
    }


def print_residuals(number: int) -> None:
    """Print how far the fitted drive, as it was run for the fit, is from what was measured."""
    mystery = solved(number)
    figures = mystery.refined.figures
    for each, own in zip(mystery.done.measurements, figures, strict=True):
        if each.load == STEADY:
            print(f"mystery {number}: full and steady, {each.metric}: {own / each.value - 1:+.1%}")


def compared(number: int, folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Give the predictions that the true drive and the fitted one make."""
    mystery = solved(number)
    profile = folder / f"{number}.toml"
    profile.write_text(profile_text(SPACE, mystery.point, mystery.done.fitted, ["mystery"]))
    return kept(
        f"predictions-{number}",
        lambda: (predictions(BASE, SPACE.settings(mystery.truth)), predictions(str(profile), ())),
    )


def test_predictions_of_what_was_not_measured(tmp_path: Path) -> None:
    """Within 5 % on at least eight of ten drives, each figure."""
    within: dict[str, list[bool]] = {}
    for number in MYSTERIES:
        expected, found = compared(number, tmp_path)
        print_residuals(number)
        for name, value in expected.items():
            print(f"mystery {number}: {name}: {value:.4g}, fitted {found[name] / value - 1:+.1%}")
            within.setdefault(name, []).append(abs(found[name] / value - 1) < 0.05)
    assert all(sum(each) >= 0.8 * len(MYSTERIES) for each in within.values()), within


def test_intervals_cover_what_was_drawn() -> None:
    """The 90 % intervals hold 80 to 97 % of what was drawn: of determined numbers, and of all.

    Of ten determined numbers or fewer, all held is above 97 %; 90 % intervals often do that.
    """
    held: dict[bool, list[bool]] = {True: [], False: []}
    for number in MYSTERIES:
        mystery = solved(number)
        for estimate, place in zip(mystery.point.estimates, mystery.truth, strict=True):
            if estimate.unknown.steps is None:
                is_held = bool(estimate.low <= place <= estimate.high)
                held[estimate.determined].append(is_held)
                if estimate.determined:
                    print(f"mystery {number}: {estimate.unknown.name}: {is_held}")
    determined, every = held[True], held[True] + held[False]
    print(f"coverage: {sum(determined)} of {len(determined)} determined numbers")
    print(f"coverage: {sum(every)} of {len(every)} numbers in all")
    if len(MYSTERIES) == 10:
        assert 0.80 <= sum(every) / len(every) <= 0.97
        assert 0.80 <= sum(determined) / len(determined) <= 0.97


@pytest.mark.parametrize("number", MYSTERIES)
def test_a_mystery_is_explained(number: int) -> None:
    """Each is of the ranges, so that none is called unexplained."""
    mystery = solved(number)
    residuals = mystery.refined.likelihood.residuals(mystery.point.best[None, :])[0]
    assert not misfit_of(residuals).unexplained


def test_a_drive_of_another_kind_is_not_explained() -> None:
    """An eleventh one, whose link takes a sixth of the rate, is said to be outside the ranges."""
    places = SPACE.sobol(32, 777)[20]
    measured = measure((*SPACE.settings(places), ("link.mb_per_s", "60")), 20)
    done = fitted(measured, 20)
    found = refine(done, 1, perform)
    residuals = found.likelihood.residuals(found.point.best[None, :])[0]
    assert misfit_of(residuals).unexplained
