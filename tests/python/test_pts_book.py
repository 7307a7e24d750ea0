"""The plans are those of the standard, in its order; what differs is told."""

from __future__ import annotations

import pytest

from ssdlab.bench import book
from ssdlab.bench.plan import Part, Plan, StopRule
from ssdlab.ground.errors import SsdlabError


def planned(*tests: str, threads: int = 2, quick: bool = False, sector: int = 512) -> Plan:
    return book.plan(tests, threads, 16, 1, quick, sector)


def part(name: str) -> Part:
    (found,) = planned(name).tests[0].parts
    return found


def test_iops_has_56_cells_in_the_order_of_the_standard() -> None:
    """Mixes outside, from reads to writes; sizes inside, from large to small; a minute each."""
    iops = part("iops")
    assert len(iops.cells) == 56
    names = [cell.name for cell in iops.cells]
    assert names[:2] == ["random 100/0 1024 KiB", "random 100/0 128 KiB"]
    assert names[7:9] == ["random 100/0 0.5 KiB", "random 95/5 1024 KiB"]
    assert names[-2:] == ["random 0/100 4 KiB", "random 0/100 0.5 KiB"]
    reads = [cell.load.read_percent for cell in iops.cells]
    assert reads == sorted(reads, reverse=True)
    assert {cell.seconds for cell in iops.cells} == {60.0}
    assert (iops.tracking.cell, iops.tracking.figure) == ("random 0/100 4 KiB", "iops")


def test_iops_conditions_by_twice_the_capacity() -> None:
    """In sequence, 128 KiB, with the threads and depth of the test."""
    conditioning = part("iops").conditioning
    assert conditioning is not None
    load = conditioning.load
    assert (load.pattern, load.read_percent, load.block_bytes) == ("sequential", 0, 131072)
    assert (load.threads, load.depth, conditioning.passes) == (2, 16, 2.0)


def test_throughput_conditions_each_block_size_by_itself() -> None:
    """1024 and 128 KiB, each after a purge, conditioned by its own size, and tracked by itself."""
    parts = planned("tp").tests[0].parts
    assert [each.name for each in parts] == ["tp-1024k", "tp-128k"]
    for each, size in zip(parts, (1 << 20, 128 << 10), strict=True):
        assert each.conditioning is not None
        assert (each.conditioning.load.block_bytes, each.conditioning.passes) == (size, 2.0)
        assert [cell.load.read_percent for cell in each.cells] == [100, 0]
        assert {cell.load.block_bytes for cell in each.cells} == {size}
        assert (each.tracking.cell, each.tracking.figure) == (each.cells[1].name, "mb_per_s")


def test_latency_asks_one_request_at_a_time() -> None:
    """Whatever threads and depth are given; nine cells, tracked by the mean of 4 KiB writes."""
    lat = part("lat")
    assert {(cell.load.threads, cell.load.depth) for cell in lat.cells} == {(1, 1)}
    sizes = [cell.load.block_bytes for cell in lat.cells]
    assert sizes == [8192, 4096, 512] * 3
    assert [cell.load.read_percent for cell in lat.cells] == [100] * 3 + [65] * 3 + [0] * 3
    assert (lat.tracking.cell, lat.tracking.figure) == ("random 0/100 4 KiB", "mean_ns")


def test_saturation_ends_by_four_capacities_a_day_or_steady_state() -> None:
    """No conditioning before it; of the minutes the window takes every thirty-first."""
    wsat = part("wsat")
    assert wsat.conditioning is None
    assert wsat.stop == StopRule(
        stride=31, most_rounds=None, most_passes=4.0, most_seconds=86_400.0
    )


def test_idle_recovery_has_five_idle_times() -> None:
    """Each 360 times after 5 s of writes, and half an hour of writes after it."""
    steps = part("hir").afterwards
    idle = [each.pauses.idle_s for each in steps if each.pauses is not None]
    assert idle == [5, 10, 15, 25, 50]
    assert [each.pauses is None for each in steps] == [False, True] * 5
    assert steps[0].cell.seconds == 360 * 10
    assert steps[1].cell.seconds == 1800


def test_4kn_drive_keeps_its_tracking_variable() -> None:
    """Without cells of 0.5 KiB the 4 KiB cell is tracked as ever, and the deviation is told."""
    plan = planned("iops", "lat", sector=4096)
    iops, lat = (test.parts[0] for test in plan.tests)
    assert (len(iops.cells), len(lat.cells)) == (49, 6)
    assert iops.tracking.cell == lat.tracking.cell == "random 0/100 4 KiB"
    assert "4096" in plan.deviations[0].instead


def test_quick_hurries_cells_with_reads_alone() -> None:
    """Pure writes last as by the book; the deviation has its number and its clause."""
    plan = planned("iops", quick=True)
    for cell in plan.tests[0].parts[0].cells:
        assert (cell.precision is None) == (cell.load.read_percent == 0)
        assert cell.seconds == 60.0
    (deviation,) = plan.to_data()["deviations"]
    assert deviation["number"] == 1
    assert "one minute" in deviation["clause"]


def test_by_the_book_nothing_deviates() -> None:
    """A plan without --quick for a drive of 512-byte sectors has no deviation."""
    assert planned(*book.TESTS).deviations == ()


@pytest.mark.parametrize("name", ["xsr", "ecw", "dirth", "iop"])
def test_what_is_not_included_is_said(name: str) -> None:
    """Another test is refused by name, with those that there are."""
    with pytest.raises(SsdlabError, match=f"{name}: there is no such test\ntests: iops, tp, lat"):
        planned(name)
