"""Factors of a study: lists and ranges, whose levels are crossed, and samples of ranges.

A level sets one key or several at once. A grid has every combination of levels. A sample has so
many places of the unit cube (Sobol or Latin hypercube, SciPy's `qmc`), stretched over the ranges
that have no steps of their own; where there are lists too, each place meets each of their levels.
A constraint holds where one of its alternatives does. Left out: adaptive designs.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Level = Mapping[str, Any]
"""Values by key, set together."""

METHODS = ("sobol", "lhs")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda value, among: value in among,
    "not in": lambda value, among: value not in among,
}


@dataclass(frozen=True)
class FactorRange:
    """Numbers between two ends.

    Attributes
    ----------
    low, high
        The ends, which belong to it.
    whole
        Only whole numbers.
    log
        Equal steps are equal ratios.
    """

    low: float
    high: float
    whole: bool
    log: bool

    def at(self, place: float) -> int | float:
        """Return the number at a place from 0 to 1.

        Examples
        --------
        >>> FactorRange(1, 256, True, True).at(0.5), FactorRange(0.0, 1.0, False, False).at(0.25)
        (16, 0.25)
        """
        if self.log:
            found = self.low * (self.high / self.low) ** place
        else:
            found = self.low + place * (self.high - self.low)
        # Six digits: the same number on every machine, and one that people can type.
        return round(found) if self.whole else float(f"{found:.6g}")

    def steps(self, count: int) -> list[int | float]:
        """Return so many numbers from end to end; whole ones that meet are one."""
        places = (step / max(count - 1, 1) for step in range(count))
        return list(dict.fromkeys(self.at(place) for place in places))


@dataclass(frozen=True)
class Factor:
    """What is varied.

    Attributes
    ----------
    name
        The key, or what a group of keys is called.
    levels
        What it is set to; empty where it is sampled.
    span
        The range that is sampled; None where there are levels.
    """

    name: str
    levels: tuple[Level, ...] = ()
    span: FactorRange | None = None

    @property
    def keys(self) -> list[str]:
        """The keys that it sets."""
        # All levels of a factor set the same ones (`strict.py`).
        return list(self.levels[0]) if self.levels else [self.name]


@dataclass(frozen=True)
class Sample:
    """How ranges without steps are sampled.

    Attributes
    ----------
    method
        One of `METHODS`.
    points
        How many places.
    seed
        Of the scrambling.
    """

    method: str
    points: int
    seed: int = 1

    def places(self, dimensions: int) -> list[list[float]]:
        """Return places in the unit cube, one list each."""
        from scipy.stats import qmc  # here: it takes as long to load as a short run

        if self.method == "lhs":
            drawn = qmc.LatinHypercube(dimensions, seed=self.seed).random(self.points)
        else:
            # A Sobol sequence of a power of two is balanced; its beginning is what is used.
            power = math.ceil(math.log2(self.points)) if self.points > 1 else 0
            drawn = qmc.Sobol(dimensions, scramble=True, seed=self.seed).random_base2(power)
        return [[float(place) for place in row] for row in drawn[: self.points]]


@dataclass(frozen=True)
class Term:
    """A comparison, such as over-provisioning < 0.3; the right side may be another factor."""

    key: str
    sign: str
    value: Any

    def holds(self, level: Level) -> bool:
        """Tell whether it holds; of a key that the combination does not set it does."""
        if self.key not in level:
            return True
        is_key = isinstance(self.value, str) and self.value in level
        other = level[self.value] if is_key else self.value
        return OPERATORS[self.sign](level[self.key], other)


Constraint = tuple[Term, ...]
"""Alternatives: it holds where one of them does."""


def combinations(
    factors: Sequence[Factor], sample: Sample | None, constraints: Sequence[Constraint] = ()
) -> Iterator[dict[str, Any]]:
    """Give every combination that the constraints leave, the last factor varying fastest.

    Examples
    --------
    >>> size = Factor("size", ({"size": 1}, {"size": 2}))
    >>> kind = Factor("kind", ({"kind": "a"}, {"kind": "b"}))
    >>> not_both = (Term("size", "==", 1), Term("kind", "==", "a"))
    >>> [each["kind"] for each in combinations([size, kind], None, [not_both])]
    ['a', 'b', 'a']
    """
    sampled = [each for each in factors if each.span is not None]
    lists = [each for each in factors if each.span is None]
    places = sample.places(len(sampled)) if sample and sampled else [[]]
    for place in places:
        drawn = {
            each.name: each.span.at(at)
            for each, at in zip(sampled, place, strict=True)
            if each.span is not None
        }
        for levels in itertools.product(*(each.levels for each in lists)):
            found = {**drawn, **{key: value for level in levels for key, value in level.items()}}
            if all(any(term.holds(found) for term in each) for each in constraints):
                yield found
