"""Who carries points out: an executor of `concurrent.futures`, and what is known about it.

By default a pool of processes of this machine, as many as there are cores and as memory allows. A
process that is killed breaks its pool: a new one is made, and what was under way is tried again
alone, so that the point that kills its process is found (`conduct.py`). A process whose client has
gone ends by itself. Left out: scheduling of our own beyond one machine (`cluster.py` is Dask's).
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from ssdlab.experiment import parallel
from ssdlab.experiment.cache import run_conditioned
from ssdlab.ground.signals import SIGNALS
from ssdlab.study.sweeps.sent import NamedFile
from ssdlab.study.sweeps.work import Done, Perform, PointTask, run_batch

Batch = tuple[PointTask, ...]
_SHARE_OF_MEMORY = 0.8
"""Of what the machine has free, so that the rest of it goes on."""


class Crew:
    """An executor that was handed in.

    Parameters
    ----------
    executor
        Any of `concurrent.futures`; it stays the caller's.
    perform
        What runs a request.
    """

    name = "executor"
    shares_fate = True
    """Whether a lost worker takes with it what others had under way."""
    lives = 3
    """How often a point may lose the worker that ran nothing else before it is given up."""
    suspects_at_once = 1
    """How many points that have lost a worker may be under way together."""

    def __init__(self, executor: Executor, perform: Perform = run_conditioned) -> None:
        self._executor = executor
        self.perform = perform
        self.workers = int(getattr(executor, "_max_workers", 0) or parallel.cores())

    def submit(self, batch: Batch) -> Future[list[Done]]:
        """Hand over a batch."""
        return self._executor.submit(run_batch, batch, self.perform)

    def has_room(self, batches: Iterable[Batch], batch: Batch) -> bool:
        """Tell whether one more batch may be under way."""
        return len(list(batches)) < 2 * self.workers

    def is_lost(self, error: BaseException) -> bool:
        """Tell whether an error means that a worker has gone, and not that the sweep is wrong."""
        return isinstance(error, BrokenExecutor)

    def renew(self) -> None:
        """Make the executor work again after a loss; what was handed in cannot be."""

    def refresh(self) -> None:
        """Look again how many workers there are."""

    def forget(self, future: Future[list[Done]]) -> None:
        """Want a batch no longer."""
        future.cancel()

    def supply(self, where: str, files: Sequence[NamedFile]) -> Future[None]:
        """Send files to a worker that asked for them; on this machine none has to ask."""
        raise AssertionError(f"{where}: a worker on this machine reads the files itself")

    def has_forgotten(self) -> bool:
        """Tell whether nobody works on what is under way, so that it has to be sent again."""
        return False

    def state(self) -> dict[str, Any]:
        """Tell what people want to know of it."""
        return {"kind": self.name, "workers": self.workers}

    def stop(self) -> None:
        """Ask what is under way to end soon."""

    def close(self) -> None:
        """Let go of everything."""


class LocalCrew(Crew):
    """Processes of this machine.

    Parameters
    ----------
    perform
        What runs a request.
    workers
        How many at most; by default one per core.
    """

    name = "this machine"

    def __init__(self, perform: Perform = run_conditioned, workers: int | None = None) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._ending = self._context.Event()
        self._most = workers or parallel.cores()
        self._budget = _SHARE_OF_MEMORY * free_bytes()
        super().__init__(self._pool(), perform)

    def submit(self, batch: Batch) -> Future[list[Done]]:
        """Hand over a batch."""
        with _signals_held():
            return self._executor.submit(_in_process, batch, self.perform)

    def has_room(self, batches: Iterable[Batch], batch: Batch) -> bool:
        """Tell whether one more fits: into the queue, and into memory whoever is run together."""
        needs = [max(task.memory_bytes for task in each) for each in (*batches, batch)]
        at_once = sum(sorted(needs, reverse=True)[: self.workers])
        return len(needs) == 1 or (len(needs) <= 2 * self.workers and at_once <= self._budget)

    def renew(self) -> None:
        """Make a new pool in place of one that broke."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = self._pool()

    def state(self) -> dict[str, Any]:
        """Tell which processes work, and what they may take of memory."""
        found = getattr(self._executor, "_processes", None) or {}
        return {**super().state(), "processes": sorted(found), "memory_bytes": int(self._budget)}

    def stop(self) -> None:
        """Let the engines end."""
        self._ending.set()

    def close(self) -> None:
        """End the processes."""
        self._ending.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._most, self._context, initializer=_begin, initargs=(self._ending,)
        )


def at_once(memory_bytes: int, workers: int | None = None) -> int:
    """Return how many runs that take so much memory each this machine does at once."""
    fitting = int(_SHARE_OF_MEMORY * free_bytes() / max(memory_bytes, 1))
    return max(1, min(workers or parallel.cores(), fitting))


def free_bytes() -> int:
    """Return what the machine has of memory for new processes."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let a process that is started here hear no signal before it knows what to do with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_ending: Event | None = None


def _begin(ending: Event) -> None:
    """Make a process a worker: Ctrl-C is its client's, and it ends when its client does."""
    global _ending
    _ending = ending
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    threading.Thread(target=_end_with_client, daemon=True).start()


def _end_with_client() -> None:
    client = multiprocessing.parent_process()
    if client is not None:
        client.join()
        os._exit(1)


def _in_process(batch: Sequence[PointTask], perform: Perform) -> list[Done]:
    assert _ending is not None, "the process has begun"
    return run_batch(batch, perform, functools.partial(_goes_on, _ending))


def _goes_on(ending: Event) -> bool:
    return not ending.is_set()
