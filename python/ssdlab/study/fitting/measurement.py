"""What was measured: a figure of a job on a drive in some condition, and how sure it is.

Two measurements of the same load are figures of one run. A spread is a relative standard deviation
of what was measured; what the simulator itself lacks comes on top (`posterior`). Left out: spreads
that measurements share, such as a clock that is wrong for all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Job
from ssdlab.ground.unread import Unread

SPREAD = 0.02
"""Of a measurement whose spread is not known."""
TAIL_SPREAD = 0.05
"""Of its 99 % latency and beyond, which few requests decide."""

_FIGURES: dict[str, Callable[[Job, str | None], float | None]] = {
    "iops": lambda job, direction: job.known_iops(direction),
    "mb_per_s": lambda job, direction: _mega(job.known_bandwidth(direction)),
    "mean_us": lambda job, direction: _micro(job.mean_ns(direction)),
    "p50_us": lambda job, direction: _micro(job.percentile_ns(50.0, direction)),
    "p99_us": lambda job, direction: _micro(job.percentile_ns(99.0, direction)),
    "p999_us": lambda job, direction: _micro(job.percentile_ns(99.9, direction)),
}
_AMPLIFICATION = "write_amplification"
_DIRECTIONS = ("read", "write")

METRICS = (
    *_FIGURES,
    *(f"{direction}_{name}" for direction in _DIRECTIONS for name in _FIGURES),
    _AMPLIFICATION,
)
"""Names of figures; with a direction where a job reads and writes."""


@dataclass(frozen=True)
class MeasuredLoad:
    """A run that is measured.

    Attributes
    ----------
    flags
        fio's options, as ``--name=value``.
    condition
        Of the drive, as `ssdlab run --state` takes it; None for fresh.
    job_text, job_name
        A job file, where there is one.
    settings
        What was set on the drive for it.
    span
        Share of the drive that was used before.
    """

    flags: tuple[str, ...]
    condition: str | None = None
    job_text: str | None = None
    job_name: str = "command line"
    settings: Settings = ()
    span: float = 1.0

    def request(self, drive: str, settings: Settings) -> RunRequest:
        """Return the run on a drive with these settings."""
        return RunRequest(
            drive=drive,
            settings=tuple({**dict(settings), **dict(self.settings)}.items()),
            job_text=self.job_text,
            job_name=self.job_name,
            flags=self.flags,
            condition=self.condition,
            span=self.span,
            json_plus=True,
            cache=False,
        )

    @property
    def label(self) -> str:
        """Name it for people."""
        job = " ".join(each.removeprefix("--") for each in self.flags) or self.job_name
        set_to = [f"{key}={value}" for key, value in self.settings]
        span = [] if self.span == 1 else [f"span {self.span:.0%}"]
        return ", ".join([job, self.condition or "fresh", *span, *set_to])


@dataclass(frozen=True)
class Measurement:
    """A figure that was measured.

    Attributes
    ----------
    load
        Of which run.
    metric
        Its name (`METRICS`).
    value
        Above 0.
    spread
        Relative standard deviation.
    place
        Where it was read, for messages.
    """

    load: MeasuredLoad
    metric: str
    value: float
    spread: float
    place: str

    @property
    def label(self) -> str:
        """Name it for people."""
        return f"{self.metric}: {self.load.label}"


@dataclass
class Gathered:
    """What was read from files.

    Attributes
    ----------
    measurements
        In order.
    notices
        Sentences about what was left out.
    unread
        What was not understood; figures that it decides may be wrong.
    """

    measurements: list[Measurement] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def figure(job: Job, metric: str) -> float | None:
    """Return a figure of a job; None where the job has none.

    Parameters
    ----------
    job
        Of a result.
    metric
        A name of `METRICS`.
    """
    if metric == _AMPLIFICATION:
        return job.write_amplification
    direction, _, name = metric.partition("_")
    if direction not in _DIRECTIONS:
        return _FIGURES[metric](job, None)
    return _FIGURES[name](job, direction) if direction in job.directions else None


def loads(measurements: Sequence[Measurement]) -> list[MeasuredLoad]:
    """Return the runs that measurements are of, each once."""
    return list(dict.fromkeys(each.load for each in measurements))


def hold_back(measurements: Sequence[Measurement], share: float, seed: int) -> list[bool]:
    """Choose what is held back, by whole runs: figures of one run tell of each other.

    Parameters
    ----------
    measurements
        All of them.
    share
        Of the measurements at least, unless all or all but one run would have to go.
    seed
        Chooses the runs.

    Returns
    -------
    list
        Whether each is held back.
    """
    runs = loads(measurements)
    random.Random(seed).shuffle(runs)
    held: set[MeasuredLoad] = set()
    wanted = share * len(measurements)
    for run in runs[:-1]:
        if sum(each.load in held for each in measurements) >= wanted - 0.5:
            break
        held.add(run)
    return [each.load in held for each in measurements]


def _mega(number: float | None) -> float | None:
    return None if number is None else number / 1e6


def _micro(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e3
