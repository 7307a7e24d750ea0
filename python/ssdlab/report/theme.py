"""How charts look: one SVG for light, dark and paper.

Charts are drawn with placeholder colours that become CSS variables, so that the page, not the
picture, decides what ink and paper are. Text stays text; nothing is loaded from anywhere.

A page shrinks a picture to its own width, and the letters with it. So there are two sizes: what is
`SMALL` wide is readable on a telephone and stands in pairs elsewhere; what needs the whole width
(`WIDE`) is drawn twice, see `for_both`, and the page shows the one that fits.
"""

from __future__ import annotations

import functools
import io
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

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

WIDE, SMALL = 9.6, 4.4
"""Widths in inches: across a page, and of a picture of which a telephone shows the whole."""
_LARGEST = 1.1
"""Times its own size is the most that a picture is shown at: 13 pixels for the letters."""
_PIXELS_A_POINT = 96 / 72
_IS_NARROW: ContextVar[bool] = ContextVar("is narrow", default=False)
# Widths in a legend: a mean letter of the font below at 9 points, and the line before a label.
_LETTER_INCHES = 0.075
_LINE_INCHES = 0.4
# Letters in a line as wide as a narrow picture, and the height of such a line.
_LETTERS = 52
_CLEAR = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}
_LINE = 0.16

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


Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn", str, str | None)


def for_both(draw: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Let a picture be drawn twice, for wide and for narrow pages; `is_narrow` tells which."""

    @functools.wraps(draw)
    def both(*asked: Arguments.args, **named: Arguments.kwargs) -> Drawn:
        wide = draw(*asked, **named)
        token = _IS_NARROW.set(True)
        try:
            narrow = draw(*asked, **named)
        finally:
            _IS_NARROW.reset(token)
        both = f'<div class="wide">{wide}</div>\n<div class="narrow">{narrow}</div>'
        return wide and narrow and both

    return both


def is_narrow() -> bool:
    """Tell whether the picture is drawn for a narrow page."""
    return _IS_NARROW.get()


def width() -> float:
    """Return the width of a picture that takes the page's."""
    return SMALL if is_narrow() else WIDE


def fitting(words: str) -> str:
    """Break a line that a narrow picture has no room for."""
    return textwrap.fill(words, _LETTERS) if is_narrow() else words


def rows_inches(labels: Sequence[str], inches: float) -> float:
    """Return how high rows with these labels are; `inches` is a row's height on a wide page."""
    if is_narrow():
        inches = 0.28 + _LINE * max((_broken(label).count("\n") + 1 for label in labels), default=1)
    return inches * len(labels)


def name_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Name rows, from the top: at the left; in a narrow picture above each.

    Between -0.25 and 0.25 around a row's place its marks are free of words there.
    """
    axes.set_ylim(len(labels) - 0.5, -0.75 if is_narrow() else -0.6)
    if not is_narrow():
        axes.set_yticks(range(len(labels)), labels)
        return
    axes.set_yticks(range(len(labels)), [""] * len(labels))
    for place, label in enumerate(labels):
        axes.text(
            0, place - 0.27, _broken(label), ha="left", va="bottom", color=INK,
            transform=axes.get_yaxis_transform(), linespacing=1.0, bbox=_CLEAR,
        )  # fmt: skip


def bar_height() -> float:
    """Return the height of a bar in rows that `name_rows` names."""
    return 0.45 if is_narrow() else 0.66


def _broken(label: str) -> str:
    return textwrap.fill(label, _LETTERS)


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
        most = int((_inches(axes) - _LINE_INCHES) / _LETTER_INCHES)
        made = axes.legend(
            handles,
            [textwrap.fill(label, most) for label in labels],
            loc="lower left",
            bbox_to_anchor=(0, 1.02 + (0.06 if axes.get_title(loc="left") else 0)),
            ncols=columns,
            borderaxespad=0,
            handlelength=1.4,
            columnspacing=1.4,
            labelspacing=0.3 if rows > 1 else 0.5,
        )
        for words, label in zip(made.get_texts(), labels, strict=True):
            words.set_label(label)


def _columns(axes: Axes, longest: int) -> int:
    """Columns of a legend that fit beside each other: what is too wide would be cut off."""
    return max(1, min(3, int(_inches(axes) / (_LINE_INCHES + longest * _LETTER_INCHES))))


def _inches(axes: Axes) -> float:
    made = axes.get_figure(root=True)
    assert made is not None, "axes are drawn in a figure"
    return float(made.get_figwidth())


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
    drawn = _own_references(numbered(_shorter(drawn)), f"{name}-narrow" if is_narrow() else name)
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
    """Let the page decide the size, up to one at which letters are not large; say what is shown."""
    view_box = re.search(r'viewBox="(\S+ \S+ (\S+) [^"]+)"', drawn)
    assert view_box is not None, "every figure has a view box"
    most = float(view_box[2]) * _PIXELS_A_POINT * _LARGEST
    escaped = description.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    tag = (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view_box[1]}" '
        f'style="max-width: {most:.0f}px" role="img" aria-label="{escaped}">'
    )
    return tag + drawn[drawn.index(">", drawn.index("<svg")) + 1 :]
