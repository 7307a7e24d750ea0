"""What a worker does: points one after the other, each ending as rows or as a row with its error.

This is all that crosses to another process or machine, so it holds plain data. The engine's time is
measured around the engine alone: what else a point costs is the sweep's own overhead. A worker that
lacks a file asks for it, where it can be sent one (`sent.py`); else the row says so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Job
from ssdlab.experiment.cache import run_conditioned
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.text import size
from ssdlab.study.sweeps.row import Row, row_of_error, rows_of
from ssdlab.study.sweeps.sent import NamedFile, here, moved

Perform = Callable[[RunRequest, Progress], str]
"""Runs a request; gives fio's JSON."""


@dataclass(frozen=True)
class PointTask:
    """A point, as a worker gets it.

    Attributes
    ----------
    number
        The point's place in the study.
    key
        The point's.
    request
        What is run.
    files
        What the request names.
    memory_bytes
        What the run takes at most; 0 where nobody asks.
    keep_fio
        Whether fio's JSON is wanted, too.
    """

    number: int
    key: str
    request: RunRequest
    files: tuple[NamedFile, ...] = ()
    memory_bytes: int = 0
    keep_fio: bool = False


@dataclass(frozen=True)
class Done:
    """What became of a point.

    Attributes
    ----------
    task
        The number of the task.
    rows
        What the table gets.
    fio
        fio's JSON, where it was wanted.
    missing
        Files that the worker does not have; then the point was not run, and there are no rows.
    where
        The address of the worker that asks for them.
    """

    task: int
    rows: list[Row]
    fio: str | None = None
    missing: tuple[NamedFile, ...] = ()
    where: str = ""


def _always() -> bool:
    return True


def run_batch(
    tasks: Sequence[PointTask],
    perform: Perform = run_conditioned,
    goes_on: Callable[[], bool] = _always,
    where: str = "",
) -> list[Done]:
    """Run points.

    Parameters
    ----------
    tasks
        In the order in which they are run.
    perform
        What runs a request.
    goes_on
        Asked again and again; once it is False, what has ended by then is returned.
    where
        This worker's address; empty where it cannot be sent files.
    """
    done: list[Done] = []
    for task in tasks:
        try:
            done.append(_run(task, perform, goes_on, where))
        except Stopped:
            break
    return done


def _run(task: PointTask, perform: Perform, goes_on: Callable[[], bool], where: str) -> Done:
    seed = task.request.seed
    places: dict[str, str] = {}
    begun, cpu = time.monotonic(), time.process_time()

    def took() -> tuple[float, float]:
        return time.process_time() - cpu, time.monotonic() - begun

    try:
        places, missing = here(task.files)
        if missing:
            _refuse(missing, where)
            return Done(task.number, [], missing=tuple(missing), where=where)
        document = perform(moved(task.request, places), lambda _phase, _share: goes_on())
        times = took()
        rows = rows_of(task.key, seed, _jobs(document), *times)
        return Done(task.number, rows, _put_back(document, places) if task.keep_fio else None)
    except Stopped:
        raise
    except Exception as error:
        # Whatever it is, the other points go on.
        reason = (
            str(error) if isinstance(error, SsdlabError) else f"{type(error).__name__}: {error}"
        )
        reason = _put_back(reason, places)
        return Done(task.number, [row_of_error(task.key, seed, reason, *took())])


def _refuse(missing: Sequence[NamedFile], where: str) -> None:
    """Tell of a file that will not come."""
    for file in missing:
        if not where or not file.is_sent:
            large = f" and, with {size(file.size_bytes)}, too large to be sent" if where else ""
            raise SsdlabError(
                f"{file.name}: is not on this worker{large}\n"
                "put it in a folder that all workers have at the same place"
            )


def _put_back(words: str, places: Mapping[str, str]) -> str:
    """Name files as the client does."""
    for name, place in places.items():
        words = words.replace(place, name)
    return words


def _jobs(document: str) -> list[Job]:
    """Read what the engine wrote; unlike a file of somebody's, it need not be searched for flaws.

    Raises
    ------
    Stopped
        The run was stopped before its end.
    """
    jobs = [Job(entry) for entry in json.loads(document)["jobs"]]
    if any(job.interrupted for job in jobs):
        raise Stopped
    return jobs
