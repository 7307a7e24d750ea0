"""A client of a cluster in a process of its own, whose points do nothing: what it takes itself.

python no_ops.py STUDY.toml FOLDER ADDRESS     prints what it saw as JSON
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

# The writer of tables is imported now, so that its memory is not counted with the points.
import pyarrow.parquet  # noqa: F401

from performers import nothing
from ssdlab.study.sweeps.cluster import DaskCrew
from ssdlab.study.sweeps.perform import conduct
from ssdlab.study.sweeps.plan import plan
from ssdlab.study.sweeps.strict import load


def main(study: str, folder: str, address: str) -> None:
    """Run a study, and print points, times and memory."""
    seen: list[tuple[float, float]] = []

    def tell(status: dict[str, Any]) -> None:
        seen.append((status["finished"] / status["points"], memory_mb("VmRSS")))

    begun = time.monotonic()
    outcome = conduct(
        plan(load(study)), Path(folder), lambda: DaskCrew(address, nothing), tell=tell
    )
    found = {
        "run": outcome.run,
        "failed": outcome.failed,
        "wall_s": time.monotonic() - begun,
        "cpu_s": time.process_time(),
        "seen": seen,
        "peak_mb": memory_mb("VmHWM"),
    }
    print(json.dumps(found))


def memory_mb(name: str) -> float:
    """Return what the kernel says of this process's memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
