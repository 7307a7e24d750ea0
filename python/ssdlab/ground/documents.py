"""What the documents state: their figures, with document and place.

The figures are facts in ``data/documents/*.toml``, one file a document. A ratio is made of two
figures of one document, or stated by it as such.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ssdlab.ground import text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_OF_UNIT = {"share": lambda value: text.percent(value, 0), "×": lambda value: f"× {value:g}"}


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes
    ----------
    name
        Its file's name, by which figures are asked for.
    title, about
        For people.
    figures
        By name.
    """

    name: str
    title: str
    about: str
    figures: Mapping[str, StatedFigure]


@dataclass(frozen=True)
class StatedFigure:
    """A figure of a document.

    Attributes
    ----------
    document
        The document's title.
    place
        Where in it.
    value, unit
        The figure.
    kind
        ``measured``, ``claim``, ``spec``, or ``parameter``: how the document measured.
    about
        What it is a figure of.
    unjudged
        Why no row asks for it; empty where one does.
    """

    document: str
    place: str
    value: float
    unit: str
    kind: str
    about: str
    unjudged: str = ""

    @property
    def rounding(self) -> float:
        """Relative standard deviation that its digits leave: a step of the last over √12.

        A whole figure of some unit has steps of one, and of ten for each zero at its end beyond the
        second digit; a ratio has two digits.

        Examples
        --------
        >>> pairs = (5, "s"), (2.5, "×")
        >>> figures = [StatedFigure("", "", *pair, "", "") for pair in pairs]
        >>> [round(each.rounding * 12**0.5, 4) for each in figures]
        [0.2, 0.04]
        """
        return _step(self.value, self.unit) / math.sqrt(12) / abs(self.value) if self.value else 0.0

    def __str__(self) -> str:
        """Write the figure with its unit."""
        if self.unit in _OF_UNIT:
            return _OF_UNIT[self.unit](self.value)
        return f"{text.significant(self.value, 4)} {self.unit}"


def _step(value: float, unit: str) -> float:
    """Return what the last digit of a figure counts."""
    second_digit: float = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    if unit in _OF_UNIT:
        return second_digit
    if not float(value).is_integer():
        return float(10.0 ** -len(repr(float(value)).partition(".")[2]))
    whole = str(abs(int(value)))
    zeros = len(whole) - len(whole.rstrip("0"))
    return max(1.0, min(10.0**zeros, second_digit))


@dataclass(frozen=True)
class Stated:
    """A ratio that a document states, or that two of its figures make.

    Attributes
    ----------
    value
        The ratio.
    text
        How it comes about.
    document, place
        Where it stands.
    rounding
        Relative standard deviation that the digits of its figures leave.
    """

    value: float
    text: str
    document: str
    place: str
    rounding: float = 0.0

    @classmethod
    def of(cls, figure: StatedFigure, base: StatedFigure | None = None) -> Stated:
        """Return a figure divided by another, or one that is a ratio by itself."""
        if base is None:
            return cls(figure.value, str(figure), figure.document, figure.place, figure.rounding)
        shown = f"{text.significant(figure.value)} / {text.significant(base.value)} {base.unit}"
        ratio = figure.value / base.value
        place = ", ".join(dict.fromkeys((figure.place, base.place)))
        rounding = math.hypot(figure.rounding, base.rounding)
        return cls(ratio, f"{shown} = {ratio:.2f}", figure.document, place, rounding)


@cache
def by_name() -> dict[str, Document]:
    """Return every document, by name."""
    found = {}
    for file in sorted(resources.files("ssdlab.data").joinpath("documents").iterdir(), key=str):
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            found[name] = _document(name, tomllib.loads(file.read_text("utf-8")))
    return found


def _document(name: str, content: Mapping[str, Any]) -> Document:
    title = str(content["title"])
    figures = {key: StatedFigure(document=title, **each) for key, each in content["figure"].items()}
    return Document(name, title, str(content["about"]), figures)


def figure(document: str, name: str) -> StatedFigure:
    """Return a figure.

    Examples
    --------
    >>> str(figure("anandtech", "fresh_hdd")), figure("anandtech", "fresh_hdd").place
    ('29,880 score', 'table')
    """
    return by_name()[document].figures[name]


def ratio(document: str, name: str, base: str | None = None) -> Stated:
    """Return a ratio that a document states, or a figure divided by a base.

    Examples
    --------
    >>> ratio("anandtech", "recipe_hdd", "fresh_hdd").text
    '23,300 / 29,900 score = 0.78'
    >>> ratio("thomas-krenn", "spare_10_gain").text
    '× 2.5'
    """
    return Stated.of(figure(document, name), None if base is None else figure(document, base))
