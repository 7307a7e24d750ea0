"""What the experiments of a question gave: figures by experiment and job, means over the seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from ssdlab.engine.result import Job, Result


@dataclass
class Results:
    """Results by experiment.

    Attributes
    ----------
    of
        The results of an experiment, one a seed.
    scenes
        What a scenario told, one a seed.
    specified
        What a part of SNIA's test gave, one a seed.
    """

    of: dict[str, list[Result]] = field(default_factory=dict)
    scenes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    specified: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, experiment: str, found: Result | dict[str, Any]) -> None:
        """Keep a result, what a scenario told, or what a part of SNIA's test gave."""
        if isinstance(found, Result):
            self.of.setdefault(experiment, []).append(found)
        elif "part" in found:
            self.specified.setdefault(experiment, []).append(found)
        else:
            self.scenes.setdefault(experiment, []).append(found)

    def seconds(self, scene: str) -> float:
        """Return how long a person waits for a scenario."""
        return fmean(each["scenario"]["elapsed_s"] for each in self.scenes[scene])

    def jobs(self, experiment: str, job: str) -> list[Job]:
        """Return a job of an experiment, once a seed."""
        return [result.job(job) for result in self.of[experiment]]

    def first(self, experiment: str, job: str) -> Job:
        """Return a job of the first seed, for what has no mean."""
        return self.jobs(experiment, job)[0]

    def mean(self, experiment: str, job: str, read: Callable[[Job], float | None]) -> float:
        """Return a figure's mean over the seeds; one that a job has not counts as 0."""
        return fmean(read(each) or 0.0 for each in self.jobs(experiment, job))

    def iops(self, experiment: str, job: str) -> float:
        """Return requests a second."""
        return self.mean(experiment, job, lambda each: each.iops())

    def mb_per_s(self, experiment: str, job: str) -> float:
        """Return MB/s."""
        return self.mean(experiment, job, lambda each: each.bandwidth()) / 1e6

    def mean_us(self, experiment: str, job: str) -> float:
        """Return the mean latency in microseconds."""
        return self.mean(experiment, job, lambda each: each.mean_ns()) / 1e3

    def write_amplification(self, experiment: str, job: str) -> float:
        """Return pages programmed for each the host wrote."""
        return self.mean(experiment, job, lambda each: each.write_amplification)

    def parameters(self) -> dict[str, dict[str, Any]]:
        """Return the parameters of each profile that was run, by key; those of its layers too."""
        found: dict[str, dict[str, Any]] = {}
        for results in self.of.values():
            job = results[0].jobs[0]
            for each in job.lab.get("parameters") or []:
                found.setdefault(str(job.profile), {}).setdefault(each["key"], each)
        for told in [*self.scenes.values(), *self.specified.values()]:
            for each in told[0]["parameters"]:
                found.setdefault(str(told[0]["profile"]), {}).setdefault(each["key"], each)
        return found
