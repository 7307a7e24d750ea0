"""The page: every question with its picture, rows, mechanism and verdict; loads nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab import pages
from ssdlab.report.limits import ALWAYS, HOST
from ssdlab.reproduce import pictures, table
from ssdlab.reproduce.document import Answer, all_rows, fitted, tally
from ssdlab.reproduce.experiment import Scale
from ssdlab.reproduce.judging import RED

_LIMITS = (
    *(each for each in ALWAYS if each != HOST),
    "The host takes only the time that the layers of a stack state. Everyday jobs use a page cache "
    "and a file system, modelled as far as they change what reaches the drive; the jobs are "
    "described, not recorded. Other experiments use neither.",
)


def build_html(answers: Sequence[Answer], scale: Scale, version: str) -> str:
    """Return the page as text."""
    rows = all_rows(answers)
    return pages.render(
        "ssdlab.reproduce",
        css=pages.embedded("ssdlab.report", "page.css"),
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
