"""What runs a point in place of the engine, importable by workers in other processes."""

from __future__ import annotations

import os
import signal

import synthetic
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.cache import run_conditioned

_NOTHING = synthetic.text(synthetic.job())


def nothing(_request: RunRequest, _progress: Progress) -> str:
    """Give a result without running anything."""
    return _NOTHING


def dying(request: RunRequest, progress: Progress) -> str:
    """Kill the process that runs depth 4 with seed 2, as the kernel does for want of memory."""
    if "--iodepth=4" in request.flags and request.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_conditioned(request, progress)
