"""Runs the demo's plan on the cores there are, and keeps every result as a file."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.demo import plan
from ssdlab.engine import Progress
from ssdlab.request import RunRequest, Settings
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.output import PendingFile
from ssdlab.parallel import Task
from ssdlab.result import Result

# Bringing a drive into steady state takes far longer than the measurements that follow.
_SEASONING_SHARE = 0.8
_PHASES = {"fill": (0.0, 0.05), "use": (0.05, 0.2), "settle": (0.2, 1.0)}
"""Shares of bringing a drive into steady state, so that a bar does not run backwards."""


def drive_facts(drive: str) -> dict[str, Any]:
    """Return name and title of a drive, and what a lifetime is computed from.

    That is the size of the whole drive, whatever the demo's may be.

    Parameters
    ----------
    drive
        A profile's name, or a file of one.

    Raises
    ------
    SsdlabError
        It is no SSD, or none that can be had fresh.
    """
    shown = engine.show(drive)
    if "layers" in shown or shown["drive_file"] is not None or not shown["wear"]:
        raise SsdlabError(
            f"--drive {drive}: the demo needs a fresh SSD, and brings it into steady state itself\n"
            "name a profile of an SSD; ssdlab drives lists the profiles"
        )
    sizes = engine.derived(shown)
    return {
        "drive": shown["name"],
        "title": shown["title"],
        "capacity_bytes": sizes["capacity"],
        "flash_bytes": sizes["physical"],
        "load_bytes_per_day": plan.LOAD_BYTES_PER_DAY,
    }


def _phased(progress: Progress, prefix: str, first: float, last: float) -> Progress:
    """Report a step of a chain as its part of the whole."""

    def report(phase: str, share: float) -> bool:
        begin, end = _PHASES.get(phase, (0.0, 1.0))
        name = prefix if phase == prefix else f"{prefix}: {phase}"
        return progress(name, first + (last - first) * (begin + (end - begin) * share))

    return report


@dataclass
class Performance:
    """One performance of the plan.

    Attributes
    ----------
    drive
        A profile's name, or a file of one.
    folder
        Where every result is kept as soon as it is there.
    settings, seed
        Of all runs.
    results
        What has finished so far.
    """

    drive: str
    folder: Path
    settings: Settings
    seed: int
    results: list[Result] = field(default_factory=list)

    def tasks(self) -> list[tuple[str, Task[bool]]]:
        """Return the work: a label and a task for each chain."""
        facts = drive_facts(self.drive)
        return [(chain.label, self._task(chain, facts)) for chain in plan.chains()]

    def in_order(self) -> list[Result]:
        """Return what has finished, in the order in which it is shown."""
        order = {part: place for place, part in enumerate(plan.parts())}
        return sorted(self.results, key=lambda result: order[str(result.experiment["part"])])

    def _task(self, chain: plan.Chain, facts: dict[str, Any]) -> Task[bool]:
        def task(progress: Progress) -> bool:
            with tempfile.TemporaryDirectory(prefix="ssdlab-demo-") as folder:
                drive, done = self._drive(chain, f"{folder}/steady.ssd", progress)
                step = (1 - done) / len(chain.measurements)
                for number, measurement in enumerate(chain.measurements):
                    begun = done + number * step
                    phased = _phased(progress, measurement.job_name, begun, begun + step)
                    self._measure(measurement, drive, facts, phased)
            return True

        return task

    def _drive(self, chain: plan.Chain, file: str, progress: Progress) -> tuple[str, float]:
        """Return the drive that a chain starts from, and the share of its work done by then."""
        if chain.season_job is None:
            return self.drive, 0.0
        request = RunRequest(
            drive=self.drive,
            settings=self.settings,
            condition="steady",
            span=chain.span,
            seed=self.seed,
            job_text=chain.season_job,
            job_name=f"demo, {chain.label}",
            save=file,
        )
        engine.season(request, _phased(progress, "season", 0.0, _SEASONING_SHARE))
        return file, _SEASONING_SHARE

    def _measure(
        self, measurement: plan.Measurement, drive: str, facts: dict[str, Any], progress: Progress
    ) -> None:
        request = RunRequest(
            drive=drive,
            settings=self.settings if drive == self.drive else (),
            job_text=measurement.job_text,
            job_name=f"demo, {measurement.part}",
            seed=self.seed,
            timeline=measurement.timeline,
            json_plus=True,
        )
        result = _measured(engine.run(request, progress), measurement, facts)
        if result.interrupted:
            raise Stopped
        with PendingFile(self.folder / result.name, "-o") as pending:
            pending.write(result.to_json() + "\n")
        self.results.append(result)


def _measured(document: str, measurement: plan.Measurement, facts: dict[str, Any]) -> Result:
    """Keep the measured job of a run, and say which part of the demo it is."""
    decoded = json.loads(document)
    decoded["jobs"] = [job for job in decoded["jobs"] if job["jobname"] == measurement.job_name]
    about = {"name": "demo", "part": measurement.part, "label": measurement.label}
    decoded["ssdlab experiment"] = {**about, **facts}
    return Result(decoded, f"{measurement.part}.json")
