"""A target of the PTS bench that is made up: it answers from formulas, and remembers its steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ssdlab.bench.estimate import Speeds
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Deviation, Step
from ssdlab.bench.target import Counters, Description, Purged, Resumption, WriteCache
from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError

CAPACITY = 1_000_000_000
Rate = Callable[[Step, int], float]
"""Requests a second of a step, given how many steps came before it."""


def job(requests: int, reads: int, block: int, seconds: float, latency_ns: int) -> dict[str, Any]:
    """Make fio's record of a step whose requests all take the same time."""

    def direction(count: int) -> dict[str, Any]:
        if not count:
            return {"total_ios": 0, "io_bytes": 0}
        times = {"min": latency_ns, "max": latency_ns, "mean": float(latency_ns), "N": count}
        return {
            "total_ios": count,
            "io_bytes": count * block,
            "lat_ns": times,
            "clat_ns": {**times, "bins": {str(latency_ns): count}},
        }

    done = round(requests * reads / 100)
    return {
        "job_runtime": round(seconds * 1e3),
        "ssdlab": {"bytes_written_by_kernel": None},
        "read": direction(done),
        "write": direction(requests - done),
    }


class MadeTarget:
    """A target that does a thousand requests a second, or what `rate` says.

    Parameters
    ----------
    rate
        How fast it is.
    resumption
        As of a target.
    fails_at
        The step, counted from 0, at which it fails.
    short_by
        Bytes that conditioning leaves out.
    """

    def __init__(
        self,
        rate: Rate = lambda _step, _number: 1000.0,
        resumption: Resumption = "as it is",
        fails_at: int | None = None,
        short_by: int = 0,
    ) -> None:
        self._rate = rate
        self.resumption: Resumption = resumption
        self._fails_at = fails_at
        self._short_by = short_by
        self.steps: list[Step] = []
        self.purges = 0
        self.cache = ["on"]

    def describe(self) -> Description:
        return Description("simulated", "made", "Made", "S1", "F1", CAPACITY, 512)

    def deviations(self) -> tuple[Deviation, ...]:
        return (Deviation("a clause", "something else"),)

    def speeds(self) -> Speeds | None:
        return None

    def purge(self) -> Purged:
        self.purges += 1
        return Purged("asked", "answered", "looked", True)

    def perform(self, step: Step, progress: Progress) -> StepMeasurement:
        if len(self.steps) == self._fails_at:
            raise SsdlabError("the tool said: no")
        self.steps.append(step)
        progress("", 0.5)
        load = step.load
        if step.passes is not None:
            share = CAPACITY // load.threads // load.block_bytes * load.block_bytes
            size = int(step.passes * share) * load.threads - self._short_by
            return StepMeasurement.of_jobs(
                [job(size // load.block_bytes, 0, load.block_bytes, 1, 9)]
            )
        assert step.seconds is not None
        requests = round(self._rate(step, len(self.steps) - 1) * step.seconds)
        return StepMeasurement.of_jobs(
            [job(requests, load.read_percent, load.block_bytes, step.seconds, 1000)]
        )

    def counters(self) -> Counters | None:
        return None

    def write_cache_off(self) -> WriteCache:
        self.cache.append("off")
        return WriteCache("on", "off")

    def restore_write_cache(self) -> None:
        self.cache.append("on")

    def keep(self, place: Path) -> None:
        place.write_text(str(len(self.steps)))

    def go_on_from(self, place: Path) -> None:
        """Its answers do not depend on a state."""

    def close(self) -> None:
        self.cache.append("closed")
