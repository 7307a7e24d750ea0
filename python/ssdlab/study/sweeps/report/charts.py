"""The drawn part of a sweep's report: main effects, and small multiples of the two strongest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.ticker import FuncFormatter

from ssdlab.ground.text import significant
from ssdlab.report import theme
from ssdlab.report.charts import count_axis
from ssdlab.report.hover import Marks
from ssdlab.study.sweeps.report.axis import Across
from ssdlab.study.sweeps.report.effects import Effect, effects, grouped, label
from ssdlab.study.sweeps.report.reading import Sweep

_COLUMNS, _HEIGHT = 3, 2.3
_BESIDE_INCHES = 0.8
"""What the vertical axis takes of a panel."""
_MOST_PANELS = 6


@theme.for_both
def main_effects(sweep: Sweep, figure: str) -> str:
    """Draw what each factor does to a figure, with intervals over seeds; shared vertical axis."""
    found = [(key, effects(sweep.rows, key, figure)) for key in sweep.charted]
    panels = [(key, each) for key, each in found if len(each) > 1]
    if not panels:
        return ""
    marks = Marks()
    with theme.style():
        columns, rows = _grid(len(panels))
        made = theme.figure(_panel_inches() * columns, _HEIGHT * rows)
        grid = made.subplots(rows, columns, sharey=True, squeeze=False)
        for axes, (key, of_key) in zip(grid.flat, panels, strict=False):
            _effect(axes, key, of_key, figure, marks)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        for row in grid:
            row[0].set_ylabel(figure)
        return theme.svg(made, f"effects-{figure}", f"main effects on {figure}", marks)


def _grid(panels: int) -> tuple[int, int]:
    """Return columns and rows."""
    columns = min(panels, 1 if theme.is_narrow() else _COLUMNS)
    return columns, -(-panels // columns)


def _panel_inches() -> float:
    return theme.SMALL if theme.is_narrow() else theme.WIDE / _COLUMNS


def _draw_across(axes: Any, across: Across) -> None:
    across.draw(axes, _panel_inches() - _BESIDE_INCHES)


def _effect(axes: Any, key: str, found: Sequence[Effect], figure: str, marks: Marks) -> None:
    across = Across.of([each.level for each in found])
    found = sorted(found, key=lambda each: across.place(each.level))
    places = [across.place(each.level) for each in found]
    means = [each.mean for each in found]
    halves = [each.half or 0.0 for each in found]
    axes.errorbar(places, means, yerr=halves, fmt="none", ecolor=theme.SOFT, capsize=3)
    (drawn,) = axes.plot(places, means, "o-", color=theme.SERIES[0])
    labels = [label(each.level) for each in found]
    marks.line(drawn, [f"{key} {each}" for each in labels], _say(figure))
    _draw_across(axes, across)
    axes.set_title(key, fontsize=9)
    axes.yaxis.set_major_formatter(FuncFormatter(count_axis))
    theme.only_horizontal_grid(axes)


@theme.for_both
def small_multiples(sweep: Sweep, figure: str) -> str:
    """Draw a figure over the strongest factor, a line for the next one, a panel for the third."""
    keys = _strongest(sweep, figure)
    if len(keys) < 2:
        return ""
    across, lines, *rest = keys
    panels = grouped(sweep.rows, rest[0])[:_MOST_PANELS] if rest else [("", list(sweep.rows))]
    marks = Marks()
    with theme.style():
        columns, height = _grid(len(panels))
        made = theme.figure(_panel_inches() * columns, _HEIGHT * height + 0.7)
        grid = made.subplots(height, columns, sharex=True, sharey=True, squeeze=False)
        levels = Across.of([level for level, _ in grouped(sweep.rows, across)])
        for axes, (level, rows) in zip(grid.flat, panels, strict=False):
            _panel(axes, rows, across, lines, figure, levels, marks)
            axes.set_title(f"{rest[0]} {label(level)}" if rest else "", fontsize=9)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        for row in grid:
            row[0].set_ylabel(figure)
        made.legend(
            *grid[0][0].get_legend_handles_labels(),
            loc="outside upper left",
            ncols=columns,
            frameon=False,
        )
        return theme.svg(made, f"multiples-{figure}", f"{figure} over {across}", marks)


def _panel(
    axes: Any,
    rows: Sequence[Mapping[str, Any]],
    across: str,
    lines: str,
    figure: str,
    levels: Across,
    marks: Marks,
) -> None:
    for number, (level, of_line) in enumerate(grouped(rows, lines)[: len(theme.SERIES)]):
        found = effects(of_line, across, figure)
        found = sorted(found, key=lambda each: levels.place(each.level))
        places = [levels.place(each.level) for each in found]
        means = [each.mean for each in found]
        name = f"{lines} {label(level)}"
        (drawn,) = axes.plot(places, means, "o-", color=theme.SERIES[number], label=name, ms=3)
        marks.line(drawn, [f"{across} {label(each.level)}" for each in found], _say(figure))
    _draw_across(axes, levels)
    axes.set_xlabel(across)
    axes.tick_params(axis="x", labelbottom=True)
    axes.yaxis.set_major_formatter(FuncFormatter(count_axis))
    theme.only_horizontal_grid(axes)


def _strongest(sweep: Sweep, figure: str) -> list[str]:
    """Return the factors by how far their levels' means lie apart, the strongest first."""
    found = [
        (key, [each.mean for each in effects(sweep.rows, key, figure)]) for key in sweep.charted
    ]
    spread = {key: max(means) - min(means) for key, means in found if len(means) > 1}
    return sorted(spread, key=lambda key: -spread[key])


def _say(figure: str) -> Any:
    return lambda value: f"{figure} {significant(value, 4)}"
