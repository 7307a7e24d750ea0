"""Sweeps past one machine: a Dask scheduler that is there already hands the points out.

Who started it (`dask scheduler`, dask-jobqueue, Kubernetes) makes no difference. Dask itself gives
the points of a lost worker to another one, and gives a batch up once it has lost several
(`distributed.scheduler.allowed-failures`); its points are then tried again one by one, and the one
to blame is a row with its error. Few batches are under way at a time, so that client and scheduler
stay small however many points there are. Each worker's machine has a cache of its own, of
conditioned drives and of the files that points name (`sent.py`). Left out: a scheduler of our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from ssdlab.experiment.cache import run_conditioned
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.crew import Batch, Crew
from ssdlab.study.sweeps.sent import NamedFile, contents, keep
from ssdlab.study.sweeps.work import Done, Perform, run_batch

_CONNECT_S = 10
_IDLE_LOOKS = 5
"""A second each: no batch takes so long to its worker."""
_FETCH_S = 10
_WORKERS_A_SUSPECT = 4
"""So that two points that kill their workers seldom meet an innocent one there."""
_BATCHES_A_THREAD = 3
"""Under way: one is run, one waits at the worker, one is on its way."""


def _at_worker(batch: Batch, perform: Perform) -> list[Done]:
    from distributed import get_worker

    return run_batch(batch, perform, where=get_worker().address)


class DaskCrew(Crew):
    """The workers of a Dask scheduler.

    Parameters
    ----------
    address
        The scheduler's, such as ``tcp://10.0.0.1:8786``.
    perform
        What runs a request.

    Raises
    ------
    SsdlabError
        Dask is not installed, or no scheduler answers.
    """

    name = "Dask"
    shares_fate = False
    lives = 2

    def __init__(self, address: str, perform: Perform = run_conditioned) -> None:
        try:
            import distributed
        except ImportError:
            raise SsdlabError(
                f"--cluster {address}: needs Dask\ninstall it with: pip install 'ssdlab[cluster]'"
            ) from None
        self._address = address
        # Of Dask's own errors TimeoutError is another one than Python's before 3.11.
        self._lost = (
            distributed.TimeoutError,
            distributed.scheduler.KilledWorker,
            CancelledError,
            OSError,
        )
        self._asked: dict[Future[list[Done]], Any] = {}
        self._supplies: dict[Future[None], tuple[str, Any]] = {}
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SsdlabError(
                f"--cluster {address}: no Dask scheduler answers ({error})\n"
                "start one with: dask scheduler, and workers with: dask worker ADDRESS"
            ) from None
        self._threads = 1
        self._idle_looks = 0
        self._info: dict[str, Any] = {}
        self.perform = perform
        self.refresh()

    def submit(self, batch: Batch) -> Future[list[Done]]:
        """Hand over a batch.

        Not by Dask's own executor (2026.8): where a result is lost with its worker before it was
        fetched, the future that this gives never ends.
        """
        self._check()
        outcome: Future[list[Done]] = Future()
        outcome.set_running_or_notify_cancel()
        asked = self._client.submit(_at_worker, batch, self.perform, pure=False)
        # As long as somebody refers to it, it is wanted.
        self._asked[outcome] = asked
        asked.add_done_callback(lambda done: self._hand_over(done, outcome))
        return outcome

    def supply(self, where: str, files: Sequence[NamedFile]) -> Future[None]:
        """Send files to a worker that asked for them, ahead of its points.

        Raises
        ------
        SsdlabError
            A file cannot be read any more, or has changed.
        """
        import dask

        self._check()
        outcome: Future[None] = Future()
        outcome.set_running_or_notify_cancel()
        sent = [(file, contents(file)) for file in files]
        # It is as large as it has to be: Dask need not warn of it.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            asked = self._client.submit(keep, sent, workers=[where], priority=1, pure=False)
        self._supplies[outcome] = (where, asked)
        asked.add_done_callback(lambda done: self._hand_over(done, outcome))
        return outcome

    def _give_up_supplies(self) -> None:
        """Wait no longer for workers that have gone."""
        for outcome, (where, asked) in list(self._supplies.items()):
            if where not in self._info["workers"] and not outcome.done():
                asked.cancel()

    def forget(self, future: Future[list[Done]]) -> None:
        """Want a batch no longer."""
        asked = self._asked.pop(future, None)
        if asked is not None and self._client.status == "running":
            asked.cancel()

    def _hand_over(self, done: Any, outcome: Future[Any]) -> None:
        try:
            outcome.set_result(done.result(timeout=_FETCH_S))
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            self._asked.pop(outcome, None)
            self._supplies.pop(outcome, None)

    def has_room(self, batches: Iterable[Batch], batch: Batch) -> bool:
        """Tell whether one more batch may be under way."""
        return len(list(batches)) < _BATCHES_A_THREAD * max(self._threads, 1)

    def is_lost(self, error: BaseException) -> bool:
        """Tell whether an error means that workers have gone.

        Raises
        ------
        SsdlabError
            It was the scheduler that has gone.
        """
        self._check()
        return isinstance(error, self._lost)

    def refresh(self) -> None:
        """Look again how many workers there are: they come and go."""
        self._check()
        try:
            self._info = self._client.scheduler_info(n_workers=-1)
        except TypeError:  # before 2025.4 it had no such parameter, and told of all
            self._info = self._client.scheduler_info()
        except OSError as error:
            raise self._gone() from error
        self._give_up_supplies()
        workers = self._info["workers"].values()
        self._threads = sum(int(each["nthreads"]) for each in workers)
        self.workers = len(workers)
        is_idle = self.workers > 0 and not any(self._client.processing().values())
        self._idle_looks = self._idle_looks + 1 if is_idle else 0
        self.suspects_at_once = max(1, self.workers // _WORKERS_A_SUSPECT)

    def has_forgotten(self) -> bool:
        """Tell whether all workers have been idle for a while, though something is under way."""
        if self._idle_looks < _IDLE_LOOKS:
            return False
        self._idle_looks = 0
        return True

    def state(self) -> dict[str, Any]:
        """Tell which workers there are, and what they do."""
        workers = [
            {
                "name": str(each.get("name", address)),
                "threads": each["nthreads"],
                "running": (each.get("metrics") or {}).get("executing", 0),
                "memory_bytes": (each.get("metrics") or {}).get("memory", 0),
            }
            for address, each in self._info.get("workers", {}).items()
        ]
        return {
            **super().state(),
            "scheduler": self._address,
            "threads": self._threads,
            "members": workers,
        }

    def close(self) -> None:
        """Take back what is under way, and leave; the cluster stays."""
        self._client.close(timeout=2)

    def _check(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def _gone(self) -> SsdlabError:
        return SsdlabError(
            f"--cluster {self._address}: the scheduler does not answer any more; what had finished "
            "is kept\nthe same command goes on from there once it is back"
        )
