"""Carries scenarios out: a drive in its condition, the layers over it, then the work.

The condition is that of the drive itself, as it was used before the layers were put over it: a
scenario begins with a file system newly made there, without a TRIM. PCMark's stand-in is a job on
the bare drive or its layers, and runs as any job does.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.experiment import cache, runner
from ssdlab.experiment.experiment import story
from ssdlab.ground import documents
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.study.everyday import pcmark
from ssdlab.study.everyday.catalogue import PCMARK

ScenarioOutcome = dict[str, Any]
"""What a scenario told, and what it was run on; ``failure`` alone where the drive failed it."""
_DRIVE_FAILED = "the device could not do it: "
"""The engine's words where a request of a scenario failed (`crates/lab/src/files/run.rs`)."""


class StartingDrive:
    """A drive that several scenarios begin from, each from a copy of it.

    Parameters
    ----------
    request
        Drive, settings, layers, condition, span and seed; its job is left empty.
    file
        Where the drive may be kept meanwhile.
    """

    def __init__(self, request: RunRequest, file: str) -> None:
        if engine.show(request.drive, request.settings)["wear"] is None:
            # A hard disk is the same in any condition, so it can stand beside a used SSD.
            request = replace(request, condition=None, span=1.0)
        self._request = request
        self._file = file
        self._lock = threading.Lock()
        self._ready: RunRequest | None = None

    def perform(self, scenario: str, values: Settings, progress: Progress) -> ScenarioOutcome:
        """Carry one scenario out; callable from any thread.

        Parameters
        ----------
        scenario
            The engine's name, or `PCMARK`.
        values
            What differs from it, by dotted key.
        progress
            As for `engine.run`.

        Raises
        ------
        SsdlabError
            What the user can mend.
        Stopped
            `progress` returned False.
        """
        request = self._request
        about = {
            "scenario": scenario,
            "drive": request.drive,
            "layers": list(request.layers),
            "condition": request.condition,
            "seed": request.seed,
        }
        if scenario == PCMARK:
            return {**about, **_pcmark(request, progress)}
        ready = self._conditioned(progress)
        if not progress("run", 0.0):
            raise Stopped
        try:
            told = engine.scenario(ready, scenario, values)
        except SsdlabError as error:
            if _DRIVE_FAILED not in str(error):
                raise
            return {**about, **_state({}), "failure": str(error)}
        return {**about, **_state(told), **told["scenario"], "parameters": told["parameters"]}

    def _conditioned(self, progress: Progress) -> RunRequest:
        """Return the request on a drive in the condition, to which the first who asks brings it."""
        with self._lock:
            if self._ready is None:
                self._ready = _conditioned(self._request, self._file, progress)
            return self._ready


def _conditioned(request: RunRequest, file: str, progress: Progress) -> RunRequest:
    """Return the request on a drive file in the condition, from the cache where it is kept."""
    if request.condition in (None, "fresh"):
        return request
    if "layers" in engine.show(request.drive, request.settings):
        raise SsdlabError(
            f"--state {request.condition}: {request.drive} is a stack, and a scenario "
            "preconditions a single drive\n"
            "precondition its drive with ssdlab season, and name that drive file in the stack"
        )
    alone = runner.prepared(replace(request, layers=()), file, progress)
    return replace(alone, layers=request.layers)


def _state(told: Mapping[str, Any]) -> ScenarioOutcome:
    """Return what the drive was written by before, and whether it came into its condition."""
    return {key: told.get(key) for key in ("conditioned_by", "steady_reached", "not_steady")}


def _pcmark(request: RunRequest, progress: Progress) -> ScenarioOutcome:
    result = _played(request, progress)
    state = _state(result.jobs[0].lab)
    if result.failures:
        return {**state, "failure": "; ".join(result.failures)}
    rates = _rates(result)
    score = pcmark.score(rates)
    published = documents.figure("anandtech", "fresh_hdd").value
    return {
        **state,
        "score_mb_per_s": score,
        "points": published * score / _published_drive(),
        "tasks_mb_per_s": rates,
    }


def _played(request: RunRequest, progress: Progress | None) -> Result:
    job = story(pcmark.TEST_FILE, *pcmark.suite())
    asked = replace(request, job_text=job, job_name=PCMARK, layout=False)
    return runner.whole(cache.run_conditioned(asked, progress), PCMARK)


def _rates(result: Result) -> dict[str, float]:
    """Return each task's MB/s."""
    return {name: result.job(name).bandwidth() / 1e6 for name in pcmark.READS_PERCENT}


@functools.cache
def _published_drive() -> float:
    """Return the score of the drive whose points the document states, fresh, in MB/s."""
    return pcmark.score(_rates(_played(RunRequest(drive=pcmark.PUBLISHED_DRIVE), None)))
