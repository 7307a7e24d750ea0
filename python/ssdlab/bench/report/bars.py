"""Bars in three dimensions, as the standard shows its matrix: block size × mix × figure.

Each mix has the colour that it has in the picture by block size. The bars are drawn, so there is
nothing to turn; the table beside them has the figures.
"""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import FuncFormatter

from ssdlab.bench.report.charts import Quantity, add_title, drawing, known, mix, titled
from ssdlab.bench.report.reading import PartRead
from ssdlab.report import theme

_SIZE = (theme.SMALL, 4.0)
_WIDTH = 0.62


def matrix(part: PartRead, quantity: Quantity, name: str) -> str | None:
    """Draw the matrix; nothing where it has a single row or column."""
    assert part.summary is not None, "there is a round"
    found = part.summary["cells"]
    sizes = sorted({cell["load"]["block_bytes"] for cell in found})
    # Writes stand in front: their bars are the lower ones.
    mixes = list(dict.fromkeys(mix(cell["load"]) for cell in found))[::-1]
    values = known([quantity.of(cell) for cell in found])
    if min(len(sizes), len(mixes)) < 2 or all(value != value for value in values):
        return None
    title = titled(part, f"{quantity.label} by block size and reads/writes")
    with drawing():
        made = theme.figure(*_SIZE)
        add_title(made, title)
        # Axes in three dimensions leave room around themselves, which the layout would double.
        made.set_layout_engine("none")
        axes: Any = made.add_axes((-0.04, -0.02, 1.02, 0.98), projection="3d")
        across = [sizes.index(cell["load"]["block_bytes"]) for cell in found]
        along = [mixes.index(mix(cell["load"])) for cell in found]
        last = len(mixes) - 1
        colours = [theme.SERIES[(last - place) % len(theme.SERIES)] for place in along]
        _bars(axes, across, along, values, colours)
        _label(axes, [f"{size / 1024:g}" for size in sizes], mixes, quantity)
        return theme.svg(made, name, title)


def _bars(
    axes: Any, across: list[int], along: list[int], values: list[float], colours: list[str]
) -> None:
    half = _WIDTH / 2
    axes.bar3d(
        [place - half for place in across],
        [place - half for place in along],
        0,
        _WIDTH,
        _WIDTH,
        [0.0 if value != value else value for value in values],
        color=colours,
        edgecolor=theme.PAPER,
        linewidth=0.5,
        shade=False,
    )


def _label(axes: Any, sizes: list[str], mixes: list[str], quantity: Quantity) -> None:
    axes.set_xticks(range(len(sizes)), sizes)
    axes.set_yticks(range(len(mixes)), mixes)
    axes.set_xlabel("block size, KiB", labelpad=6)
    axes.set_ylabel("reads/writes", labelpad=10)
    axes.tick_params(axis="x", pad=-2)
    axes.tick_params(axis="y", pad=-2)
    axes.zaxis.set_major_formatter(FuncFormatter(quantity.tick))
    axes.set_box_aspect((1.25, 1.25, 0.85), zoom=0.97)
    axes.view_init(elev=24, azim=-50)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
        axis._axinfo["grid"]["color"] = theme.RULE
        axis._axinfo["grid"]["linewidth"] = 0.5
