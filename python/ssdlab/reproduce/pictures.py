"""The pictures of the questions: few marks, said in words beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from ssdlab import text
from ssdlab.report import theme
from ssdlab.report.charts import count_axis
from ssdlab.reproduce.judging import RED, Row

WIDTH, HEIGHT = 9.6, 3.6


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
        What a document says, drawn as a mark across the bar.
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
class Mark:
    """What a document says, drawn into the plane of the lines."""

    label: str
    x: float
    y: float


def percent(share: float) -> str:
    """Write a share as whole percent."""
    return text.percent(share, 0)


def bars(
    name: str,
    title: str,
    unit: str,
    panels: Sequence[tuple[str, Sequence[Bar]]],
    show: Callable[[float], str] = text.significant,
) -> str:
    """Draw groups of bars side by side on one scale, the documents' figures as marks across.

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
        made = theme.figure(WIDTH, HEIGHT)
        widths = [len(group) for _, group in panels]
        row = made.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=widths)[0]
        for axes, (heading, group) in zip(row, panels, strict=True):
            _group(axes, group, highest, show)
            axes.set_title(heading)
        row[0].set_ylabel(unit)
        row[0].set_ylim(0, 1.22 * highest)
        row[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value)))
        if any(each.theirs is not None for _, group in panels for each in group):
            row[-1].plot([], [], color=theme.INK, linewidth=2, label="the document's")
            row[-1].legend(loc="upper right", borderaxespad=0)
        return theme.svg(made, name, title)


def _group(axes: Axes, group: Sequence[Bar], highest: float, show: Callable[[float], str]) -> None:
    places = range(len(group))
    colours = [theme.SERIES[each.colour] for each in group]
    axes.bar(places, [each.value for each in group], width=0.62, color=colours)
    gap = 0.015 * highest
    for place, each in zip(places, group, strict=True):
        # Where a mark would cross the figure above the bar, the figure goes into the bar.
        near = each.theirs is not None and 0 <= each.theirs - each.value < 0.14 * highest
        colour = theme.PAPER if near else theme.INK
        height, side = (each.value - gap, "top") if near else (each.value + gap, "bottom")
        axes.text(place, height, show(each.value), ha="center", va=side, color=colour)
        if each.theirs is not None:
            axes.hlines(each.theirs, place - 0.42, place + 0.42, color=theme.INK, linewidth=2)
            mark = show(each.theirs)
            axes.text(place + 0.42, each.theirs + gap, mark, ha="right", va="bottom", size=8)
    axes.set_xticks(places, [each.label for each in group])
    axes.tick_params(axis="x", length=0, labelcolor=theme.INK)
    axes.set_xlim(-0.6, len(group) - 0.4)
    theme.only_horizontal_grid(axes)


def lines(
    name: str,
    title: str,
    axes_labels: tuple[str, str],
    panels: Sequence[tuple[str, Sequence[Line], Sequence[Mark]]],
    *,
    logarithmic: bool = False,
) -> str:
    """Draw lines, a panel beside the other on one scale; what documents say as crosses."""
    with theme.style():
        made = theme.figure(WIDTH, HEIGHT)
        row = made.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (heading, drawn, marks) in zip(row, panels, strict=True):
            for each in drawn:
                _line(axes, each)
            for mark in marks:
                _mark(axes, mark)
            axes.set_title(heading)
            axes.set_xlabel(axes_labels[0])
            if logarithmic:
                axes.set_xscale("log", base=2)
                ticks = sorted({x for each in drawn for x, _ in each.points})
                axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                axes.xaxis.set_minor_locator(NullLocator())
            theme.only_horizontal_grid(axes)
        row[0].set_ylabel(axes_labels[1])
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


def _mark(axes: Axes, mark: Mark) -> None:
    axes.plot([mark.x], [mark.y], "x", color=theme.INK, markersize=9, markeredgewidth=2)
    axes.annotate(mark.label, (mark.x, mark.y), (7, -3), textcoords="offset points")


def quotients(rows: Sequence[Row]) -> str | None:
    """Draw every judged ratio as ours / theirs, with its band."""
    shown = [row for row in rows if row.quotient is not None and row.band is not None]
    if not shown:
        return None
    with theme.style():
        made = theme.figure(WIDTH, 0.9 + 0.23 * len(shown))
        axes = made.subplots()
        for place, row in enumerate(shown):
            assert row.quotient is not None and row.band is not None
            axes.barh(place, 2 * row.band, left=1 - row.band, height=0.7, color=theme.RULE)
            colour = theme.SERIES[7] if row.verdict in RED else theme.SERIES[2]
            axes.plot([_within(row.quotient)], [place], "o", color=colour, markersize=6)
        axes.set_yticks(range(len(shown)), [row.condition for row in shown])
        axes.invert_yaxis()
        axes.set_xlim(_LEAST, _MOST)
        axes.set_xscale("log", base=2)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.axvline(1, color=theme.INK, linewidth=1)
        axes.set_xlabel("our ratio / the document's; grey: inside the band")
        theme.only_vertical_grid(axes)
        return theme.svg(made, "quotients", "every judged ratio against its band")


_LEAST, _MOST = 0.2, 5.0
_TICKS = (0.25, 0.5, 0.7, 1, 1.3, 2, 4)


def _within(quotient: float) -> float:
    return min(max(quotient, 1.05 * _LEAST), _MOST / 1.05)
