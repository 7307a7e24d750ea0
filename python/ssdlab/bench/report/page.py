"""The page: results of `ssdlab pts` in, one self-contained HTML document out.

Several drives are first laid over one another, with what differs in their conditions before any
figure; then each has its own pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ssdlab import engine
from ssdlab.bench.report.commands import commands
from ssdlab.bench.report.conditions import ConditionRows, drive_rows
from ssdlab.bench.report.overlay import Overlay, overlay
from ssdlab.bench.report.reading import Measured, PartRead, blaming
from ssdlab.bench.report.sections import Section, section
from ssdlab.bench.report.written import HEADINGS as STEP_HEADINGS
from ssdlab.bench.table import shares, tracked
from ssdlab.ground import pages, text

STATES = ("part", "state", "average", "rounds", "range", "line", "WA", "time", "written")
PARAMETERS = ("parameter", "value", "kind", "source")


@dataclass(frozen=True)
class ShownDrive:
    """What the page shows of a drive."""

    label: str
    header: ConditionRows
    deviations: Sequence[dict[str, Any]]
    states: list[tuple[str, ...]]
    sections: list[Section]
    parameters: list[tuple[str, ...]]
    commands: list[tuple[str, str]]


def build_html(
    several: Sequence[Measured], title: str | None = None, *, interactive: bool = True
) -> str:
    """Return the page as text.

    Parameters
    ----------
    several
        In the order in which they shall appear.
    title
        The heading; by default it names the drives.
    interactive
        With the script by which pictures answer; paper needs none.
    """
    laid_over: Overlay | None = overlay(several) if len(several) > 1 else None
    names = dict.fromkeys(str(each.target["model"] or each.label) for each in several)
    css = pages.embedded("ssdlab.report", "page.css") + "\n"
    return pages.render(
        "ssdlab.bench.report",
        css=Markup(css) + pages.embedded("ssdlab.bench.report", "page.css"),
        title=title or f"Performance test: {' and '.join(names)}",
        standards=list(dict.fromkeys(each.plan["standard"] for each in several)),
        overlay=laid_over,
        drives=[_drive(each, f"d{number}") for number, each in enumerate(several)],
        state_headings=STATES,
        step_headings=STEP_HEADINGS,
        parameter_headings=PARAMETERS,
        version=engine.version(),
        script=pages.embedded("ssdlab.report", "hover.js") if interactive else "",
    )


def _drive(measured: Measured, name: str) -> ShownDrive:
    with blaming(measured.path):
        return ShownDrive(
            label=measured.label,
            header=drive_rows(measured),
            deviations=measured.plan["deviations"],
            states=[_state(part) for part in measured.parts],
            sections=[section(part, f"{name}-{part.plan.name}") for part in measured.begun_parts],
            parameters=_parameters(measured),
            commands=commands(measured),
        )


def _state(part: PartRead) -> tuple[str, ...]:
    if part.summary is None:
        return (part.plan.name, part.state, *[text.NOTHING] * (len(STATES) - 2))
    summary, judged = part.summary, part.summary["judged"]
    return (
        part.plan.name,
        part.state,
        tracked(summary) if judged else text.NOTHING,
        str(summary["rounds"]),
        *(shares(judged) if judged else (text.NOTHING, text.NOTHING)),
        text.ratio(summary["write_amplification"]),
        text.long_time(summary["elapsed_s"]),
        text.size(summary["written_bytes"]),
    )


def _parameters(measured: Measured) -> list[tuple[str, ...]]:
    known = measured.target["surroundings"].get("parameters") or []
    return [
        (
            str(each["key"]),
            text.with_unit(str(each.get("text", each["value"])), str(each.get("unit") or "")),
            str(each.get("kind") or ""),
            str(each.get("source") or ""),
        )
        for each in known
    ]
