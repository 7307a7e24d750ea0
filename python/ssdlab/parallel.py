"""Several runs at once, each in a thread of its own: the engine needs no lock while it computes.

A stop is asked for once and answered by every run; what had finished is kept.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from ssdlab.engine import Progress
from ssdlab.errors import Stopped

T = TypeVar("T")
Task = Callable[[Progress], T]
"""Work that reports its progress and stops when that returns False."""

Report = Callable[[int, str, float], None]
"""Called with the task's index, its phase and the share of it that is done."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event; the second one ends the process as usual."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print("\nstopping; finished results are kept (Ctrl-C again: end at once)", file=sys.stderr)

    before = signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def run_all(
    tasks: Sequence[Task[T]],
    *,
    stop: threading.Event,
    report: Report | None = None,
    workers: int | None = None,
    finished: Callable[[int, T], None] | None = None,
) -> list[T | None]:
    """Run tasks side by side.

    Parameters
    ----------
    tasks
        What to do, in the order in which to begin.
    stop
        Set by the caller to end early; set here when a task fails.
    report
        Hears of progress, from the task's thread.
    workers
        At most so many at once; by default one per core.
    finished
        Hears of each result as it comes, in the calling thread.

    Returns
    -------
    list
        A result per task; None for one that was stopped.

    Raises
    ------
    Exception
        The first error of a task, after the others were stopped.
    """

    def progress_of(index: int) -> Progress:
        def progress(phase: str, share: float) -> bool:
            if report is not None:
                report(index, phase, share)
            return not stop.is_set()

        return progress

    def one(index: int) -> T | None:
        if stop.is_set():
            return None
        try:
            return tasks[index](progress_of(index))
        except Stopped:
            return None
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        futures = {pool.submit(one, index): index for index in range(len(tasks))}
        _collect(futures, finished)
    return _results(futures)


def _collect(
    futures: dict[Future[T | None], int], finished: Callable[[int, T], None] | None
) -> None:
    pending = set(futures)
    while pending:
        # A timeout lets the main thread see a signal while every worker is inside the engine.
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            if future.exception() is None and finished is not None:
                result = future.result()
                if result is not None:
                    finished(futures[future], result)


def _results(futures: dict[Future[T | None], int]) -> list[T | None]:
    for future in futures:
        error = future.exception()
        if error is not None:
            raise error
    return [future.result() for future in futures]
