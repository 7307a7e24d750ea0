"""Draws of an ensemble: a point of a Sobol sequence each, scrambled by the seed.

Every range has a dimension of its own (a group has one), in the same order for all drives. So draw
k of one drive and draw k of another assume alike, and a ratio of the two is surer than its terms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.engine.request import Settings
from ssdlab.experiment.ensemble.ranges import Range, known, with_own
from ssdlab.experiment.ensemble.ranges import own as ranges_of_its_own

_STRIPE = "ftl.parity_stripe_pages"

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

    if not ranges:
        return [{} for _ in range(count)]
    groups = list(dict.fromkeys(each.group for each in ranges))
    # A sequence of a power of two is balanced; its beginning is what is used.
    power = max(count - 1, 1).bit_length()
    points = Sobol(len(groups), scramble=True, seed=seed).random_base2(power)[:count]
    return [
        {each.key: float(point[groups.index(each.group)]) for each in ranges} for point in points
    ]


def draws_of(drive: str, count: int, seed: int) -> tuple[list[Range], list[Draw]]:
    """Return the ranges that may apply to a drive, and so many draws of them.

    Its own ranges are drawn apart, so the others are drawn as for all drives.
    """
    general, own = known(), ranges_of_its_own(drive)
    pairs = zip(draws(general, count, seed), draws(own, count, seed), strict=True)
    return with_own(general, own), [common | apart for common, apart in pairs]


def settings(
    ranges: Sequence[Range],
    draw: Draw,
    values: Mapping[str, Any],
    stacked: Sequence[str] = (),
    spare: float | None = None,
) -> Settings:
    """Return what a draw sets on a drive with these uncertain values.

    Parameters
    ----------
    stacked
        The layers over the drive, whose own numbers are left to `layers`.
    spare
        The drive's over-provisioning, of which parity takes half at most; None where it takes none.
    """
    kinds = set(_kinds(stacked))
    found = [
        (each.key, each.at(draw[each.key], values[each.key]))
        for each in ranges
        if each.key in values and each.key.partition(".")[0] not in kinds
    ]
    return tuple(
        (key, _longer(value, spare) if key == _STRIPE else value)
        for key, value in found
        if value is not None
    )


def _longer(stripe: str, spare: float | None) -> str:
    """Return a stripe of parity that leaves half the spare, as the Intel SSD 320 does.

    Its source is AnandTech 4244; a page in N is spare · 1/(1 + spare) / 2 of all at most.
    """
    if stripe == "none" or not spare:
        return stripe
    return str(max(int(stripe), math.ceil(2 * (1 + spare) / spare)))


def layers(
    ranges: Sequence[Range], draw: Draw, values: Mapping[str, Any], stacked: Sequence[str]
) -> tuple[str, ...]:
    """Return the layers over a drive, with what a draw sets on them.

    Examples
    --------
    >>> slower = Range("raid.request_us", "factors", (2, 2), "slower", "")
    >>> layers([slower], {"raid.request_us": 0.5}, {"raid.request_us": "5"}, ["raid:level=5"])
    ('raid:level=5,request_us=10',)
    """
    return tuple(
        _with(text, _of_layer(kind, ranges, draw, values))
        for text, kind in zip(stacked, _kinds(stacked), strict=True)
    )


def _kinds(stacked: Sequence[str]) -> list[str]:
    return [text.partition(":")[0] for text in stacked]


def _of_layer(
    kind: str, ranges: Sequence[Range], draw: Draw, values: Mapping[str, Any]
) -> list[str]:
    found = [
        (each.key.partition(".")[2], each.at(draw[each.key], values[each.key]))
        for each in ranges
        if each.key in values and each.key.partition(".")[0] == kind
    ]
    return [f"{name}={value}" for name, value in found if value is not None]


def _with(text: str, options: Sequence[str]) -> str:
    if not options:
        return text
    return text + ("," if ":" in text else ":") + ",".join(options)
