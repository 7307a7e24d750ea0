"""A sweep: every point once, a row each, whatever is killed meanwhile."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import ssdlab
from performers import dying
from process import HANG_S, wait_for
from ssdlab import engine
from ssdlab.cli.sweep_watch import rows_of
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import cache
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.lock import locked
from ssdlab.ground.output import PendingFile
from ssdlab.study.sweeps import perform
from ssdlab.study.sweeps.crew import Crew, LocalCrew
from ssdlab.study.sweeps.plan import plan
from ssdlab.study.sweeps.row import COLUMNS, TIMES
from ssdlab.study.sweeps.store import LOST
from ssdlab.study.sweeps.strict import parse
from ssdlab.study.sweeps.study import Study
from ssdlab.study.sweeps.work import PointTask
from test_sweep_study import BASE, FACTORS

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
STUDY = BASE + "seeds = 2\n" + FACTORS
POINTS = 24


def table(folder: Path) -> list[dict[str, Any]]:
    """Give the rows of the table, without what the clock gives."""
    rows: list[dict[str, Any]] = parquet.read_table(folder / "table.parquet").to_pylist()
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def rows_there(folder: Path) -> int:
    """Count the rows that are kept by now."""
    return sum(parquet.read_metadata(part).num_rows for part in folder.glob("rows/part-*.parquet"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    outcome = ssdlab.sweep(parse(STUDY), folder, workers=2)
    assert (outcome.points, outcome.run, outcome.failed) == (POINTS, POINTS, 0)
    return table(folder)


def test_the_table_is_what_single_runs_give(undisturbed: list[dict[str, Any]]) -> None:
    """Row by row in the study's order, factors first; the figures are those of `ssdlab run`."""
    assert [row["point"] for row in undisturbed] == list(range(POINTS))
    assert list(undisturbed[0])[:5] == [
        *("point", "drive", "over_provisioning", "ftl.gc", "job.iodepth"),
    ]
    for row in undisturbed[5::7]:
        settings = {
            **{"capacity_bytes": "16MiB", "nand.channels": 1, "nand.dies_per_channel": 1},
            **{"nand.pages_per_block": 32, "over_provisioning": row["over_provisioning"]},
            "ftl.gc": row["ftl.gc"],
        }
        options = {"rw": "randwrite", "bs": "4k", "number_ios": 100, "iodepth": row["job.iodepth"]}
        result = ssdlab.drive("theory", settings).run(seed=row["seed"], **options)
        job = result.job()
        assert row["iops"] == row["write_iops"] == job.iops()
        assert row["write_p99_us"] == job.percentile_ns(99, "write") / 1e3  # type: ignore[operator]
        assert row["write_amplification"] == job.write_amplification
        assert row["read_iops"] is None and row["error"] is None


def test_nothing_is_run_twice(tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    """Neither by the same study in its folder, nor by a larger one that shares points with it."""
    small = parse(STUDY.replace("[0.15, 0.28]", "[0.28]"))
    assert ssdlab.sweep(small, tmp_path).run == POINTS // 2
    assert ssdlab.sweep(small, tmp_path).run == 0
    outcome = ssdlab.sweep(parse(STUDY), tmp_path)
    assert (outcome.finished, outcome.run) == (POINTS, POINTS // 2)
    assert table(tmp_path) == undisturbed


def test_the_table_is_read_by_others(tmp_path: Path) -> None:
    """By pandas, polars and DuckDB, while rows come and at the end; CSV says the same."""
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    ssdlab.sweep(parse(STUDY), tmp_path)
    whole, parts = str(tmp_path / "table.parquet"), str(tmp_path / "rows/*.parquet")
    assert polars.scan_parquet(parts).collect().height == POINTS
    assert duckdb.sql(f"select count(*) from '{parts}'").fetchall() == [(POINTS,)]
    query = f"select avg(iops) from '{whole}' where \"ftl.gc\" = 'fifo'"
    frame = pandas.read_parquet(tmp_path / "rows")
    ((mean,),) = duckdb.sql(query).fetchall()
    assert mean == pytest.approx(frame[frame["ftl.gc"] == "fifo"]["iops"].mean())
    text = pandas.read_csv(tmp_path / "table.csv")
    assert list(text.columns) == list(parquet.read_schema(whole).names)
    assert set(COLUMNS) < set(text.columns)


def test_a_point_that_fails_is_a_row(tmp_path: Path) -> None:
    """With the reason; the others are there, and it is not run again."""
    text = BASE.replace(", pages_per_block = 32", "")
    text += "[factors]\nover_provisioning = [0.02, 0.28]\n'nand.pages_per_block' = [16, 256]"
    outcome = ssdlab.sweep(parse(text), tmp_path)
    rows = table(tmp_path)
    errors = [row["error"] for row in rows]
    assert outcome.failed == sum(error is not None for error in errors) > 0
    assert None in errors
    failed = next(row for row in rows if row["error"] is not None)
    assert failed["iops"] is None and failed["seed"] == 1
    assert ssdlab.sweep(parse(text), tmp_path).run == 0


def conducted(study: Study, folder: Path, crew: Callable[[], Crew]) -> perform.Outcome:
    return perform.conduct(plan(study), folder, crew)


def test_a_point_that_kills_its_process_is_a_row(
    tmp_path: Path, undisturbed: list[dict[str, Any]]
) -> None:
    """The others come out as ever; what lost its process is tried again the next time."""
    outcome = conducted(parse(STUDY), tmp_path, lambda: LocalCrew(dying, 2))
    assert (outcome.run, outcome.failed) == (POINTS, 4)
    for row, alone in zip(table(tmp_path), undisturbed, strict=True):
        if row["job.iodepth"] == 4 and row["seed"] == 2:
            assert row["error"].startswith(LOST)
        else:
            assert row == alone
    assert ssdlab.sweep(parse(STUDY), tmp_path).run == 4
    assert table(tmp_path) == undisturbed


def test_any_executor_will_do(tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    """Threads give the same table; the executor stays open."""
    with ThreadPoolExecutor(3) as executor:
        ssdlab.sweep(parse(STUDY), tmp_path, executor=executor)
        assert executor.submit(len, "abc").result() == 3
    assert table(tmp_path) == undisturbed


def test_fio_s_json_is_kept_on_request(tmp_path: Path) -> None:
    """A file for each point, by its key."""
    ssdlab.sweep(parse(STUDY), tmp_path, keep_fio=True)
    for row in table(tmp_path):
        job = Result.load(tmp_path / "fio" / f"{row['key']}.json").job()
        assert job.iops() == row["iops"]


# Ten thousand writes a point: long enough to be killed meanwhile.
LONG = STUDY.replace("number_ios=100", "loops=40 --norandommap")


def sweeping(study: Path, folder: Path, errors: int | None = None) -> subprocess.Popen[str]:
    words = (sys.executable, "-m", "ssdlab", "sweep", str(study), "-o", str(folder))
    return subprocess.Popen(words, stderr=errors, text=True)


def workers_of(folder: Path) -> list[int]:
    """Give the worker processes that the status tells of."""
    try:
        status = json.loads((folder / "status.json").read_text())
    except FileNotFoundError:
        return []
    return list(status["executor"]["processes"])


def is_there(process: int) -> bool:
    """Whether a process is there, and not only its entry."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_while_working(process: subprocess.Popen[str], folder: Path) -> None:
    """Kill a sweep once it has workers, and wait until these have noticed."""
    wait_for(lambda: workers_of(folder) or process.poll() is not None, "work")
    workers = workers_of(folder)
    process.kill()
    process.communicate()
    wait_for(lambda: not any(map(is_there, workers)), "the end of the workers")


@pytest.mark.parametrize("kills", [3])
def test_killed_and_gone_on_with(tmp_path: Path, kills: int) -> None:
    """The client, killed without a word, takes its workers with it; the next one goes on."""
    study = tmp_path / "study.toml"
    study.write_text(LONG)
    folder = tmp_path / "sweep"
    for _ in range(kills):
        kill_while_working(sweeping(study, folder), folder)
    assert sweeping(study, folder).wait(HANG_S) == 0
    ssdlab.sweep(parse(LONG), tmp_path / "alone")
    assert table(folder) == table(tmp_path / "alone")
    assert not list(folder.rglob("*.part"))


def test_ctrl_c_keeps_what_has_finished(tmp_path: Path) -> None:
    """130, a sentence, and the next sweep runs only the rest."""
    study = tmp_path / "study.toml"
    study.write_text(LONG.replace("loops=40", "loops=400"))
    folder = tmp_path / "sweep"
    process = sweeping(study, folder, subprocess.PIPE)
    wait_for(lambda: finished(folder) > 0, "a point")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 130, err
    assert "stopped" in err and "goes on from there" in err and "Traceback" not in err
    assert 0 < rows_there(folder) < POINTS
    assert not (folder / "table.parquet").exists()


def finished(folder: Path) -> int:
    path = folder / "status.json"
    return int(json.loads(path.read_text())["finished"]) if path.exists() else 0


def test_a_full_disk_ends_it_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: list[dict[str, Any]]
) -> None:
    """The error names the place; what was kept stays, and with room again the rest is run."""
    with monkeypatch.context() as full:
        finish = PendingFile.finish

        def refused(pending: PendingFile) -> None:
            if pending.path.suffix == ".parquet":
                raise SsdlabError(f"-o {pending.path}: No space left on device")
            finish(pending)

        full.setattr(PendingFile, "finish", refused)
        with pytest.raises(SsdlabError, match="No space left"):
            ssdlab.sweep(parse(STUDY), tmp_path)
    assert rows_there(tmp_path) == 0 and not list(tmp_path.rglob("*.part"))
    assert ssdlab.sweep(parse(STUDY), tmp_path).run == POINTS
    assert table(tmp_path) == undisturbed


def test_one_sweep_at_a_time_in_a_folder(tmp_path: Path) -> None:
    """The second one is refused, and disturbs nothing."""
    with locked(tmp_path / ".lock") as is_ours:
        assert is_ours
        with pytest.raises(SsdlabError, match="another sweep works in this folder"):
            ssdlab.sweep(parse(STUDY), tmp_path)
    assert not (tmp_path / ".lock").exists()


def test_a_conditioned_drive_is_made_once(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty runs want the same used drive at once: it is preconditioned by one of them."""
    made = []
    precondition = engine.precondition

    def counted(request: RunRequest, save: str, progress: Any = None) -> None:
        made.append(save)
        time.sleep(0.2)
        precondition(request, save, progress)

    monkeypatch.setattr(engine, "precondition", counted)
    text = BASE + 'condition = "used"\n[factors]\n"job.iodepth" = { from = 1, to = 20, steps = 20 }'
    with ThreadPoolExecutor(20) as executor:
        outcome = ssdlab.sweep(parse(text), tmp_path, executor=executor)
    assert (outcome.run, outcome.failed) == (20, 0)
    assert len(made) == 1
    assert sorted(each.suffix for each in own_cache.iterdir()) == [".ssd", ".txt"]


def test_processes_share_a_conditioned_drive(tmp_path: Path, own_cache: Path) -> None:
    """A drive that several points want is in the cache afterwards, one that one wants is not."""
    text = BASE + 'condition = "used"\n[factors]\n"job.iodepth" = [1, 2, 3]\n'
    ssdlab.sweep(parse(text), tmp_path / "shared", workers=2)
    assert len(cache.entries()) == 1
    cache.clear()
    ssdlab.sweep(parse(text.replace("[1, 2, 3]", "[1]")), tmp_path / "single", workers=2)
    assert cache.entries() == []


def test_runs_at_once_fit_into_memory() -> None:
    """No more points are under way together than the budget holds, but for one that is larger."""
    crew = LocalCrew(workers=4)
    crew._budget = 100
    small, large, huge = (
        (PointTask(0, "", RunRequest("theory"), memory_bytes=size),) for size in (10, 60, 1000)
    )
    assert crew.has_room([small, small], large)
    assert not crew.has_room([large, small], large)
    assert not crew.has_room([small], huge)
    assert crew.has_room([], huge)
    assert not crew.has_room([small] * 8, small)
    crew.close()


def test_dry_run_runs_nothing(command: Command, tmp_path: Path) -> None:
    """It tells points, time and memory, and leaves no folder behind."""
    (tmp_path / "study.toml").write_text(STUDY)
    code, out, _ = command("sweep", "study.toml", "-o", "new", "--dry-run")
    assert code == 0
    told = {line[:25].strip(): line[25:].strip() for line in out.splitlines()}
    assert told["points"] == told["left to run"] == str(POINTS)
    assert told["memory a point, at most"].endswith("B")
    assert not (tmp_path / "new").exists()


def test_the_command(command: Command, tmp_path: Path) -> None:
    """It writes the table, and says how many points had been there."""
    (tmp_path / "study.toml").write_text(STUDY)
    assert command("sweep", "study.toml", "-o", "new")[0] == 0
    code, _, err = command("sweep", "study.toml", "-o", "new")
    assert code == 0
    assert f"{POINTS} points ({POINTS} had finished before)" in err
    assert command("sweep", "study.toml")[0] == 2
    assert command("sweep", "nothing.toml", "-o", "new")[0] == 2


def test_a_part_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """With what to do about it."""
    ssdlab.sweep(parse(STUDY), tmp_path)
    (part,) = tmp_path.glob("rows/*.parquet")
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(SsdlabError, match="remove it; its points are then run again"):
        ssdlab.sweep(parse(STUDY), tmp_path)


def test_watching(command: Command, tmp_path: Path) -> None:
    """A finished sweep says so once; one that died without a word is told from one that runs."""
    ssdlab.sweep(parse(STUDY), tmp_path / "new")
    code, out, _ = command("sweep", "--watch", "-o", "new")
    told = {line[:15].strip(): line[15:].strip() for line in out.splitlines()}
    assert (code, told["state"]) == (0, "done")
    assert told["finished"] == f"{POINTS} of {POINTS} points, 100.0 %"
    assert told["runs on"] == "this machine"
    status = json.loads((tmp_path / "new/status.json").read_text())
    for age, said in ((5, "running"), (600, "silent for 10.0 min; start the sweep again")):
        rows = rows_of({**status, "state": "running"}, status["updated_at"] + age)
        assert dict(rows)["state"] == said
    assert command("sweep", "--watch", "-o", "nothing")[0] == 2
