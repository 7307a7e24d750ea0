"""Draws of an ensemble: a point of a Sobol sequence each, scrambled by the seed.

Every range has a dimension of its own (a group has one), in the same order for all drives. So draw
k of one drive and draw k of another assume alike, and a ratio of the two is surer than its terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.ensemble.ranges import Range
from ssdlab.request import Settings

Draw = dict[str, float]
"""Places from 0 to 1 by key."""


def draws(ranges: Sequence[Range], count: int, seed: int) -> list[Draw]:
    """Return so many draws of all ranges.

    Examples
    --------
    >>> low = Range("a", "span", (0, 1), "both", "")
    >>> high = Range("b", "span", (0, 1), "both", "")
    >>> [draw["a"] == draw["b"] for draw in draws([low, high], 3, 1)]
    [True, True, True]
    """
    from scipy.stats.qmc import Sobol  # here: it takes as long to load as a short run

    groups = list(dict.fromkeys(each.group for each in ranges))
    # A sequence of a power of two is balanced; its beginning is what is used.
    power = max(count - 1, 1).bit_length()
    points = Sobol(len(groups), scramble=True, seed=seed).random_base2(power)[:count]
    return [
        {each.key: float(point[groups.index(each.group)]) for each in ranges} for point in points
    ]


def settings(ranges: Sequence[Range], draw: Draw, values: Mapping[str, Any]) -> Settings:
    """Return what a draw sets on a drive with these uncertain values."""
    found = [
        (each.key, each.at(draw[each.key], values[each.key]))
        for each in ranges
        if each.key in values
    ]
    return tuple((key, value) for key, value in found if value is not None)
