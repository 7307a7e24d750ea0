"""A simulated drive that is held between runs: each begins where the one before ended.

Nothing lies between two runs: no idle time, and no emptied write buffer. A drive that was kept in
a file goes on from that file, so that one taken up again later does the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ssdlab.engine import Progress, ask
from ssdlab.engine.request import RunRequest
from ssdlab.ground.output import PendingFile


class HeldDrive:
    """A drive, or a stack, that goes on from run to run.

    Parameters
    ----------
    request
        Its drive, settings, layers and seed; nothing else plays a part.

    Raises
    ------
    SsdlabError
        The drive cannot be opened.
    """

    def __init__(self, request: RunRequest) -> None:
        asked = request.to_json()
        self._held = ask(lambda engine, _: engine.HeldDrive(asked))

    def run(self, job: str, seed: int, progress: Progress | None = None) -> list[dict[str, Any]]:
        """Run a job file's text; return the entries of fio's ``jobs``, with histograms.

        Raises
        ------
        SsdlabError
            What is wrong with it.
        Stopped
            `progress` returned False; the drive is of no more use then.
        """
        result = ask(lambda _, told: self._held.run(job, seed, told), progress)
        return list(json.loads(result)["jobs"])

    def start_over(self, how: str) -> dict[str, Any]:
        """Start over, as `ssdlab season --start-over`; return time (ns) and erased blocks.

        Raises
        ------
        SsdlabError
            The drive cannot.
        """
        return dict(json.loads(ask(lambda _, __: self._held.start_over(how))))

    def save(self, place: Path, progress: Progress | None = None) -> None:
        """Keep the drive in a drive file, and go on from that."""
        ask(lambda _, told: self._held.save(str(place), told, PendingFile), progress)

    def show(self) -> dict[str, Any]:
        """Return what `engine.show` does, of the drive as it is now."""
        return dict(json.loads(ask(lambda _, __: self._held.show())))
