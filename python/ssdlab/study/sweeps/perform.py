"""A sweep from its study to its table: what had ended is taken from the folder, the rest is run.

Rows are kept every few seconds. One sweep at a time works in a folder. Left out: deciding which
points to run next from what others gave.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.experiment.parallel import stop_on_interrupt
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.lock import locked
from ssdlab.study.sweeps.conduct import Conductor
from ssdlab.study.sweeps.crew import Crew, LocalCrew
from ssdlab.study.sweeps.plan import StudyPlan, columns_of, memory_bytes, plan
from ssdlab.study.sweeps.point import Point
from ssdlab.study.sweeps.sent import named
from ssdlab.study.sweeps.store import SweepStore
from ssdlab.study.sweeps.strict import load
from ssdlab.study.sweeps.study import Study, as_text
from ssdlab.study.sweeps.work import Done, PointTask

_FLUSH_EVERY_S = 5.0
_TELL_EVERY_S = 1.0
_MOST_WAITING = 2_000
"""Rows in memory: some 3 kB each."""

HearStatus = Callable[[dict[str, Any]], None]
"""Hears how far a sweep is, about once a second: what `status.json` holds."""


@dataclass(frozen=True)
class Outcome:
    """What a sweep came to.

    Attributes
    ----------
    points
        How many the study has.
    finished
        How many of them have ended, by this sweep or an earlier one in the folder.
    run
        How many this sweep ran.
    failed
        How many rows of this sweep have an error.
    table
        The table (Parquet); None where the sweep was stopped before its end.
    """

    points: int
    finished: int
    run: int
    failed: int
    table: Path | None


def sweep(
    study: Study | str | Path,
    folder: str | Path,
    *,
    executor: Executor | None = None,
    cluster: str | None = None,
    keep_fio: bool = False,
    workers: int | None = None,
    tell: HearStatus | None = None,
) -> Outcome:
    """Run the points of a study that have not ended yet, and write its table.

    Parameters
    ----------
    study
        A study, or the file (TOML) that it is read from.
    folder
        Where rows and table are kept; a folder of an earlier sweep is gone on with.
    executor
        Carries the points out; by default processes of this machine. It is not shut down.
    cluster
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, that carries them out instead.
    keep_fio
        Whether fio's JSON of each point is kept, too.
    workers
        Processes of this machine at most; by default one per core, and as memory allows.
    tell
        Hears how far it is.

    Returns
    -------
    Outcome
        What it came to; after Ctrl-C without a table.

    Raises
    ------
    SsdlabError
        The study is wrong, the folder cannot be written to or is in use, or the cluster has gone.
    """
    planned = plan(study if isinstance(study, Study) else load(study))
    return run_plan(
        planned,
        folder,
        executor=executor,
        cluster=cluster,
        keep_fio=keep_fio,
        workers=workers,
        tell=tell,
    )


def run_plan(
    planned: StudyPlan,
    folder: str | Path,
    *,
    executor: Executor | None = None,
    cluster: str | None = None,
    keep_fio: bool = False,
    workers: int | None = None,
    tell: HearStatus | None = None,
) -> Outcome:
    """Carry a plan out, as `sweep` does with the plan of its study."""
    crew = _crew(executor, cluster, workers)
    return conduct(planned, Path(folder), crew, keep_fio=keep_fio, tell=tell)


def _crew(
    executor: Executor | None, cluster: str | None, workers: int | None
) -> Callable[[], Crew]:
    if executor is not None and cluster is not None:
        raise SsdlabError(f"--cluster {cluster}: does not go with an executor; leave one out")
    if cluster is not None:
        from ssdlab.study.sweeps.cluster import DaskCrew

        return lambda: DaskCrew(cluster)
    if executor is not None:
        return lambda: Crew(executor)
    return lambda: LocalCrew(workers=workers)


def conduct(
    planned: StudyPlan,
    folder: Path,
    crew: Callable[[], Crew],
    *,
    keep_fio: bool = False,
    tell: HearStatus | None = None,
) -> Outcome:
    """Carry a plan out.

    Parameters
    ----------
    planned
        What the study comes to.
    folder
        As for `sweep`.
    crew
        Makes who carries it out.
    keep_fio, tell
        As for `sweep`.

    Raises
    ------
    SsdlabError
        As `sweep`.
    """
    with ExitStack() as stack:
        _take_folder(folder, stack)
        store = SweepStore(folder, columns_of(planned.study))
        store.write_study(planned.study.source)
        stop = stack.enter_context(stop_on_interrupt())
        carried = crew()
        stack.callback(carried.close)
        running = _Sweep(planned, store, carried, keep_fio, tell)
        try:
            running.carry_out(stop)
        finally:
            store.flush()
        outcome = running.outcome()
        running.tell_state("stopped" if outcome.table is None else "done")
        return outcome


def _take_folder(folder: Path, stack: ExitStack) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_ours = stack.enter_context(locked(folder / ".lock"))
    except OSError as error:
        raise SsdlabError(
            f"-o {folder}: {error.strerror}; name a folder you can write to"
        ) from None
    if not is_ours:
        raise SsdlabError(
            f"-o {folder}: another sweep works in this folder\nwait for it, or name another folder"
        )


class _Sweep:
    """A sweep under way: counts, and keeps what comes."""

    def __init__(
        self,
        planned: StudyPlan,
        store: SweepStore,
        crew: Crew,
        keep_fio: bool,
        tell: HearStatus | None,
    ) -> None:
        self._plan = planned
        self._store = store
        self._crew = crew
        self._keep_fio = keep_fio
        self._tell = tell
        self._finished = store.finished()
        self._begun = self._told = self._flushed = time.monotonic()
        self._begun_at = time.time()
        self._waiting: dict[int, Point] = {}
        self._before = self._run = self._failed = 0
        self._all_sent = False
        self._kinds = columns_of(planned.study)
        self._conductor = Conductor(self._tasks(), crew, self._take)

    def carry_out(self, stop: threading.Event) -> None:
        """Run what is left, or stop."""
        self._before = sum(point.key in self._finished for point in self._plan.points())
        self.tell_state("running")

        def goes_on() -> bool:
            self._look()
            return not stop.is_set()

        self._conductor.conduct(goes_on)

    def outcome(self) -> Outcome:
        """Write the table, if all has ended, and say what it came to."""
        ended = self._before + self._run
        table = None
        if self._all_sent and not self._waiting:
            self._store.flush()
            self._store.write_table(
                (each.number, each.key, self._columns(each)) for each in self._plan.points()
            )
            table = self._store.folder / "table.parquet"
        return Outcome(self._plan.count, ended, self._run, self._failed, table)

    def tell_state(self, state: str) -> None:
        """Write the status, and tell it."""
        took = time.monotonic() - self._begun
        left = self._plan.count - self._before - self._run
        status = {
            "state": state,
            "study": self._plan.study.name,
            "points": self._plan.count,
            "finished": self._before + self._run,
            "run": self._run,
            "failed": self._failed,
            "running": self._conductor.running,
            "elapsed_s": round(took, 1),
            "remaining_s": round(took / self._run * left, 1) if self._run else None,
            "begun_at": self._begun_at,
            "updated_at": time.time(),
            "process": os.getpid(),
            "host": socket.gethostname(),
            "executor": self._crew.state(),
        }
        self._store.write_status(status)
        if self._tell is not None:
            self._tell(status)

    def _tasks(self) -> Iterator[PointTask]:
        """Give the tasks that are left; a point that is there twice is run once."""
        wants_memory = isinstance(self._crew, LocalCrew)
        under_way: set[str] = set()
        for point in self._plan.points():
            if point.key in self._finished:
                continue
            if point.key in under_way:
                self._before += 1
                continue
            under_way.add(point.key)
            self._waiting[point.number] = point
            needed = memory_bytes(point.request) if wants_memory else 0
            files = tuple(map(named, sorted(point.files)))
            yield PointTask(point.number, point.key, point.request, files, needed, self._keep_fio)
        self._all_sent = True

    def _take(self, done: Done) -> None:
        point = self._waiting.pop(done.task)
        factors = {"point": point.number, **self._columns(point)}
        self._store.add({**row, **factors} for row in done.rows)
        if done.fio is not None:
            self._store.write_fio(point.key, done.fio)
        self._run += 1
        self._failed += any(row["error"] is not None for row in done.rows)

    def _look(self) -> None:
        """Keep what came, and tell how far it is, every now and then."""
        now = time.monotonic()
        if now - self._flushed >= _FLUSH_EVERY_S or self._store.waiting >= _MOST_WAITING:
            self._store.flush()
            self._flushed = now
        if now - self._told >= _TELL_EVERY_S:
            self._crew.refresh()
            self.tell_state("running")
            self._told = now

    def _columns(self, point: Point) -> dict[str, Any]:
        """Return the columns that tell a point from others."""
        request = point.request
        values = {"drive": request.drive, "job_file": request.job_name, **point.factors}
        return {key: _cell(values.get(key), kind) for key, kind in self._kinds.items()}


def _cell(value: Any, kind: str) -> Any:
    if kind != "string" or value is None:
        return value
    return " ".join(value) if isinstance(value, list) else as_text(value)
