"""Runs compared pair by pair: the same job with the same seed, on two drives or under two policies.

With n pairs of figures a and b, the difference is the mean of b − a with the interval
mean ± t(n−1, 97.5 %)·s/√n (Student's t, s the sample standard deviation); the ratio is the same
over ln(b/a), taken back by exp, which makes it the geometric mean of b/a. A single pair has no
interval: the spread between seeds is not known then.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread

if TYPE_CHECKING:
    from ssdlab.engine.result import Job, Result

CONFIDENCE = 0.95

Interval = tuple[float, float]
_Seed = tuple[str, int]
T = TypeVar("T")


@dataclass(frozen=True)
class Metric(Generic[T]):
    """A figure of a job, or of what else an experiment gives.

    Attributes
    ----------
    key
        Name for programs, with its unit.
    label
        Name for people.
    read
        Takes it from there; None where it has none.
    show
        Writes it for people.
    of_ssdlab
        fio does not have it, so that nobody misses it in a result of fio.
    """

    key: str
    label: str
    read: Callable[[T], float | None]
    show: Callable[[float | None], str]
    of_ssdlab: bool = False

    def show_difference(self, value: float | None) -> str:
        """Write a difference with its sign; nothing where there is none."""
        if value is None:
            return ""
        sign = "+" if value > 0 else "−" if value < 0 else "±"
        return sign + self.show(abs(value))


def _percentile(percent: float, direction: str) -> Callable[[Job], float | None]:
    return lambda job: job.percentile_ns(percent, direction)


def _mean(direction: str) -> Callable[[Job], float | None]:
    return lambda job: job.mean_ns(direction)


def _latencies(direction: str, prefix: str, name: str) -> list[Metric[Job]]:
    return [
        Metric(f"{prefix}mean_ns", f"{name}mean latency", _mean(direction), text.duration),
        Metric(f"{prefix}p99_ns", f"{name}p99", _percentile(99.0, direction), text.duration),
        Metric(f"{prefix}p99_9_ns", f"{name}p99.9", _percentile(99.9, direction), text.duration),
    ]


def metrics_of(job: Job) -> list[Metric[Job]]:
    """Return the figures that can be compared; a mix has its latencies per direction."""
    found: list[Metric[Job]] = [
        Metric("iops", "IOPS", lambda job: job.known_iops(), text.count),
        Metric("bytes_per_second", "throughput", lambda job: job.known_bandwidth(), text.rate),
    ]
    several = len(job.directions) > 1
    for direction in job.directions:
        prefix, name = (f"{direction}_", f"{direction} ") if several else ("", "")
        found.extend(_latencies(direction, prefix, name))
    amplification: Metric[Job] = Metric(
        "write_amplification",
        "write amplification",
        lambda job: job.write_amplification,
        text.ratio,
        of_ssdlab=True,
    )
    return [*found, amplification]


@dataclass(frozen=True)
class ComparedFigure:
    """One figure of one job, against the baseline; None on a side that does not have it."""

    arm: str
    job: str
    metric: Metric[Job]
    baseline: float | None
    value: float | None
    pairs: int
    difference: float | None
    difference_interval: Interval | None
    ratio: float | None
    ratio_interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "arm": self.arm,
            "job": self.job,
            "metric": self.metric.key,
            "baseline": self.baseline,
            "value": self.value,
            "pairs": self.pairs,
            "difference": self.difference,
            "difference_interval": self.difference_interval,
            "ratio": self.ratio,
            "ratio_interval": self.ratio_interval,
        }


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    arms
        Names of the sides; the first is the baseline.
    rows
        A figure each.
    remarks
        Sentences about what was not compared.
    failures, said, unread
        Of the results, with their names: failed jobs, fio's messages, what was not understood.
    """

    arms: list[str]
    rows: list[ComparedFigure]
    remarks: list[str]
    failures: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "baseline": self.arms[0],
            "arms": self.arms[1:],
            "confidence": CONFIDENCE,
            "failures": self.failures,
            "said": self.said,
            "unread": [each.to_json() for each in self.unread],
            "rows": [row.to_dict() for row in self.rows],
            "remarks": self.remarks,
        }


def mean_interval(values: Sequence[float]) -> tuple[float, Interval | None]:
    """Return the mean and its confidence interval; None for a single value.

    Examples
    --------
    >>> mean, (low, high) = mean_interval([1.0, 2.0, 3.0])
    >>> round(mean, 3), round(low, 3), round(high, 3)
    (2.0, -0.484, 4.484)
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    from scipy.stats import (
        t,
    )  # here, because it takes as long to load as a small comparison to make

    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    half = quantile * statistics.stdev(values) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def ratio_interval(pairs: Sequence[tuple[float, float]]) -> tuple[float | None, Interval | None]:
    """Return the geometric mean of b/a and its interval; nothing where a figure is not positive."""
    if any(a <= 0 or b <= 0 for a, b in pairs):
        return None, None
    mean, interval = mean_interval([math.log(b / a) for a, b in pairs])
    return math.exp(mean), interval and (math.exp(interval[0]), math.exp(interval[1]))


@dataclass
class _Arm:
    """The jobs of one side: by name, then by seed."""

    name: str
    jobs: dict[str, dict[_Seed, Job]]

    def add(self, job: Job) -> None:
        runs = self.jobs.setdefault(job.name, {})
        seed = job.seed
        # fio knows no seed, and clones of a job share theirs: these pair in the order they come.
        key = ("run", len(runs)) if seed is None or ("seed", seed) in runs else ("seed", seed)
        runs[key] = job


def _arms(results: Sequence[Result]) -> list[_Arm]:
    arms: dict[tuple[int, str | None, str | None], _Arm] = {}
    for index, result in enumerate(results):
        sides = {(job.profile, job.condition) for job in result.jobs}
        for job in result.jobs:
            detail = ", ".join(part for part in (job.profile, job.condition) if part)
            name = f"{result.name} ({detail})" if len(sides) > 1 and detail else result.name
            key = (index, job.profile, job.condition)
            arms.setdefault(key, _Arm(name, {})).add(job)
    return list(arms.values())


def _paired(baseline: dict[_Seed, Job], other: dict[_Seed, Job]) -> list[tuple[Job, Job]]:
    common = [seed for seed in baseline if seed in other]
    if common:
        return [(baseline[seed], other[seed]) for seed in common]
    if len(baseline) == 1 and len(other) == 1:
        return [(next(iter(baseline.values())), next(iter(other.values())))]
    return []


def _row(
    arm: str, job: str, metric: Metric[Job], pairs: Sequence[tuple[Job, Job]]
) -> ComparedFigure | None:
    """Return a figure's row; None where neither side has it and none would miss it."""
    found = [(metric.read(one), metric.read(two)) for one, two in pairs]
    both = [(a, b) for a, b in found if a is not None and b is not None]
    if not both:
        sides = [[each for each in side if each is not None] for side in zip(*found, strict=True)]
        if metric.of_ssdlab and not any(sides):
            return None
        baseline, value = (statistics.fmean(side) if side else None for side in sides)
        return ComparedFigure(arm, job, metric, baseline, value, 0, None, None, None, None)
    difference, difference_interval = mean_interval([b - a for a, b in both])
    ratio, interval = ratio_interval(both)
    return ComparedFigure(
        arm,
        job,
        metric,
        statistics.fmean(a for a, _ in both),
        statistics.fmean(b for _, b in both),
        len(both),
        difference,
        difference_interval,
        ratio,
        interval,
    )


def _remarks(baseline: _Arm, arms: Sequence[_Arm], rows: Sequence[ComparedFigure]) -> list[str]:
    remarks = []
    for arm in arms:
        for job in sorted(baseline.jobs.keys() ^ arm.jobs.keys()):
            only = baseline.name if job in baseline.jobs else arm.name
            remarks.append(f"job {job} is only in {only}: not compared")
        for job in sorted(baseline.jobs.keys() & arm.jobs.keys()):
            if not _paired(baseline.jobs[job], arm.jobs[job]):
                remarks.append(f"job {job} has no seed in common with {arm.name}: not compared")
    for row in rows:
        if row.pairs == 0:
            remarks.append(f"{row.metric.label} of job {row.job} is not known on both sides")
    if any(row.pairs == 1 for row in rows):
        remarks.append(
            "one seed only: no interval can be given; run both sides with several, --seed 1-5"
        )
    return remarks


def compare(results: Sequence[Result]) -> Comparison:
    """Compare results with the first of them.

    A result that holds several drives or conditions is taken apart, so that a single file of a run
    on several drives can be compared as it is.

    Parameters
    ----------
    results
        The baseline first.

    Raises
    ------
    SsdlabError
        There is nothing to compare, or no job in common.
    """
    arms = _arms(results)
    if len(arms) < 2:
        raise SsdlabError("nothing to compare with: give two results, or one with several drives")
    baseline, others = arms[0], arms[1:]
    rows = [
        row
        for arm in others
        for job in baseline.jobs
        if job in arm.jobs
        for pairs in [_paired(baseline.jobs[job], arm.jobs[job])]
        if pairs
        for metric in metrics_of(pairs[0][0])
        if (row := _row(arm.name, job, metric, pairs)) is not None
    ]
    if not rows:
        names = "; ".join(f"{arm.name}: {', '.join(arm.jobs)}" for arm in arms)
        raise SsdlabError(f"no job of the same name and seed to compare: {names}")
    return Comparison(
        [arm.name for arm in arms],
        rows,
        _remarks(baseline, others, rows),
        [f"{each.name}: {failure}" for each in results for failure in each.failures],
        [f"{each.name}: fio said: {line}" for each in results for line in each.said],
        [replace(u, where=f"{each.name}: {u.where}") for each in results for u in each.unread],
    )
