"""Two thousand drives beside the closed forms, and what the sweep itself costs.

`SSDLAB_SWEEP=FOLDER` runs it, four minutes on two idle cores; one that has ended is only judged.
"""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import ssdlab
from ssdlab import engine
from ssdlab.experiment.parallel import cores

STUDY = Path(__file__).parents[2] / "examples/sweep-theory.toml"
POINTS = 2000
TOLERANCE = 0.01
"""The closed forms are those of many blocks; a brute-force program meets them within 0.44 %."""

pytestmark = pytest.mark.skipif("SSDLAB_SWEEP" not in os.environ, reason="a part of make test-long")


@pytest.fixture(scope="module")
def folder() -> Path:
    found = Path(os.environ.get("SSDLAB_SWEEP", ""))
    begun, cpu_s = time.monotonic(), processor_s()
    outcome = ssdlab.sweep(STUDY, found)
    if outcome.run == POINTS:
        took = {"wall_s": time.monotonic() - begun, "cpu_s": processor_s() - cpu_s}
        (found / "took.json").write_text(json.dumps(took))
    assert (outcome.finished, outcome.failed) == (POINTS, 0)
    return found


def processor_s() -> float:
    """Give the processor time of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(folder / "table.parquet").to_pylist()
    assert len(rows) == POINTS
    return rows


def theory(row: dict[str, Any]) -> float | None:
    """Give the closed form of a row; None where there is none."""
    hot: dict[str, float] = {}
    if row["job.random_distribution"] != "random":
        if row["ftl.gc"] != "fifo":
            return None
        writes, space = (
            row["job.random_distribution"].removeprefix("zoned:").split(":")[0].split("/")
        )
        hot = {"hot_space": int(space) / 100, "hot_writes": int(writes) / 100}
    answer = engine.theory(
        row["over_provisioning"],
        pages_per_block=row["nand.pages_per_block"],
        gc=row["ftl.gc"],
        **hot,
    )
    return float(answer["write_amplification"])


def test_the_table_equals_the_closed_forms(folder: Path) -> None:
    """Every row that has one, of every policy, spare, block and seed."""
    pairs = [(row, theory(row)) for row in rows_of(folder)]
    judged = [(row["write_amplification"] / wanted - 1, row) for row, wanted in pairs if wanted]
    assert len(judged) == 400 + 400
    worst = max(judged, key=lambda pair: abs(pair[0]))
    print(f"\n{len(judged)} rows beside theory; the worst is off by {worst[0]:+.2%}")
    assert abs(worst[0]) <= TOLERANCE, worst


def test_the_sweep_itself_costs_little(folder: Path) -> None:
    """10 ms of processor time a point at most; wall 1.1 × the engine's time / cores at most.

    Where others have the cores meanwhile the engine waits for them, and the wall clock says nothing
    about the sweep: it is judged by what the engine waited besides.
    """
    rows, took = rows_of(folder), json.loads((folder / "took.json").read_text())
    engine_s, busy_s = sum(row["cpu_s"] for row in rows), sum(row["wall_s"] for row in rows)
    overhead_ms = (took["cpu_s"] - engine_s) / POINTS * 1e3
    ratio, alone = (took["wall_s"] * cores() / each for each in (engine_s, busy_s))
    print(
        f"\nwall {took['wall_s']:.0f} s on {cores()} cores; overhead {overhead_ms:.1f} ms a point"
    )
    print(f"wall · cores / engine's processor time {ratio:.3f}, / time in the engine {alone:.3f}")
    assert overhead_ms <= 10
    assert min(ratio, alone) <= 1.1


def test_memory_stays_bounded(folder: Path) -> None:
    """Of the client, libraries included, and of each worker, which takes one drive at a time."""
    client, worker = (
        resource.getrusage(who).ru_maxrss // 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"\nclient {client} MiB, largest worker {worker} MiB")
    assert client < 500 and worker < 200
    assert sum(part.stat().st_size for part in folder.glob("rows/*")) < 10 << 20
