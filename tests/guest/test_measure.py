"""`ssdlab measure` in a guest kernel: a loop device over a served drive, and the kernel's cipher.

An emulated processor is slower than the drive: ratios are printed, and what is judged is where the
requests went, what holds the device meanwhile, and what is left afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from image import HERE
from results import Results, boot_with
from served import PROTECTED, end, serve
from ssdlab.bench.real.job_words import for_target
from ssdlab.engine.result import Result
from ssdlab.referee.asked.questions import QUESTIONS
from ssdlab.referee.asked.turns import TurnsAnswer, figures, turn

PROGRAMS = ("fio", "nvme", "ip", "wipefs", "prlimit", "setpriv", "blockdev", "blkdiscard")
ASKED = ("alignment", "trim", "discard-cost", "cipher")
TURNS, SECONDS = 2, 0.5
DATA_UNIT_BYTES = 512_000
PLACE = ("ioengine=libaio", "filename=TARGET", "direct=1", "thread")


def items(connect: str) -> list[dict[str, Any]]:
    """Return each question's jobs, turn by turn."""
    build = [connect, "sleep 1; losetup --direct-io=on /dev/loop0 /dev/nvme0n1"]
    return [
        {
            "name": name,
            "target": "/dev/loop0",
            "encrypts": QUESTIONS[name].encrypts,
            "jobs": [
                (for_target(job.text, name, (), PLACE).text, job.encrypted)
                for number in range(TURNS)
                for job in turn(QUESTIONS[name], number, SECONDS)
            ],
            "build": build if name == ASKED[0] else [],
            "undo": [],
        }
        for name in ASKED
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """Serve a drive, and boot a guest that measures it."""
    folder = tmp_path_factory.mktemp("measure")
    drive = serve(folder / "drive", PROTECTED, "--state", "steady")
    try:
        (folder / "measure.json").write_text(json.dumps(items(drive.connect("-c 1"))))
        files = {
            HERE / "inside.py": "/guest/common.py",
            HERE / "inside_measure.py": "/guest/inside.py",
            folder / "measure.json": "/guest/measure.json",
        }
        yield boot_with(files, [], folder, programs=PROGRAMS, reaches_host=True)
    finally:
        end([drive])


def answers(result: dict[str, Any], name: str) -> list[TurnsAnswer]:
    """Return what the turns came to."""
    printed = [Result.from_json(json.dumps(each)) for each in result["printed"]]
    a_turn = len(printed) // TURNS
    pairs = [printed[index : index + a_turn] for index in range(0, len(printed), a_turn)]
    return figures(QUESTIONS[name], pairs)


@pytest.mark.parametrize("name", ASKED)
def test_a_question_is_answered(results: Results, name: str) -> None:
    """Each turn moved requests in both arms, and nobody else may have the device meanwhile."""
    result = results[name]
    assert result["failed"] == [], "".join(result["failed"])
    found = answers(result, name)
    assert all(len(each.pairs) == TURNS for each in found)
    assert "nothing was written" in result["while it is held"]
    assert result["afterwards"] == "given"
    print(f"{name}: {[round(each.ratio, 2) for each in found]} under an emulated processor")


@pytest.mark.parametrize("name", ASKED)
def test_the_drive_counted_what_was_asked(results: Results, name: str) -> None:
    """What fio says it read and wrote through loop device and cipher is what the drive did."""
    result = results[name]
    jobs = [job for each in result["printed"] for job in each["jobs"]]
    for way, counter in (("read", "read"), ("write", "written")):
        asked = sum(job[way]["io_bytes"] for job in jobs) / DATA_UNIT_BYTES
        # The kernel reads for partition tables, and a unit that has begun is counted with the next.
        assert asked - 1 <= result["counted"][counter] <= 1.05 * asked + 32, (name, way, asked)


def test_the_cipher_held_the_device_and_is_closed(results: Results) -> None:
    """Its mapping is named as the holder; the kernel told its rate; no mapping is left."""
    result = results["cipher"]
    assert "is part of /dev/mapper/ssdlab-measure-" in result["while it is held"]
    assert result["rate"]["decryption_mib_per_s"] > 0
    assert "ssdlab-measure" not in result["left"]
