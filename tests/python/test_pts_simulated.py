"""The PTS bench on simulated drives: state that goes on, purge, caches, data, early ends, stops."""

from __future__ import annotations

import filecmp
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.bench import book
from ssdlab.bench.plan import (
    Afterwards,
    Conditioning,
    Part,
    Pauses,
    Precision,
    Step,
    StopRule,
    Tracking,
    Workload,
)
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.simulated import SimulatedTarget
from ssdlab.bench.store import Store
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import Stopped

pytestmark = pytest.mark.end_to_end

SMALL = (("capacity_bytes", "256MB"), ("nand.pages_per_block", "32"))
DRIVE = RunRequest("intel-dc-s3500-80gb", settings=SMALL)
RAID = replace(DRIVE, layers=("raid:level=5,disks=3",))
WRITES = Workload("random", 0, 4096, 1, 32)
MIX = Workload("random", 65, 4096, 2, 8)


def go_on(*_: object) -> bool:
    return True


def purged(request: RunRequest = DRIVE) -> SimulatedTarget:
    target = SimulatedTarget(request)
    target.purge()
    return target


def fill(target: SimulatedTarget, threads: int = 1, passes: float = 2.0) -> int:
    step = Step("fill", Workload("sequential", 0, 131072, threads, 8), 1, passes=passes)
    return target.perform(step, go_on).write.total_bytes


def test_purge_is_proved() -> None:
    """A drive in steady state is erased: what is read afterwards was never written."""
    target = SimulatedTarget(DRIVE)
    for _ in range(2):
        proof = target.purge()
        assert proof.proved
        assert proof.checked == "1000 of 1000 random reads of 4 KiB found nothing written"
        fill(target)
    assert target._checked("nothing", "nothing").proved is False


def test_worn_drive_keeps_its_wear(tmp_path: Path) -> None:
    """The purge of a drive file erases its blocks, which is in the proof."""
    target = purged()
    fill(target)
    target.keep(tmp_path / "old.ssd")
    proof = SimulatedTarget(RunRequest(str(tmp_path / "old.ssd"))).purge()
    assert proof.proved
    assert int(proof.answered.split()[0]) > 0


def test_disk_is_not_called_purged() -> None:
    """A hard disk has no secure erase and no map, so that nothing proves a purge."""
    assert SimulatedTarget(RunRequest("fujitsu-mhz2250bh")).purge().proved is False


@pytest.mark.parametrize("threads", [1, 4])
def test_conditioning_writes_all_of_the_drive(threads: int) -> None:
    """Twice the capacity by the drive's own log, and no place is left out, however many threads."""
    target = purged()
    before = target.counters().host_bytes_written
    written = fill(target, threads)
    assert target.counters().host_bytes_written - before == written
    assert 0 <= 2 * 256_000_000 - written <= 2 * threads * 131072
    # The tail of a share that is no whole block, of which there is one a thread.
    unmapped = int(target._checked("", "").checked.split()[0])
    assert unmapped <= 5


@pytest.mark.parametrize("layer", ["raid:level=5,disks=3", "partition:start_sector=2048"])
def test_conditioning_writes_all_of_a_stack(layer: str) -> None:
    """What the host sees is filled, whatever its drives hold: no read finds an unwritten place."""
    target = purged(replace(DRIVE, layers=(layer,)))
    capacity = target.describe().capacity_bytes
    block = 131072
    assert 2 * (capacity - block) <= fill(target) <= 2 * capacity
    reads = Step("reads", Workload("random", 100, 4096, 1, 8), 2, seconds=0.2)
    (job,) = target.perform(reads, go_on).raw
    assert job["read"]["total_ios"] > 1000
    assert job["ssdlab"]["unmapped_reads"] * 1000 < job["read"]["total_ios"]


def test_state_goes_on_from_step_to_step() -> None:
    """The second minute of random writes is slower than the first, as in one run of both."""
    target = purged()
    fill(target)
    rates = [
        target.perform(Step("writes", WRITES, seed, seconds=3.0), go_on).both.iops
        for seed in (1, 2, 3)
    ]
    assert rates[1] < 0.8 * rates[0]
    assert rates[2] == pytest.approx(rates[1], rel=0.2)


def test_offsets_follow_from_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of one cell go to other places; the same seed goes to the same."""
    monkeypatch.chdir(tmp_path)
    target = purged()
    job = target._job(Step("writes", WRITES, 1, seconds=0.05))
    assert "randrepeat=0" in job and "norandommap=1" in job

    def places(seed: int) -> list[str]:
        # A held drive writes no log, so a run of the same job shows the offsets.
        engine.run(replace(DRIVE, job_text=job + "write_iolog=log\n", seed=seed))
        return [line for line in Path("log").read_text().splitlines() if " write " in line]

    first, again, second = places(11), places(11), places(12)
    assert len(first) > 1000
    assert first == again
    same = sum(a == b for a, b in zip(first, second, strict=False))
    assert same < len(first) / 100


def test_data_is_random() -> None:
    """On a drive that compresses, as much is programmed as was written."""
    target = purged(
        RunRequest("ocz-vertex-2-90gb", settings=(*SMALL, ("over_provisioning", "0.2")))
    )
    before = target.counters()
    fill(target, passes=1.0)
    after = target.counters()
    host = after.host_bytes_written - before.host_bytes_written
    assert after.nand_bytes_written is not None and before.nand_bytes_written is not None
    assert after.nand_bytes_written - before.nand_bytes_written >= 0.99 * host


def test_volatile_cache_is_off() -> None:
    """A buffer that a power cut would empty answers no write before it is programmed."""
    settings = (*DRIVE.settings, ("buffer.power_loss_protected", "false"))
    step = Step("write", Workload("random", 0, 4096, 1, 1), 1, seconds=0.5)
    safe, volatile = purged(), purged(replace(DRIVE, settings=settings))
    assert (safe.write_cache_off().found, safe.write_cache_off().during) == ("none", "none")
    found = volatile.write_cache_off()
    assert (found.found, found.during) == ("on", "off")
    program_ns = 1_221_000
    fast, slow = safe.perform(step, go_on).both, volatile.perform(step, go_on).both
    assert fast.percentiles_ns["50"] < program_ns < slow.percentiles_ns["50"]


def test_step_ends_once_its_mean_is_known() -> None:
    """Reads at a constant rate end early; a mix goes on to write as much as the minute would."""
    target = purged()
    fill(target)
    known = Precision(1.3, 5)
    reads = Step("reads", Workload("random", 100, 4096, 1, 32), 1, seconds=60.0, precision=known)
    measured = target.perform(reads, go_on)
    assert 5 <= measured.seconds <= 10
    assert measured.rest_bytes == 0
    mix = replace(reads, load=Workload("random", 95, 4096, 1, 32), precision=Precision(30.0, 5))
    before = target.counters().host_bytes_written
    measured = target.perform(mix, go_on)
    written = target.counters().host_bytes_written - before
    assert measured.seconds < 30
    assert written == measured.write.total_bytes + measured.rest_bytes
    rate = measured.write.total_bytes / measured.seconds
    assert written == pytest.approx(60 * rate, rel=0.01)


SMALL_PART = Part(
    "small",
    Conditioning(Workload("sequential", 0, 131072, 2, 8), 1.0),
    tuple(
        replace(book.cell("random", reads, 4096, 2, 8), seconds=0.4, precision=None)
        for reads in (65, 0)
    ),
    Tracking("random 0/100 4 KiB", "iops"),
    # Never steady, so that it has all of its rounds.
    StopRule(range_share=-1.0, most_rounds=8),
    checkpoint=3,
    afterwards=(Afterwards(replace(book.cell("random", 0, 4096, 1, 8), seconds=0.4)),) * 2
    + (Afterwards(book.cell("random", 0, 4096, 1, 8, 2.0), Pauses(0.1, 0.4)),),
)


def perform(request: RunRequest, folder: Path, most_calls: float = float("inf")) -> int:
    """Perform the part, at most until progress was told so often; return how often it was."""
    calls = 0

    def told(_rounds: int, _what: str, _share: float) -> bool:
        nonlocal calls
        calls += 1
        return calls <= most_calls

    PartRun(SMALL_PART, SimulatedTarget(request), Store(folder).part("small"), 1, told).perform()
    return calls


def differing(one: Path, other: Path) -> list[str]:
    """Name the files of two folders that are not the same, or in one only."""
    found = filecmp.dircmp(one, other)
    names = found.left_only + found.right_only
    return names + filecmp.cmpfiles(one, other, found.common_files, shallow=False)[1]


@pytest.mark.parametrize("request_", [DRIVE, RAID], ids=["drive", "raid"])
def test_stopped_and_taken_up_again_is_the_same(request_: RunRequest, tmp_path: Path) -> None:
    """Stopped at random moments and resumed, its files are those of one run, byte for byte."""
    whole = tmp_path / "whole"
    whole.mkdir()
    calls = perform(request_, whole)
    assert sorted(path.name for path in (whole / "small").glob("*.ssd")) == []
    assert len(list((whole / "small").glob("round-*.json"))) == 8
    draw = random.Random(7)
    parted = tmp_path / "parted"
    parted.mkdir()
    for _ in range(3):
        # Progress is told a few times a step, so that this is somewhere in the first half.
        with pytest.raises(Stopped):
            perform(request_, parted, draw.randrange(1, calls // 2))
    perform(request_, parted)
    assert differing(whole / "small", parted / "small") == []


def test_other_seed_is_another_run(tmp_path: Path) -> None:
    """What is compared byte for byte does differ where it should."""
    rounds: list[Any] = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        store = Store(folder).part("small")
        part = replace(SMALL_PART, stop=StopRule(most_rounds=1), afterwards=())
        PartRun(part, SimulatedTarget(DRIVE), store, seed, go_on).perform()
        rounds.append(json.loads((folder / "small" / "round-0001.json").read_text()))
    assert rounds[0]["cells"][0]["both"] != rounds[1]["cells"][0]["both"]


def test_idle_time_lies_within_a_step() -> None:
    """Of a second in ten steps of work, a tenth each, the drive works for a fifth of the time."""
    target = purged()
    fill(target)
    load = Workload("random", 100, 4096, 1, 1)
    step = Step("turns", load, 1, seconds=5.0, pauses=Pauses(0.1, 0.4))
    turns = target.perform(step, go_on).both
    steady = target.perform(replace(step, pauses=None), go_on).both
    # The drive rests meanwhile, and each time it takes some milliseconds to wake up.
    assert 0.9 * steady.iops / 5 <= turns.iops <= 1.01 * steady.iops / 5
