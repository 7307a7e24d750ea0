"""What a step gave: the raw record, and the figures that the tests need.

The raw record is one job as fio's JSON has it, with the bins of its histograms. Figures of reads
and writes together come from the merged bins: no percentile or extreme is ever an average.
Rates count over the time of the step; MB are 10⁶ bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab.engine.latency import Histogram, percentile_of

PERCENTS = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)
"""The last is the standard's "five nines"."""


@dataclass(frozen=True)
class DirectionFigures:
    """Figures of one direction, or of both.

    Attributes
    ----------
    requests, total_bytes
        Completed in the step.
    iops, mb_per_s
        A second of the step.
    mean_ns, min_ns, max_ns
        Response time from submission to completion; None without requests.
    percentiles_ns
        By percent as text (``"99.999"``), from the bins.
    """

    requests: int
    total_bytes: int
    iops: float
    mb_per_s: float
    mean_ns: float | None
    min_ns: int | None
    max_ns: int | None
    percentiles_ns: Mapping[str, float]


@dataclass(frozen=True)
class StepMeasurement:
    """What a step gave.

    Attributes
    ----------
    seconds
        Of the target's own time.
    read, write, both
        Its figures.
    raw
        fio's job, or jobs where the step ran as several.
    rest_bytes
        Written after the figures were taken, where a step ended early (`--quick`).
    """

    seconds: float
    read: DirectionFigures
    write: DirectionFigures
    both: DirectionFigures
    raw: tuple[Mapping[str, Any], ...]
    rest_bytes: int = 0

    @classmethod
    def of_jobs(
        cls, jobs: Iterable[Mapping[str, Any]], seconds: float | None = None
    ) -> StepMeasurement:
        """Add up jobs of fio's JSON that ran one after the other.

        Parameters
        ----------
        jobs
            Each with ``job_runtime`` in ms, and ``read`` and ``write`` with bins (``json+``).
        seconds
            Their time, where it is known better than that.
        """
        raw = tuple(jobs)
        if seconds is None:
            seconds = sum(float(job["job_runtime"]) for job in raw) / 1e3
        reads = [job["read"] for job in raw]
        writes = [job["write"] for job in raw]
        return cls(
            seconds,
            figures(reads, seconds),
            figures(writes, seconds),
            figures([*reads, *writes], seconds),
            raw,
        )

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        named = {name: asdict(getattr(self, name)) for name in ("read", "write", "both")}
        return {
            "seconds": self.seconds,
            **named,
            "rest_bytes": self.rest_bytes,
            "raw": list(self.raw),
        }


def figures(blocks: Iterable[Mapping[str, Any]], seconds: float) -> DirectionFigures:
    """Return the figures of several of fio's direction blocks over the same time."""
    done = [block for block in blocks if block.get("total_ios")]
    requests = sum(int(block["total_ios"]) for block in done)
    total_bytes = sum(int(block["io_bytes"]) for block in done)
    latencies = [block["lat_ns"] for block in done]
    bins = merged(done)
    least = min((int(each["min"]) for each in latencies), default=None)
    most = max((int(each["max"]) for each in latencies), default=None)
    return DirectionFigures(
        requests=requests,
        total_bytes=total_bytes,
        iops=requests / seconds if seconds else 0.0,
        mb_per_s=total_bytes / seconds / 1e6 if seconds else 0.0,
        mean_ns=_mean(done, requests),
        min_ns=least,
        max_ns=most,
        percentiles_ns=_percentiles(bins, least, most),
    )


def _percentiles(bins: Histogram, least: int | None, most: int | None) -> dict[str, float]:
    """Return percentiles within the extremes: the middle of the last bin may lie beyond them."""
    if not bins or least is None or most is None:
        return {}
    return {f"{each:g}": min(max(percentile_of(bins, each), least), most) for each in PERCENTS}


def merged(blocks: Iterable[Mapping[str, Any]]) -> Histogram:
    """Merge the bins of several direction blocks, by rising latency."""
    sums: Counter[int] = Counter()
    for block in blocks:
        # fio keeps the bins where it lists percentiles: of completion, or of all.
        found = (block.get("lat_ns") or {}).get("bins") or (block.get("clat_ns") or {}).get("bins")
        for nanoseconds, requests in (found or {}).items():
            sums[int(nanoseconds)] += int(requests)
    return sorted(item for item in sums.items() if item[1] > 0)


def _mean(blocks: list[Mapping[str, Any]], requests: int) -> float | None:
    """Mean weighted by requests, which is exact: sums add up, extremes do not."""
    if not requests:
        return None
    total = sum(float(block["lat_ns"]["mean"]) * int(block["total_ios"]) for block in blocks)
    return total / requests
