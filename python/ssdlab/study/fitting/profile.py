"""The profile that a fit writes: the base's numbers, and those that the measurements determine.

A number that was fitted says to what, and its 90 % interval; one that was not determined keeps its
value and says so. All else stays as it is in the base profile, with its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab import engine
from ssdlab.study.fitting.measurement import Measurement
from ssdlab.study.fitting.point import Estimate, FittedDrive
from ssdlab.study.fitting.unknowns import Space, rounded
from ssdlab.study.profile_file import DEFAULT, SET, document, entry


def profile_text(
    space: Space, point: FittedDrive, fitted: Sequence[Measurement], where: Sequence[str]
) -> str:
    """Write a profile.

    Parameters
    ----------
    space
        Of the unknowns.
    point
        The fitted drive.
    fitted
        What it was fitted to.
    where
        The files that this came from.
    """
    shown = engine.show(space.drive, space.fixed)
    several = "measurement" if len(fitted) == 1 else "measurements"
    to = f"{len(fitted)} {several} of {', '.join(where)}"
    title = f"{shown['title']}, fitted"
    summary = f"{shown['summary']}; fitted to {to}"
    changed = dict(_changed(space, point, to))
    return document(title, summary, shown, lambda each: changed.get(each["key"]) or _kept(each))


def interval(estimate: Estimate) -> str:
    """Write a 90 % interval."""
    low, high = estimate.unknown.show(estimate.low), estimate.unknown.show(estimate.high)
    return low if low == high else f"{low} to {high}"


def _changed(space: Space, point: FittedDrive, to: str) -> Iterator[tuple[str, str]]:
    """Give the entries of the unknowns by key."""
    for estimate in point.estimates:
        unknown = estimate.unknown
        settings = dict(unknown.settings(estimate.place))
        lows, highs = dict(unknown.settings(estimate.low)), dict(unknown.settings(estimate.high))
        for each, value in zip(unknown.ranges, unknown.values, strict=True):
            low, high = rounded(lows[each.key]), rounded(highs[each.key])
            within = f"{low} to {high}" if low != high else low
            if not estimate.fitted:
                source = f"not determined by {to}; plausible: {within} (90 %); {each.reason}"
                yield each.key, entry(value, "assumed", source)
                continue
            alone = "" if estimate.determined else "; determined only together with others"
            source = f"to {to}, 90 % interval {within}{alone}"
            yield each.key, entry(settings[each.key], "fitted", source)


def _kept(shown: Mapping[str, Any]) -> str | None:
    """Return the entry of a number as the base has it; None for a default."""
    if shown["kind"] == SET:
        return entry(shown["value"], "assumed", "set when it was fitted")
    if shown["source"] == DEFAULT:
        return None
    return entry(shown["value"], shown["kind"], str(shown["source"]))
