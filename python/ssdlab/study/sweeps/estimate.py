"""How long a study will take: a few of its points are begun, and their pace is carried over.

    time ≈ mean seconds a point · points that are left / workers

A point that would take long is stopped after a while and counted by the share that it had done, so
that an estimate takes seconds. The points are spread over the study, not drawn to be
representative: it is off by as much as its points differ. Left out: drives that the cache has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.study.sweeps.point import Point

_PILOTS = 4
_LONGEST_S = 2.0
_PHASES = 3.0
"""Of preconditioning and the run: fill, use and settle come before the job (`runner.py`)."""


def seconds_a_point(samples: Sequence[Point]) -> float | None:
    """Return what a point takes in the mean; None where no point that was tried works.

    Parameters
    ----------
    samples
        Points of the study, of which a few are tried.
    """
    step = max(1, len(samples) // _PILOTS)
    tried = [_seconds(each.request) for each in samples[::step][:_PILOTS]]
    found = [each for each in tried if each is not None]
    return sum(found) / len(found) if found else None


def _seconds(request: RunRequest) -> float | None:
    begun, done = time.monotonic(), 0.0

    def progress(_phase: str, share: float) -> bool:
        nonlocal done
        done = share
        return time.monotonic() - begun < _LONGEST_S

    try:
        engine.run(request, progress)
    except Stopped:
        pass
    except SsdlabError:
        return None
    took = time.monotonic() - begun
    return took if took < _LONGEST_S else took / max(done, 0.01) * _PHASES
