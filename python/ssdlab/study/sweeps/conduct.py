"""The one loop of a sweep: points out, rows back, whoever carries them out.

Points go out in batches of about a quarter of a second, so that handing one over costs little, and
few enough are under way that neither memory nor a restart suffers. When a worker is lost, each of
its points is tried again in a batch of its own, beside few or none of its kind; one that goes on
losing its worker is a row with its error. Points whose worker lacks a file wait until it has been
sent, and go out again. Left out: points in another order than the study's.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.crew import Batch, Crew
from ssdlab.study.sweeps.row import row_of_error
from ssdlab.study.sweeps.store import LOST
from ssdlab.study.sweeps.work import Done, PointTask

_BATCH_S = 0.25
_MOST_A_BATCH = 256
_LOOK_EVERY_S = 0.1
_GRACE_S = 0.6
"""Once stopped, what is under way has so long to answer."""
_MOST_MISSES = 100
"""How often a point may meet a worker that lacks a file: each of them is sent it once."""

Keep = Callable[[Done], None]


class Conductor:
    """Carries tasks out.

    Parameters
    ----------
    tasks
        In the order in which they go out; drawn only as they do.
    crew
        Who carries them out.
    keep
        Hears of each point as it ends.
    """

    def __init__(self, tasks: Iterator[PointTask], crew: Crew, keep: Keep) -> None:
        self._tasks = tasks
        self._crew = crew
        self._keep = keep
        self._flight: dict[Future[list[Done]], Batch] = {}
        self._suspects: deque[PointTask] = deque()
        self._losses: dict[int, int] = {}
        self._batch: Batch = ()
        self._again: deque[Batch] = deque()
        self._mean_s = _BATCH_S
        self._supplies: dict[Future[None], list[PointTask]] = {}
        self._sent: dict[tuple[str, str], Future[None]] = {}
        self._misses: Counter[int] = Counter()

    @property
    def running(self) -> int:
        """How many points are under way."""
        return sum(map(len, self._flight.values()))

    def conduct(self, goes_on: Callable[[], bool]) -> None:
        """Carry all out, or stop.

        Parameters
        ----------
        goes_on
            Asked many times a second; once it is False, what has ended is taken, the rest left.

        Raises
        ------
        Exception
            What is no point's fault, such as a full disk.
        """
        while goes_on():
            self._send()
            if not self._flight and not self._supplies:
                return
            self._receive(_LOOK_EVERY_S)
            if self._crew.has_forgotten():
                self._send_again()
        self._crew.stop()
        end = time.monotonic() + _GRACE_S
        while self._flight and time.monotonic() < end:
            self._receive(_LOOK_EVERY_S)

    def _send(self) -> None:
        while batch := self._next():
            self._batch = batch
            if not self._has_room(batch):
                return
            self._batch = ()
            self._submit(batch)

    def _send_again(self) -> None:
        for future, batch in self._flight.items():
            self._crew.forget(future)
            self._again.append(batch)
        self._flight.clear()

    def _next(self) -> Batch:
        if self._batch:
            return self._batch
        if self._again:
            return self._again.popleft()
        if self._suspects and self._suspects_flying < self._crew.suspects_at_once:
            return (self._suspects.popleft(),)
        size = max(1, min(_MOST_A_BATCH, int(_BATCH_S / max(self._mean_s, 1e-6))))
        return tuple(task for _, task in zip(range(size), self._tasks, strict=False))

    @property
    def _suspects_flying(self) -> int:
        return sum(batch[0].number in self._losses for batch in self._flight.values())

    def _has_room(self, batch: Batch) -> bool:
        is_suspect = batch[0].number in self._losses
        if self._crew.shares_fate and (is_suspect or self._suspects_flying):
            return not self._flight
        return self._crew.has_room(self._flight.values(), batch)

    def _submit(self, batch: Batch) -> None:
        try:
            self._flight[self._crew.submit(batch)] = batch
        except Exception as error:
            if not self._crew.is_lost(error):
                raise
            self._crew.renew()
            self._batch = batch

    def _receive(self, timeout_s: float) -> None:
        under_way: list[Future[Any]] = [*self._flight, *self._supplies]
        done, _ = wait(under_way, timeout=timeout_s, return_when=FIRST_COMPLETED)
        is_broken = False
        for sent in [each for each in self._supplies if each in done]:
            self._supplied(sent, self._supplies.pop(sent))
        for future in [each for each in self._flight if each in done]:
            batch = self._flight.pop(future)
            error = CancelledError() if future.cancelled() else future.exception()
            if error is None:
                found = future.result()
                self._supply(batch, [each for each in found if each.missing])
                self._take([each for each in found if not each.missing])
            elif self._crew.is_lost(error):
                self._lose(batch, error)
                is_broken = True
            else:
                raise error
        if is_broken:
            self._crew.renew()

    def _supply(self, batch: Batch, lacking: list[Done]) -> None:
        """Have files sent that points lack, once to each worker; the points wait for them."""
        tasks = {task.number: task for task in batch}
        for each in lacking:
            task = tasks[each.task]
            self._misses[task.number] += 1
            if self._misses[task.number] > _MOST_MISSES:
                self._fail(task, f"{each.missing[0].name}: was sent, and is not on the worker")
                continue
            try:
                self._waiting_for(each).append(task)
            except SsdlabError as error:
                self._fail(task, str(error))

    def _waiting_for(self, lacking: Done) -> list[PointTask]:
        """Return the points that wait for what a point lacks."""
        known = {file: self._sent.get((lacking.where, file.sha256)) for file in lacking.missing}
        unsent = [file for file, sent in known.items() if sent is None]
        if not unsent:
            return self._supplies.setdefault(next(filter(None, known.values())), [])
        sent = self._crew.supply(lacking.where, unsent)
        self._sent |= {(lacking.where, file.sha256): sent for file in unsent}
        return self._supplies.setdefault(sent, [])

    def _supplied(self, sent: Future[None], tasks: list[PointTask]) -> None:
        error = CancelledError() if sent.cancelled() else sent.exception()
        if isinstance(error, SsdlabError):
            for task in tasks:
                self._fail(task, str(error))
            return
        if error is not None:
            if not self._crew.is_lost(error):
                raise error
            self._sent = {key: each for key, each in self._sent.items() if each is not sent}
        if tasks:
            self._again.append(tuple(tasks[:_MOST_A_BATCH]))
        if rest := tasks[_MOST_A_BATCH:]:
            self._again.append(tuple(rest))

    def _fail(self, task: PointTask, reason: str) -> None:
        self._keep(Done(task.number, [row_of_error(task.key, task.request.seed, reason)]))

    def _take(self, found: list[Done]) -> None:
        for each in found:
            self._losses.pop(each.task, None)
            self._keep(each)
        seconds = sum(row["wall_s"] for each in found for row in each.rows[:1])
        if found:
            self._mean_s += 0.2 * (seconds / len(found) - self._mean_s)

    def _lose(self, batch: Batch, error: BaseException) -> None:
        """Try its points again, each alone; give up one that was alone often enough."""
        for task in batch:
            # The first loss may be another point's fault; from then on it is alone.
            losses = self._losses.get(task.number, -1) + 1
            self._losses[task.number] = losses
            if losses < self._crew.lives:
                self._suspects.append(task)
                continue
            del self._losses[task.number]
            reason = f"{LOST}{losses} times the worker ended that ran this point alone ({error})"
            self._fail(task, reason)
