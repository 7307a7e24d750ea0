"""`ssdlab measure`: turns and ratios by hand, refusals, a served drive beside a simulated one."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from process import wait_for
from ssdlab import engine
from ssdlab.bench.real.fio_program import Fio
from ssdlab.cli.measure import _NAMES
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import runner
from ssdlab.ground.errors import SsdlabError
from ssdlab.referee.asked import turns
from ssdlab.referee.asked.questions import QUESTIONS

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
SMALL = RunRequest("theory", settings=(("capacity_bytes", "64MiB"),), condition="used")
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def result(**iops: float) -> Result:
    """Return a result with jobs that wrote at these rates."""
    return jobs(*(moved(name, write=(1, rate)) for name, rate in iops.items()))


def moved(name: str, **directions: tuple[int, float]) -> dict[str, object]:
    """Return a job of fio that moved so many requests at such a rate."""
    return {"jobname": name} | {
        each: {"bw_bytes": 4096 * rate, "total_ios": count, "io_bytes": 4096 * count}
        for each, (count, rate) in directions.items()
    }


def jobs(*each: dict[str, object]) -> Result:
    """Return a result of jobs."""
    return Result.from_json(json.dumps({"fio version": "fio-3.33", "jobs": each}))


def test_every_question_is_offered() -> None:
    """And each is made of jobs that the engine takes, with unlike names."""
    assert set(_NAMES) == set(QUESTIONS)
    for each in QUESTIONS.values():
        names: list[str] = []
        for job in turns.turn(each, 0, 1.0):
            names += engine.check_job(job.text, each.name, ())["jobs"]
        assert len(names) == len(set(names)), names
        for contrast in each.contrasts:
            assert {*contrast.sections[0], *contrast.sections[1]} <= set(names)
            assert all(0 < stated.value for stated in contrast.stated())


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_turn_writes_beforehand_is_what_it_says(name: str) -> None:
    """Of a simulated drive, in capacities: all that is written but in the time that is measured."""
    question = QUESTIONS[name]
    requests = turns.on_drive(question, 1, 0.1, SMALL, "crypt")
    written = [
        job.direction("write")["io_bytes"]
        for each in requests
        for job in runner.run(each, lambda _phase, _share: True).jobs
        if "write" in job.directions and "runtime" not in job.options
    ]
    # A tenth of 64 MiB is filled in whole mebibytes.
    assert sum(written) / (64 << 20) == pytest.approx(question.prepared_writes, abs=0.02)


def test_every_second_turn_begins_with_b() -> None:
    """A drive that grows slower by and by favours neither."""
    question = QUESTIONS["trim"]
    order = [
        [
            line.strip("[]")
            for line in turns.turn(question, number, 1)[0].text.splitlines()
            if "[" in line
        ]
        for number in (0, 1)
    ]
    assert order == [
        ["trim", "trimmed", "fill", "written"],
        ["fill", "written", "trim", "trimmed"],
    ]


def test_only_a_goes_through_the_cipher() -> None:
    """Whichever is first; and on a simulated drive only A has the layer."""
    question = QUESTIONS["cipher"]
    for number in (0, 1):
        for job in turns.turn(question, number, 1.0):
            assert ("large-encrypted" in job.text) == job.encrypted
            assert ("large-plain" in job.text) != job.encrypted
    crypt, plain = turns.on_drive(question, 2, 1.0, SMALL, "crypt")
    assert (crypt.layers, plain.layers) == (("crypt",), ())
    assert "plain" not in (crypt.job_text or "") and "encrypted" not in (plain.job_text or "")


def test_a_ratio_by_hand() -> None:
    """Half and twice make one; halves alone make a half, whose interval has no width."""
    question = QUESTIONS["alignment"]
    both = [[result(aligned=100, unaligned=50)], [result(aligned=100, unaligned=200)]]
    (answer,) = turns.figures(question, both)
    assert answer.ratio == pytest.approx(1)
    (halves,) = turns.figures(question, [both[0]] * 3)
    assert halves.ratio == pytest.approx(0.5)
    assert halves.interval == pytest.approx((0.5, 0.5))
    assert halves.pairs == ((100, 50),) * 3


def test_discards_take_their_time_by_hand() -> None:
    """A block in 10 ms of writing and 10 of discarding is 50 a second; in 10 and 0.1 it is 99."""
    single = moved("writes-single", write=(100, 100)), moved("discards-single", trim=(9, 100))
    batch = moved("writes-batched", write=(100, 100)), moved("discards-batched", trim=(9, 10_000))
    (answer,) = turns.figures(QUESTIONS["discard-cost"], [[jobs(*single, *batch)]])
    assert answer.pairs[0] == pytest.approx((99.0099, 50))
    with pytest.raises(SsdlabError, match="discards-single: moved nothing"):
        nothing = moved("discards-single")
        turns.figures(QUESTIONS["discard-cost"], [[jobs(single[0], nothing, *batch)]])


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        # Each write of a used drive touches two pages of 4 KiB, so at least half of it is lost.
        ("alignment", 0.1, 0.6),
        ("spare", 1.3, 4),
        ("used-new", 0.05, 0.8),
        ("trim", 1.0, 10),
        ("discard-cost", 0.01, 0.9),
    ],
)
def test_a_simulated_drive_answers_as_it_must(name: str, least: float, most: float) -> None:
    """Which way each goes is known beforehand."""
    question = QUESTIONS[name]
    requests = turns.on_drive(question, 3, 0.2, SMALL, "crypt")
    found = [runner.run(each, lambda _phase, _share: True) for each in requests]
    (answer,) = turns.simulated(question, 3, found)
    assert answer.interval is not None
    assert answer.interval[0] <= answer.ratio <= answer.interval[1]
    assert least < answer.ratio < most


def test_a_simulated_cipher_costs_what_its_rate_says() -> None:
    """At 100 MB/s sequential reads cannot be quicker than that; small ones hardly suffer."""
    question = QUESTIONS["cipher"]
    requests = turns.on_drive(question, 2, 0.2, SMALL, "crypt:mb_per_s=100")
    found = [runner.run(each, lambda _phase, _share: True) for each in requests]
    large, small = turns.simulated(question, 2, found)
    assert all(a * 4096 <= 101e6 for _, a in large.pairs)
    assert large.ratio < small.ratio < 1


def test_nothing_is_written_unless_it_is_named(command: Command) -> None:
    """Whatever the question."""
    Path("disk.img").write_bytes(bytes(1 << 24))
    before = hashlib.sha256(Path("disk.img").read_bytes()).hexdigest()
    for name in QUESTIONS:
        code, out, error = command("measure", name, "--target", "disk.img")
        assert (code, out) == (2, "") and "--destroy disk.img" in error
        assert hashlib.sha256(Path("disk.img").read_bytes()).hexdigest() == before
    for name in sorted(set(QUESTIONS) - {"alignment", "cipher"}):
        words = ("--target", "disk.img", "--destroy", "disk.img")
        code, out, error = command("measure", name, *words)
        assert (code, out) == (2, "") and "a file cannot be trimmed" in error
        assert hashlib.sha256(Path("disk.img").read_bytes()).hexdigest() == before
    code, out, error = command("measure", "alignment", *words, "-o", "-")
    assert (code, out) == (2, "") and "use --json" in error
    code, out, error = command("measure", "trim", "--target", "disk.img", "--state", "used")
    assert (code, out) == (2, "") and "add --drive" in error


@needs_fio
def test_a_served_drive(command: Command, tmp_path: Path) -> None:
    """Both questions over NBD, in text and JSON, with the simulated answer beside."""
    if "nbd" not in Fio().engines():
        pytest.skip("this fio has no engine for NBD")
    capacity = ("--set", "capacity_bytes=64MiB")
    assert command("serve", "theory", *capacity, "-o", "served", "--wait-ready")[0] == 0
    try:
        uri = f"nbd+unix:///?socket={tmp_path}/served/nbd.sock"
        words = ("--target", uri, "--destroy", uri, "--turns", "2", "--seconds", "0.2")
        for name in sorted(set(QUESTIONS) - {"cipher"}):
            beside = ("--json", "-o", "kept.json", "--drive", "theory", *capacity)
            code, out, error = command("measure", name, *words, *beside)
            assert code == 0, error
            found = json.loads(out)
            (each,) = found["contrasts"]
            assert len(each["target"]["pairs"]) == len(each["simulated"]["pairs"]) == 2
            assert json.loads(Path("kept.json").read_text()) == found
        code, out, error = command("measure", "cipher", *words)
        assert code == 2 and "needs a block device; nothing was written" in error
        code, out, error = command("measure", "alignment", *words)
        assert code == 0 and "2 turns" in out and "Media-Addicted" in out
        assert "no longer in the condition" in error
    finally:
        os.kill(int(Path("served/pid").read_text()), signal.SIGTERM)


def measuring(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start to measure a file."""
    (folder / "disk.img").write_bytes(bytes(1 << 24))
    target = ("--target", "disk.img", "--destroy", "disk.img")
    command = (sys.executable, "-m", "ssdlab", "measure", "alignment", *target, *words)
    return subprocess.Popen(
        command,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Where the tests themselves run in the background, Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def users(folder: Path) -> list[int]:
    """Name the processes that have the file open."""
    image = str(folder / "disk.img")
    found = []
    for each in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(each) == image:
                found.append(int(each.parts[2]))
    return found


@needs_fio
def test_killed_it_leaves_no_fio(tmp_path: Path) -> None:
    """fio ends with its owner, however that ends."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv (util-linux), which fio is kept on a leash by")
    process = measuring(tmp_path, "--seconds", "600")
    wait_for(lambda: bool(set(users(tmp_path)) - {process.pid}), "fio at work")
    process.kill()
    process.communicate()
    wait_for(lambda: not users(tmp_path), "fio's end")


@needs_fio
@pytest.mark.parametrize("drawn", range(3))
def test_killed_at_a_drawn_moment_it_has_kept_its_turns(tmp_path: Path, drawn: int) -> None:
    """The file of the finished turns is whole after SIGKILL, and no fio is left."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv (util-linux), which fio is kept on a leash by")
    kept = tmp_path / "kept.json"
    process = measuring(tmp_path, "--seconds", "0.1", "--turns", "1000", "-o", str(kept))
    wait_for(kept.exists, "the first turn")
    time.sleep(random.Random(drawn).uniform(0, 0.5))
    process.kill()
    process.communicate()
    wait_for(lambda: not users(tmp_path), "fio's end")
    (each,) = json.loads(kept.read_text())["contrasts"]
    assert len(each["target"]["pairs"]) >= 1 and each["target"]["ratio"] > 0


@needs_fio
def test_stopped_its_finished_turns_count(tmp_path: Path) -> None:
    """Ctrl-C prints the answer of the turns so far, and says how many and in what condition."""
    process = measuring(tmp_path, "--seconds", "0.1", "--turns", "1000", "--json")
    seen: set[int] = set()

    def is_in_a_later_turn() -> bool:
        seen.update(set(users(tmp_path)) - {process.pid})
        return len(seen) > 2

    # Each turn has a fio of its own.
    wait_for(is_in_a_later_turn, "the third turn")
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert process.returncode == 130, error
    found = json.loads(out)
    assert len(found["contrasts"][0]["target"]["pairs"]) >= 1
    assert "of 1000 turns count" in error and "no longer in the condition" in error
