"""Ctrl-C at a random moment ends every verb and every call within a second, with nothing half left.

The moment is drawn from 0.3 s after the start on. `SSDLAB_INTERRUPTS=20` interrupts everything so
often and holds it to the second, of a machine of its own: it is stretched by how many tasks wanted
each core meanwhile. By default it is once, and only what hangs fails, since what else the machine
does must not decide.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import synthetic
from process import HANG_S

pytestmark = pytest.mark.end_to_end

TIMES = int(os.environ.get("SSDLAB_INTERRUPTS", "1"))
SECONDS = 1.0 if "SSDLAB_INTERRUPTS" in os.environ else HANG_S
EARLIEST_S = 0.3
COMMAND = (sys.executable, "-m", "ssdlab")
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=16")
DRIVE = ("--drive", "intel-dc-s3500-80gb")
TO_JSON = ("--output-format=json", "-o", "new.json")


@dataclass(frozen=True)
class Verb:
    """A command line, and how long after the start it is interrupted at the latest."""

    arguments: tuple[str, ...]
    within_s: float = 1.0


TARGET = ("--target", "disk.img", "--destroy", "disk.img")
VERBS = {
    "help": Verb(("--help",)),
    "version": Verb(("--version",)),
    "drives": Verb(("drives",)),
    "layers": Verb(("layers",)),
    "show": Verb(("show", "intel-dc-s3500-480gb")),
    "theory": Verb(("theory", "--op", "7%")),
    "explain": Verb(("explain", "-o", "new.html"), 2),
    "compare": Verb(("compare", "old.json", "old.json")),
    "fit": Verb(("fit", "old.json", *DRIVE, "-o", "new.toml"), 6),
    "fit --plan": Verb(("fit", "--plan", "old.json", *DRIVE), 6),
    "twin": Verb(("twin", "twin.csv", *DRIVE, "-o", "new.toml"), 4),
    "import": Verb(("import", "mqsim.trace", "-o", "new.log"), 2),
    "report": Verb(("report", "old.json", "-o", "new.html"), 3),
    "align": Verb(("align", "--layer", "partition:start=63s")),
    "audit": Verb(("audit", "--json"), 2),
    "audit a capture": Verb(("audit", "--capture", "machine.json"), 2),
    "ctl": Verb(("ctl", "none", "stats")),
    "health": Verb(("health", "--from", "old.json")),
    "run": Verb(("run", *WRITES, "--io_size=2000g", *DRIVE, *TO_JSON), 3),
    "run to stdout": Verb(("run", *WRITES, "--io_size=2000g", *DRIVE), 3),
    "run used": Verb(("run", *WRITES, "--io_size=2000g", *DRIVE, "--state", "used"), 6),
    "run several": Verb(("run", *WRITES, "--io_size=200m", *DRIVE, "--seed", "1-50", *TO_JSON), 4),
    "run and save": Verb(
        ("run", *WRITES, "--io_size=20g", *DRIVE, "--save", "new.ssd", "--write_iolog=new.log"), 4
    ),
    "run with layers": Verb(
        ("run", *WRITES, "--io_size=2000g", *DRIVE, "--layer", "raid:level=5,disks=4"), 4
    ),
    "run reads": Verb(("run", "--rw=randread", "--io_size=2000g", *DRIVE, "--size=60g"), 4),
    "run slowly": Verb(("run", "--rw=read", "--rate_iops=1", "--size=60g", *DRIVE), 4),
    "run a job from stdin": Verb(("run", "-", *DRIVE)),
    "season": Verb(("season", "intel-dc-s3500-480gb", "--to", "steady", "-o", "new.ssd"), 8),
    "season exactly": Verb(
        ("season", "intel-dc-s3500-80gb", "--to", "steady", "--exact", "-o", "new.ssd"), 8
    ),
    "season anew": Verb(("season", "theory", "--to", "steady", "--exact"), 4),
    "pts": Verb(("pts", "intel-dc-s3500-80gb", "-o", "new"), 8),
    "pts to json": Verb(("pts", "theory", "--tests", "wsat", "--output-format", "json"), 4),
    "sizing": Verb(("sizing", "--writes", "1TB/day", *DRIVE, "--drive", "intel-dc-s3500-480gb"), 8),
    "lifetime": Verb(("lifetime", "intel-dc-s3500-480gb", "--writes", "1TB/day"), 8),
    "demo": Verb(("demo", "-o", "demo"), 8),
    "sweep": Verb(("sweep", "study.toml", "-o", "new"), 6),
    "sweep --dry-run": Verb(("sweep", "study.toml", "--dry-run"), 4),
    "measure": Verb(("measure", "alignment", *TARGET, "--seconds", "60"), 4),
    "reproduce": Verb(("reproduce", "--quick", "-o", "reproduction"), 8),
}

STUDY = """
[base]
drives = ["intel-dc-s3500-80gb"]
condition = "used"
job = "--rw=randwrite --bs=4k --io_size=2g"
seeds = 100
"""

TWIN = "figure,value\nfresh_mib_per_s,150\nknee_drive_writes,0.2\nuniform,30\n"

CALLS = {
    "run": "drive.run(rw='randwrite', bs='4k', iodepth=16, io_size='2000g')",
    "run used": "drive.run(rw='randwrite', bs='4k', io_size='2000g', state='used')",
    "season": "drive.season('steady', exact=True)",
    "season kept": "drive.season('steady', save='new.ssd', exact=True)",
    "read": "drive.run(rw='randread', bs='4k', io_size='2000g', size='60g')",
}


def start(words: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    (folder / "temporary").mkdir(exist_ok=True)
    return subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "temporary")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )


def hear_signals() -> None:
    """Where the tests themselves run in the background, or under nohup, signals are ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def answers_signals(process: subprocess.Popen[str]) -> bool:
    """Whether SIGHUP has a handler by now, which Python alone does not give it."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) & 1 << signal.SIGHUP - 1)
    return False


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that comes while the process lives."""
    end = time.monotonic() + HANG_S
    while not condition() and process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            pytest.fail("the process never came so far")
        time.sleep(0.005)


def tasks_per_core() -> float:
    """How many tasks want each core now."""
    running = int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
    return max(1.0, running / len(os.sched_getaffinity(0)))


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str, float]:
    """Send a signal and wait; gives what was printed, and the seconds of a machine of its own."""
    sent, loads = time.monotonic(), [tasks_per_core()]
    process.send_signal(number)
    while process.poll() is None and time.monotonic() - sent < HANG_S:
        time.sleep(0.01)
        loads.append(tasks_per_core())
    took = time.monotonic() - sent
    if process.poll() is None:
        process.kill()
    out, err = process.communicate()
    return out, err, took / (sum(loads) / len(loads))


def interrupted(
    words: tuple[str, ...], folder: Path, within_s: float, number: signal.Signals = signal.SIGINT
) -> tuple[int, str, str, str]:
    """Interrupt a command at a random moment; gives code, stdout, stderr, and what was done."""
    began = time.monotonic()
    process = start(words, folder)
    until(lambda: answers_signals(process), process)
    moment = random.uniform(EARLIEST_S, max(within_s, EARLIEST_S))
    time.sleep(max(0.0, began + moment - time.monotonic()))
    out, err, took = end(process, number)
    told = f"{' '.join(words[2:])}: {number.name} after {moment:.3f} s, ended after {took:.3f} s"
    assert took <= SECONDS, f"{told}\n{err}"
    assert "Traceback" not in err and "Exception ignored" not in err, f"{told}\n{err}"
    return process.returncode, out, err, told


def unfinished(folder: Path) -> Iterator[str]:
    """Name every file that is not whole."""
    for file in folder.rglob("*"):
        if file.name.endswith(".part"):
            yield file.name
        elif file.suffix == ".json":
            try:
                json.loads(file.read_text())
            except ValueError:
                yield file.name
        elif file.suffix == ".html" and not file.read_text().rstrip().endswith("</html>"):
            yield file.name
        elif file.suffix in (".ssd", ".log") and file.stat().st_size == 0:
            yield file.name


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_ends_at_ctrl_c(name: str, tmp_path: Path) -> None:
    """At a random moment: 130, or 0 where it had just ended; no traceback, no half-written file."""
    verb = VERBS[name]
    (tmp_path / "old.json").write_text(synthetic.text(synthetic.job()))
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "twin.csv").write_text(TWIN)
    (tmp_path / "disk.img").write_bytes(bytes(1 << 24))
    (tmp_path / "mqsim.trace").write_text("1 0 8 8 0\n" * 500_000)
    for _ in range(TIMES):
        words = (*COMMAND, *verb.arguments)
        code, _, err, told = interrupted(words, tmp_path, verb.within_s)
        # Verbs that had just ended give their own code; 4 and 5: the audit could not look at all.
        assert code in (130, *range(6)), f"{told}: {code}\n{err}"
        if code == 130:
            assert "stopped" in err, told
        assert list(unfinished(tmp_path)) == [], told
        assert list((tmp_path / "temporary").iterdir()) == [], told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["run", "run several", "season", "report"])
def test_other_signals_are_answered_alike(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    """The exit code tells which it was; nothing is left behind."""
    (tmp_path / "old.json").write_text(synthetic.text(synthetic.job()))
    verb = VERBS[name]
    code, _, err, told = interrupted((*COMMAND, *verb.arguments), tmp_path, verb.within_s, number)
    assert code in (128 + number, 0), f"{told}: {code}\n{err}"
    assert list(unfinished(tmp_path)) == [], told


def test_a_signal_that_was_ignored_stays_ignored(tmp_path: Path) -> None:
    """Under nohup a run goes on when the terminal is closed."""
    job = ("run", "--rw=write", "--io_size=1g", *DRIVE, *TO_JSON)
    process = start(("nohup", *COMMAND, *job), tmp_path)
    until(lambda: signal_is_ignored(process, signal.SIGHUP), process)
    time.sleep(EARLIEST_S)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=HANG_S)
    assert process.returncode == 0
    assert json.loads((tmp_path / "new.json").read_text())["jobs"]


def signal_is_ignored(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigIgn:"):
                return bool(int(line.split()[1], 16) & 1 << number - 1)
    return False


def worked_s(process: subprocess.Popen[str]) -> float:
    """Give the processor time that it has taken, which other programs do not stretch."""
    words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_what_had_finished_is_kept(tmp_path: Path) -> None:
    """A long run tells what it had done; of several those are kept that had ended."""
    process = start((*COMMAND, *VERBS["run"].arguments), tmp_path)
    until(lambda: worked_s(process) >= 4, process)
    _, err, _ = end(process, signal.SIGINT)
    assert process.returncode == 130
    result = json.loads((tmp_path / "new.json").read_text())
    assert result["jobs"][0]["ssdlab"]["interrupted"]
    assert result["jobs"][0]["write"]["total_ios"] > 0
    assert "the figures cover what the run had done by then" in err


@pytest.mark.parametrize("name", CALLS)
def test_every_call_raises_keyboard_interrupt(name: str, tmp_path: Path) -> None:
    """Called from Python, at a random moment; no file is left and the drive can be used again."""
    script = f"""
import ssdlab, sys
drive = ssdlab.drive("intel-dc-s3500-80gb")
try:
    print("ready", flush=True)
    {CALLS[name]}
except KeyboardInterrupt:
    print("caught", flush=True)
    drive.run(rw="read", bs="4k", number_ios=10, layout=False)
    print("again")
"""
    for _ in range(TIMES):
        process = start((sys.executable, "-c", script), tmp_path)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        moment = random.uniform(0, 5)
        time.sleep(moment)
        out, err, took = end(process, signal.SIGINT)
        told = f"{name}: after {moment:.3f} s, ended after {took:.3f} s"
        assert out == "caught\nagain\n", f"{told}\n{out}{err}"
        assert err == "", told
        assert took <= SECONDS, told
        assert [each.name for each in tmp_path.iterdir()] == ["temporary"], told
        assert list((tmp_path / "temporary").iterdir()) == [], told
