"""A job on a steady drive begins as it goes on, or says under which writes the drive is steady.

Jobs are drawn: size, amount, block size, random map or none, depth, span. Where a job is the one
that the drive is steady under, its first slice of 100,000 writes is its course; where it is not,
the result says so and how the drive changes. CI draws ten jobs on each of three drives that are
quick; ``SSDLAB_FIRST_SLICES`` names profiles at their full size (``all`` for each SSD), 60 each.

Single slices scatter, so eight seeds are taken together as well: the mean of their first slices is
that of their runs, and each first slice lies inside the span of its later ones, but for as many as
chance puts outside. ``SSDLAB_SEEDS`` names the profiles for these.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import ssdlab
from ssdlab import engine
from ssdlab.engine.result import Job, Result
from ssdlab.engine.shown import sizes

pytestmark = pytest.mark.end_to_end

SLICE_WRITES = 100_000
LEAST_SLICES = 4
WITHIN = 0.02
STANDARD_ERRORS = 3
WRITES = 1_200_000
"""What a job writes at most: a first slice and eleven to compare it with."""
BEGINNING = 0.1
"""Share of a pass of fio's random map that is as good as uniform; later in it the places that are
left grow few, so that write amplification falls (on `theory` from 2.4 to 1.25 in a pass)."""

SEEDS, SLICES_OF_A_SEED = 8, 15
MOST_SLICE_WRITES = 300_000
MEAN_WITHIN = 0.005
MOST_OUTSIDE = 4
"""Of eight first slices each lies outside the span of fourteen others by chance once in 7.5 times;
five of eight or more do so once in 600."""

SMALL: dict[str, dict[str, str | int]] = {
    "one frontier": {"capacity_bytes": "5 GiB", "nand.pages_per_block": 64},
    "two frontiers": {
        **{"capacity_bytes": "5 GiB", "nand.pages_per_block": 64, "buffer.bytes": "1 MiB"},
        **{"ftl.frontiers": "host-gc", "ftl.gc_pace": "smooth"},
    },
    "large units": {
        **{"capacity_bytes": "20 GiB", "nand.page_bytes": "16 KiB", "nand.pages_per_block": 64},
        "ftl.mapping_unit_bytes": "16 KiB",
    },
}
"""Drives of 1.3 million units, so that a pass has a dozen slices."""


@dataclass(frozen=True)
class Draw:
    """A job on a drive that is steady over a share of its range."""

    span: float
    options: dict[str, Any]
    covers_all: bool
    is_uniform: bool
    unit_bytes: int

    @property
    def is_the_steady_one(self) -> bool:
        """Whether it goes on as the drive was made steady."""
        unit_sized = int(self.options["bs"]) == self.unit_bytes
        # Preconditioning writes as fast as the drive takes it. One write at a time leaves a drive
        # that collects smoothly time to keep more blocks free, and so it first collects those.
        is_loaded = int(self.options["iodepth"]) > 1
        return self.covers_all and unit_sized and self.is_uniform and is_loaded


def drawn(chance: random.Random, capacity_bytes: int, unit_bytes: int) -> Draw:
    """Draw a job; half of them are the steady one as far as size and block size go."""
    span = chance.choice([1.0, 1.0, 0.8])
    covers_all = chance.random() < 0.75
    share = span if covers_all else span * chance.choice([0.02, 0.1, 0.5])
    size = int(capacity_bytes * share) // (1 << 20) * (1 << 20)
    block = unit_bytes * chance.choice([1, 1, 1, 1, 1, 4, 16])
    writes = int(WRITES * chance.choice([0.5, 1.0]))
    has_map = chance.random() < 0.35
    options: dict[str, Any] = {
        **{"rw": "randwrite", "bs": block, "size": size, "io_size": writes * unit_bytes},
        **{"iodepth": chance.choice([1, 16, 32, 64]), "time_based": False},
    }
    options |= {} if has_map else {"norandommap": True}
    begins = writes * unit_bytes <= size * BEGINNING
    return Draw(span, options, covers_all, not has_map or begins, unit_bytes)


def between(series: dict[str, Any], key: str, edges: list[float]) -> list[float]:
    """Return what a column of a series adds up to between each two instants."""
    start, width = float(series["start_ns"]), float(series["interval_ns"])
    until = [0.0]
    for count in series[key]:
        until.append(until[-1] + count)

    def at(instant: float) -> float:
        place = min(max((instant - start) / width, 0.0), len(until) - 1.0)
        whole = min(int(place), len(until) - 2)
        return until[whole] + (until[whole + 1] - until[whole]) * (place - whole)

    return [at(later) - at(earlier) for earlier, later in zip(edges, edges[1:], strict=False)]


def slices(job: Job, slice_writes: int = SLICE_WRITES) -> dict[str, list[float]]:
    """Cut a run into slices of at least so many writes and equal time: IOPS and WA of each."""
    of_job, of_drive = job.lab["time_series"], job.lab["drive_time_series"]
    count = int(sum(of_job["writes"])) // slice_writes
    start, end = of_job["start_ns"], of_job["end_ns"]
    edges = [start + (end - start) * number / count for number in range(count + 1)]
    seconds = (end - start) / count / 1e9
    host = between(of_drive, "nand_host_bytes_written", edges)
    nand = between(of_drive, "nand_bytes_written", edges)
    return {
        "IOPS": [writes / seconds for writes in between(of_job, "writes", edges)],
        "WA": [one / other for one, other in zip(nand, host, strict=True)],
    }


def misses(cut: dict[str, list[float]]) -> list[str]:
    """Return the figures in which the first slice is not the course of the others."""
    found = []
    for name, (first, *later) in cut.items():
        course = mean(later)
        noise = stdev(later) * (1 + 1 / len(later)) ** 0.5
        if abs(first - course) > max(WITHIN * course, STANDARD_ERRORS * noise):
            found.append(f"{name} {first:.4g} first, then {course:.4g} in {len(later)} slices")
    return found


def judged(result: Result, draw: Draw) -> bool:
    """Hold a result against what its job promises; return whether its first slice was compared."""
    job = result.job()
    told = f"{draw}: {job.lab['drift']}"
    assert job.condition == "steady:uniform", told
    assert job.lab["steady_reached"] is True, told
    assert job.conditioned_by is not None and job.conditioned_by.startswith("uniform random"), told
    if draw.is_the_steady_one:
        enough = int(sum(job.lab["time_series"]["writes"])) >= (LEAST_SLICES + 1) * SLICE_WRITES
        assert not enough or misses(slices(job)) == [], told
        return enough
    notices = " ".join(job.lab["notices"])
    assert draw.covers_all or "--state steady:job" in notices, f"{told}: {notices}"
    assert job.drift_told is not None, told
    amplification = job.drift["write_amplification"]
    # A tenth more or less in the last tenth of the job is no noise, on whatever drive.
    if abs(amplification["last"] / amplification["first"] - 1) > 0.1:
        assert job.drift_told.startswith("still changing") or "swings" in job.drift_told, told
    return False


def hold(drive: ssdlab.Drive, jobs: int, seed: str) -> int:
    """Draw jobs on a drive and judge each; return how many first slices were compared."""
    shown = engine.show(drive.name, drive.settings)
    found = sizes(shown)
    unit = max(found.flash.mapping_unit_bytes, 4096)
    chance = random.Random(seed)
    compared = 0
    for _ in range(jobs):
        draw = drawn(chance, found.capacity_bytes, unit)
        result = drive.run(state="steady", span=draw.span, **draw.options)
        compared += judged(result, draw)
    return compared


@pytest.mark.parametrize("name", SMALL)
def test_the_first_slice_is_the_course(name: str) -> None:
    """Ten drawn jobs on a quick drive begin as they go on, or the result says why not."""
    assert hold(ssdlab.drive("theory", SMALL[name]), 10, name) >= 2


def test_a_first_slice_that_is_not_the_course_is_seen() -> None:
    """The comparison can fail: a drive that is only used changes behind its first slice."""
    steady: dict[str, list[float]] = {
        "WA": [2.95, 2.9, 2.92, 2.88, 2.91],
        "IOPS": [6000, 6050, 5990, 6010, 6020],
    }
    assert misses(steady) == []
    falls: dict[str, list[float]] = {
        "WA": [3.67, 2.9, 2.92, 2.88, 2.91],
        "IOPS": [8417, 6050, 5990, 6010, 6020],
    }
    assert len(misses(falls)) == 2


@dataclass(frozen=True)
class Seeds:
    """First slices of several seeds beside their runs, of one figure."""

    figure: str
    difference: float
    outside: int

    def __str__(self) -> str:
        """Say how far the mean is off, and how many first slices lie outside."""
        return f"{self.figure} {self.difference:+.2%}, {self.outside} of {SEEDS} outside"


def of_seeds(drive: ssdlab.Drive, state: str = "steady") -> list[Seeds]:
    """Run one job with several seeds; a slice is a hundredth of the drive."""
    found = sizes(engine.show(drive.name, drive.settings))
    unit = max(found.flash.mapping_unit_bytes, 4096)
    writes = min(max(found.capacity_bytes // unit // 100, SLICE_WRITES), MOST_SLICE_WRITES)
    options: dict[str, Any] = {
        **{"rw": "randwrite", "bs": unit, "iodepth": 32, "norandommap": True},
        **{"number_ios": writes * SLICES_OF_A_SEED},
    }
    runs = [
        slices(drive.run(state=state, seed=seed, **options).job(), writes)
        for seed in range(1, SEEDS + 1)
    ]
    return [
        Seeds(
            figure,
            mean(run[figure][0] for run in runs) / mean(mean(run[figure]) for run in runs) - 1,
            sum(not min(run[figure][1:]) <= run[figure][0] <= max(run[figure][1:]) for run in runs),
        )
        for figure in ("WA", "IOPS")
    ]


def test_the_mean_first_slice_of_eight_seeds_is_that_of_their_runs() -> None:
    """Together they tell what single slices cannot: half a per cent."""
    for found in of_seeds(ssdlab.drive("theory", SMALL["two frontiers"])):
        assert abs(found.difference) <= MEAN_WITHIN, found
        assert found.outside <= MOST_OUTSIDE, found


def test_a_mean_first_slice_that_is_not_the_course_is_seen() -> None:
    """The comparison can fail: a drive that is only filled begins without a move."""
    for found in of_seeds(ssdlab.drive("theory", SMALL["two frontiers"]), "filled"):
        assert abs(found.difference) > MEAN_WITHIN
        assert found.outside > MOST_OUTSIDE


def wanted(variable: str = "SSDLAB_FIRST_SLICES") -> list[str]:
    """Return the profiles that the environment asks for."""
    asked = os.environ.get(variable, "").split()
    flash = [each["name"] for each in engine.profiles() if each["over_provisioning"] is not None]
    return flash if asked == ["all"] else asked


@pytest.mark.skipif(not wanted(), reason="SSDLAB_FIRST_SLICES names no profile: minutes a drive")
@pytest.mark.parametrize("name", wanted() or ["none"])
def test_first_slices_of_whole_profiles(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Sixty drawn jobs on a profile at its full size."""
    folder = Path(request.config.rootpath) / "target/first-slices"
    monkeypatch.setenv("SSDLAB_CACHE", str(folder))
    print(f"{name}: {hold(ssdlab.drive(name), 60, name)} first slices of 60 compared")


@pytest.mark.skipif(
    not wanted("SSDLAB_SEEDS"), reason="SSDLAB_SEEDS names no profile: minutes each"
)
@pytest.mark.parametrize("name", wanted("SSDLAB_SEEDS") or ["none"])
def test_eight_seeds_of_whole_profiles(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same on a profile at its full size."""
    monkeypatch.setenv("SSDLAB_CACHE", str(tmp_path))
    found = of_seeds(ssdlab.drive(name))
    print(f"{name}: {'; '.join(map(str, found))}")
    for each in found:
        assert abs(each.difference) <= MEAN_WITHIN, each
        assert each.outside <= MOST_OUTSIDE, each
