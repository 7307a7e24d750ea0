"""A plan on a target, with its folder: begun, taken up again, summed up.

Each part begins with a purge, so that parts of a simulated drive, each on a copy of its own, may be
done side by side; a real drive does one after the other.
"""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdlab.bench.estimate import parts_of
from ssdlab.bench.plan import Part, Plan
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.store import Store
from ssdlab.bench.summary import summary
from ssdlab.bench.target import Target
from ssdlab.engine import Progress
from ssdlab.experiment.parallel import Task
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import remove_abandoned


class Bench:
    """A plan on a target.

    Parameters
    ----------
    plan
        Deviations of the target included.
    make_target
        Makes the target; each part has one of its own, and closes it.
    store
        The folder.
    asked
        What a reader needs to ask for the same again.
    sum_up
        Says what follows from what is in the folder.
    """

    def __init__(
        self,
        plan: Plan,
        make_target: Callable[[], Target],
        store: Store,
        asked: Mapping[str, Any],
        sum_up: Callable[[Plan, Store, int], dict[str, Any]] = summary,
    ) -> None:
        self.plan = plan
        self._make_target = make_target
        self._store = store
        self._sum_up = sum_up
        self._described = asdict(make_target().describe())
        self._data = {"asked": dict(asked), "target": self._described, "plan": plan.to_data()}

    @property
    def folder(self) -> Path:
        """Where the result is written."""
        return self._store.folder

    @property
    def begun(self) -> bool:
        """Whether the folder holds a plan."""
        return self._store.begun

    def begin(self, resume: bool) -> None:
        """Write the plan, or hold what lies in the folder to it, and note when.

        Raises
        ------
        SsdlabError
            There is something in the folder already, or something else.
        """
        folder = self._store.folder
        remove_abandoned(folder)
        if not self._store.begun:
            self._store.write_plan(self._data)
        elif not resume:
            raise SsdlabError(
                f"-o {folder}: already holds a result\n"
                "continue it with --resume, or name another folder"
            )
        elif (differs := self._differing()) is not None:
            raise SsdlabError(
                f"-o {folder}: was started with another {differs}, so it cannot be continued\n"
                "give the same target and options to the same version, or name another folder"
            )
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        done = {part.name: len(self._store.part(part.name).rounds()) for part in self.parts()}
        self._store.mark_run({"began": now, "system": platform.platform(), "rounds_before": done})

    def _differing(self) -> str | None:
        """Name the first thing that differs from the plan in the folder."""
        kept = self._store.plan()
        for key, value in Store.as_kept(self._data).items():
            if kept.get(key) != value:
                inner = kept.get(key)
                inner = inner if isinstance(inner, dict) else {}
                names = (name for name in value if inner.get(name) != value[name])
                return str(next(names, key))
        return None

    def parts(self) -> list[Part]:
        """Return all parts in order."""
        return list(parts_of(self.plan))

    def tasks(self) -> list[Task[str]]:
        """Return one task a part; it gives its name when it has ended."""
        return [self._task(part) for part in self.parts()]

    def _task(self, part: Part) -> Task[str]:
        def perform(progress: Progress) -> str:
            target = self._make_target()
            store = self._store.part(part.name)
            pace = Pace(part, progress)
            try:
                PartRun(part, target, store, self.plan.seed, pace.told).perform()
            finally:
                target.restore_write_cache()
                target.close()
            return part.name

        return perform

    def finish(self) -> dict[str, Any]:
        """Write the result, and return it with target and runs."""
        result = self._sum_up(self.plan, self._store, self._described["capacity_bytes"])
        self._store.write_result(result)
        return {**result, **self._data, "runs": self._store.runs()}


class Pace:
    """Progress of a part, with the time that is left.

    Parameters
    ----------
    part
        The part.
    progress
        Hears of a phase and a share, as for `engine.run`.
    clock
        Seconds of this machine.
    """

    def __init__(
        self, part: Part, progress: Progress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._part = part
        self._progress = progress
        self._clock = clock
        self._began: tuple[float, int] | None = None
        self._most = part.stop.most_rounds

    def told(self, rounds: int, what: str, share: float) -> bool:
        """Pass on how far the part is."""
        if what == "conditioning":
            return self._progress("conditioning", 0.0)
        if self._began is None:
            self._began = self._clock(), rounds
        least = max(self._part.stop.window * self._part.stop.stride, rounds + 1)
        done = (rounds + share) / least
        return self._progress(f"round {rounds + 1}, {what}{self._left(rounds, share)}", done)

    def _left(self, rounds: int, share: float) -> str:
        """Tell the time left, from that of the rounds so far."""
        assert self._began is not None
        begun, first = self._began
        since = rounds + share - first
        if since < 0.5:
            return ""
        one_s = (self._clock() - begun) / since
        least = max(self._part.stop.window * self._part.stop.stride - rounds - share, 1 - share)
        if self._most is not None:
            # A limit below the window ends the part before it could be steady.
            least = min(least, self._most - rounds - share)
        if self._most is None:
            return f"; {text.long_time(least * one_s)} left at least"
        first_s, last_s = (each * one_s for each in (least, self._most - rounds - share))
        span = (text.long_time(first_s), text.long_time(last_s))
        return f"; {' to '.join(dict.fromkeys(span))} left"
