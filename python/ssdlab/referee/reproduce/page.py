"""The page: every question with its picture, rows, mechanism and verdict; loads nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.experiment.ensemble.model_error import MODEL_ERROR
from ssdlab.experiment.scale import Scale
from ssdlab.ground import pages, text
from ssdlab.referee.reproduce import calibration, effects, pictures, table
from ssdlab.referee.reproduce.document import Answer, all_rows, fitted, rows_with_spreads, tally
from ssdlab.referee.reproduce.intervals import KeptDraws
from ssdlab.referee.reproduce.judging import RED
from ssdlab.report.limits import ALWAYS, HOST

_LIMITS = (
    *(each for each in ALWAYS if each != HOST),
    "The host takes only the time that the layers of a stack state. Everyday jobs use a page cache "
    "and a file system, modelled as far as they change what reaches the drive; the jobs are "
    "described, not recorded. Other experiments use neither.",
)


def build_html(
    answers: Sequence[Answer], scale: Scale, version: str, kept: KeptDraws | None = None
) -> str:
    """Return the page as text.

    Parameters
    ----------
    kept
        The ensemble that its intervals are of; None where there is none.
    """
    rows = all_rows(answers)
    pairs = rows_with_spreads(answers)
    return pages.render(
        "ssdlab.referee.reproduce",
        css=pages.embedded("ssdlab.report", "page.css"),
        answers=answers,
        scale=scale,
        version=version,
        effects=effects.told(rows),
        share_of=effects.share_of,
        tally=tally(rows),
        intervals=calibration.told(pairs),
        calibration=calibration.picture(pairs),
        kept=kept,
        model_error=text.percent(MODEL_ERROR),
        overview=pictures.quotients(
            [
                (each.question.name, list(zip(each.rows, each.spreads, strict=True)))
                for each in answers
            ]
        ),
        cells=table.cells,
        red=RED,
        counted=[row for row in rows if row.counted],
        uncounted=[row for row in rows if row.uncounted],
        fitted=fitted(answers),
        limits=_LIMITS,
    )
