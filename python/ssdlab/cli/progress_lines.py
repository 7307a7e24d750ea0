"""Progress for a stderr that is no terminal: a line a step, of work that takes more than seconds.

A line comes when a task has ended, when one begins a step (what stands before the comma of a phase:
a round of a test, not each of its cells), and otherwise after half a minute, or a tenth of the time
so far. The first two seconds bring none, so that what is quick stays quiet, and steps that follow
each other within ten seconds share one. ``SSDLAB_PROGRESS=none`` leaves all of them out.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

_QUIET_S = 2.0
_BETWEEN_STEPS_S = 10.0
_AT_LEAST_EVERY_S = 30.0
_OF_THE_TIME = 0.1


def are_wanted() -> bool:
    """Whether the user has not asked for silence."""
    return os.environ.get("SSDLAB_PROGRESS") != "none"


class ProgressLines:
    """Tells in lines how far tasks are; callable from any thread.

    Parameters
    ----------
    labels
        What each task is called.
    write
        Writes a line.
    now
        Seconds on a clock that only runs forward.
    """

    def __init__(
        self,
        labels: Sequence[str],
        write: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._labels = labels
        self._write = write
        self._now = now
        self._began = self._told = now()
        self._steps: dict[int, str] = {}
        self._done = 0
        self._lock = threading.Lock()

    def report(self, index: int, phase: str, share: float) -> None:
        """Hear how far a task is."""
        step = phase.partition(", ")[0]
        with self._lock:
            if self._is_due(is_new=self._steps.get(index) != step):
                self._steps[index] = step
                self._tell(f"{self._labels[index]}: {phase}, {min(share, 1.0):.0%}")

    def finish(self, index: int) -> None:
        """Hear that a task has ended."""
        with self._lock:
            self._done += 1
            if self._now() - self._began >= _QUIET_S:
                self._tell(f"{self._labels[index]}: done")

    def _is_due(self, *, is_new: bool) -> bool:
        since_s = self._now() - self._told
        if self._told == self._began:
            return since_s >= _QUIET_S
        longest_s = max(_AT_LEAST_EVERY_S, (self._told - self._began) * _OF_THE_TIME)
        return since_s >= (_BETWEEN_STEPS_S if is_new else longest_s)

    def _tell(self, what: str) -> None:
        self._told = self._now()
        several = f" ({self._done} of {len(self._labels)} done)" if len(self._labels) > 1 else ""
        self._write(f"ssdlab: {_clock(self._told - self._began)}: {what}{several}")


def _clock(seconds: float) -> str:
    """Write a time that has passed.

    Examples
    --------
    >>> _clock(7), _clock(185)
    ('7 s', '3 min 5 s')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
