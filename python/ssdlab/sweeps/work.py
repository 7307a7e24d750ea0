"""What a worker does: points one after the other, each ending as rows or as a row with its error.

This is all that crosses to another process or machine, so it holds plain data. The engine's time is
measured around the engine alone: what else a point costs is the sweep's own overhead. Left out:
sending files along. A worker that does not have a file that a point names says so in the row.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.cache import run_conditioned
from ssdlab.engine import Progress
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.request import RunRequest
from ssdlab.result import Job
from ssdlab.sweeps.row import Row, row_of_error, rows_of

Perform = Callable[[RunRequest, Progress], str]
"""Runs a request; gives fio's JSON."""


@dataclass(frozen=True)
class Task:
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
        What the request names, and must be there.
    memory_bytes
        What the run takes at most; 0 where nobody asks.
    keep_fio
        Whether fio's JSON is wanted, too.
    """

    number: int
    key: str
    request: RunRequest
    files: tuple[str, ...] = ()
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
    """

    task: int
    rows: list[Row]
    fio: str | None = None


def _always() -> bool:
    return True


def run_batch(
    tasks: Sequence[Task], perform: Perform = run_conditioned, goes_on: Callable[[], bool] = _always
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
    """
    done: list[Done] = []
    for task in tasks:
        try:
            done.append(_run(task, perform, goes_on))
        except Stopped:
            break
    return done


def _run(task: Task, perform: Perform, goes_on: Callable[[], bool]) -> Done:
    seed = task.request.seed
    begun, cpu = time.monotonic(), time.process_time()

    def took() -> tuple[float, float]:
        return time.process_time() - cpu, time.monotonic() - begun

    try:
        for file in task.files:
            if not os.path.exists(file):
                raise SsdlabError(f"{file}: is not on this worker; put it in a shared folder")
        document = perform(task.request, lambda _phase, _share: goes_on())
        times = took()
        rows = rows_of(task.key, seed, _jobs(document), *times)
        return Done(task.number, rows, document if task.keep_fio else None)
    except Stopped:
        raise
    except Exception as error:
        # Whatever it is, the other points go on.
        reason = (
            str(error) if isinstance(error, SsdlabError) else f"{type(error).__name__}: {error}"
        )
        return Done(task.number, [row_of_error(task.key, seed, reason, *took())])


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
