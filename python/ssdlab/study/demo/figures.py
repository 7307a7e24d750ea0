"""The demo's table: what was measured, how long the drive would last, and what others report.

Lifetime is that of `ssdlab.lifetime`, at the plan's load.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ssdlab.ground import text
from ssdlab.study.demo import plan
from ssdlab.engine.endurance import lifetime_years
from ssdlab.report.parameters import drives_of, kinds_in_words
from ssdlab.report.runs import collect
from ssdlab.engine.result import Job, Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEADINGS = ("run", "IOPS", "throughput", "p99", "WA", "years", "× steady", "published")


@dataclass(frozen=True)
class DemoFigure:
    """A row of the table.

    Attributes
    ----------
    part, label
        As in the plan.
    job
        The measured job.
    years
        Lifetime at the stated load; None where nothing is written, or the condition cannot last.
    against_steady
        IOPS as a multiple of the same job's in steady state; None where there is none.
    published
        What a document says of the same drive or remedy; None where none does.
    """

    part: str
    label: str
    job: Job
    years: float | None
    against_steady: float | None
    published: Mapping[str, str] | None


@cache
def published_figures() -> dict[str, dict[str, str]]:
    """Return what documents say, by part."""
    document = resources.files("ssdlab.data").joinpath("published_figures.toml").read_text("utf-8")
    return {figure["part"]: figure for figure in tomllib.loads(document)["figure"]}


def _published(part: str, drive: str) -> dict[str, str] | None:
    """Return what documents say of a part, unless it is of another drive."""
    said = published_figures().get(part)
    return said if said is not None and said.get("drive", drive) == drive else None


def _years(result: Result, job: Job) -> float | None:
    facts: Mapping[str, Any] = result.experiment
    if str(facts.get("part")).endswith("-fresh"):
        return None
    rated = (job.lab.get("wear") or {}).get("rated_cycles")
    if not rated or not job.write_amplification or "flash_bytes" not in facts:
        return None
    load = facts["load_bytes_per_day"]
    return lifetime_years(facts["flash_bytes"], rated, job.write_amplification, load)


def figures(results: Sequence[Result]) -> list[DemoFigure]:
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
            DemoFigure(
                part,
                f"{job.name}, {result.experiment.get('label')}",
                job,
                _years(result, job),
                job.iops() / steady.iops() if steady and steady.iops() else None,
                _published(part, str(result.experiment.get("drive", plan.DRIVE))),
            )
        )
    return rows


def _is_fitted(figure: DemoFigure) -> bool:
    kinds = {each["key"]: each["kind"] for each in figure.job.lab.get("parameters") or []}
    parameter = figure.published.get("parameter") if figure.published else None
    return kinds.get(parameter) == "fitted"


def _remark(figure: DemoFigure) -> str:
    """Say what a figure is fitted to: that is not shown as predicted."""
    if figure.published is None or not _is_fitted(figure):
        return ""
    return f"; not predicted, because {figure.published['parameter']} is fitted"


def published(figure: DemoFigure) -> str:
    """Write what a document says, with its source."""
    said = figure.published
    if said is None:
        return ""
    return f"{said['text']}: {said['about']} ({said['source']}){_remark(figure)}"


def _cells(figure: DemoFigure) -> tuple[str, ...]:
    return (
        figure.label,
        text.count(figure.job.iops()),
        text.rate(figure.job.bandwidth()),
        text.duration(figure.job.percentile_ns(99)),
        text.ratio(figure.job.write_amplification),
        text.years(figure.years),
        text.ratio(figure.against_steady),
    )


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the table as text, with what documents say in full."""
    return [(*_cells(figure), published(figure)) for figure in figures(results)]


def brief_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the table for a terminal; a fitted figure has an asterisk."""
    return [
        (*_cells(figure), (figure.published or {}).get("text", "") + "*" * _is_fitted(figure))
        for figure in figures(results)
    ]


def as_data(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the table for programs, in base units."""
    return [
        {
            "part": figure.part,
            "label": figure.label,
            "iops": figure.job.iops(),
            "bytes_per_second": figure.job.bandwidth(),
            "p99_ns": figure.job.percentile_ns(99),
            "write_amplification": figure.job.write_amplification,
            "years": figure.years,
            "times_steady": figure.against_steady,
            "published": None if figure.published is None else figure.published["text"],
            "published_is_fitted": _is_fitted(figure),
        }
        for figure in figures(results)
    ]


def published_notes(results: Sequence[Result]) -> list[str]:
    """Return a line per published figure."""
    return [f"{figure.label}: {said}" for figure in figures(results) if (said := published(figure))]


def lifetime_formula(results: Sequence[Result]) -> str:
    """Say how the years are computed."""
    load = next((result.experiment.get("load_bytes_per_day") for result in results), None)
    return (
        f"Years, at {text.size(load)} written a day: flash bytes × rated program/erase cycles / (WA "
        "× bytes a day × 365.25), if the drive stays in that condition. A fresh drive does not, so "
        "it has no figure. Retention and early block failures shorten the lifetime."
    )


def provenance(results: Sequence[Result]) -> list[str]:
    """Say where the drive's parameters come from: in numbers, then each that was fitted."""
    drives = drives_of(collect(results))
    if not drives:
        return []
    drive = drives[0]
    rows = {row[0]: row for row in drive.rows}
    lines = [
        f"{len(rows)} parameters: {kinds_in_words(drive.kinds)}; each with its source: "
        f"ssdlab show {drive.drive}"
    ]
    lines += [
        f"fitted: {key} = {value}, {source}"
        for key, value, kind, source, _ in drive.rows
        if kind == "fitted"
    ]
    size = rows.get("capacity_bytes")
    if size is not None and size[2] == "set":
        lines.append(
            f"set: capacity_bytes = {size[1]}, with fewer blocks a die; years are those of the "
            "whole drive"
        )
    return lines
