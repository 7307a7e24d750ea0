"""``ssdlab pts`` on a loop device in memory: refused, dry, shortened, stopped, taken up again."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_devices import (
    MIB,
    digest,
    loop_device,
    memory_file,
    need,
    run,
    start,
    stopped_at,
)
from process import HANG_S, wait_for

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
SHORT = ("--tests", "lat", "--cell-seconds", "0.5", "--most-rounds", "2")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    need("fio", "wipefs")
    made = memory_file(tmp_path)
    with made.open("wb") as opened:
        opened.truncate(24 * MIB)
    yield made
    made.unlink()


@pytest.fixture
def device(file: Path) -> Iterator[str]:
    with loop_device(file) as node:
        yield node


def _began(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "lat" / "beginning.json").read_text())
    return found


def test_a_dry_run_writes_nothing(command: Command, device: str, file: Path) -> None:
    """It tells steps, bytes and time, who the drive is, and what stands in the way."""
    run("mkfs.ext4", "-q", device)
    before = digest(file)
    code, out, err = command("pts", device, "--dry-run", "--tests", "iops,lat")
    assert code == 0
    assert device in err and "serial number" in err
    assert "56 cells" in out and "written" in out
    assert "would be refused" in out and f"--destroy-content {device}" in out
    assert digest(file) == before
    assert list(Path.cwd().iterdir()) == []


def test_without_a_name_nothing_is_written(command: Command, device: str, file: Path) -> None:
    """Exit 2, one sentence of remedy, no folder; by another's name as well."""
    before = digest(file)
    for words in ((), ("--destroy", "/dev/null"), ("--destroy-content", device)):
        code, out, err = command("pts", device, *SHORT, *words)
        assert (code, out) == (2, "")
        assert f"--destroy {device}" in err and "nothing was written" in err
        assert "Traceback" not in err
    assert digest(file) == before
    assert list(Path.cwd().iterdir()) == []


def test_parameters_of_a_real_drive_are_refused(command: Command, device: str) -> None:
    """A real drive has none that could be set."""
    for words in (("--set", "ftl.gc=greedy"), ("--layer", "partition:offset=1MiB")):
        code, _, err = command("pts", device, *SHORT, "--destroy", device, *words)
        assert code == 2 and "has no parameters" in err


def test_a_shortened_test_and_its_record(command: Command, device: str) -> None:
    """Purge proved, twice the capacity written by the kernel's count, rounds with fio's records."""
    words = ("--destroy", device, "-o", "out", "--output-format", "json")
    code, out, _ = command("pts", device, *SHORT, *words)
    assert code == 0
    result = json.loads(out)
    assert result["target"]["kind"] == "block device"
    for deviation in result["plan"]["deviations"][:2]:
        assert "SHORTENED" in deviation["instead"]
    began = _began(Path("out"))
    assert began["purge"]["proved"]
    assert began["purge"]["asked"] == f"blkdiscard {device}"
    before, after = began["counters_before"], began["counters_after"]
    assert after["host_bytes_written"] - before["host_bytes_written"] == 48 * MIB
    rounds = sorted(Path("out/lat").glob("round-*.json"))
    assert len(rounds) == 2
    seeds = set()
    for each in rounds:
        for cell in json.loads(each.read_text())["cells"]:
            seeds.add(cell["step"]["seed"])
            (job,) = cell["raw"]
            assert cell["both"]["requests"] > 0
            assert job["ssdlab"]["command"].startswith("fio ")
            written = job["ssdlab"]["bytes_written_by_fio"]
            assert written == job["ssdlab"]["bytes_written_by_kernel"]
    assert len(seeds) == 9 * len(rounds)


def test_parts_follow_each_other(command: Command, device: str) -> None:
    """Two parts of one device: nothing overlaps, and each begins with a purge of its own."""
    short = ("--tests", "tp", "--cell-seconds", "0.5", "--most-rounds", "1")
    words = (*short, "--destroy", device, "-o", "out")
    code, _, err = command("pts", device, *words)
    assert code == 0, err
    one, two = (Path("out") / name for name in ("tp-1024k", "tp-128k"))
    last = max(each.stat().st_mtime for each in one.iterdir())
    assert last <= (two / "beginning.json").stat().st_mtime
    for part in (one, two):
        assert json.loads((part / "beginning.json").read_text())["purge"]["proved"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_finished_rounds_outlive_a_stop(command: Command, device: str, number: int) -> None:
    """Stopped or killed after the second round, two are there; the rest comes by --resume."""
    short = ("--tests", "tp", "--cell-seconds", "0.5", "--most-rounds", "3", "-o", "out")
    stopped_at(Path("out/tp-1024k/round-0002.json"), number, "pts", device, *short)
    kept = {each: each.read_text() for each in Path("out/tp-1024k").glob("round-*.json")}
    assert len(kept) >= 2
    code, _, err = command("pts", device, *short, "--destroy", device)
    assert code == 2 and "--resume" in err
    code, _, err = command("pts", device, *short, "--destroy", device, "--resume")
    assert code == 0, err
    for path, text in kept.items():
        assert path.read_text() == text
    assert len(json.loads(Path("out/runs.json").read_text())["runs"]) == 2


@pytest.mark.usefixtures("command")
def test_fio_ends_with_us(device: str) -> None:
    """Even where nobody could tell it to: a cell of an hour ends when the command is killed."""
    process = start("pts", device, "--tests", "lat", "--cell-seconds", "3600", "-o", "out")
    wait_for(Path("out/lat/beginning.json").exists)
    wait_for(lambda: _children(process.pid))
    (child,) = _children(process.pid)
    process.kill()
    process.communicate(timeout=HANG_S)
    wait_for(lambda: not Path(f"/proc/{child}").exists(), "the end of fio")


def test_a_fio_that_is_killed_ends_the_run(command: Command, device: str) -> None:
    """An error in words, exit 2, and the rounds before are kept."""
    process = start("pts", device, "--tests", "lat", "--cell-seconds", "1", "-o", "out")
    wait_for(Path("out/lat/beginning.json").exists)
    wait_for(lambda: _children(process.pid))
    os.kill(_children(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 2
    assert "fio failed: ended by signal 9" in err and "Traceback" not in err
    assert json.loads(Path("out/lat/beginning.json").read_text())["purge"]["proved"]


def _children(process: int) -> list[int]:
    """Give the processes that a process has started, from any of its threads."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    return [int(number) for each in found for number in each.read_text().split()]
