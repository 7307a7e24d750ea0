"""What a report tells apart: runs, each a job on a drive under a label, over its seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.experiment.comparison import mean_interval

if TYPE_CHECKING:
    from ssdlab.engine.result import Job, Result


@dataclass
class Run:
    """A job on a drive.

    Attributes
    ----------
    label
        What tells it from other runs of the same job.
    jobs
        One per seed; pictures show the first.
    """

    label: str
    jobs: list[Job] = field(default_factory=list)

    @property
    def first(self) -> Job:
        """The run that pictures show."""
        return self.jobs[0]

    @property
    def name(self) -> str:
        """The job's name."""
        return self.first.name

    @property
    def lab(self) -> Mapping[str, Any]:
        """Our object of the first seed."""
        return self.first.lab

    @property
    def title(self) -> str:
        """Job and label."""
        return f"{self.name}, {self.label}" if self.label else self.name

    def mean(self, read: Callable[[Job], float | None]) -> float | None:
        """Return a figure's mean over the seeds; None where a seed has none."""
        values = [read(job) for job in self.jobs]
        known = [value for value in values if value is not None]
        return mean_interval(known)[0] if len(known) == len(values) else None


def _label(result: Result, job: Job, several_drives: bool, several_results: bool) -> str:
    base = str(result.experiment.get("label") or "")
    if not base and several_results:
        base = Path(result.name).stem
    details = [job.profile] if several_drives else []
    if not base:
        details.append(job.condition)
    return ", ".join([base, *filter(None, details)]).strip(", ")


def collect(results: Sequence[Result]) -> list[Run]:
    """Return the runs of several results, seeds of a run together, in the order they come."""
    several = len(results) > 1
    runs: dict[tuple[str, str, int], Run] = {}
    for result in results:
        drives = {job.profile for job in result.jobs}
        seen: dict[tuple[str, str, int | None], int] = {}
        for job in result.jobs:
            label = _label(result, job, len(drives) > 1, several)
            # Clones of a job share name and seed: each is a run of its own.
            clone = seen.get((label, job.name, job.seed), 0)
            seen[label, job.name, job.seed] = clone + 1
            shown = f"{label} #{clone + 1}".strip() if clone else label
            runs.setdefault((label, job.name, clone), Run(shown)).jobs.append(job)
    return list(runs.values())


def by_job(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Group runs by their job's name."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.name, []).append(run)
    return groups
