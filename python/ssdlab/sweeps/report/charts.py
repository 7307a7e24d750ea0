"""The drawn part of a sweep's report: main effects, and small multiples of the two strongest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.report import theme
from ssdlab.report.hover import Marks
from ssdlab.sweeps.report.effects import Effect, effects, grouped, label
from ssdlab.sweeps.report.reading import Sweep
from ssdlab.text import significant

_WIDTH, _HEIGHT = 3.4, 2.3
_MOST_PANELS = 6
_LONGEST_LABEL = 7


def main_effects(sweep: Sweep, figure: str) -> str:
    """Draw what each factor does to a figure, with intervals over seeds; shared vertical axis."""
    found = [(key, effects(sweep.rows, key, figure)) for key in sweep.charted]
    panels = [(key, each) for key, each in found if len(each) > 1]
    if not panels:
        return ""
    marks = Marks()
    with theme.style():
        made = theme.figure(_WIDTH * min(len(panels), 3), _HEIGHT * -(-len(panels) // 3))
        columns = min(len(panels), 3)
        grid = made.subplots(-(-len(panels) // columns), columns, sharey=True, squeeze=False)
        for axes, (key, of_key) in zip(grid.flat, panels, strict=False):
            _effect(axes, key, of_key, figure, marks)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        grid[0][0].set_ylabel(figure)
        return theme.svg(made, f"effects-{figure}", f"main effects on {figure}", marks)


def _effect(axes: Any, key: str, found: Sequence[Effect], figure: str, marks: Marks) -> None:
    places = range(len(found))
    means = [each.mean for each in found]
    halves = [each.half or 0.0 for each in found]
    axes.errorbar(places, means, yerr=halves, fmt="none", ecolor=theme.SOFT, capsize=3)
    (drawn,) = axes.plot(places, means, "o-", color=theme.SERIES[0])
    labels = [label(each.level) for each in found]
    marks.line(drawn, [f"{key} {each}" for each in labels], _say(figure))
    _ticks(axes, labels)
    axes.set_title(key, fontsize=9)
    theme.only_horizontal_grid(axes)


def small_multiples(sweep: Sweep, figure: str) -> str:
    """Draw a figure over the strongest factor, a line for the next one, a panel for the third."""
    keys = _strongest(sweep, figure)
    if len(keys) < 2:
        return ""
    across, lines, *rest = keys
    panels = grouped(sweep.rows, rest[0])[:_MOST_PANELS] if rest else [("", list(sweep.rows))]
    marks = Marks()
    with theme.style():
        columns = min(len(panels), 3)
        height = -(-len(panels) // columns)
        made = theme.figure(_WIDTH * columns, _HEIGHT * height + 0.7)
        grid = made.subplots(height, columns, sharex=True, sharey=True, squeeze=False)
        levels = [level for level, _ in grouped(sweep.rows, across)]
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
            fontsize=8,
        )
        return theme.svg(made, f"multiples-{figure}", f"{figure} over {across}", marks)


def _panel(
    axes: Any,
    rows: Sequence[Mapping[str, Any]],
    across: str,
    lines: str,
    figure: str,
    levels: Sequence[Any],
    marks: Marks,
) -> None:
    for number, (level, of_line) in enumerate(grouped(rows, lines)[: len(theme.SERIES)]):
        found = effects(of_line, across, figure)
        places = [levels.index(each.level) for each in found if each.level in levels]
        means = [each.mean for each in found if each.level in levels]
        name = f"{lines} {label(level)}"
        (drawn,) = axes.plot(places, means, "o-", color=theme.SERIES[number], label=name, ms=3)
        marks.line(drawn, [f"{across} {label(levels[place])}" for place in places], _say(figure))
    _ticks(axes, [label(level) for level in levels])
    axes.set_xlabel(across)
    theme.only_horizontal_grid(axes)


def _strongest(sweep: Sweep, figure: str) -> list[str]:
    """Return the factors by how far their levels' means lie apart, the strongest first."""
    found = [
        (key, [each.mean for each in effects(sweep.rows, key, figure)]) for key in sweep.charted
    ]
    spread = {key: max(means) - min(means) for key, means in found if len(means) > 1}
    return sorted(spread, key=lambda key: -spread[key])


def _ticks(axes: Any, labels: Sequence[str]) -> None:
    longest = max(map(len, labels))
    turned = longest * len(labels) > 4 * _LONGEST_LABEL
    short = [each if len(each) < 18 else each[:16] + "…" for each in labels]
    axes.set_xticks(range(len(labels)), short, rotation=30 if turned else 0, fontsize=8)
    if turned:
        for each in axes.get_xticklabels():
            each.set_horizontalalignment("right")


def _say(figure: str) -> Any:
    return lambda value: f"{figure} {significant(value, 4)}"
