"""Nights, trimmed or idle: arithmetic by hand, runs beside closed forms and plain runs."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.study.sizing import nights
from ssdlab.study.sizing.candidate import SINGLE, Candidate, layout, sheet
from ssdlab.study.sizing.closed_form import least_write_amplification, room
from ssdlab.study.sizing.lifetime import cases, key
from ssdlab.study.sizing.load import HostLoad, plain, with_trims
from ssdlab.study.sizing.simulate import conditioning, simulate

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
THEORY = Candidate("theory", 0.0, layout(SINGLE))
CAPACITY = 2**34
ROOT = Path(__file__).parents[2]
WRITES = HostLoad(iops=100, read_share=0.0, block_bytes=4096, bytes_per_day=CAPACITY)


def test_drive_writes_from_trim_to_trim() -> None:
    """By hand: one a day; seven a week; of a pair of mirrors each as many, of RAID 0 half."""
    assert nights.drive_writes(THEORY, with_trims(WRITES, "daily:20%")) == pytest.approx(1)
    weekly = with_trims(WRITES, "weekly:20%")
    assert nights.drive_writes(THEORY, weekly) == pytest.approx(7)
    for level, times in ((1, 1.0), (0, 0.5)):
        array = replace(THEORY, layout=layout(f"raid:level={level},disks=2"))
        assert nights.drive_writes(array, with_trims(WRITES, "daily:20%")) == pytest.approx(times)
    unused = replace(THEORY, unused=0.5)
    assert nights.drive_writes(unused, with_trims(WRITES, "daily:20%")) == pytest.approx(2)
    halves = replace(with_trims(WRITES, "daily:20%"), block_bytes=2048)
    assert nights.drive_writes(THEORY, halves) == pytest.approx(2)


def test_what_is_unmapped_in_the_evening_and_trimmed_at_night() -> None:
    """By hand, after one drive write: 20 % / e are left, and the night makes it 20 % again."""
    load = with_trims(WRITES, "daily:20%")
    left = 0.2 / math.e
    assert nights.still_free(THEORY, load) == pytest.approx(left)
    assert nights.evening(THEORY, load).unused == pytest.approx(left)
    half = nights.evening(replace(THEORY, unused=0.5), replace(load, bytes_per_day=CAPACITY / 2))
    assert half.unused == pytest.approx(1 - 0.5 * (1 - left))
    trimmed = nights.deleted(0.2, 1.0)
    assert left + trimmed * (1 - left) == pytest.approx(0.2)
    assert nights.still_free(THEORY, WRITES) == 0.0
    assert nights.evening(THEORY, WRITES) is THEORY


def test_a_drive_without_trim_hears_nothing() -> None:
    """Nothing is unmapped, and that is said of it alone."""
    load = with_trims(WRITES, "daily:20%")
    deaf = replace(THEORY, drive="intel-x25-m-g1-80gb")
    assert nights.still_free(deaf, load) == 0.0
    assert least_write_amplification(deaf, load) == least_write_amplification(deaf, WRITES)
    (said,) = nights.remarks(["theory", "intel-x25-m-g1-80gb"], load)
    assert said.startswith("intel-x25-m-g1-80gb: has no TRIM")


def test_what_is_free_is_no_room_and_all_spare_at_best() -> None:
    """By hand: four fifths hold data; the bound of WA is that of a fifth unused."""
    load = with_trims(WRITES, "daily:20%")
    assert room(THEORY, load) == pytest.approx(0.8 * CAPACITY)
    unused = least_write_amplification(replace(THEORY, unused=0.2), WRITES)
    assert least_write_amplification(THEORY, load) == pytest.approx(unused, rel=1e-3)


def _mean_of_the_day(free: float, drive_writes: float) -> float:
    """Average the closed form over a day, of the drive as it is just then."""
    spare, units = sheet("theory").over_provisioning, sheet("theory").units_a_block
    steps = 32
    times = [(step + 0.5) / steps * drive_writes for step in range(steps)]
    return (
        sum(
            float(
                engine.theory(
                    (1 + spare) / (1 - free * math.exp(-time)) - 1, pages_per_block=units
                )["write_amplification"]
            )
            for time in times
        )
        / steps
    )


@pytest.mark.parametrize(("free", "drive_writes"), [(0.2, 0.01), (0.2, 0.25), (0.3, 1.0)])
def test_days_and_nights_beside_the_closed_form(free: float, drive_writes: float) -> None:
    """Within 2 %: blocks age over more than a day, which the closed form of each moment leaves out.

    Trims that come too late or too often would show: without any WA is 2.44, with a fifth of the
    drive unmapped all day 1.54.
    """
    load = replace(WRITES, bytes_per_day=CAPACITY * drive_writes, free=free)
    season, _ = conditioning(THEORY, WRITES, 1)
    measured, not_steady = nights.amplification(THEORY, load, season, lambda _phase, _share: True)
    assert not_steady is None
    assert measured == pytest.approx(_mean_of_the_day(free, drive_writes), rel=0.02)


def test_what_would_change_the_life_of_a_drive_that_is_trimmed() -> None:
    """Never trimming it, in place of trimming another share; and half the writes have a run."""
    asked = cases("theory", 0.0, with_trims(WRITES, "weekly:30%"))
    names = ["as asked", "20 % unused", "never trimmed", "in order", "half the writes"]
    assert [each.name for each in asked] == names
    assert len({key(each, 1) for each in asked}) == 5
    untrimmed = cases("theory", 0.0, WRITES)
    assert "20 % free, trimmed daily" in [each.name for each in untrimmed]
    assert key(untrimmed[0], 1) == key(untrimmed[-1], 1)


def test_plain_runs_say_the_same(command: Command) -> None:
    """The commands of a row give its WA over the last drive write, and its latencies at evening."""
    words = ("--writes", "8.6GB/day", "--iops", "2000", "--trim", "daily:20%", "--spare", "0%")
    code, out, err = command("sizing", *words, "--drive", "theory", "--output-format", "json")
    assert code == 0, err
    (row,) = json.loads(out)["sizing"]["rows"]
    season, run, season_of_die, days = (shlex.split(each)[1:] for each in row["commands"])
    left = 0.2 * math.exp(-8.6e9 / CAPACITY)
    (capacity,) = (each for each in season if each.startswith("capacity_bytes="))
    assert int(capacity.partition("=")[2]) == pytest.approx(CAPACITY * (1 - left), rel=1e-3)
    assert command(*season)[0] == 0 and command(*season_of_die)[0] == 0
    _, out, _ = command(*run[:3], "--output-format", "json", *run[3:])
    listed = json.loads(out)["jobs"][-1]["write"]["clat_ns"]["percentile"]
    assert listed["99.000000"] == row["figures"]["write_p99_ns"]
    _, out, _ = command(*days[:3], "--output-format", "json", *days[3:])
    jobs = json.loads(out)["jobs"]
    # Two days and nights of half a drive write each.
    last = [each["ssdlab"]["counters"] for each in jobs[-4:]]
    programmed, written = (
        sum(each[name] for each in last)
        for name in ("nand_bytes_written", "nand_host_bytes_written")
    )
    assert row["figures"]["write_amplification"] == pytest.approx(programmed / written, rel=1e-3)


def _idle_drive(folder: Path, *, collects: bool) -> str:
    """Make a small drive that collects when idle until half of its spare is free, or does not."""
    profile = (ROOT / "profiles/theory.toml").read_text("utf-8")
    values = {"idle_gc_after_ms": "100" if collects else '"none"', "idle_gc_blocks": "16"}
    lines = [
        f'{key} = {{ value = {value}, kind = "assumed", source = "a test" }}\n'
        for key, value in values.items()
    ]
    file = folder / f"idle-{collects}.toml"
    smaller = profile.replace('value = "16 GiB"', 'value = "2 GiB"')
    file.write_text(smaller.replace("[ftl]\n", "".join(["[ftl]\n", *lines])))
    return str(file)


def test_idle_hours_by_hand() -> None:
    """Hours of a day that are left; of a drive that collects then, and of uniform writes alone."""
    load = plain(writes="10GB/day", iops=None, mix="0/100", bs="4k", hours=10, sequential=False)
    collects = replace(THEORY, drive="samsung-990-pro-1tb")
    assert nights.idle_hours(collects, load) == 14
    assert nights.lived(collects, load) and not nights.lived(THEORY, load)
    assert nights.idle_hours(collects, replace(load, hours=24.0)) == 0
    assert nights.idle_hours(collects, replace(load, sequential=True)) == 0
    (said,) = nights.remarks(["theory", "samsung-990-pro-1tb"], load)
    assert said.startswith("theory: does not collect when idle")


def test_days_and_trims_of_a_week() -> None:
    """By hand: a trim each seventh day where each night counts; else one long day."""
    load = replace(WRITES, bytes_per_day=CAPACITY / 10, free=0.2, trim_days=7.0)
    weekly = nights.rhythm(THEORY, load)
    assert weekly.day == weekly.asked == pytest.approx(0.7) and weekly.trim_every == 1
    collects = replace(THEORY, drive="samsung-990-pro-1tb")
    per_day = replace(load, bytes_per_day=collects.exported_bytes / 10, hours=10.0)
    found = nights.rhythm(collects, per_day)
    assert found.day == pytest.approx(0.1) and found.trim_every == 7
    assert found.count(1) == 35 and found.together == 7
    job = nights.days(collects, per_day, 10**9)
    assert job.count("[night") == 5 and job.count("[day") == 35
    # The first day follows no night.
    assert job.count("startdelay=50400s") == 34


def test_a_morning_after_idle_hours(tmp_path: Path) -> None:
    """Free blocks that were made at night: more IOPS at first, more wear; none where none are."""
    load = replace(WRITES, bytes_per_day=2**30, iops=20.0, hours=10.0)
    idle, busy = (
        simulate(
            Candidate(_idle_drive(tmp_path, collects=collects), 0.0, layout(SINGLE)),
            load,
            1,
            lambda _phase, _share: True,
        )
        for collects in (True, False)
    )
    assert busy.morning is None and idle.morning is not None
    assert idle.morning.iops > 1.05 * busy.iops
    assert idle.write_amplification > 1.01 * busy.write_amplification
    assert idle.iops == pytest.approx(busy.iops, rel=0.01)
