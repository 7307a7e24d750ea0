"""Rates of writes on a slice of a drive (`crates/lab/src/scale.rs`), as those of the whole drive.

A measured drive is filled in sequence, then written at random, with 4 threads of 128 requests each.
Left out: latencies, which are taken on the whole drive (`latency`).
"""

from __future__ import annotations

from statistics import median

from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.engine.series import Amplification, Series
from ssdlab.experiment.kept import Figures
from ssdlab.experiment.scale import PAGE_BYTES, capacity_bytes
from ssdlab.study.twin import patterns

DEPTH = 512
"""4 threads of 128 requests each."""
_WINDOW = (0.60, 0.99)
"""Of the run's time, where its rate is taken."""
_MIB = 1 << 20


def writes(
    drive: str,
    parts: int,
    pattern: str,
    drive_writes: float,
    given: Settings = (),
    condition: str | None = "filled",
) -> RunRequest:
    """Return random writes of 4 KiB on 1/parts of a drive.

    Parameters
    ----------
    pattern
        By its name (`patterns`).
    drive_writes
        What is written, in capacities.
    given
        What differs from the profile, on the whole drive.
    condition
        Of the drive before.
    """
    scale = f"dies:{parts}"
    capacity = capacity_bytes(drive, given, scale)
    pages = capacity_bytes(drive, given) // PAGE_BYTES
    return RunRequest(
        drive,
        settings=given,
        scale=scale,
        condition=condition,
        flags=(
            *("--rw=randwrite", "--bs=4k", "--norandommap"),
            f"--io_size={int(capacity * drive_writes)}",
            f"--iodepth={max(1, DEPTH // parts)}",
            f"--random_distribution={patterns.distribution(pattern, pages)}",
        ),
        cache=False,
    )


def steady_writes(drive: str, parts: int, drive_writes: float, given: Settings = ()) -> RunRequest:
    """Return uniform writes on a slice that they have brought into their steady state."""
    by_job = conditions.BY_JOB
    return writes(drive, parts, patterns.UNIFORM, drive_writes, given, by_job)


def fill(drive: str, parts: int, given: Settings = ()) -> RunRequest:
    """Return one sequential fill of a fresh slice."""
    return RunRequest(
        drive,
        settings=given,
        scale=f"dies:{parts}",
        flags=("--rw=write", "--bs=128k", f"--iodepth={max(1, DEPTH // parts)}"),
        cache=False,
    )


def rates(result: Result, parts: int) -> Figures:
    """Return what a slice's run says of the whole drive: its rate, and its write amplification."""
    series = written(result)
    step = series.times_s[1] - series.times_s[0]
    every = [done / step / _MIB * parts for done in series.bytes_done]
    first, last = (int(len(every) * edge) for edge in _WINDOW)
    amplification = Amplification.of(result.jobs[0].lab)
    assert amplification is not None, "and of its drive"
    factors = [factor for factor in amplification.factors[first:last] if factor is not None]
    return {
        "rate": median(every[first:last]),
        "write_amplification": median(factors),
    }


def whole_rate(result: Result, parts: int) -> Figures:
    """Return the mean rate of a whole run on a slice, as that of the whole drive: MiB/s."""
    bandwidth = result.jobs[0].known_bandwidth("write")
    assert bandwidth is not None, "it wrote"
    return {"rate": bandwidth / _MIB * parts}


def written(result: Result) -> Series:
    """Return how much a run wrote, by time."""
    series = Series.of(result.jobs[0].lab, direction="write")
    assert series is not None, "the engine keeps the series of every job"
    return series
