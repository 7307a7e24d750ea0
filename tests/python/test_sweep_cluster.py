"""A sweep on Dask: the same table, whoever works, and whoever is killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import ssdlab
from performers import dying
from process import HANG_S, wait_for
from ssdlab.experiment import cache
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps import sent
from ssdlab.study.sweeps.cluster import DaskCrew
from ssdlab.study.sweeps.perform import conduct
from ssdlab.study.sweeps.plan import plan
from ssdlab.study.sweeps.row import TIMES
from ssdlab.study.sweeps.store import LOST
from ssdlab.study.sweeps.strict import parse
from test_sweep import LONG, POINTS, STUDY, table
from test_sweep_study import BASE

pytestmark = pytest.mark.end_to_end

pytest.importorskip("distributed")

HERE = Path(__file__).parent
NO_OPS = int(os.environ.get("SSDLAB_SWEEP_NO_OPS", "1000"))
KILLS = int(os.environ.get("SSDLAB_SWEEP_KILLS", "3"))
MOST_MB = 250
"""Of the client of 100,000 points; the libraries that it has loaded take 150 of them."""
MB_A_POINT = 5e-4
SWINGS_MB = 50
"""What rows that wait and batches of the table come and go with, however many points there are."""


class Cluster:
    """A scheduler and workers on this machine, each a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "scheduler.log"
        self._start_scheduler("0")
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start_scheduler(self, port: str) -> None:
        words = (f"--port={port}", "--no-dashboard")
        self.scheduler = self._start("scheduler", *words, log=self._log)
        wait_for(self._address, "the scheduler")
        self.address = self._address()

    def kill_worker(self, draw: random.Random) -> None:
        """Kill one, and have another one instead."""
        worker = self.workers.pop(draw.randrange(len(self.workers)))
        worker.kill()
        worker.wait(HANG_S)
        self.add_worker()

    def kill_scheduler(self) -> None:
        """Kill it; its workers have nobody left to work for."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait(HANG_S)

    def start_again(self) -> None:
        """Have a scheduler at the same address, and as many workers."""
        self._start_scheduler(self.address.rpartition(":")[2])
        count, self.workers = len(self.workers), []
        for _ in range(count):
            self.add_worker()

    def _address(self) -> str:
        found = re.search(r"Scheduler at:\s+(tcp://\S+)", self._log.read_text())
        return found[1] if found else ""

    def _start(self, kind: str, *words: str, log: Path) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-m", "distributed.cli.dask_" + kind, "--host=127.0.0.1")
        path = f"{os.environ.get('PYTHONPATH', '')}:{HERE}"
        with log.open("wb") as output:
            return subprocess.Popen(
                [*command, *words],
                stdout=output,
                stderr=output,
                cwd=self._folder,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": path},
            )

    def add_worker(self, memory: str = "0", nanny: bool = False) -> subprocess.Popen[bytes]:
        words = ("--nthreads=1", f"--memory-limit={memory}", "--no-dashboard")
        watched = "--nanny" if nanny else "--no-nanny"
        log = self._folder / f"worker-{len(self.workers)}.log"
        worker = self._start("worker", self.address, *words, watched, log=log)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        # A nanny whose worker was just killed may never answer SIGTERM.
        for process in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(HANG_S)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    folder.mkdir(exist_ok=True)
    made = Cluster(folder)
    try:
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    ssdlab.sweep(parse(STUDY), folder)
    return table(folder)


def test_a_cluster_gives_the_table_of_one_machine(
    tmp_path: Path, undisturbed: list[dict[str, Any]]
) -> None:
    """One worker and two: the same rows but for what the clock gives."""
    for workers in (1, 2):
        with cluster(tmp_path / f"dask-{workers}", workers) as dask:
            outcome = ssdlab.sweep(
                parse(STUDY), tmp_path / f"sweep-{workers}", cluster=dask.address
            )
        assert (outcome.run, outcome.failed) == (POINTS, 0)
        assert table(tmp_path / f"sweep-{workers}") == undisturbed


def test_the_cost_of_a_point_and_the_client_s_memory(tmp_path: Path) -> None:
    """Points that do nothing: what handing one over costs is printed, and the client stays small.

    `SSDLAB_SWEEP_NO_OPS=100000` has so many of them, over 1, 2 and 4 workers. Before the table was
    written a batch at a time the client of 100,000 points took 377 MB.
    """
    study = tmp_path / "study.toml"
    study.write_text(BASE + f"seeds = {min(NO_OPS, 1000)}\n" + no_op_factor())
    texts = []
    for workers in (1, 2, 4) if NO_OPS >= 100_000 else (1, 2):
        folder = tmp_path / f"{workers}"
        with cluster(tmp_path / f"dask-{workers}", workers) as dask:
            found = no_ops(study, folder, dask.address)
        assert (found["run"], found["failed"]) == (NO_OPS, 0)
        early, late, peak = memory(found)
        print(
            f"\n{workers} workers: {found['wall_s'] / NO_OPS * 1e3:.2f} ms a point by the", end=" "
        )
        print(f"clock, {found['cpu_s'] / NO_OPS * 1e3:.2f} ms of the client's processor;", end=" ")
        print(f"client {early:.0f} MB early, {late:.0f} MB late, {peak:.0f} MB at most")
        assert peak < MOST_MB + max(0, NO_OPS - 100_000) * MB_A_POINT
        # What a thousand points leave behind is less than what writing the table takes once.
        if NO_OPS >= 100_000:
            assert peak - early < SWINGS_MB + NO_OPS * MB_A_POINT
        texts.append(without_times(folder))
    assert all(each == texts[0] for each in texts)


def no_op_factor() -> str:
    depths = list(range(1, NO_OPS // min(NO_OPS, 1000) + 1))
    return f'[factors]\n"job.iodepth" = {depths}'


def no_ops(study: Path, folder: Path, address: str) -> dict[str, Any]:
    """Run the study in a process of its own: what the tests themselves take is not counted."""
    words = [sys.executable, str(HERE / "no_ops.py"), str(study), str(folder), address]
    ended = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def memory(found: dict[str, Any]) -> tuple[float, float, float]:
    """Return the client's MB after a quarter of the points, before the table, and at most."""
    running = [(share, mb) for share, mb in found["seen"] if 0 < share < 1]
    # A thousand points can end between two looks: then nothing is compared but the most.
    running = running or [(1.0, found["peak_mb"])]
    early = [mb for share, mb in running if share >= 0.25] or [running[-1][1]]
    return early[0], running[-1][1], found["peak_mb"]


def without_times(folder: Path) -> pyarrow.Table:
    whole = parquet.read_table(folder / "table.parquet")
    return whole.drop_columns(list(TIMES))


def test_a_point_that_kills_its_workers_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: list[dict[str, Any]]
) -> None:
    """The scheduler gives it up, the others come out as ever, and a later sweep runs it again."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    folder = tmp_path / "sweep"
    with cluster(tmp_path / "dask", 0) as dask:
        dask.add_worker(nanny=True)
        dask.add_worker(nanny=True)
        outcome = conduct(plan(parse(STUDY)), folder, lambda: DaskCrew(dask.address, dying))
    assert (outcome.run, outcome.failed) == (POINTS, 4)
    for row, alone in zip(table(folder), undisturbed, strict=True):
        if row["job.iodepth"] == 4 and row["seed"] == 2:
            assert row["error"].startswith(LOST)
        else:
            assert row == alone
    assert ssdlab.sweep(parse(STUDY), folder).run == 4
    assert table(folder) == undisturbed


def test_a_point_too_large_for_a_worker_s_memory_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nanny ends the worker that goes beyond its limit; the smaller points are there."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    text = BASE + 'condition = "filled"\n[factors]\ncapacity_bytes = ["16MiB", "256GiB", "32MiB"]\n'
    with cluster(tmp_path / "dask", 0) as dask:
        dask.add_worker("300MB", nanny=True)
        outcome = ssdlab.sweep(parse(text), tmp_path / "sweep", cluster=dask.address)
    assert (outcome.run, outcome.failed) == (3, 1)
    small, large, medium = table(tmp_path / "sweep")
    assert large["error"].startswith(LOST)
    assert small["error"] is None and medium["error"] is None


FILES = """
[base]
drives = ["mine.toml"]
condition = "used"
job = "jobs/replay.fio --read_iolog=day.log --replay_no_stall=1"
seeds = 4
[factors]
"job.iodepth" = [1, 4]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Path:
    """Work in a folder whose files the study names as they lie there; workers have another one."""
    folder = tmp_path / "client"
    (folder / "jobs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    profile = Path(ssdlab.__file__).parents[2] / "profiles/theory.toml"
    Path("mine.toml").write_bytes(profile.read_bytes())
    Path("jobs/replay.fio").write_text("[replay]\nrw=write\n")
    lines = [f"disk write {4096 * (37 * at % 512)} 4096\n" for at in range(200)]
    Path("day.log").write_text("".join(["fio version 2 iolog\ndisk add\ndisk open\n", *lines]))
    return folder


def test_workers_are_sent_the_files_that_they_do_not_have(tmp_path: Path, files: Path) -> None:
    """Once each by content, as often as points name them; rows are those of the client's folder."""
    study = parse(FILES)
    assert ssdlab.sweep(study, "alone").failed == 0
    with cluster(tmp_path / "dask", 2) as dask:
        outcome = ssdlab.sweep(study, "sent", cluster=dask.address)
        assert (outcome.run, outcome.failed) == (8, 0)
        assert sorted(each.name for each in kept_files()) == ["day.log", "mine.toml"]
        with Path("day.log").open("a") as log:
            log.write("disk write 0 8192\n")
        assert ssdlab.sweep(study, "sent", cluster=dask.address).run == 8
    assert table(files / "alone") != table(files / "sent")
    assert sorted(each.name for each in kept_files()) == ["day.log", "day.log", "mine.toml"]
    ssdlab.sweep(study, "alone")
    assert table(files / "alone") == table(files / "sent")


STACK = """
drive = "mine.toml"
[set]
capacity_bytes = "64 MiB"
[[layer]]
kind = "split"
drive = "second.toml"
"""


def test_workers_are_sent_what_files_name(tmp_path: Path, files: Path) -> None:
    """A stack's profiles, and the iolog of a job that another one includes."""
    Path("host.toml").write_text(STACK)
    Path("second.toml").write_bytes(Path("mine.toml").read_bytes())
    Path("jobs/replay.fio").write_text("include day.fio\n[replay]\nrw=write\n")
    Path("jobs/day.fio").write_text("[global]\nread_iolog=day.log\nreplay_no_stall=1\n")
    text = FILES.replace("mine.toml", "host.toml").replace("fio --read_iolog=day.log", "fio")
    study = parse(text.replace('condition = "used"', ""))
    assert ssdlab.sweep(study, "alone").failed == 0
    with cluster(tmp_path / "dask", 2) as dask:
        outcome = ssdlab.sweep(study, "sent", cluster=dask.address)
    assert (outcome.run, outcome.failed) == (8, 0), table(files / "sent")[0]["error"]
    assert table(files / "alone") == table(files / "sent")
    names = ["day.log", "host.toml", "host.toml", "mine.toml", "second.toml"]
    assert sorted(each.name for each in kept_files()) == names, "the stack, and its copy"


def kept_files() -> list[Path]:
    return list((cache.folder() / "files").glob("*/*"))


def test_what_is_too_large_to_be_sent_is_told(
    tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each point's row, with the file and what to do; no point is run."""
    monkeypatch.setattr(sent, "MOST_BYTES", 3000)
    with cluster(tmp_path / "dask", 1) as dask:
        outcome = ssdlab.sweep(parse(FILES), "sent", cluster=dask.address)
    assert (outcome.run, outcome.failed) == (8, 8)
    told = table(files / "sent")[0]["error"]
    assert told.startswith("day.log: is not on this worker and, with") and "all workers" in told


def test_workers_of_a_machine_make_a_drive_once(tmp_path: Path, own_cache: Path) -> None:
    """Twenty points that want the same drive, on two workers: one file in the machine's cache."""
    text = BASE + 'condition = "used"\n[factors]\n"job.iodepth" = { from = 1, to = 20, steps = 20 }'
    with cluster(tmp_path / "dask", 2) as dask:
        outcome = ssdlab.sweep(parse(text), tmp_path / "sweep", cluster=dask.address)
    assert (outcome.run, outcome.failed) == (20, 0)
    assert len(cache.entries()) == 1


def test_killed_and_gone_on_with(tmp_path: Path) -> None:
    """Worker, client and scheduler, killed at random: the table is that of an undisturbed sweep.

    `SSDLAB_SWEEP_KILLS=50` kills so often.
    """
    draw = random.Random(KILLS)
    study, folder = tmp_path / "study.toml", tmp_path / "sweep"
    text = LONG.replace("seeds = 2", f"seeds = {2 * KILLS}")
    study.write_text(text)
    with cluster(tmp_path / "dask", 2) as dask:
        client = started(study, folder, dask)
        for number in range(KILLS):
            time.sleep(draw.uniform(0, 4))
            victim = ("worker", "client", "scheduler")[number % 3]
            if victim == "worker":
                dask.kill_worker(draw)
            elif victim == "scheduler":
                dask.kill_scheduler()
                assert client.wait(HANG_S) in (0, 2)
                dask.start_again()
            else:
                client.kill()
            if client.poll() is not None or victim == "client":
                client.wait(HANG_S)
                client = started(study, folder, dask)
        assert client.wait(HANG_S) == 0
    ssdlab.sweep(parse(text), tmp_path / "alone")
    assert table(folder) == table(tmp_path / "alone")


def started(study: Path, folder: Path, dask: Cluster) -> subprocess.Popen[bytes]:
    words = ("sweep", str(study), "-o", str(folder), "--cluster", dask.address)
    return subprocess.Popen([sys.executable, "-m", "ssdlab", *words], stderr=subprocess.DEVNULL)


def test_what_no_scheduler_answers_is_told(tmp_path: Path) -> None:
    """With how to start one."""
    with pytest.raises(SsdlabError, match="no Dask scheduler answers"):
        ssdlab.sweep(parse(STUDY), tmp_path, cluster="tcp://127.0.0.1:1")


def test_an_executor_and_a_cluster_are_one_too_many(tmp_path: Path) -> None:
    """Nothing is run."""
    with ThreadPoolExecutor(1) as executor, pytest.raises(SsdlabError, match="leave one out"):
        ssdlab.sweep(parse(STUDY), tmp_path, cluster="tcp://127.0.0.1:1", executor=executor)
