"""Rates over time, computed by hand."""

from __future__ import annotations

import pytest

from ssdlab.engine.series import Amplification, Series


def test_rates_by_hand() -> None:
    """Half a second each: 10 reads and 30 writes are 80 a second; the cut last one is left out."""
    sums = {
        "start_ns": 1_000_000_000,
        "end_ns": 2_100_000_000,
        "interval_ns": 500_000_000,
        "reads": [10, 0, 1],
        "writes": [30, 8, 1],
        "trims": [0, 2, 0],
        "read_bytes": [1000, 0, 5],
        "write_bytes": [3000, 800, 5],
        "trim_bytes": [0, 200, 0],
        "host_pages_written": [30, 0, 1],
        "nand_pages_written": [75, 5, 1],
    }
    series, writes = (
        Series.of({"time_series": sums}),
        Series.of({"time_series": sums}, None, "write"),
    )
    assert series is not None and writes is not None
    assert series.times_s == pytest.approx([1.25, 1.75])
    assert series.iops == pytest.approx([80, 20])
    assert series.bytes_done == [4000, 1000]
    assert (writes.iops, writes.bytes_done) == ([60, 16], [3000, 800])
    drive = Amplification.of({"time_series": {}, "drive_time_series": sums})
    assert drive is not None
    assert drive.times_s == pytest.approx([1.25, 1.75])
    assert drive.factors == [2.5, None]


def test_sums_are_added_before_they_are_divided() -> None:
    """Twos of 40 and 8 requests a second are 24; 30 and 1 pages written for 75 and 6 are 81/31."""
    halves = {
        f"{direction}{of}": [0, 0, 0]
        for direction in ("read", "write", "trim")
        for of in ("s", "_bytes")
    }
    sums = {
        **halves,
        "start_ns": 0,
        "end_ns": 1_500_000_000,
        "interval_ns": 500_000_000,
        "writes": [20, 4, 9],
        "host_pages_written": [30, 1, 9],
        "nand_pages_written": [75, 6, 9],
    }
    series = Series.of({"time_series": sums}, most=2)
    drive = Amplification.of({"time_series": sums}, most=2)
    assert series is not None and drive is not None
    # The third has no second to be added to.
    assert series.times_s == [0.5]
    assert series.iops == [24]
    assert drive.factors == pytest.approx([81 / 31])


def test_no_series() -> None:
    """What fio measured has none."""
    assert Series.of({}) is None
    assert Amplification.of({}) is None
