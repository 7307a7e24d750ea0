"""Latencies of a job: percentiles and the distribution, from fio's bins where they are there.

A mix of reads and writes has one distribution only where both histograms were kept (``json+``);
percentiles of the two directions cannot be added, so without bins there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Histogram = list[tuple[int, int]]
"""Latency in nanoseconds and number of requests, by rising latency."""


def block(direction: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the latency block of a direction that has percentiles: completion, else total."""
    for key in ("clat_ns", "lat_ns"):
        found = direction.get(key) or {}
        if found.get("percentile"):
            return dict(found)
    return direction.get("clat_ns") or direction.get("lat_ns") or {}


def histogram(directions: Iterable[Mapping[str, Any]]) -> Histogram | None:
    """Merge the bins of several directions; None where one of them has none."""
    merged: Counter[int] = Counter()
    for direction in directions:
        bins = block(direction).get("bins")
        if not bins:
            return None
        for nanoseconds, requests in bins.items():
            merged[int(nanoseconds)] += int(requests)
    return sorted(item for item in merged.items() if item[1] > 0)


def percentile_of(bins: Histogram, percent: float) -> float:
    """Return the latency that `percent` of the requests do not exceed.

    Examples
    --------
    >>> percentile_of([(100, 98), (900, 2)], 99)
    900.0
    """
    wanted = math.ceil(sum(requests for _, requests in bins) * percent / 100 - 1e-9)
    seen = 0
    for nanoseconds, requests in bins:
        seen += requests
        if seen >= wanted:
            return float(nanoseconds)
    return float(bins[-1][0])


def listed(direction: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the percentiles that fio lists, as pairs of percent and nanoseconds."""
    listing = block(direction).get("percentile") or {}
    return sorted((float(percent), float(value)) for percent, value in listing.items())


def percentile(directions: list[Mapping[str, Any]], percent: float) -> float | None:
    """Return a percentile over all given directions, in nanoseconds; None where unknown."""
    if len(directions) == 1:
        for known, value in listed(directions[0]):
            if math.isclose(known, percent):
                return value
    bins = histogram(directions)
    return percentile_of(bins, percent) if bins else None


def mean(directions: list[Mapping[str, Any]]) -> float | None:
    """Return the mean latency over all given directions, in nanoseconds."""
    blocks = [block(direction) for direction in directions]
    if len(blocks) == 1 and "mean" in blocks[0] and blocks[0].get("N") is None:
        return float(blocks[0]["mean"])  # How many requests it is of is not known.
    requests = sum(int(each.get("N") or 0) for each in blocks)
    if requests == 0 or any(each.get("mean") is None for each in blocks):
        return None
    return sum(float(each["mean"]) * int(each.get("N") or 0) for each in blocks) / requests


def distribution(directions: list[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Return points of the cumulative distribution: nanoseconds and share of requests."""
    bins = histogram(directions)
    if bins:
        total = sum(requests for _, requests in bins)
        points, seen = [], 0
        for nanoseconds, requests in bins:
            seen += requests
            points.append((float(nanoseconds), seen / total))
        return points
    if len(directions) == 1:
        return [(value, percent / 100) for percent, value in listed(directions[0]) if value > 0]
    return []
