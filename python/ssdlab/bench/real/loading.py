"""A step carried out by fio, and checked: the kernel has to have seen what fio says it wrote.

Beside fio's own figures each record has, in the object ``ssdlab``: the command, the bytes that the
kernel counted as written, how long the target was not loaded since the command before ended (fio
has to start, and to add up), temperatures, and fio's notices.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Step
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place, commands, remainder, shown, unwritten
from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError

_MISSING_SHARE = 0.001
"""Sectors that the kernel may have counted less: none, but requests that wait while it is read."""
CountWritten = Callable[[], int | None]
"""Gives the bytes that were written so far; None where nothing counts."""
RecordExtras = Callable[[], dict[str, Any]]
"""Gives what else goes into the record of a step."""


def _nothing() -> dict[str, Any]:
    return {}


class Loader:
    """Carries out steps on one target.

    Parameters
    ----------
    fio
        The program.
    place
        The target, as fio names it.
    written
        Gives the bytes that something other than fio has counted as written; None where nothing
        counts.
    told
        What else goes into the record of each step.
    clock
        Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        fio: Fio,
        place: Place,
        written: CountWritten,
        told: RecordExtras = _nothing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.fio, self.place = fio, place
        self._written, self._told, self._clock = written, told, clock
        self._ended_s: float | None = None

    def perform(self, step: Step, progress: Progress) -> StepMeasurement:
        """Carry out a step.

        Raises
        ------
        SsdlabError
            fio failed, in its own words; or the kernel saw less written than fio.
        Stopped
            `progress` returned False.
        """
        waiting = commands(step, self.place)
        jobs: list[dict[str, Any]] = []
        begin_s, begin_bytes = self._clock(), self._written()

        def go_on() -> bool:
            return progress(step.name, self._share(step, begin_s, begin_bytes))

        while waiting:
            words = waiting.pop(0)
            jobs += self._one(words, step, go_on)
            more = None if waiting else remainder(step, self.place, _loaded_s(jobs))
            # Once more at most: what goes on from the beginning has no end to come to.
            if more is not None and len(jobs) == 1:
                waiting.append(more)
        return self._with_rest(step, StepMeasurement.of_jobs(jobs), go_on)

    def _with_rest(
        self, step: Step, measured: StepMeasurement, go_on: Callable[[], bool]
    ) -> StepMeasurement:
        """Let the writes go on, uncounted, where a step ended because its mean was known."""
        written = measured.write.total_bytes
        words = unwritten(step, self.place, measured.seconds, written)
        if words is None:
            return measured
        jobs = self._one(words, replace(step, seconds=None), go_on)
        rest = sum(int(job["write"].get("io_bytes") or 0) for job in jobs)
        return replace(measured, rest_bytes=rest)

    def _not_loaded_s(self, begin_s: float, end_s: float, jobs: list[dict[str, Any]]) -> float:
        since_s = begin_s if self._ended_s is None else self._ended_s
        return max(0.0, end_s - since_s - _loaded_s(jobs))

    def _share(self, step: Step, begin_s: float, begin_bytes: int | None) -> float:
        """Estimate what is done, by the clock or by what was written."""
        if step.seconds:
            return min(1.0, (self._clock() - begin_s) / step.seconds)
        writes = 1 - step.load.read_percent / 100
        now, asked = self._written(), (step.passes or 0) * self.place.capacity_bytes * writes
        if now is None or begin_bytes is None or not asked:
            return 0.0
        return min(1.0, (now - begin_bytes) / asked)

    def _one(self, words: list[str], step: Step, go_on: Callable[[], bool]) -> list[dict[str, Any]]:
        begin_s, before = self._clock(), self._written()
        output = self.fio.perform(words, step.seconds, go_on)
        after, end_s = self._written(), self._clock()
        jobs = [dict(job) for job in output.jobs]
        by_fio = sum(int(job["write"].get("io_bytes") or 0) for job in jobs)
        by_kernel = None if before is None or after is None else after - before
        if by_kernel is not None:
            _check(self.place, by_fio, by_kernel)
        jobs[0]["ssdlab"] = {
            "command": shown(words),
            "fio": output.version,
            "bytes_written_by_fio": by_fio,
            "bytes_written_by_kernel": by_kernel,
            "not_loaded_s": self._not_loaded_s(begin_s, end_s, jobs),
            "notices": list(output.notices),
            **self._told(),
        }
        self._ended_s = end_s
        return jobs


def _loaded_s(jobs: list[dict[str, Any]]) -> float:
    return sum(int(job["job_runtime"]) for job in jobs) / 1e3


def _check(place: Place, by_fio: int, by_kernel: int) -> None:
    if by_kernel < by_fio * (1 - _MISSING_SHARE):
        name = place.words[-1].partition("=")[2]
        raise SsdlabError(
            f"{name}: fio says that it wrote {by_fio} bytes, and the kernel saw {by_kernel} of "
            "them: this is no measurement\n"
            "is something between fio and the device that does not write?"
        )
