"""TKperf's procedure in a guest kernel: SNIA's latency test, the drive purged by Format NVM.

An emulated processor is slower than the drive, so no figure is judged, but what was done to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from image import HERE
from results import boot_with
from served import PROTECTED, end, serve

PROGRAMS = ("fio", "nvme", "ip", "wipefs", "prlimit", "setpriv", "blockdev", "blkdiscard")
TARGET = "/dev/nvme0n1"


@dataclass(frozen=True)
class Done:
    """What the guest tells of the test, and the drive's own counters before and behind it."""

    told: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """Serve a used drive, and boot a guest that tests it."""
    folder = tmp_path_factory.mktemp("pts")
    drive = serve(folder / "drive", PROTECTED, "--state", "used")
    item = {
        **{"name": "latency", "target": TARGET, "purge": "format", "test": "lat"},
        **{"cell_seconds": 0.2, "rounds": 2, "undo": []},
        "build": [drive.connect("-c 1"), f"while ! test -b {TARGET}; do sleep 0.1; done"],
    }
    try:
        (folder / "pts.json").write_text(json.dumps([item]))
        files = {
            HERE / "inside.py": "/guest/common.py",
            HERE / "inside_pts.py": "/guest/inside.py",
            folder / "pts.json": "/guest/pts.json",
        }
        before = drive.ctl("stats")
        found = boot_with(files, [], folder, programs=PROGRAMS, reaches_host=True)
        yield Done(found["latency"], before, drive.ctl("stats"))
    finally:
        end([drive])


def test_each_cell_was_measured(done: Done) -> None:
    """Two rounds of three mixes in three sizes, and what deviates from the standard is named."""
    assert done.told["failed"] == [], "".join(done.told["failed"])
    (test,) = done.told["summary"]["tests"]
    (part,) = test["parts"]
    assert part["rounds"] == 2
    assert len(part["cells"]) == 9
    deviations = json.dumps(done.told["summary"]["deviations"])
    assert part["purge"]["proved"], part["purge"]
    assert "0.2 s" in deviations, deviations


def test_the_drive_was_formatted_and_then_written(done: Done) -> None:
    """The purge is a secure erase; preconditioning writes the drive twice at least."""
    before, after = done.before["counters"], done.after["counters"]
    assert after["secure_erases"] == before["secure_erases"] + 1
    assert after["host_bytes_written"] - before["host_bytes_written"] > 2 * (128 << 20)
    assert done.after["connections"]["broke_protocol"] == 0
