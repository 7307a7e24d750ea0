"""What each run's drive was in when the job began, and whether it still changed meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.engine import conditions
from ssdlab.engine.result import Job
from ssdlab.report.runs import Run

HEADINGS = ("run", "condition", "written by", "reached", "during the job")


def rows_of(runs: Sequence[Run]) -> list[list[str]]:
    """Return a row for each run of ours; what fio measured does not know its condition."""
    return [_row(run) for run in runs if run.first.condition is not None]


def _row(run: Run) -> list[str]:
    job = run.first
    # Of several seeds one that falls short, or drifts, speaks for all.
    short = next((each for each in run.jobs if each.not_steady), None)
    drifting = next((each for each in run.jobs if each.drifts), job)
    told = drifting.drift_told or "too short to tell"
    reached = _reached(job) if short is None else f"NOT STEADY: {short.not_steady}"
    return [run.title, str(job.condition), job.conditioned_by or "nothing", reached, told]


def _reached(job: Job) -> str:
    return "yes" if conditions.is_steady(job.condition) else ""
