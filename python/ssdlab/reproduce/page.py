"""The page: every question with its picture, rows, mechanism and verdict; loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from markupsafe import Markup

from ssdlab.report.limits import ALWAYS, HOST
from ssdlab.report.page import environment
from ssdlab.reproduce import pictures, table
from ssdlab.reproduce.document import Answer, all_rows, fitted, tally
from ssdlab.reproduce.experiment import Scale
from ssdlab.reproduce.judging import RED

_LIMITS = (
    *(each for each in ALWAYS if each != HOST),
    "The host takes the time that the layers of a stack state. Everyday jobs go through a page "
    "cache and a file system, which are modelled as far as they change what reaches the drive; the "
    "jobs are described, not recorded. Other experiments reach the drive without either.",
)


def build_html(answers: Sequence[Answer], scale: Scale, version: str) -> str:
    """Return the page as text."""
    css = resources.files("ssdlab.report").joinpath("page.css").read_text(encoding="utf-8")
    template = resources.files("ssdlab.reproduce").joinpath("page.html.j2")
    rows = all_rows(answers)
    return (
        environment()
        .from_string(template.read_text(encoding="utf-8"))
        .render(
            css=Markup(css),
            answers=answers,
            scale=scale,
            version=version,
            tally=tally(rows),
            overview=pictures.quotients([(each.question.name, each.rows) for each in answers]),
            cells=table.cells,
            red=RED,
            counted=[row for row in rows if row.counted],
            uncounted=[row for row in rows if row.uncounted],
            fitted=fitted(answers),
            limits=_LIMITS,
        )
    )
