"""The loop of a part, on made-up targets: order, seeds, its end, what a fault leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from made_target import CAPACITY, MadeTarget
from ssdlab.bench import book
from ssdlab.bench.bench import Pace
from ssdlab.bench.estimate import parts_of
from ssdlab.bench.plan import Part, Step
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.shorter import with_rounds_of
from ssdlab.bench.store import PartStore, Store
from ssdlab.bench.summary import part_summary
from ssdlab.ground.errors import SsdlabError, Stopped


def part(name: str, threads: int = 1) -> Part:
    return book.plan([name], threads, 4, 1, False, 512).tests[0].parts[0]


def perform(
    part: Part, target: MadeTarget, folder: Path, told: Callable[..., bool] = lambda *_: True
) -> PartStore:
    store = Store(folder).part(part.name)
    PartRun(part, target, store, 1, told).perform()
    return store


def test_steady_drive_ends_after_five_rounds(tmp_path: Path) -> None:
    """Conditioning, then the cells in their order, five times; every round has its file."""
    target, iops = MadeTarget(), part("iops")
    store = perform(iops, target, tmp_path)
    assert [step.name for step in target.steps[:2]] == ["conditioning", "random 100/0 1024 KiB"]
    assert [step.name for step in target.steps[1:]] == [cell.name for cell in iops.cells] * 5
    assert len(store.rounds()) == 5
    assert target.purges == 1


def test_no_two_steps_have_the_same_seed(tmp_path: Path) -> None:
    """Offsets differ between cells and between rounds, which repeated seeds would make alike."""
    target = MadeTarget()
    perform(part("iops"), target, tmp_path)
    seeds = [step.seed for step in target.steps]
    assert len(set(seeds)) == len(seeds) == 1 + 5 * 56
    assert max(seeds) >= 2**44


def test_sequential_cells_go_on_where_they_stopped(tmp_path: Path) -> None:
    """Round by round the next stretch of the drive, and from the beginning before its end."""
    target = MadeTarget(lambda _step, _number: 4.0)
    tp = part("tp")
    perform(tp, target, tmp_path)
    reads = [step for step in target.steps if step.load.read_percent == 100]
    moved = 4 * 60 * (1 << 20)
    assert [step.offset_bytes for step in reads] == [0, moved, 2 * moved, 0, moved]
    assert 3 * moved <= CAPACITY < 4 * moved


def test_noisy_drive_ends_after_25_rounds_not_steady(tmp_path: Path) -> None:
    """It goes on to the limit, and says that it was not steady."""

    def rate(_step: Step, number: int) -> float:
        return 1000.0 if number // 9 % 2 else 2000.0

    # All requests take the same time here, so that the rate is tracked instead.
    lat = _tracking_iops(part("lat"))
    store = perform(lat, MadeTarget(rate), tmp_path)
    found = part_summary(lat, store, CAPACITY)
    assert found is not None
    assert found["rounds"] == 25
    assert found["remarks"] == ["not steady"]
    assert found["window"] == [21, 22, 23, 24, 25]
    assert found["ended_by"] == "25 rounds"


def _tracking_iops(part: Part) -> Part:
    return replace(part, tracking=replace(part.tracking, figure="iops"))


def test_saturation_ends_when_four_capacities_are_written(tmp_path: Path) -> None:
    """At 1000 writes a second, 246 MB a minute, a drive of 1 GB takes 17 minutes."""
    target = MadeTarget()
    store = perform(part("wsat"), target, tmp_path)
    rounds = store.rounds()
    assert len(rounds) == -(-4 * CAPACITY // (1000 * 60 * 4096))
    assert target.steps[0].name == "random 0/100 4 KiB"


def test_saturation_ends_when_it_is_steady(tmp_path: Path) -> None:
    """A slow drive is steady long before four capacities: at the fifth of its samples."""
    store = perform(part("wsat"), MadeTarget(lambda _step, _number: 50.0), tmp_path)
    assert len(store.rounds()) == 5 * 31


def test_conditioning_that_left_something_out_is_refused(tmp_path: Path) -> None:
    """What preconditioning wrote is counted; less than asked for is no state to measure in."""
    with pytest.raises(SsdlabError, match="preconditioning wrote 1\\d+ bytes, not 2000000000"):
        perform(part("iops"), MadeTarget(short_by=10 << 20), tmp_path)


@pytest.mark.parametrize("threads", [1, 3, 4])
def test_conditioning_may_leave_out_a_part_of_a_block_per_thread(
    tmp_path: Path, threads: int
) -> None:
    """A share that is no whole number of blocks is no fault; a block more would be one."""
    iops, target = part("iops", threads), MadeTarget()
    perform(iops, target, tmp_path)
    assert (target.steps[0].passes, target.steps[0].load.threads) == (2.0, threads)
    (tmp_path / "less").mkdir()
    with pytest.raises(SsdlabError, match="preconditioning wrote"):
        perform(iops, MadeTarget(short_by=(2 * threads + 1) * 131072), tmp_path / "less")


def test_failure_keeps_finished_rounds_and_goes_on(tmp_path: Path) -> None:
    """A tool that fails in round 4 says why; three rounds stay, and the next run adds the rest."""
    lat = part("lat")
    with pytest.raises(SsdlabError, match="the tool said: no"):
        perform(lat, MadeTarget(fails_at=1 + 3 * 9 + 4), tmp_path)
    store = Store(tmp_path).part("lat")
    kept = (tmp_path / "lat" / "round-0003.json").read_text()
    assert len(store.rounds()) == 3
    target = MadeTarget()
    perform(lat, target, tmp_path)
    assert len(store.rounds()) == 5
    assert (target.purges, len(target.steps)) == (0, 2 * 9)
    assert (tmp_path / "lat" / "round-0003.json").read_text() == kept


def test_rerun_must_give_the_same(tmp_path: Path) -> None:
    """A target that is performed again from the purge, and does something else, is refused."""
    lat = part("lat")
    with pytest.raises(SsdlabError):
        perform(lat, MadeTarget(resumption="rerun", fails_at=30), tmp_path)
    other = MadeTarget(lambda _step, _number: 999.0, resumption="rerun")
    with pytest.raises(SsdlabError, match="gave another result than that in the folder"):
        perform(lat, other, tmp_path)
    same = MadeTarget(resumption="rerun")
    perform(lat, same, tmp_path)
    assert same.purges == 1
    assert len(Store(tmp_path).part("lat").rounds()) == 5


def test_stop_leaves_whole_rounds(tmp_path: Path) -> None:
    """Whoever answers progress with False, at any step, leaves rounds that can be read."""
    lat = part("lat")

    class Stopping(MadeTarget):
        def perform(self, step, progress):  # type: ignore[no-untyped-def]
            if not progress("", 0.0):
                raise Stopped
            return super().perform(step, progress)

    with pytest.raises(Stopped):
        perform(lat, Stopping(), tmp_path, told=lambda rounds, _what, _share: rounds < 2)
    files = sorted(path.name for path in (tmp_path / "lat").iterdir())
    assert files == ["beginning.json", "round-0001.json", "round-0002.json"]
    for file in files:
        json.loads((tmp_path / "lat" / file).read_text())


def test_damaged_round_is_told(tmp_path: Path) -> None:
    """A file that is cut is named, with the way out."""
    lat = part("lat")
    perform(lat, MadeTarget(), tmp_path)
    place = tmp_path / "lat" / "round-0002.json"
    place.write_text(place.read_text()[:100])
    with pytest.raises(SsdlabError, match=r"round-0002.json: cannot be read"):
        Store(tmp_path).part("lat").rounds()


def test_figures_are_those_of_the_window(tmp_path: Path) -> None:
    """The average of five rounds, not of all; maxima and percentiles of their requests."""
    lat = _tracking_iops(part("lat"))

    def rate(_step: Step, number: int) -> float:
        return 5000.0 if number <= 9 else 1000.0 + number

    store = perform(lat, MadeTarget(rate), tmp_path)
    found = part_summary(lat, store, CAPACITY)
    assert found is not None
    assert found["window"] == [2, 3, 4, 5, 6]
    first = found["cells"][0]["both"]
    rates = [1000 + 1 + 9 * number for number in range(1, 6)]
    assert first["iops"] == pytest.approx(sum(rates) / 5)
    assert first["requests"] == 60 * sum(rates)


def test_the_time_left_is_never_more_at_least_than_at_most() -> None:
    """A limit of two rounds, below the window of five: 10 s a round leave 15 s, not 45 to 15."""
    part = next(parts_of(with_rounds_of(book.plan(["wsat"], 1, 32, 1, False, 512), 2)))
    told: list[str] = []
    now = [0.0]

    def progress(phase: str, _share: float) -> bool:
        told.append(phase)
        return True

    pace = Pace(part, progress, lambda: now[0])
    pace.told(0, "RND", 0.0)
    now[0] = 5.0
    pace.told(0, "RND", 0.5)
    assert told[-1] == "round 1, RND; 15 s left"
