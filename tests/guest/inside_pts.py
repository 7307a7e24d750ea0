"""Runs in the guest: a test of SNIA's PTS on a served drive, which is purged by Format NVM.

One JSON object an item goes to the second serial port.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common import failures, report_each, shell

from ssdlab.bench import book
from ssdlab.bench.bench import Bench
from ssdlab.bench.real.wishes import Wishes
from ssdlab.bench.shorter import with_cells_of, with_rounds_of
from ssdlab.bench.store import Store
from ssdlab.bench.targets import source

ITEMS = json.loads(Path("/guest/pts.json").read_text(encoding="utf-8"))


def carry_out(item: dict[str, Any], result: dict[str, Any]) -> None:
    """Do what `ssdlab pts TARGET --destroy TARGET --purge WAY --tests TEST …` does."""
    result["failed"] += failures(item["build"])
    target = item["target"]
    wishes = Wishes([target], [target], purge=item["purge"])
    with ExitStack() as held:
        found = source(target, (), (), 1, wishes)
        held.callback(found.release)
        measured = found.make()
        plan = book.plan([item["test"]], 1, 1, 1, False, measured.describe().sector_bytes)
        plan = with_rounds_of(with_cells_of(plan, item["cell_seconds"]), item["rounds"])
        plan = plan.with_deviations(measured.deviations())
        folder = Path("/tmp/pts")
        folder.mkdir()
        bench = Bench(plan, found.make, Store(folder), {"target": target})
        bench.begin(False)
        for task in bench.tasks():
            task(lambda *_: True)
        result["summary"] = bench.finish()


shell("ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up")
report_each(ITEMS, carry_out, wipes=False)
