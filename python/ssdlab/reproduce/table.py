"""The rows as a table: on a terminal, and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab import text
from ssdlab.reproduce.document import Answer
from ssdlab.reproduce.judging import RED, Row

HEADINGS = (
    "question",
    "condition",
    "document",
    "says",
    "ours",
    "ratio",
    "band",
    "verdict",
    "parameters",
)
NUMBERS = (4, 5, 6)


def cells(name: str, row: Row, kinds: dict[str, str]) -> tuple[str, ...]:
    """Write a row."""
    return (
        name,
        row.condition,
        f"{row.document.split(',')[0]}, {row.place}",
        row.theirs,
        row.ours,
        "" if row.quotient is None else text.ratio(row.quotient),
        "" if row.band is None else f"± {row.band:.0%}".replace("%", " %"),
        row.verdict + (" (counted)" if row.counted else ""),
        ", ".join(f"{key} {kind}" for key, kind in kinds.items()),
    )


def rows(answers: Sequence[Answer]) -> list[tuple[str, ...]]:
    """Write every row of every question."""
    return [
        cells(each.question.name, row, kinds)
        for each in answers
        for row, kinds in zip(each.rows, each.kinds, strict=True)
    ]


def red(answers: Sequence[Answer]) -> list[int]:
    """Return which rows of the table miss."""
    verdicts = [row.verdict for each in answers for row in each.rows]
    return [place for place, verdict in enumerate(verdicts) if verdict in RED]
