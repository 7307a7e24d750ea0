"""The charts: intervals of figures beside the profile's value, and of ratios, paired or not."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ssdlab.experiment.ensemble.document import Arm
from ssdlab.experiment.ensemble.pairing import PairedFigure
from ssdlab.report import theme

_ROW_INCHES, _AROUND_INCHES = 0.3, 0.8
_MOST = 1000.0
"""A figure that is so many times another is drawn at the edge."""


@theme.for_both
def intervals(name: str, arm: Arm) -> str | None:
    """Draw 5 to 95 % and the median of each figure, as multiples of the profile's value."""
    shown = [each for each in arm.figures if min(each.point, each.low) > 0]
    if not shown:
        return None
    with theme.style():
        axes = _axes([f"{each.job}: {each.label}" for each in shown])
        for place, each in enumerate(shown):
            low, median, high = (value / each.point for value in (each.low, each.median, each.high))
            _bar(axes, place, low, high, 3.0)
            axes.plot([_held(median)], [place], "o", color=theme.SERIES[0], markersize=5)
        return _drawn(axes, name, "times the profile's value; dots are medians", arm.name)


@theme.for_both
def ratios(name: str, rows: Sequence[PairedFigure]) -> str:
    """Draw each ratio's interval draw by draw, and below it that of independent draws."""
    with theme.style():
        axes = _axes([f"{row.job}: {row.label}" for row in rows])
        for place, row in enumerate(rows):
            _bar(axes, place - 0.12, row.low, row.high, 3.0)
            axes.plot([_held(row.median)], [place - 0.12], "o", color=theme.SERIES[0], markersize=5)
            _bar(axes, place + 0.2, *row.independent, 1.2, theme.SERIES[1])
        said = "ratio; thick: draw by draw, thin: if the draws were independent"
        return _drawn(axes, name, said, rows[0].arm)


def _axes(labels: Sequence[str]) -> Axes:
    height = _AROUND_INCHES + theme.rows_inches(labels, _ROW_INCHES)
    axes = theme.figure(theme.width(), height).subplots()
    axes.set_xscale("log")
    axes.axvline(1.0, color=theme.INK, linewidth=1.0)
    theme.name_rows(axes, labels)
    return axes


def _bar(
    axes: Axes, place: float, low: float, high: float, width: float, colour: str = theme.SERIES[0]
) -> None:
    axes.plot([_held(low), _held(high)], [place, place], color=colour, linewidth=width)


def _held(value: float) -> float:
    return min(max(value, 1 / _MOST), _MOST)


def _drawn(axes: Axes, name: str, said: str, whose: str) -> str:
    # Powers of ten alone would leave an interval of a factor of two without a number.
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(theme.fitting(said))
    theme.only_vertical_grid(axes)
    made = axes.get_figure(root=True)
    assert made is not None, "axes are drawn in a figure"
    return theme.svg(made, name, f"{whose}: {said}")
