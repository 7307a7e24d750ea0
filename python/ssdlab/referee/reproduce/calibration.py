"""How often intervals hold: of the counted ratios, the share that lies in those of a level.

An interval of 90 % that holds for nine of ten rows is honest; one that holds for fewer is too
narrow, because the model lacks something that decides the others. Left out: that rows of one
document and one drive are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from matplotlib.ticker import FuncFormatter

from ssdlab.ground import text
from ssdlab.referee.reproduce.intervals import LEVEL, Spread
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.report import theme

LEVELS = (0.5, 0.8, 0.9)

JudgedSpreads = Sequence[tuple[JudgedRow, Spread | None]]
"""Rows, each with what an ensemble says of it."""


def inside(pairs: JudgedSpreads, level: float = LEVEL) -> tuple[int, int]:
    """Return how many counted ratios lie inside their intervals, and of how many."""
    judged = [
        spread.contains(row, level)
        for row, spread in pairs
        if row.counted and row.their_ratio is not None and spread is not None
    ]
    return sum(judged), len(judged)


def median_width(pairs: JudgedSpreads) -> float | None:
    """Return upper / lower end of the counted ratios' intervals, the median; None for none."""
    ends = [
        spread.interval(row.their_rounding)
        for row, spread in pairs
        if row.counted and spread is not None
    ]
    return median(high / low for low, high in ends) if ends else None


def told(pairs: JudgedSpreads) -> str:
    """Say how many ratios lie inside, and how wide the intervals are; empty where none was run.

    Examples
    --------
    >>> told([])
    ''
    """
    width = median_width(pairs)
    if width is None:
        return ""
    within, of = inside(pairs)
    return (
        f"{within} of {of} independent ratios lie inside their {LEVEL:.0%} intervals, whose median "
        f"width is a factor of {text.significant(width)}"
    ).replace("%", " %")


@theme.for_both
def picture(pairs: JudgedSpreads) -> str | None:
    """Draw the share of the ratios that each level holds, with a mark where it should be."""
    if not inside(pairs)[1]:
        return None
    with theme.style():
        labels = [f"interval of {text.percent(each, 0)}" for each in LEVELS]
        made = theme.figure(theme.width(), 0.8 + theme.rows_inches(labels, 0.36))
        axes = made.subplots()
        for place, level in enumerate(LEVELS):
            within, of = inside(pairs, level)
            axes.barh(place, within / of, height=theme.bar_height(), color=theme.SERIES[0])
            axes.plot([level, level], [place - 0.25, place + 0.25], color=theme.INK, linewidth=2)
            axes.text(0.01, place, f"{within} of {of}", va="center", color=theme.PAPER)
        theme.name_rows(axes, labels)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text.percent(value, 0)))
        axes.set_xlabel(
            theme.fitting("share of the counted ratios inside; marks: what the interval promises")
        )
        theme.only_vertical_grid(axes)
        return theme.svg(made, "calibration", "how often the intervals hold")
