"""Runs in the guest: asks for leave to destroy devices in use, and measures an NVMe drive.

One JSON object a line goes to the second serial port. Drives are wiped in between.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from common import failures, report_each, shell, wait_until_idle

from ssdlab.bench import book
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.real.opening import open_real
from ssdlab.bench.real.wishes import Wishes
from ssdlab.bench.shorter import with_cells_of
from ssdlab.bench.store import Store
from ssdlab.ground.errors import SsdlabError


def content(path: str) -> bytes:
    """Read a whole device, not memory; a checksum takes an emulated processor longer."""
    failures(["sync; echo 3 > /proc/sys/vm/drop_caches"])
    return Path(path).read_bytes()


def ask(item: dict[str, Any], result: dict[str, Any]) -> None:
    """Build something, and ask for leave to destroy each of the targets."""
    result["failed"] += failures(item["build"])
    wait_until_idle()
    for target in item["targets"]:
        before = content(target)
        answers = []
        for wishes in (Wishes(), Wishes([target]), Wishes([target], [target])):
            try:
                open_real(target, wishes, lambda _lines: None).release()
                answers.append("given")
            except SsdlabError as error:
                answers.append(str(error))
        result[target] = {"answers": answers, "unchanged": content(target) == before}


def told(rounds: int, what: str, share: float) -> bool:
    """Let the console show how far it is."""
    print(rounds, what, f"{share:.2f}", flush=True)
    return True


def measure(item: dict[str, Any], result: dict[str, Any]) -> None:
    """Carry out a shortened test on a real target."""
    path = os.path.realpath(item["target"])
    result["failed"] += failures(item["build"])
    target = open_real(path, Wishes([path], [path]), lambda _lines: None)
    folder = Path("/tmp/bench")
    folder.mkdir()
    try:
        described = target.describe()
        plan = book.plan(["lat"], 1, 1, 1, False, described.sector_bytes)
        plan = with_cells_of(plan, item["cell_seconds"])
        plan = plan.with_deviations(target.deviations())
        # Under emulation fio takes seconds to start: cells of the tracked size, a window of rounds.
        book_part = plan.tests[0].parts[0]
        cells = tuple(each for each in book_part.cells if each.load.block_bytes == 4096)
        stop = replace(book_part.stop, most_rounds=book_part.stop.window)
        part = replace(book_part, cells=cells, stop=stop)
        store = Store(folder).part(part.name)
        PartRun(part, target, store, plan.seed, told).perform()
    finally:
        target.restore_write_cache()
        target.release()
    result["described"] = asdict(described)
    result["beginning"] = _without_bins(store.beginning())
    result["rounds"] = [_without_bins(each) for each in store.rounds()]
    result["deviations"] = [each.instead for each in plan.deviations]
    result["cache_after"] = shell(item["cache"])[1].strip()


def _without_bins(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_bins(each) for key, each in data.items() if key != "bins"}
    return [_without_bins(each) for each in data] if isinstance(data, list) else data


def carry_out(item: dict[str, Any], result: dict[str, Any]) -> None:
    """Ask or measure."""
    (ask if "targets" in item else measure)(item, result)


with open("/guest/bench.json", encoding="utf-8") as file:
    report_each(json.load(file), carry_out)
