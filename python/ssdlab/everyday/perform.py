"""Carries scenarios out: a drive in its condition, the layers over it, then the work.

The condition is that of the drive itself, as it was used before the layers were put over it: a
scenario begins with a file system newly made there, without a TRIM. PCMark's stand-in is a job on
the bare drive or its layers, and runs as any job does.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ssdlab import cache, engine
from ssdlab.engine import Progress, RunRequest, Settings
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.everyday.catalogue import PCMARK
from ssdlab.reproduce import seeds
from ssdlab.reproduce.experiment import story
from ssdlab.reproduce.parts import pcmark
from ssdlab.result import Result

Outcome = dict[str, Any]
"""What a scenario told, and what it was run on."""


def perform(
    request: RunRequest, scenarios: Sequence[str], values: Settings, progress: Progress
) -> list[Outcome]:
    """Return what came of each scenario, each on a drive in the same condition.

    Parameters
    ----------
    request
        Drive, settings, layers, condition, span and seed; its job is left empty.
    scenarios
        The engine's names, or `PCMARK`.
    values
        What differs from each scenario, by dotted key.
    progress
        As for `engine.run`.

    Raises
    ------
    SsdlabError
        What the user can mend.
    Stopped
        `progress` returned False.
    """
    if engine.show(request.drive, request.settings)["wear"] is None:
        # A hard disk is the same in any condition, so it can stand beside a used SSD.
        request = replace(request, condition=None, span=1.0)
    found = {}
    files = [each for each in scenarios if each != PCMARK]
    if files:
        found = _files(request, files, values, progress)
    if PCMARK in scenarios:
        found[PCMARK] = _pcmark(request, progress)
    about = {
        "drive": request.drive,
        "layers": list(request.layers),
        "condition": request.condition,
        "seed": request.seed,
    }
    return [{"scenario": name, **about, **found[name]} for name in scenarios]


def _files(
    request: RunRequest, scenarios: Sequence[str], values: Settings, progress: Progress
) -> dict[str, Outcome]:
    found = {}
    with tempfile.TemporaryDirectory(prefix="ssdlab-scenario-") as folder:
        request = _conditioned(request, f"{folder}/drive.ssd", progress)
        for number, name in enumerate(scenarios):
            if not progress(name, number / len(scenarios)):
                raise Stopped
            told = engine.scenario(
                request.drive,
                name,
                settings=request.settings,
                layers=request.layers,
                values=values,
                seed=request.seed,
            )
            found[name] = {**told["scenario"], "parameters": told["parameters"]}
    return found


def _conditioned(request: RunRequest, file: str, progress: Progress) -> RunRequest:
    """Return the request on a drive file in the condition, from the cache where it is kept."""
    if request.condition in (None, "fresh"):
        return request
    if "layers" in engine.show(request.drive, request.settings):
        raise SsdlabError(
            f"--state {request.condition}: {request.drive} is a stack, and a scenario's condition "
            "is that of a drive\n"
            "bring its drive there with ssdlab season, and name the drive file in the stack"
        )
    alone = cache.conditioned(replace(request, layers=()), progress)
    if alone.condition is not None:
        engine.season(
            request.drive,
            request.condition,
            file,
            settings=request.settings,
            span=request.span,
            seed=request.seed,
            progress=progress,
        )
        alone = replace(alone, drive=file, settings=(), condition=None, span=1.0)
    return replace(alone, layers=request.layers)


def _pcmark(request: RunRequest, progress: Progress) -> Outcome:
    rates = _rates(request, progress)
    score = pcmark.score(rates)
    published = seeds.figure("anandtech", "fresh_hdd").value
    return {
        "score_mb_per_s": score,
        "points": published * score / _published_drive(),
        "tasks_mb_per_s": rates,
    }


def _rates(request: RunRequest, progress: Progress | None) -> dict[str, float]:
    """Return each task's MB/s."""
    job = story(pcmark.TEST_FILE, *pcmark.suite())
    asked = replace(request, job_text=job, job_name=PCMARK, layout=False)
    result = Result.from_json(cache.run_conditioned(asked, progress))
    if result.interrupted:
        raise Stopped
    return {name: result.job(name).bandwidth() / 1e6 for name in pcmark.READS_PERCENT}


@functools.cache
def _published_drive() -> float:
    """Return the score of the drive whose points the document states, fresh, in MB/s."""
    return pcmark.score(_rates(RunRequest(drive=pcmark.PUBLISHED_DRIVE), None))
