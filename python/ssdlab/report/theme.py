"""How charts look: one SVG for light, dark and paper.

Charts are drawn with placeholder colours that become CSS variables, so that the page, not the
picture, decides what ink and paper are. Text stays text; nothing is loaded from anywhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ssdlab.report.hover import Marks, numbered

INK = "#0a0b01"
SOFT = "#0a0b02"
RULE = "#0a0b03"
PAPER = "#0a0b04"
SERIES = tuple(f"#0a0c{number:02x}" for number in range(1, 9))
"""Colours that tell series apart, in the order in which they are used."""

_VARIABLES = {
    INK: "--ink",
    SOFT: "--soft",
    RULE: "--rule",
    PAPER: "--paper",
    **{colour: f"--series-{number}" for number, colour in enumerate(SERIES, 1)},
}

SHARES = {
    "host_read": SERIES[0],
    "host_write": SERIES[2],
    "host": SERIES[6],
    "move": SERIES[1],
    "erase": SERIES[7],
}
"""What a resource spent its time on, always in the same colour."""

DIRECTIONS = {
    "read": SHARES["host_read"],
    "write": SHARES["host_write"],
    "trim": SERIES[7],
    "mixed": SERIES[5],
}
"""What a request does, always in the same colour."""

KINDS = {
    "sensing": (SERIES[0], "host read: array to register"),
    "sending": (SERIES[6], "host read: data out"),
    "writing": (SERIES[2], "host write: data in, program"),
    "gathering": (SERIES[3], "move: read"),
    "moving": (SERIES[1], "move: program"),
    "erasing": (SERIES[7], "erase"),
    "loading": (SERIES[4], "data in, of a program that waits its turn"),
}
"""What a die does, as the engine names it: colour, and name for people."""

# Widths in a legend: a mean letter of the font below at 9 points, and the line before a label.
_LETTER_INCHES = 0.075
_LINE_INCHES = 0.4

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ssdlab",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": SOFT,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


def figure(width: float, height: float) -> Figure:
    """Return an empty figure; sizes are in inches of which the page shows about 96 pixels."""
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(made)
    return made


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style while the block runs."""
    with mpl.rc_context(_SETTINGS):
        yield


def only_horizontal_grid(axes: Axes) -> None:
    """Values run upwards: rules across are enough."""
    axes.grid(False, axis="x")


def only_vertical_grid(axes: Axes) -> None:
    """Values run to the right: rules down are enough."""
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)


def legend_above(axes: Axes, least: int = 2) -> None:
    """Put the legend above the axes, where it covers nothing; fewer than `least` need none."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) >= least:
        columns = min(len(labels), _columns(axes, max(map(len, labels))))
        rows = -(-len(labels) // columns)
        axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1.02 + (0.06 if axes.get_title(loc="left") else 0)),
            ncols=columns,
            borderaxespad=0,
            handlelength=1.4,
            columnspacing=1.4,
            labelspacing=0.3 if rows > 1 else 0.5,
        )


def _columns(axes: Axes, longest: int) -> int:
    """Columns of a legend that fit beside each other: what is too wide would be cut off."""
    made = axes.get_figure(root=True)
    assert made is not None, "axes are drawn in a figure"
    return max(1, min(3, int(made.get_figwidth() / (_LINE_INCHES + longest * _LETTER_INCHES))))


def svg(made: Figure, name: str, description: str, marks: Marks | None = None) -> str:
    """Return the figure as inline SVG.

    Parameters
    ----------
    made
        The figure.
    name
        Unique on the page: it keeps the picture's inner references apart from others'.
    description
        What the picture shows, for those who do not see it.
    marks
        What it tells where one points at it.
    """
    marks = marks or Marks()
    marks.name_keys(made)
    buffer = io.StringIO()
    made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        drawn = drawn.replace(colour, f"var({variable})")
    drawn = _own_references(numbered(_shorter(drawn)), name)
    drawn = marks.put_into(drawn, made)
    return _opening_tag(drawn, description)


def _shorter(drawn: str) -> str:
    """Leave away indentation, and digits below a hundredth of a point, which nobody can see."""

    def rounded(match: re.Match[str]) -> str:
        return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", match[0])

    return re.sub(r' (?:d|x|y)="[^"]*"|rotate\([^)]*\)', rounded, re.sub(r"\n\s+", "\n", drawn))


def _own_references(drawn: str, name: str) -> str:
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', drawn))

    def keep(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in wanted else ""

    drawn = re.sub(r'\s+id="([^"]+)"', keep, drawn)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", drawn)


def _opening_tag(drawn: str, description: str) -> str:
    """Let the page decide the size, and say what is shown."""
    view_box = re.search(r'viewBox="([^"]+)"', drawn)
    assert view_box is not None, "every figure has a view box"
    escaped = description.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    tag = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view_box[1]}" '
        f'role="img" aria-label="{escaped}">'
    )
    return tag + drawn[drawn.index(">", drawn.index("<svg")) + 1 :]
