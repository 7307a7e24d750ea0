"""The load of a running machine: the kernel's counters, and the job that is made of them."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import plain
from insertions import rows_inserted, units_changed
from machine import MadeMachine
from process import HANG_S
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit.load import Clock, DeviceLoad, Requests, WriteLoad, parse_duration, watch
from ssdlab.machine.audit.load_job import job_of
from ssdlab.machine.audit.walk import chosen_devices
from ssdlab.real.reading import read_topology
from ssdlab.real.system import CapturedSystem, LiveSystem

Command = Callable[..., tuple[int, str, str]]
BEFORE = [100, 5, 800, 50, 200, 7, 1600, 60, 0, 100, 110, 3, 0, 24, 1, 9, 2]
ADDED = [1000, 1, 16_000, 2000, 500, 2, 20_000, 3000, 0, 2500, 5000, 100, 0, 4096, 10, 50, 5]
"""Ten seconds: 100 reads a second of 8 KiB, 50 writes of 20 KiB, 10 discards, 5 flushes."""


def stats(counters: dict[str, list[int]]) -> str:
    lines = (f"8 0 {name} {' '.join(map(str, numbers))}" for name, numbers in counters.items())
    return "\n".join(lines)


def seen(
    before: dict[str, list[int]],
    after: dict[str, list[int]],
    machine: MadeMachine | None = None,
    stop_at: float | None = None,
    after_text: str = "",
) -> WriteLoad:
    """Count for ten seconds of a clock that a test turns."""
    made = machine or plain().mount("sda1", "/")
    system: CapturedSystem = made.file("/proc/diskstats", stats(before)).system()
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        made.files["/proc/diskstats"] = after_text or stats(after)
        if stop_at is not None and now[0] >= 100 + stop_at:
            raise KeyboardInterrupt

    topology = read_topology(system)
    return watch(system, topology, topology.devices, 10, Clock(lambda: now[0], sleep))


def added(numbers: list[int], more: list[int]) -> list[int]:
    return [before + change for before, change in zip(numbers, more, strict=True)]


def drive(load: WriteLoad) -> DeviceLoad:
    return next(device for device in load.devices if device.name == "sda")


def test_figures_by_hand() -> None:
    """Every figure of ten seconds is what the counters' difference says."""
    found = drive(seen({"sda": BEFORE}, {"sda": added(BEFORE, ADDED)}))
    assert (found.per_second(found.reads), found.reads.mean_bytes) == (100, 8192)
    assert (found.per_second(found.writes), found.writes.mean_bytes) == (50, 20_480)
    assert found.gb_per_day(found.writes) == pytest.approx(500 * 20_480 / 10 * 86_400 / 1e9)
    assert (found.depth, found.busy_depth) == (0.5, 2.0)
    assert found.discards == Requests(100, 2 << 20)
    assert found.discard_share == pytest.approx(100 / 1600)
    assert found.flushes == 50


def test_drives_and_layers() -> None:
    """A drive comes first, then what stands on it, each with its own counters."""
    machine = plain().crypt("dm-0", "sda1").mount("dm-0", "/home")
    names = ("dm-0", "sda", "sda1")
    after = {name: added(BEFORE, [each * 2 for each in ADDED]) for name in names}
    after["dm-0"] = added(BEFORE, ADDED)
    load = seen(dict.fromkeys(names, BEFORE), after, machine)
    assert [(each.label, each.kind) for each in load.devices] == [
        ("/dev/sda", "drive"),
        ("/dev/mapper/crypt-sda1", "crypt"),
        ("/dev/sda1", "partition"),
    ]
    assert [each.reads.count for each in load.devices] == [2000, 1000, 2000]


@pytest.mark.parametrize("fields,discards,flushes", [(11, None, None), (15, 100, None)])
def test_older_kernels(fields: int, discards: int | None, flushes: int | None) -> None:
    """What a kernel does not count is not taken for none."""
    found = drive(seen({"sda": BEFORE[:fields]}, {"sda": added(BEFORE, ADDED)[:fields]}))
    assert (found.discards.count if found.discards else None) == discards
    assert found.flushes == flushes
    assert (found.discard_share is None) == (discards is None)


def test_flushes_of_layers_are_not_taken_for_none() -> None:
    """The kernel counts them for whole devices only; a partition's zero is no count."""
    machine = plain().crypt("dm-0", "sda1").mount("dm-0", "/home")
    names = ("dm-0", "sda", "sda1")
    after = dict.fromkeys(names, added(BEFORE, ADDED))
    load = seen(dict.fromkeys(names, BEFORE), after, machine)
    assert [each.flushes for each in load.devices] == [50, None, None]
    job = job_of(load.devices[1])
    assert "fsync" not in options(job) and "# left out: flushes" in job


def test_counters_that_run_over_or_begin_anew() -> None:
    """Times of 32 bits are mended; a device that came back is left out."""
    early = list(BEFORE)
    early[10] = (1 << 32) - 1000
    late = added(early, ADDED)
    late[10] -= 1 << 32
    assert drive(seen({"sda": early}, {"sda": late})).request_seconds == 5
    anew = seen({"sda": BEFORE}, {"sda": [0] * 17})
    assert anew.devices == [] and anew.unread[0].where == "/proc/diskstats, sda"
    assert seen({"sda": BEFORE}, {"sdb": BEFORE}).devices == []


STRANGE = ("frobnication", "8 0 sdz 1 2 3", "8 x sdz" + " 1" * 17, "8 0 sdz" + " 1" * 18, "7 7")


def test_foreign_rows_of_the_counters_are_quoted() -> None:
    """A row, a number in another form or a name there twice: each is quoted, at every place."""
    before, after = stats({"sda": BEFORE, "sdb": BEFORE}), {"sda": added(BEFORE, ADDED)}
    rows = {text: row for text, row in rows_inserted(before, (*STRANGE, stats({"sda": BEFORE})))}
    rows |= {text: "" for text in units_changed(before, random.Random(36), 40)}
    for text in rows:
        found = seen({"sda": BEFORE}, after, after_text=text)
        assert found.unread, text
        assert all(each.where.startswith("/proc/diskstats, line ") for each in found.unread[:1])
        assert rows[text] in " ".join(each.quoted for each in found.unread)


def test_what_is_not_understood_of_the_machine_is_quoted() -> None:
    """What nobody can read of a device may hide a layer, so it is told here as by the audit."""
    machine = plain().mount("sda1", "/").file("/sys/class/block/sda1/dev", "frobnication 7")
    load = seen({"sda": BEFORE}, {"sda": added(BEFORE, ADDED)}, machine)
    (told,) = load.unread
    assert "frobnication 7" in told.told()
    assert drive(load).reads.count == 1000


def test_what_is_not_understood_of_the_counters_reaches_people(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table and JSON quote the row, and the exit code is not that of a load that was counted."""
    machine = plain().mount("sda1", "/").file("/proc/diskstats", stats({"sda": BEFORE}) + "\nhm 7")
    system = machine.system()
    for words in (("--json",), ()):
        monkeypatch.setattr("ssdlab.cli.audit.LiveSystem", lambda: system)
        code, out, _ = command("audit", "--load", "0.1s", *words)
        assert code == 4 and "hm 7" in out and "/proc/diskstats, line 2" in out


def test_ctrl_c_keeps_what_was_seen() -> None:
    """Stopped after three seconds, rates are those of three seconds."""
    load = seen({"sda": BEFORE}, {"sda": added(BEFORE, ADDED)}, stop_at=3)
    assert load.was_stopped and load.seconds == 3
    assert drive(load).per_second(drive(load).reads) == pytest.approx(1000 / 3)


@pytest.mark.parametrize("text", ["", "\0", "8 0 sda 1 2 3", "8 0 sda " + "x " * 17])
def test_rubbish_counters(text: str) -> None:
    """Without counters it is said where they were looked for."""
    machine = plain().file("/proc/diskstats", text)
    with pytest.raises(SsdlabError, match="/proc/diskstats cannot be read"):
        watch(machine.system(), read_topology(machine.system()), ["sda"], 1, Clock())


@pytest.mark.parametrize("text", ["", "10", "10x", "-1s", "0s", "8d", "1e9h", "٣s", "m"])
def test_wrong_times(text: str) -> None:
    """What is no time is refused with what is one."""
    with pytest.raises(SsdlabError, match="expected a time from 0.1s to 7d"):
        parse_duration(text)
    assert (parse_duration("30s"), parse_duration("1.5m"), parse_duration("2h")) == (30, 90, 7200)


def made(*, reads: int = 1000, writes: int = 500, flushes: int = 50) -> DeviceLoad:
    change = [*ADDED]
    change[0], change[2] = reads, reads * 16
    change[4], change[6], change[15] = writes, writes * 40, flushes
    return drive(seen({"sda": BEFORE}, {"sda": added(BEFORE, change)}))


def options(job: str) -> dict[str, str]:
    lines = [line for line in job.splitlines() if "=" in line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_the_job_by_hand() -> None:
    """Mix, sizes, rates, depth and commits are those counted; assumptions are marked."""
    job = job_of(made())
    assert options(job) == {
        "rw": "randrw",
        "rwmixread": "67",
        "bs": "8192,20480",
        "rate_iops": "100,50",
        "iodepth": "2",
        "fsync": "10",
        "size": "1g",
        "ioengine": "libaio",
        "direct": "1",
        "runtime": "60",
    }
    told = [line for line in job.splitlines() if line.startswith("# assumed: ")]
    assert any("offsets are random" in line for line in told)
    assert any("mean size" in line for line in told)
    assert "# left out: 100 discards of 2097152 bytes (6.2% of the requests)" in job
    assert not re.search(r"/dev/|sda|filename", job)


@pytest.mark.parametrize("reads,writes,kind", [(1000, 0, "randread"), (0, 500, "randwrite")])
def test_jobs_of_one_kind(reads: int, writes: int, kind: str) -> None:
    """A load that only reads, or only writes, is a job that does."""
    found = options(job_of(made(reads=reads, writes=writes, flushes=0)))
    assert found["rw"] == kind and "," not in found["bs"] and "rwmixread" not in found
    assert "fsync" not in found


def test_no_job_of_nothing() -> None:
    """A machine that stood still has no load to write."""
    with pytest.raises(SsdlabError, match="neither read nor written in 10 s"):
        job_of(made(reads=0, writes=0))


@pytest.mark.parametrize("reads,writes", [(1000, 500), (1000, 0), (0, 500), (1, 1)])
def test_the_job_runs_here(command: Command, reads: int, writes: int) -> None:
    """The simulated drive is asked for what was counted, at that rate."""
    job = job_of(made(reads=reads, writes=writes)).replace("runtime=60", "runtime=10")
    Path("load.fio").write_text(job, encoding="utf-8")
    small = ("--drive", "theory", "--set", "capacity_bytes=2GiB")
    code, out, error = command("run", "load.fio", *small, "--output-format", "json")
    assert code == 0, error
    (ran,) = json.loads(out)["jobs"]
    for kind, counted in (("read", reads), ("write", writes)):
        asked = max(1, counted / 10) if counted else 0
        assert ran[kind]["iops"] == pytest.approx(asked, rel=0.1, abs=1)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("reads,writes", [(1000, 500), (1000, 0), (0, 500)])
def test_fio_takes_the_job(reads: int, writes: int, tmp_path: Path) -> None:
    """fio finds nothing to complain of."""
    place = tmp_path / "load.fio"
    place.write_text(job_of(made(reads=reads, writes=writes)), encoding="utf-8")
    done = subprocess.run(["fio", "--parse-only", str(place)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def counters() -> None:
    """Skip where the kernel counts nothing that the audit looks at."""
    system = LiveSystem()
    counted = {line.split()[2] for line in (system.read("/proc/diskstats") or "").splitlines()}
    if counted.isdisjoint(chosen_devices(system, read_topology(system), [])):
        pytest.skip("no device of /sys/block in use is in /proc/diskstats here")


@pytest.mark.usefixtures("counters")
def test_this_machine_for_a_moment(command: Command) -> None:
    """The command counts here for a second, as a table and as JSON."""
    code, out, _ = command("audit", "--load", "0.5s", "--json")
    content = json.loads(out)
    assert code == 0 and content["seconds"] >= 0.5 and not content["was_stopped"]
    assert all(device["reads"] >= 0 for device in content["devices"])
    code, out, _ = command("audit", "--load", "0.1s")
    assert code == 0 and "do not tell" in out and "reads/s" in out


@pytest.mark.usefixtures("counters")
def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    """A signal ends the counting; the report and the exit code are those of a run cut short."""
    terminal, end = pty.openpty()
    words = [sys.executable, "-m", "ssdlab", "audit", "--load", "1h"]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=end, text=True, cwd=tmp_path, env=environment
    ) as process:
        os.close(end)
        told = b""
        # On a terminal it says when counting has begun.
        while b"counting for 1h" not in told:
            assert select.select([terminal], [], [], HANG_S)[0], told
            told += os.read(terminal, 1024)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=HANG_S)
    os.close(terminal)
    assert process.returncode == 130 and "stopped early" in out


def test_wrong_uses(command: Command) -> None:
    """--load is for this machine, -o is for --load, and a place must be one."""
    for words, told in (
        (("--load", "1s", "--root", "x"), "leave out --root"),
        (("--load", "1s", "--capture", "x"), "give one of them"),
        (("-o", "x.fio"), "--output needs --load"),
        (("--load", "soon"), "expected a time"),
        (("--load", "1s", "-o", "-", "--json"), "would both write to stdout"),
        (("--load", "", "--checklist"), "give one of them"),
        (("--load", "1s", "/nowhere-at-all"), "not a block device or a mounted folder"),
        (("--load", "1s", "-o", "/no/such/folder/x.fio"), "/no/such/folder/x.fio"),
    ):
        code, _, error = command("audit", *words)
        assert code == 2 and told in error, (words, error)
