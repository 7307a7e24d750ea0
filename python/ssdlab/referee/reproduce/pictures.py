"""The pictures of the questions: few marks, said in words beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from ssdlab.ground import text
from ssdlab.referee.reproduce.intervals import Spread
from ssdlab.referee.reproduce.judging import RED, JudgedRow
from ssdlab.report import theme
from ssdlab.report.charts import count_axis

_HEIGHT, _NARROW_HEIGHT = 3.6, 2.3
"""Of a picture with its panels side by side, and of each where one stands above the other."""


@dataclass(frozen=True)
class Bar:
    """A bar.

    Attributes
    ----------
    label
        Below it.
    value
        Its height.
    colour
        Which of the theme's colours.
    theirs
        What a document says, drawn as a bar beside it.
    """

    label: str
    value: float
    colour: int = 0
    theirs: float | None = None


@dataclass(frozen=True)
class Line:
    """A line: its points, and how it is told from others."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    dashed: bool = False


@dataclass(frozen=True)
class DocumentPoint:
    """What a document says, drawn into the plane of the lines."""

    label: str
    x: float
    y: float


def percent(share: float) -> str:
    """Write a share as whole percent."""
    return text.percent(share, 0)


@theme.for_both
def bars(
    name: str,
    title: str,
    unit: str,
    panels: Sequence[tuple[str, Sequence[Bar]]],
    show: Callable[[float], str] = text.significant,
) -> str:
    """Draw groups of bars on one scale; a document's figure is an outlined bar beside ours.

    Parameters
    ----------
    name
        Unique on the page.
    title
        What is shown, for those who do not see it.
    unit
        Of the heights.
    panels
        A heading and its bars each.
    show
        Writes a height.
    """
    highest = max(max(each.value, each.theirs or 0) for _, group in panels for each in group)
    with theme.style():
        widths = [len(group) for _, group in panels]
        made, row = _panels(widths)
        for axes, (heading, group) in zip(row, panels, strict=True):
            _group(axes, group, highest, show, max(widths) if theme.is_narrow() else len(group))
            axes.set_title(heading)
        _name_height(row, unit)
        row[0].set_ylim(0, 1.12 * highest)
        row[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value)))
        if any(each.theirs is not None for _, group in panels for each in group):
            keys = [
                Patch(facecolor=theme.SOFT, label="ours"),
                Patch(label="the document's", **_THEIRS),
            ]
            made.legend(handles=keys, loc="outside upper right", ncols=2, borderaxespad=0)
        return theme.svg(made, name, title)


def _panels(widths: Sequence[int]) -> tuple[Figure, list[Axes]]:
    """Return panels on one scale: side by side; in a narrow picture one above the other."""
    if theme.is_narrow():
        made = theme.figure(theme.SMALL, 0.9 + _NARROW_HEIGHT * len(widths))
        return made, [row[0] for row in made.subplots(len(widths), 1, sharey=True, squeeze=False)]
    made = theme.figure(theme.WIDE, _HEIGHT)
    grid = made.subplots(1, len(widths), sharey=True, squeeze=False, width_ratios=widths)
    return made, list(grid[0])


def _name_height(panels: Sequence[Axes], what: str) -> None:
    for axes in panels if theme.is_narrow() else panels[:1]:
        axes.set_ylabel(what)


_THEIRS: dict[str, Any] = {"facecolor": "none", "edgecolor": theme.INK, "linewidth": 1.2}


def _group(
    axes: Axes, group: Sequence[Bar], highest: float, show: Callable[[float], str], room: int
) -> None:
    """Draw bars where there is room for so many."""
    size = 9 if theme.is_narrow() or len(group) <= 2 else 8

    def stand(place: float, value: float, width: float, **looks: Any) -> None:
        axes.bar(place, value, width=width, **looks)
        axes.text(place, value + 0.015 * highest, show(value), ha="center", va="bottom", size=size)

    for place, each in enumerate(group):
        colour = theme.SERIES[each.colour]
        if each.theirs is None:
            stand(place, each.value, 0.6, color=colour)
        else:
            stand(place - 0.21, each.value, 0.4, color=colour)
            stand(place + 0.21, each.theirs, 0.38, **_THEIRS)
    axes.set_xticks(range(len(group)), [each.label for each in group])
    axes.tick_params(axis="x", length=0, labelcolor=theme.INK, labelsize=size)
    axes.set_xlim(-0.6, room - 0.4)
    theme.only_horizontal_grid(axes)


@theme.for_both
def lines(
    name: str,
    title: str,
    axes_labels: tuple[str, str],
    panels: Sequence[tuple[str, Sequence[Line], Sequence[DocumentPoint]]],
    *,
    logarithmic: bool = False,
) -> str:
    """Draw lines, a panel beside the other on one scale; what documents say as crosses."""
    with theme.style():
        made, row = _panels([1] * len(panels))
        for axes, (heading, drawn, marks) in zip(row, panels, strict=True):
            for each in drawn:
                _line(axes, each)
            rightmost = max((mark.x for mark in marks), default=0.0)
            for mark in marks:
                _mark(axes, mark, theme.is_narrow() and mark.x == rightmost)
            axes.set_title(heading)
            axes.set_xlabel(axes_labels[0])
            if logarithmic:
                axes.set_xscale("log", base=2)
                ticks = sorted({x for each in drawn for x, _ in each.points})
                axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                axes.xaxis.set_minor_locator(NullLocator())
            theme.only_horizontal_grid(axes)
        _name_height(row, axes_labels[1])
        row[0].set_ylim(bottom=0)
        row[0].yaxis.set_major_formatter(FuncFormatter(count_axis))
        return theme.svg(made, name, title)


def _line(axes: Axes, line: Line) -> None:
    colour = theme.SERIES[line.colour]
    x, y = zip(*line.points, strict=True)
    axes.plot(x, y, "--o" if line.dashed else "-o", color=colour, markersize=4)
    offset = (4, -10) if line.dashed else (4, 5)
    axes.annotate(
        line.label, (x[-1], y[-1]), offset, textcoords="offset points", ha="right", color=colour
    )


def _mark(axes: Axes, mark: DocumentPoint, at_edge: bool) -> None:
    axes.plot([mark.x], [mark.y], "x", color=theme.INK, markersize=9, markeredgewidth=2)
    # Below the cross, because a rising line may pass through it.
    offset, side = ((6, -30), "right") if at_edge else ((8, -11), "left")
    axes.annotate(mark.label, (mark.x, mark.y), offset, textcoords="offset points", ha=side)


@theme.for_both
def quotients(
    answers: Sequence[tuple[str, Sequence[tuple[JudgedRow, Spread | None]]]],
) -> str | None:
    """Draw every judged ratio as ours / theirs, with band and interval, question after question."""
    shown = [
        (question, row, spread)
        for question, rows in answers
        for row, spread in rows
        if row.quotient is not None and row.band is not None
    ]
    if not shown:
        return None
    with theme.style():
        labels = [row.condition for _, row, _ in shown]
        made = theme.figure(theme.width(), 1.1 + theme.rows_inches(labels, 0.21))
        axes = made.subplots()
        for place, (_, row, spread) in enumerate(shown):
            _quotient(axes, place, row)
            if spread is not None:
                _interval(axes, place, row, spread)
        theme.name_rows(axes, labels)
        _parted(axes, [question for question, _, _ in shown])
        axes.set_xlim(_LEAST, _MOST)
        axes.set_xscale("log", base=2)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.axvline(1, color=theme.INK, linewidth=1)
        axes.set_xlabel(
            theme.fitting("our ratio / the document's (1: the same); arrowheads: beyond the scale")
        )
        theme.only_vertical_grid(axes)
        columns = 3 if theme.is_narrow() else 5
        made.legend(handles=_keys(), loc="outside upper right", ncols=columns, borderaxespad=0)
        return theme.svg(made, "quotients", "every judged ratio against its band")


_LEAST, _MOST = 0.2, 5.0
_TICKS = (0.25, 0.5, 0.7, 1, 1.3, 2, 4)
_GOOD, _BAD = theme.SERIES[2], theme.SERIES[7]


def _quotient(axes: Axes, place: int, row: JudgedRow) -> None:
    assert row.quotient is not None and row.band is not None
    axes.barh(place, 2 * row.band, left=1 - row.band, height=theme.bar_height(), color=theme.RULE)
    colour = _BAD if row.verdict in RED else _GOOD
    face = colour if row.counted else "none"
    marker = "<" if row.quotient < _LEAST else ">" if row.quotient > _MOST else "o"
    at = min(max(row.quotient, 1.05 * _LEAST), _MOST / 1.05)
    axes.plot([at], [place], marker, color=colour, markerfacecolor=face, markersize=6)


def _interval(axes: Axes, place: int, row: JudgedRow, spread: Spread) -> None:
    """Draw the interval of ours / theirs: it holds where it reaches over 1."""
    assert row.their_ratio is not None
    low, high = (end / row.their_ratio for end in spread.interval(row.their_rounding))
    ends = [min(max(end, _LEAST), _MOST) for end in (low, high)]
    axes.plot(ends, [place, place], color=theme.INK, linewidth=1, zorder=1.5)


def _parted(axes: Axes, questions: Sequence[str]) -> None:
    """Name each question at the right of its rows, and rule it off from the one before."""
    for place, question in enumerate(questions):
        if place == 0 or questions[place - 1] != question:
            if place:
                axes.axhline(place - 0.5, color=theme.RULE, linewidth=0.8)
            axes.text(
                0.995, place, question, ha="right", va="center", color=theme.SOFT,
                transform=axes.get_yaxis_transform(),
            )  # fmt: skip


def _keys() -> list[Artist]:
    def dot(colour: str, face: str, label: str) -> Line2D:
        return Line2D([], [], marker="o", linestyle="", color=colour, mfc=face, label=label)

    return [
        Patch(facecolor=theme.RULE, label="band"),
        dot(_GOOD, _GOOD, "inside"),
        dot(_BAD, _BAD, "misses"),
        dot(theme.SOFT, "none", "not counted"),
        Line2D([], [], color=theme.INK, linewidth=1, label="5 to 95 %"),
    ]
