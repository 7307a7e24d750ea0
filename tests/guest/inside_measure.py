"""Runs in the guest: turns of `ssdlab measure` on a loop device over a served drive.

One JSON object an item goes to the second serial port.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common import failures, report_each, shell

from ssdlab.bench.real.cipher import kernel_rate, mapping
from ssdlab.bench.real.job import open_target
from ssdlab.bench.real.job_words import RealJob
from ssdlab.bench.real.safety import Refused, permit
from ssdlab.bench.real.wishes import Wishes

ITEMS = json.loads(Path("/guest/measure.json").read_text(encoding="utf-8"))


def refusal(path: str) -> str:
    """Ask for leave to destroy it, named twice."""
    try:
        permit(path, [path], [path])[0].close()
    except Refused as error:
        return str(error)
    return "given"


def counted() -> dict[str, int]:
    """Ask the drive what it has read and written, in units of 512,000 bytes."""
    code, said = shell("nvme smart-log /dev/nvme0 -o json")
    assert code == 0, said
    log = json.loads(said)
    return {way: int(log[f"data_units_{way}"]) for way in ("read", "written")}


def carry_out(item: dict[str, Any], result: dict[str, Any]) -> None:
    """Take the turns; each job has the words that lead to its device."""
    result["failed"] += failures(item["build"])
    target = item["target"]
    before = counted()
    result["rate"] = vars(kernel_rate() or object) if item["encrypts"] else None
    with ExitStack() as held:
        opened = open_target(target, Wishes([target], [target]), lambda _: None, held, writes=True)
        assert opened.permission is not None
        device = held.enter_context(mapping(opened.permission)) if item["encrypts"] else target
        result["while it is held"] = refusal(target)
        result["printed"] = [
            json.loads(
                opened.run(
                    RealJob(text.replace("TARGET", device if encrypted else target), True, ()),
                    lambda _: None,
                    lambda _phase, _share: True,
                )
            )
            for text, encrypted in item["jobs"]
        ]
    result["counted"] = {way: units - before[way] for way, units in counted().items()}
    result["left"] = shell("ls /dev/mapper")[1]
    result["afterwards"] = refusal(target)


shell("ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up")
report_each(ITEMS, carry_out, wipes=False)
