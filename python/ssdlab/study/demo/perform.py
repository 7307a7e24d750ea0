"""Runs the demo's plan on the cores there are, and keeps every result as a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ssdlab.engine.shown import sizes
from ssdlab import engine
from ssdlab.experiment import runner
from ssdlab.engine.conditions import UNIFORM
from ssdlab.study.demo import plan
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.experiment.parallel import Task
from ssdlab.engine.result import Result
from ssdlab.experiment.runner import Chain

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
    found = sizes(shown)
    return {
        "drive": shown["name"],
        "title": shown["title"],
        "capacity_bytes": found.capacity_bytes,
        "flash_bytes": found.flash.physical_bytes,
        "load_bytes_per_day": plan.LOAD_BYTES_PER_DAY,
    }


@dataclass
class DemoPerformance:
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
        """Return the work: a label and a task for each drive."""
        facts = drive_facts(self.drive)
        return [(drive.label, self._task(drive, facts)) for drive in plan.drives()]

    def in_order(self) -> list[Result]:
        """Return what has finished, in the order in which it is shown."""
        order = {part: place for place, part in enumerate(plan.parts())}
        return sorted(self.results, key=lambda result: order[str(result.experiment["part"])])

    def _task(self, drive: plan.PreparedDrive, facts: dict[str, Any]) -> Task[bool]:
        def task(progress: Progress) -> bool:
            def keep(number: int, result: Result) -> None:
                self._keep(_measured(result, drive.measurements[number], facts))

            runner.perform(self._chain(drive), progress, keep)
            return True

        return task

    def _chain(self, drive: plan.PreparedDrive) -> Chain:
        """Return the requests of a drive; one that is fresh needs no preparing."""
        fresh = RunRequest(self.drive, self.settings, seed=self.seed)
        runs = tuple((each.job_name, _request(fresh, each)) for each in drive.measurements)
        if not drive.is_steady:
            return Chain(runs)
        steady = replace(
            fresh, condition=UNIFORM, span=drive.span, job_name=f"demo, {drive.label}"
        )
        return Chain(runs, steady)

    def _keep(self, result: Result) -> None:
        with PendingFile(self.folder / result.name, "-o") as pending:
            pending.write(result.to_json() + "\n")
        self.results.append(result)


def _request(fresh: RunRequest, measurement: plan.DemoRun) -> RunRequest:
    return replace(
        fresh,
        job_text=measurement.job_text,
        job_name=f"demo, {measurement.part}",
        timeline=measurement.timeline,
        json_plus=True,
    )


def _measured(result: Result, measurement: plan.DemoRun, facts: dict[str, Any]) -> Result:
    """Keep the measured job of a run, and say which part of the demo it is."""
    decoded = result.to_dict()
    decoded["jobs"] = [job for job in decoded["jobs"] if job["jobname"] == measurement.job_name]
    about = {"name": "demo", "part": measurement.part, "label": measurement.label}
    decoded["ssdlab experiment"] = {**about, **facts}
    return Result(decoded, f"{measurement.part}.json")
