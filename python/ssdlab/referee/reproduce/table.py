"""The rows as a table: on a terminal, in a pipe, and on the page.

A pipe gets one line a row with all there is. A terminal gets a table a question; a narrow one, of
less than `WIDE` columns, without document, band and parameters, which the page has.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.ground import text
from ssdlab.referee.reproduce import effects
from ssdlab.referee.reproduce.document import Answer
from ssdlab.referee.reproduce.intervals import Spread
from ssdlab.referee.reproduce.judging import RED, JudgedRow

HEADINGS = (
    "question",
    "condition",
    "document",
    "says",
    "ours",
    "ratio",
    "share",
    "band",
    "verdict",
    "5 to 95 %",
    "parameters",
)
NUMBERS = (5, 6, 7)
WIDE = 126
_NARROW, _BROAD = (1, 3, 4, 6, 8, 9), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def cells(
    name: str, row: JudgedRow, kinds: dict[str, str], spread: Spread | None
) -> tuple[str, ...]:
    """Write a row; the verdict of a ratio that is not counted stands in brackets."""
    return (
        name,
        row.condition,
        f"{row.document.split(',')[0]}, {row.place}",
        row.theirs,
        row.ours,
        "" if row.quotient is None else text.ratio(row.quotient),
        effects.share_of(row),
        "" if row.band is None else f"± {row.band:.0%}".replace("%", " %"),
        f"({row.verdict})" if row.uncounted else row.verdict,
        "" if spread is None else _spread(row, spread),
        ", ".join(f"{key} {kind}" for key, kind in kinds.items()),
    )


def _spread(row: JudgedRow, spread: Spread) -> str:
    """Write an interval and whether the document is inside it, or in how many draws it holds."""
    if not spread.is_ratio or row.their_ratio is None:
        return f"holds in {spread.holding} of {len(spread.figures)}"
    low, high = spread.interval(row.their_rounding)
    inside = "inside" if spread.contains(row) else "outside"
    return f"{low:.2f} … {high:.2f}, {inside}"


def rows(answers: Sequence[Answer]) -> list[tuple[str, ...]]:
    """Write every row of every question."""
    return [
        cells(each.question.name, row, kinds, spread)
        for each in answers
        for row, kinds, spread in zip(each.rows, each.kinds, each.spreads, strict=True)
    ]


def red(answers: Sequence[Answer]) -> list[int]:
    """Return which rows of the table miss."""
    verdicts = [row.verdict for each in answers for row in each.rows]
    return [place for place, verdict in enumerate(verdicts) if verdict in RED]


def fitted_to(width: int, found: Answer) -> tuple[list[str], list[list[str]], list[int]]:
    """Return headings, rows and places of numbers for a terminal of a width."""
    shown = _BROAD if width >= WIDE else _NARROW
    headings = [HEADINGS[column] for column in shown]
    written = []
    for row, kinds, spread in zip(found.rows, found.kinds, found.spreads, strict=True):
        every = [each for kind in kinds.values() for each in kind.split("/")]
        full = [*cells("", row, {}, spread)[:-1], ", ".join(dict.fromkeys(every))]
        written.append([full[column] for column in shown])
    return headings, written, [shown.index(column) for column in NUMBERS if column in shown]
