"""The table of a sweep, put together from parts that lie in any order."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from pyarrow import csv, parquet

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.study.sweeps import table
from ssdlab.study.sweeps.store import SweepStore

pytestmark = pytest.mark.end_to_end

FACTORS = {"drive": "string", "ftl.gc": "string"}
POINTS = 40
JOBS = 3


def filled(folder: Path, draw: random.Random) -> dict[str, list[float]]:
    """Keep rows in an order drawn by chance, some points twice; return what is true at the end."""
    store = SweepStore(folder, FACTORS)
    true: dict[str, list[float]] = {}
    waiting: set[str] = set()
    runs = [*range(POINTS), *draw.sample(range(POINTS), 10)]
    draw.shuffle(runs)
    for number in runs:
        key = f"{number:024x}"
        # Only a later sweep runs a point again: no part has it twice.
        if key in waiting or draw.random() < 0.3:
            store.flush()
            waiting.clear()
        waiting.add(key)
        true[key] = [draw.random() for _ in range(JOBS)]
        rows = enumerate(true[key])
        store.add({"key": key, "seed": 1, "job": f"j{at}", "iops": iops} for at, iops in rows)
    store.flush()
    return true


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_rows_come_in_the_study_s_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, at_once: int
) -> None:
    """However they lie in the parts, and however many are in memory together; CSV says the same."""
    monkeypatch.setattr(table, "_AT_ONCE", at_once)
    true = filled(tmp_path, random.Random(seed))
    # A point that is there twice, one that has not ended, and one that another study had.
    keys = [*reversed(list(true)[1:]), list(true)[5], "f" * 24]
    points = [(number, key, {"ftl.gc": f"gc, {key}"}) for number, key in enumerate(keys)]
    count = SweepStore(tmp_path, FACTORS).write_table(points)
    made = parquet.read_table(tmp_path / "table.parquet")
    wanted = [(n, key, f"gc, {key}", x) for n, key in enumerate(keys) for x in true.get(key, [])]
    rows = [(row["point"], row["key"], row["ftl.gc"], row["iops"]) for row in made.to_pylist()]
    assert rows == wanted and count == len(wanted) == POINTS * JOBS
    whole = io.BytesIO()
    csv.write_csv(made, whole)
    assert (tmp_path / "table.csv").read_bytes() == whole.getvalue()


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    """In both files."""
    assert SweepStore(tmp_path, FACTORS).write_table([]) == 0
    names = parquet.read_schema(tmp_path / "table.parquet").names
    assert names[:3] == ["point", "drive", "ftl.gc"]
    assert (tmp_path / "table.csv").read_text().count('"') == 2 * len(names)


def test_a_disk_that_is_full_leaves_the_table_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the disk's, and nothing half written stays."""
    true = filled(tmp_path, random.Random(1))
    points: list[table.NamedPoint] = [(number, key, {}) for number, key in enumerate(true)]
    store = SweepStore(tmp_path, FACTORS)
    store.write_table(points[:3])
    before = [(tmp_path / name).read_bytes() for name in ("table.parquet", "table.csv")]

    def refused(pending: PendingFile, _piece: bytes) -> None:
        raise SsdlabError(f"-o {pending.path}: No space left on device")

    monkeypatch.setattr(PendingFile, "add", refused)
    with pytest.raises(SsdlabError, match="No space left"):
        store.write_table(points)
    after = [(tmp_path / name).read_bytes() for name in ("table.parquet", "table.csv")]
    assert after == before and not list(tmp_path.rglob("*.part"))
