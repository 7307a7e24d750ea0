"""Several runs at once, each in a thread of its own: the engine needs no lock while it computes.

A stop is asked for once and answered by every run; what had finished is kept. A run that does not
answer in time is left behind: its thread ends with the process.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TypeVar

from ssdlab.engine import Progress
from ssdlab.ground import signals
from ssdlab.ground.errors import Stopped

T = TypeVar("T")
Task = Callable[[Progress], T]
"""Work that reports its progress and stops when that returns False."""

Report = Callable[[int, str, float], None]
"""Called with the task's index, its phase and the share of it that is done."""

_STOPPING = b"\nstopping; finished results are kept (Ctrl-C again: end at once)\n"
_GRACE_S = 0.6
"""Once stopped, runs have so long to tell what they had done by then."""
_LOOK_EVERY_S = 0.05


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C (SIGTERM, SIGHUP) into an event; the second one ends the process."""
    stop = threading.Event()

    def first(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            signals.leave(number)
        signals.received(number)
        stop.set()
        with suppress(OSError):
            os.write(2, _STOPPING)

    with signals.handling(first):
        yield stop


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
        A result per task; None for one that was stopped or did not answer.

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

    pool = ThreadPoolExecutor(max_workers=workers or cores())
    try:
        futures = {pool.submit(one, index): index for index in range(len(tasks))}
        _collect(futures, stop, finished)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return _results(futures)


def _collect(
    futures: dict[Future[T | None], int],
    stop: threading.Event,
    finished: Callable[[int, T], None] | None,
) -> None:
    pending = set(futures)
    given_up_at = math.inf
    while pending and time.monotonic() < given_up_at:
        done, pending = wait(pending, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            if future.exception() is None and finished is not None:
                result = future.result()
                if result is not None:
                    finished(futures[future], result)
        if stop.is_set():
            given_up_at = min(given_up_at, time.monotonic() + _grace_s())


def _grace_s() -> float:
    """Stretch the time to answer by what else the machine does."""
    return _GRACE_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _results(futures: dict[Future[T | None], int]) -> list[T | None]:
    answered = {future for future in futures if future.done() and not future.cancelled()}
    for future in futures:
        error = future.exception() if future in answered else None
        if error is not None:
            raise error
    return [future.result() if future in answered else None for future in futures]
