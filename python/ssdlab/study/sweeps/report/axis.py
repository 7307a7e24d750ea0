"""Where a factor's levels lie across a chart: numbers by their size, texts in their order.

A text that is a number with a unit, such as ``128k``, ``4 KiB`` or ``7 %``, is a number. The axis
is logarithmic where that parts the two nearest levels by more of its length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from ssdlab.study.sweeps.report.effects import label

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:(%)|([kmgt]?)(i?)(b?))", re.IGNORECASE)
_LETTER_INCHES, _BETWEEN_INCHES = 0.08, 0.08
_LONGEST = 18
_MOST_UPRIGHT = 28
"""Letters of all labels together that stand beside each other in a panel."""


@dataclass(frozen=True)
class Across:
    """The levels of a factor on an axis.

    Attributes
    ----------
    levels
        From left to right.
    numbers
        Their sizes; None where they are texts.
    """

    levels: Sequence[Any]
    numbers: Sequence[float] | None

    @classmethod
    def of(cls, levels: Sequence[Any]) -> Across:
        """Order levels.

        Examples
        --------
        >>> Across.of(["16k", "4k", "1m"]).levels
        ['4k', '16k', '1m']
        >>> Across.of(["greedy", "fifo"]).numbers
        """
        known = [(number, level) for level in levels if (number := _number(level)) is not None]
        if len(known) < len(levels) or len({number for number, _ in known}) < len(levels):
            return cls(list(levels), None)
        known.sort(key=lambda each: each[0])
        return cls([level for _, level in known], [number for number, _ in known])

    @property
    def is_log(self) -> bool:
        """Whether equal steps are equal ratios.

        Examples
        --------
        >>> Across.of([1, 2, 4, 8]).is_log, Across.of([1, 2, 3, 4]).is_log, Across.of([0, 9]).is_log
        (True, False, False)
        """
        if self.numbers is None or self.numbers[0] <= 0:
            return False
        return _least_gap(self.numbers, math.log) > 1.001 * _least_gap(self.numbers, float)

    def place(self, level: Any) -> float:
        """Return where a level is; one that stands for a group of numbers may lie between."""
        if self.numbers is None:
            return self.levels.index(level)
        number = _number(level)
        assert number is not None, "all levels of a factor of numbers are numbers"
        return number

    def draw(self, axes: Axes, inches: float) -> None:
        """Give the axis its scale, and its ticks, as many as have room in so many inches."""
        labels = [_short(label(level)) for level in self.levels]
        if self.numbers is None:
            turned = sum(map(len, labels)) > _MOST_UPRIGHT
            axes.set_xticks(range(len(labels)), labels, rotation=30 if turned else 0)
            if turned:
                for each in axes.get_xticklabels():
                    each.set_horizontalalignment("right")
            return
        if self.is_log:
            axes.set_xscale("log")
        kept = _with_room(self._shares(), labels, inches)
        axes.set_xticks([self.numbers[at] for at in kept], [labels[at] for at in kept])
        axes.xaxis.set_minor_locator(NullLocator())

    def _shares(self) -> list[float]:
        """Return the places as shares of the axis."""
        assert self.numbers is not None, "texts have no size"
        scaled = [math.log(each) if self.is_log else each for each in self.numbers]
        return [(each - scaled[0]) / ((scaled[-1] - scaled[0]) or 1.0) for each in scaled]


def _number(level: Any) -> float | None:
    """Return a level as a number; None for one that is none.

    Examples
    --------
    >>> _number(3), _number("4k"), _number("1 MB"), _number("7%"), _number(True), _number("used")
    (3.0, 4096.0, 1000000.0, 0.07, None, None)
    """
    if isinstance(level, int | float) and not isinstance(level, bool):
        return float(level)
    found = _SIZE.fullmatch(level) if isinstance(level, str) else None
    if found is None:
        return None
    digits, percent, prefix, binary, byte = found.groups()
    if percent:
        return float(digits) / 100
    # Without a B it is fio's, whose k is 1024.
    step = 1000 if byte and not binary else 1024
    return float(digits) * float(step ** " kmgt".index(prefix.lower() or " "))


def _least_gap(numbers: Sequence[float], scaled: Callable[[float], float]) -> float:
    """Return the least distance of neighbours as a share of the whole; 1 for a single number."""
    places = [scaled(each) for each in numbers]
    gaps = [after - before for before, after in zip(places, places[1:], strict=False)]
    return min(gaps, default=1.0) / (sum(gaps) or 1.0)


def _short(words: str) -> str:
    return words if len(words) < _LONGEST else words[: _LONGEST - 2] + "…"


def _with_room(shares: Sequence[float], labels: Sequence[str], inches: float) -> list[int]:
    """Return which labels stand beside each other; the last one always does.

    Examples
    --------
    >>> _with_room([0.0, 0.01, 0.5, 0.98, 1.0], ["1", "2", "50", "98", "100"], 2.5)
    [0, 2, 4]
    """

    def room(left: int, right: int) -> bool:
        needed = (len(labels[left]) + len(labels[right])) / 2 * _LETTER_INCHES + _BETWEEN_INCHES
        return (shares[right] - shares[left]) * inches >= needed

    last = len(shares) - 1
    kept = [0] if last else []
    for at in range(1, last):
        if room(kept[-1], at) and room(at, last):
            kept.append(at)
    return [*kept, last]
