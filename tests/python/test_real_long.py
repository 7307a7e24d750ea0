"""``ssdlab pts`` on a loop device, stopped and killed at random: `make test-long PART=real`.

SSDLAB_REAL_KILLS says how often in all; it takes about ten minutes for fifty.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from loop_devices import MIB, is_free, loop_device, memory_file, need, start
from process import HANG_S, wait_for

KILLS = int(os.environ.get("SSDLAB_REAL_KILLS", "0"))
KILLS_A_RUN = 10
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ROUNDS = 4
PARTS = ("tp-1024k", "tp-128k", "lat")
SHORT = ("--tests", "tp,lat", "--cell-seconds", "0.2", "--most-rounds", str(ROUNDS))
FILES = 2 + len(PARTS) * (1 + ROUNDS)
"""Finished before the result is: the plan, when it was begun, and each part's."""
pytestmark = pytest.mark.skipif(KILLS == 0, reason="a part of make test-long")


def finished(folder: Path) -> dict[Path, bytes]:
    """Read all that is finished, apart from when it ran; each file has to be whole."""
    found = {path: path.read_bytes() for path in folder.rglob("*.json")}
    for content in found.values():
        json.loads(content)
    return {path: content for path, content in found.items() if path.name != "runs.json"}


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json"]


def stop(device: str, folder: Path, files: int) -> str:
    """Go on, and stop or kill it some moments after so many files are there; gives by what."""
    number = random.choice(SIGNALS)
    process = start("pts", device, *SHORT, "-o", str(folder), "--resume")
    wait_for(lambda: len(list(folder.rglob("*.json"))) >= files, f"file {files}")
    time.sleep(random.uniform(0, 1.5))
    process.send_signal(number)
    _, err = process.communicate(timeout=HANG_S)
    # It may just have ended, or not yet have begun to answer signals.
    assert process.returncode in (128 + number, -number, 0), err
    assert number == signal.SIGKILL or unfinished(folder) == []
    wait_for(lambda: is_free(device), "the end of fio")
    return number.name


def killed_and_resumed(device: str, folder: Path) -> Counter[str]:
    """Stop one test again and again, and let it end; count by which signals."""
    told: Counter[str] = Counter()
    kept: dict[Path, bytes] = {}
    for files in sorted(random.choices(range(FILES), k=KILLS_A_RUN)):
        told[stop(device, folder, files)] += 1
        now = finished(folder)
        assert {path: now.get(path) for path in kept} == kept
        kept = now
    last = start("pts", device, *SHORT, "-o", str(folder), "--resume")
    _, err = last.communicate(timeout=2 * HANG_S)
    assert last.returncode == 0, err
    end = finished(folder)
    assert {path: end.get(path) for path in kept} == kept
    assert unfinished(folder) == []
    return told


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Finished rounds stay byte for byte, nothing half-written is left, and the test ends whole."""
    need("fio", "wipefs")
    file = memory_file(tmp_path)
    told: Counter[str] = Counter()
    try:
        with loop_device(file, 24 * MIB) as device:
            for trial in range(-(-KILLS // KILLS_A_RUN)):
                folder = tmp_path / f"killed-{trial}"
                told += killed_and_resumed(device, folder)
                result = json.loads((folder / "result.json").read_text())
                parts = [part for test in result["tests"] for part in test["parts"]]
                assert [part["name"] for part in parts] == list(PARTS)
                assert {part["rounds"] for part in parts} == {ROUNDS}
                print(f"run {trial + 1}: {dict(told)} so far, all kept", flush=True)
    finally:
        file.unlink(missing_ok=True)
