"""What a picture tells where one points at it: exact values as SVG titles, and series by number.

Each point of a line gets a transparent circle, and each bar a transparent rectangle, with the value
as its ``<title>``: a browser shows it without any script, and nothing of it is printed. A circle
reaches half the way to its neighbour, so that the middle of a point always tells that point. Lines
and entries of the legend carry the number of their series, by which `hover.js` puts a series away.

Left out: bars in three dimensions, which hide each other; what they show stands in a table. A line
of many points has a circle at some of them (`MOST_MARKS`), its highest and its lowest among these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

Say = Callable[[float], str]
"""Writes a value with its unit."""
MOST_MARKS = 60
"""Points of a line that tell their value; of more, as many at equal distances, and the extremes."""
_POINTS_AN_INCH = 72
_WIDEST, _NARROWEST = 7.0, 1.5
"""Radius of a circle in points, of which a page shows about 1.2 pixels each."""
_NAMED = re.compile(r'<g id="(series|key)-(\d+)">')


@dataclass(frozen=True)
class Mark:
    """A place that tells something: a point, or a bar of some width and height.

    Attributes
    ----------
    axes
        In which it is drawn.
    corners
        In units of the data: the point, or two opposite corners of a bar.
    title
        What it tells.
    """

    axes: Axes
    corners: tuple[tuple[float, float], ...]
    title: str


@dataclass
class Marks:
    """The marks of a picture by series, collected while it is drawn."""

    series: dict[str, list[Mark]] = field(default_factory=dict)

    def line(self, line: Line2D, places: Sequence[str], say: Say) -> None:
        """Let the points of a line tell their values.

        Parameters
        ----------
        line
            As it was drawn; its label names the series.
        places
            Where each point is, in words.
        say
            Writes a value.
        """
        name = self._take(line, str(line.get_label()))
        across, values = (np.asarray(each, float) for each in line.get_data())
        for number in _chosen(values):
            x, y = float(across[number]), float(values[number])
            title = f"{_place(places[number], name)}: {say(y)}"
            self._add(name, Mark(_axes_of(line), ((x, y),), title))

    def bars(self, bars: BarContainer, places: Sequence[str], say: Say) -> None:
        """Let bars tell their heights; see `line`."""
        name = str(bars.get_label())
        for bar, place in zip(bars.patches, places, strict=True):
            self._take(bar, name)
            if np.isfinite(bar.get_height()):
                title = f"{_place(place, name)}: {say(bar.get_height())}"
                (left, bottom), (right, top) = bar.get_bbox().get_points()
                self._add(name, Mark(_axes_of(bar), ((left, bottom), (right, top)), title))

    def level(self, line: Line2D, name: str, across: float, title: str) -> None:
        """Let a line right across tell its height at one place."""
        self._take(line, name)
        height = float(np.asarray(line.get_ydata(), float)[0])
        self._add(name, Mark(_axes_of(line), ((across, height),), title))

    def _take(self, artist: Any, name: str) -> str:
        self.series.setdefault(name, [])
        artist.set_gid(f"series-{list(self.series).index(name)}")
        return name

    def _add(self, name: str, mark: Mark) -> None:
        self.series[name].append(mark)

    def name_keys(self, made: Figure) -> None:
        """Give the entries of legends the numbers of their series; call it before drawing."""
        names = list(self.series)
        for legend in filter(None, (axes.get_legend() for axes in made.axes)):
            for handle, words in zip(legend.legend_handles, legend.get_texts(), strict=True):
                # Words that were broken into lines keep the whole as their label.
                name = words.get_label() or words.get_text()
                if handle is not None and name in names:
                    number = names.index(name)
                    handle.set_gid(f"key-{number}")
                    words.set_gid(f"key-{number}")

    def put_into(self, drawn: str, made: Figure) -> str:
        """Return the picture, whose groups are numbered by `numbered`, with its marks on top."""
        on_top = "".join(_group(*each) for each in self._placed(made))
        return drawn.replace("</svg>", f"{on_top}</svg>")

    def _placed(self, made: Figure) -> Iterator[tuple[int, list[str]]]:
        """Give each series' number with its marks as SVG."""
        all_marks = [mark for marks in self.series.values() for mark in marks]
        spots = iter(_spots(made, all_marks))
        for number, marks in enumerate(self.series.values()):
            shapes = [_shape(next(spots), mark.title) for mark in marks]
            if any(shapes):
                yield number, list(filter(None, shapes))


def numbered(drawn: str) -> str:
    """Turn the names that were given to series and entries of the legend into attributes."""
    return _NAMED.sub(r'<g data-\1="\2">', drawn)


def _axes_of(artist: Any) -> Axes:
    axes: Axes = artist.axes
    return axes


def _place(place: str, name: str) -> str:
    """Name the place and the series; one without a label of ours has no name."""
    return place if not name or name.startswith("_") else f"{place}, {name}"


def _chosen(values: Any) -> list[int]:
    """Return which points of a line have a mark.

    Examples
    --------
    >>> len(_chosen(np.ones(60))), len(_chosen(np.sin(np.arange(1000.0)))) in (60, 61, 62)
    (60, True)
    """
    known = np.flatnonzero(np.isfinite(values))
    if len(known) <= MOST_MARKS:
        return [int(number) for number in known]
    evenly = known[np.linspace(0, len(known) - 1, MOST_MARKS).round().astype(int)]
    extremes = known[[np.argmin(values[known]), np.argmax(values[known])]]
    return sorted({int(number) for number in (*evenly, *extremes)})


_Spot = tuple[Any, float]
"""Corners in points from the top left, and how far one may reach."""


def _spots(made: Figure, marks: Sequence[Mark]) -> list[_Spot]:
    corners = [_in_points(made, mark) for mark in marks]
    middles = np.array([each.mean(axis=0) for each in corners]).reshape(-1, 2)
    return [(each, _reach(middle, middles)) for each, middle in zip(corners, middles, strict=True)]


def _in_points(made: Figure, mark: Mark) -> Any:
    """Return where a mark is, whatever the resolution: layout is in shares of the picture.

    What lies outside is nowhere: zero among decades.
    """
    way = mark.axes.transData + made.transFigure.inverted()
    width, height = (_POINTS_AN_INCH * float(inches) for inches in made.get_size_inches())
    with np.errstate(all="ignore"):
        shares = way.transform(np.array(mark.corners, float))
    inside = (shares >= 0) & (shares <= 1)
    return np.where(inside.all(), shares * (width, -height) + (0, height), np.nan)


def _reach(middle: Any, middles: Any) -> float:
    """Return half the distance to the nearest other point, within limits."""
    apart = np.hypot(*(middles - middle).T)
    others = apart[(apart > 0) & np.isfinite(apart)]
    return float(np.clip(others.min(initial=np.inf) / 2, _NARROWEST, _WIDEST))


def _shape(spot: _Spot, title: str) -> str:
    """Return a mark; nothing for one that is nowhere."""
    corners, reach = spot
    if not np.isfinite(corners).all():
        return ""
    words = f"<title>{escape(title, quote=False)}</title>"
    if len(corners) == 1:
        x, y = (f"{each:.1f}" for each in corners[0])
        return f'<circle cx="{x}" cy="{y}" r="{reach:.1f}">{words}</circle>'
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect x="{left:.1f}" y="{top:.1f}" {size}>{words}</rect>'


def _group(number: int, shapes: Sequence[str]) -> str:
    """Return a series' marks, which are not seen, but felt."""
    inner = "\n".join(shapes)
    return f'<g data-series="{number}" fill="none" pointer-events="all">\n{inner}\n</g>\n'
