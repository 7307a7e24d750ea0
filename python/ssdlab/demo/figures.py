"""The demo's table: what was measured, how long the drive would last, and what the seeds say.

Lifetime: all flash pages can be programmed so often as the cells are rated for, and each byte the
host writes costs WA bytes of flash, so

    years = flash bytes · rated cycles / (WA · host bytes a day · 365.25)
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ssdlab import text
from ssdlab.result import Job, Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FORMULA = (
    "Years = flash bytes × rated program/erase cycles / (write amplification × host bytes a day × "
    "365.25), if the drive stayed in that condition. Retention, and blocks that fail early, "
    "shorten it."
)


@dataclass(frozen=True)
class Figure:
    """A row of the table.

    Attributes
    ----------
    part, label
        As in the plan.
    job
        The measured job.
    years
        Lifetime at the stated load; None where nothing is written.
    against_steady
        IOPS as a multiple of the same job's in steady state; None where there is none.
    seed
        What a seed document says; None where none does.
    """

    part: str
    label: str
    job: Job
    years: float | None
    against_steady: float | None
    seed: Mapping[str, str] | None


@cache
def seed_figures() -> dict[str, dict[str, str]]:
    """Return the seeds' figures by part."""
    document = resources.files("ssdlab.data").joinpath("seed_figures.toml").read_text("utf-8")
    return {figure["part"]: figure for figure in tomllib.loads(document)["figure"]}


def lifetime_years(
    flash_bytes: float, rated_cycles: float, write_amplification: float, bytes_per_day: float
) -> float:
    """Return how long the flash lasts.

    Examples
    --------
    >>> round(lifetime_years(100e9, 3000, 2.0, 20e9), 2)
    20.53
    """
    return flash_bytes * rated_cycles / (write_amplification * bytes_per_day * 365.25)


def _years(result: Result, job: Job) -> float | None:
    facts: Mapping[str, Any] = result.experiment
    rated = (job.lab.get("wear") or {}).get("rated_cycles")
    if not rated or not job.write_amplification or "flash_bytes" not in facts:
        return None
    load = facts["load_bytes_per_day"]
    return lifetime_years(facts["flash_bytes"], rated, job.write_amplification, load)


def figures(results: Sequence[Result]) -> list[Figure]:
    """Return the rows, in the order of the results; the fall is drawn, not listed."""
    parts = {str(result.experiment.get("part")): result.jobs[0] for result in results if result.jobs}
    rows = []
    for result in results:
        part = str(result.experiment.get("part"))
        if part not in parts or part == "fall":
            continue
        job = parts[part]
        steady = parts.get(f"{job.name}-steady")
        rows.append(
            Figure(
                part,
                f"{job.name}, {result.experiment.get('label')}",
                job,
                _years(result, job),
                job.iops() / steady.iops() if steady and steady.iops() else None,
                seed_figures().get(part),
            )
        )
    return rows


def _seed_text(figure: Figure) -> str:
    """Write what a seed says; what the drive was fitted to is not shown as predicted by it."""
    seed = figure.seed
    if seed is None:
        return ""
    kinds = {each["key"]: each["kind"] for each in figure.job.lab.get("parameters") or []}
    fitted = kinds.get(seed.get("parameter")) == "fitted"
    remark = f"; {seed['parameter']} is fitted to it, so it is no prediction" if fitted else ""
    return f"{seed['text']}: {seed['about']}{remark}"


def headings(results: Sequence[Result]) -> tuple[str, ...]:
    """Return the column headings; the load stands in one of them."""
    load = next((result.experiment.get("load_bytes_per_day") for result in results), None)
    years = f"years at {text.size(load)}/day"
    return ("run", "IOPS", "throughput", "p99", "WA", years, "× steady", "the seeds say")


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the table as text."""
    return [
        (
            figure.label,
            text.count(figure.job.iops()),
            text.rate(figure.job.bandwidth()),
            text.duration(figure.job.percentile_ns(99)),
            text.ratio(figure.job.write_amplification),
            text.years(figure.years),
            text.ratio(figure.against_steady),
            _seed_text(figure),
        )
        for figure in figures(results)
    ]
