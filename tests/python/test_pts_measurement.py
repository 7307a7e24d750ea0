"""Figures of a step: merged from histograms, never from averages of percentiles or extremes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ssdlab.bench.measurement import StepMeasurement, figures


def block(bins: dict[int, int], size: int = 4096) -> dict[str, Any]:
    """Make fio's block of a direction out of its bins."""
    count = sum(bins.values())
    mean = sum(latency * number for latency, number in bins.items()) / count
    times = {"min": min(bins), "max": max(bins), "mean": mean, "N": count}
    told = {str(latency): number for latency, number in bins.items()}
    return {
        "total_ios": count,
        "io_bytes": count * size,
        "lat_ns": times,
        "clat_ns": {**times, "bins": told},
    }


READS = {100_000: 640, 200_000: 10}
WRITES = {1_000_000: 345, 90_000_000: 5}


def mixed() -> StepMeasurement:
    return StepMeasurement.of_jobs(
        [{"job_runtime": 2000, "read": block(READS), "write": block(WRITES)}]
    )


def test_rates_are_decimal() -> None:
    """A thousand requests of 4 KiB in two seconds: 500 a second, 2.048 MB/s."""
    both = mixed().both
    assert (both.requests, both.iops, both.mb_per_s) == (1000, 500.0, 2.048)


def test_extremes_of_a_mix_are_those_of_its_requests() -> None:
    """Of 65/35 the maximum is that of the slowest write; no weighted average of two maxima is."""
    both = mixed().both
    assert (both.min_ns, both.max_ns) == (100_000, 90_000_000)
    average_of_maxima = 0.65 * 200_000 + 0.35 * 90_000_000
    assert both.max_ns != pytest.approx(average_of_maxima)


def test_percentiles_of_a_mix_are_those_of_its_requests() -> None:
    """They are found among all latencies, sorted, one by one."""
    everything = sorted((Counter(READS) + Counter(WRITES)).elements())
    both = mixed().both
    for percent, place in (("50", 499), ("90", 899), ("99", 989), ("99.9", 998), ("99.999", 999)):
        assert both.percentiles_ns[percent] == everything[place]


def test_a_percentile_lies_within_the_extremes() -> None:
    """fio names the middle of a bin, which may lie beyond the slowest of its requests."""
    told = block({4_900_000: 99, 5_010_000: 1})
    told["lat_ns"]["max"] = 5_000_000
    found = figures([told], 1.0)
    assert found.percentiles_ns["99.999"] == found.max_ns == 5_000_000
    assert found.percentiles_ns["50"] == 4_900_000


def test_mean_of_a_mix_counts_requests() -> None:
    """The mean of all is that of the sum of all latencies."""
    everything = (Counter(READS) + Counter(WRITES)).elements()
    total = sum(everything)
    assert mixed().both.mean_ns == pytest.approx(total / 1000)


def test_a_direction_without_requests_has_no_latency() -> None:
    """Nothing is made up: no mean, no maximum, no percentile, and a rate of 0."""
    nothing = figures([{"total_ios": 0, "io_bytes": 0}], 1.0)
    assert (nothing.iops, nothing.mean_ns, nothing.max_ns) == (0.0, None, None)
    assert nothing.percentiles_ns == {}


def test_jobs_one_after_the_other_add_up() -> None:
    """Two jobs of a second each have the rate of both over two seconds."""
    job = {"job_runtime": 1000, "read": block({100: 300}), "write": {"total_ios": 0}}
    assert StepMeasurement.of_jobs([job, job]).read.iops == 300.0
