"""`ssdlab pts` as people use it: results, stops, refusals; killed for real where asked for."""

from __future__ import annotations

import filecmp
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from process import HANG_S, wait_for

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
KILLS = int(os.environ.get("SSDLAB_KILLS", "2"))
KILLS_A_RUN = 2
DRIVE = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
PTS = ("pts", *DRIVE, "--tests", "tp,wsat")


def test_dry_run_writes_nothing(command: Command, tmp_path: Path) -> None:
    """Steps, times, bytes and share of life are told, and no folder is made."""
    code, out, _ = command("pts", *DRIVE, "--dry-run", "--quick")
    assert code == 0
    assert "write the capacity 2 times, 128 KiB sequential; rounds of 56 cells until steady" in out
    assert "of rated life" in out
    assert "Deviation 1: each cell lasts one minute" in out
    assert list(tmp_path.iterdir()) == []


def test_tables_and_result(command: Command, tmp_path: Path) -> None:
    """Tables for people; the same figures in result.json, with what a reader can check them by."""
    code, out, err = command(*PTS, "-o", "out")
    assert code == 0
    assert "Throughput in MB/s, sequential" in out
    assert "Write saturation: IOPS of 4 KiB random writes, NOT STEADY" in out
    assert re.search(r"^ *round +IOPS$", out, re.MULTILINE), "a round may be shorter than a minute"
    assert "about" in err and "of drive time" in err
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    parts = {part["name"]: part for test in result["tests"] for part in test["parts"]}
    assert list(parts) == ["tp-1024k", "tp-128k", "wsat"]
    tp = parts["tp-128k"]
    assert tp["steady"] and tp["purge"]["proved"] and len(tp["judged"]["rounds"]) == 5
    rate = tp["cells"][1]["both"]["mb_per_s"]
    assert f"{rate:.1f}" in out
    by_log = tp["conditioning"]["by_the_log"]
    assert by_log["host_bytes_written"] == tp["conditioning"]["written_bytes"]
    assert tp["write_amplification"] >= 1
    assert parts["wsat"]["ended_by"] == "4 times the capacity written"
    assert not list((tmp_path / "out").rglob("*.ssd"))


def test_json_is_the_result_with_its_plan(command: Command) -> None:
    """Programs get tests, plan, target and when it ran, as one object."""
    code, out, _ = command("pts", *DRIVE, "--tests", "wsat", "--output-format", "json")
    assert code == 0
    found = json.loads(out)
    assert found["target"]["capacity_bytes"] == 256_000_000
    assert found["plan"]["depth"] == 32
    words = found["asked"]["command"].split()
    assert words[:3] == ["ssdlab", "pts", "intel-dc-s3500-80gb"]
    again = json.loads(command(*words[1:], "--output-format", "json", "-o", "again")[1])
    assert again["tests"] == found["tests"]
    assert len(found["runs"]) == 1
    assert found["tests"][0]["parts"][0]["cells"][0]["load"]["block_bytes"] == 4096


def test_finished_folder_is_not_overwritten(command: Command) -> None:
    """Without --resume a folder that holds a result is refused; other options do not go on."""
    words = ("pts", *DRIVE, "--tests", "wsat", "-o", "out")
    assert command(*words)[0] == 0
    code, _, err = command(*words)
    assert code == 2
    assert "already holds a result" in err and "--resume" in err
    code, _, err = command(*words, "--resume", "--depth", "4")
    assert code == 2
    assert "was started with another depth" in err
    code, out, _ = command(*words, "--resume")
    assert (code, "NOT STEADY" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pts",), "Missing argument"),
        (("pts", "no-such-drive"), "there is no drive no-such-drive"),
        (("pts", "theory", "--tests", "iops,xsr"), "--tests xsr: there is no such test"),
        (("pts", "/dev/null"), "not a block device"),
        (("pts", "theory", "-o", "-"), "several files are written; name a folder"),
        (("pts", "theory", "--depth", "0"), "--depth"),
    ],
)
def test_bad_input(command: Command, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    """What is wrong is named, with exit code 2 and nothing written."""
    code, _, err = command(*words)
    assert code == 2
    assert told in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "ssdlab", *PTS, "-o", str(folder), *more]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def differing(one: Path, other: Path) -> list[str]:
    """Name files that differ, or are in one folder only, apart from when it ran."""
    found = {path.relative_to(one) for path in one.rglob("*") if path.is_file()}
    found |= {path.relative_to(other) for path in other.rglob("*") if path.is_file()}
    found.discard(Path("runs.json"))
    same = filecmp.cmpfiles(one, other, [str(path) for path in found], shallow=False)[0]
    return sorted({str(path) for path in found} - set(same))


def count(folder: Path) -> int:
    """Count the files that are finished."""
    return len(list(folder.rglob("*.json")))


def kill_after(files: int, folder: Path) -> None:
    """Go on with a result and kill it some milliseconds after it has so many files."""
    process = start(folder, "--resume")
    wait_for(lambda: count(folder) >= files, f"file {files}")
    time.sleep(random.uniform(0, 0.2))
    process.send_signal(signal.SIGKILL)
    process.wait(HANG_S)


def test_killed_and_resumed_is_the_same(tmp_path: Path) -> None:
    """Killed at random moments, so often as asked for; the mark alone tells of it."""
    assert start(tmp_path / "whole").wait(HANG_S) == 0
    # The moments are told by files, so that they are as random on a fast machine as on a slow one.
    moments = range(count(tmp_path / "whole") - 1)
    for trial in range(-(-KILLS // KILLS_A_RUN)):
        folder = tmp_path / f"killed-{trial}"
        for files in sorted(random.choices(moments, k=KILLS_A_RUN)):
            kill_after(files, folder)
        assert start(folder, "--resume").wait(HANG_S) == 0
        assert differing(tmp_path / "whole", folder) == []
        assert not list(folder.rglob("*.ssd"))
