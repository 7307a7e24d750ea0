"""The uncertain numbers of a profile, each as a place from 0 to 1 of its range.

Numbers of one group share a place: they are one unknown. A place of a range with choices stands for
one of them; the emulators see them as steps of equal height, in the order in which they are listed,
and so take them as ordered. Left out: numbers without a range, and those that are not assumed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.experiment.ensemble import draw, ranges
from ssdlab.experiment.ensemble.ranges import Range
from ssdlab.ground.errors import SsdlabError

FloatArray = npt.NDArray[np.float64]
_STEPPED = ("steps", "choices")


@dataclass(frozen=True)
class Unknown:
    """One place that is looked for.

    Attributes
    ----------
    name
        The group of its ranges, or the key of its only one.
    ranges
        What the place is a place of.
    values
        The base profile's, in the same order.
    spare
        Over-provisioning that parity takes room from, as `draw.settings` takes it.
    """

    name: str
    ranges: tuple[Range, ...]
    values: tuple[Any, ...]
    spare: float | None = None

    @property
    def steps(self) -> int | None:
        """How many choices there are; None for a range without steps."""
        first = self.ranges[0]
        return len(first.limits) if first.form in _STEPPED else None

    @property
    def base(self) -> float:
        """Return the place of the base profile's value, or the one nearest to it."""
        first, value = self.ranges[0], self.values[0]
        if first.form == "choices":
            names = [str(each) for each in first.limits]
            return self._middle(names.index(str(value)) if str(value) in names else 0)
        if first.form == "steps":
            return self._middle(first.limits.index(1) if 1 in first.limits else 0)
        low, high = first.limits
        if first.form == "span":
            return min(max(float((float(value) - low) / (high - low)), 0.0), 1.0)
        return float(-math.log(low) / (math.log(high) - math.log(low)))

    def settings(self, place: float) -> Settings:
        """Return what a place sets."""
        return draw.settings(
            self.ranges,
            {each.key: place for each in self.ranges},
            {each.key: value for each, value in zip(self.ranges, self.values, strict=True)},
            spare=self.spare,
        )

    def show(self, place: float) -> str:
        """Write what a place stands for, for people."""
        return ", ".join(rounded(value) for _, value in self.settings(place))

    def _middle(self, step: int) -> float:
        assert self.steps is not None, "only ranges with steps have them"
        return (step + 0.5) / self.steps


@dataclass(frozen=True)
class Space:
    """All unknowns of a drive.

    Attributes
    ----------
    drive
        The base profile.
    fixed
        What is set on it besides.
    unknowns
        In the order of the columns of places.
    """

    drive: str
    fixed: Settings
    unknowns: tuple[Unknown, ...]

    @property
    def base(self) -> FloatArray:
        """Return the base profile's places."""
        return np.array([each.base for each in self.unknowns])

    def sobol(self, count: int, seed: int) -> FloatArray:
        """Return so many places all over the space, a row each."""
        first = [each.ranges[0] for each in self.unknowns]
        drawn = draw.draws(first, count, seed)
        return np.array([[point[each.key] for each in first] for point in drawn])

    def settings(self, places: FloatArray, but: Sequence[bool] = ()) -> Settings:
        """Return what a drive at these places sets.

        Parameters
        ----------
        places
            One of each unknown.
        but
            Unknowns that keep the base profile's value; none where it is empty.
        """
        set_to = dict(self.fixed)
        for number, (unknown, place) in enumerate(zip(self.unknowns, places, strict=True)):
            if not (but and but[number]):
                set_to.update(unknown.settings(float(place)))
        return tuple(set_to.items())

    def features(self, places: FloatArray) -> FloatArray:
        """Return what emulators see of places: steps become whole, from 0 to 1."""
        seen = np.array(places, dtype=float)
        for column, unknown in enumerate(self.unknowns):
            if unknown.steps is not None:
                step = np.minimum(np.floor(seen[:, column] * unknown.steps), unknown.steps - 1)
                seen[:, column] = step / (unknown.steps - 1)
        return seen

    def works(self, places: FloatArray) -> bool:
        """Tell whether there is a drive at these places; some have less spare than they need."""
        try:
            engine.show(self.drive, self.settings(places))
        except SsdlabError:
            return False
        return True


def rounded(setting: str) -> str:
    """Write a setting for people: a number with four digits at most.

    Examples
    --------
    >>> rounded("0.207294"), rounded("5505"), rounded("8 MiB"), rounded("greedy")
    ('0.2073', '5505', '8 MiB', 'greedy')
    """
    try:
        return f"{float(setting):.4g}"
    except ValueError:
        return setting


def space_of(drive: str, fixed: Settings = ()) -> Space:
    """Return the unknowns of a profile.

    Raises
    ------
    SsdlabError
        The drive is no profile, or assumes nothing that has a range.
    """
    # As it is, not `ranges.whole`: the profile that is written has the smaller capacity as its own.
    shown = engine.show(drive, fixed)
    if shown.get("drive_file") or shown.get("layers"):
        raise SsdlabError(
            f"--drive {drive}: only a profile can be fitted\n"
            "give the name of a profile, or one of your own (my.toml)"
        )
    known = ranges.with_own(ranges.known(), ranges.own(shown["name"]))
    values = ranges.of_drive(shown, known)
    if not values:
        raise SsdlabError(
            f"--drive {drive}: it assumes nothing that could be fitted\ngive another drive"
        )
    uncertain = [each for each in known if each.key in values]
    groups = dict.fromkeys(each.group for each in uncertain)
    spare = ranges.spare(shown)
    unknowns = tuple(_unknown(group, uncertain, values, spare) for group in groups)
    return Space(drive, fixed, unknowns)


def _unknown(
    group: str, uncertain: Sequence[Range], values: dict[str, Any], spare: float | None
) -> Unknown:
    members = tuple(each for each in uncertain if each.group == group)
    return Unknown(group, members, tuple(values[each.key] for each in members), spare)
