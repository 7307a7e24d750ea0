"""Ranges of assumed numbers (`data/ranges.toml`), and those of a drive (`data/drive_ranges.toml`).

A number is uncertain where a profile says that it is assumed, and a range is known for it. Left
out: numbers that were fitted, whose uncertainty follows from others, and correlation beyond groups.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLLOWS = "follows from capacity_bytes"
_FORMS = ("factors", "span", "steps", "choices")


@dataclass(frozen=True)
class Range:
    """Where a number may lie.

    Attributes
    ----------
    key
        Of the parameter, as `--set` takes it.
    form
        How `limits` are meant: factors, span, steps or choices, as `data/ranges.toml` tells.
    limits
        Two ends, or what is chosen from.
    group
        Ranges of one group are drawn together.
    reason
        Why it is plausible.
    """

    key: str
    form: str
    limits: tuple[Any, ...]
    group: str
    reason: str

    def at(self, place: float, value: Any) -> str | None:
        """Return what stands at a place of the range, from 0 up to 1, as `--set` takes it.

        Parameters
        ----------
        place
            0 for the lower end or the first choice.
        value
            The profile's; None is returned where it is no number and the range is relative to it.

        Examples
        --------
        >>> Range("nand.read_us", "factors", (0.5, 2.0), "", "").at(0.5, 80)
        '80'
        >>> Range("buffer.bytes", "steps", (0.5, 1, 2), "", "").at(0.9, "32 MiB")
        '64 MiB'
        """
        if self.form == "choices":
            return str(self._chosen(place))
        if self.form == "span":
            low, high = self.limits
            return f"{low + place * (high - low):.6g}"
        if self.form == "steps":
            return _times(value, self._chosen(place))
        low, high = (math.log(limit) for limit in self.limits)
        return _times(value, math.exp(low + place * (high - low)))

    def upwards(self) -> str:
        """Name what lies at the upper end, where the key alone does not say which way is up."""
        return f"{self.key} → {self.limits[-1]}" if self.form == "choices" else self.key

    def _chosen(self, place: float) -> Any:
        return self.limits[min(int(place * len(self.limits)), len(self.limits) - 1)]


def known(file: str = "ranges.toml") -> list[Range]:
    """Return all ranges of a file in ``data``, in the order in which they are drawn."""
    return [_range(entry) for entry in _entries(file)]


def own(drive: str) -> list[Range]:
    """Return the ranges of one drive alone, which replace those of all with the same key."""
    entries = _entries("drive_ranges.toml")
    return [_range(entry) for entry in entries if entry["drive"] == drive]


def of_drive(shown: Mapping[str, Any], ranges: Sequence[Range]) -> dict[str, Any]:
    """Return the values of a drive's uncertain numbers by key; none of `theory`, a definition.

    Parameters
    ----------
    shown
        What `whole` returned.
    ranges
        Those that are known.
    """
    if shown["name"] == "theory":
        return {}
    assumed = {
        each["key"]: each["value"] for each in shown["parameters"] if each["kind"] == "assumed"
    }
    return {
        each.key: assumed[each.key]
        for each in ranges
        if each.key in assumed and each.at(0.5, assumed[each.key]) is not None
    }


def whole(drive: str, settings: Settings, layers: Sequence[str] = ()) -> dict[str, Any]:
    """Show a drive as its assumed numbers are meant: of a smaller capacity, the whole drive.

    A smaller drive has spare and caches that follow from the whole one's, so those are drawn.
    """
    shown = engine.show(drive, settings, layers)
    if not any(each["source"].startswith(_FOLLOWS) for each in shown["parameters"]):
        return shown
    others = tuple(pair for pair in settings if pair[0] != "capacity_bytes")
    return engine.show(drive, others, layers)


def with_own(ranges: Sequence[Range], own: Sequence[Range]) -> list[Range]:
    """Return all ranges of a drive that has ranges of its own."""
    replaced = {each.key for each in own}
    return [*(each for each in ranges if each.key not in replaced), *own]


def spare(shown: Mapping[str, Any]) -> float | None:
    """Return the over-provisioning of a drive that parity takes room from; None for others."""
    values = parameters(shown)
    if values.get("ftl.spare_counts") != "all" or values.get("over_provisioning") is None:
        return None
    return float(values["over_provisioning"])


def _entries(file: str) -> list[dict[str, Any]]:
    text = resources.files("ssdlab").joinpath(f"data/{file}").read_text("utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["range"]
    return entries


def _range(entry: Mapping[str, Any]) -> Range:
    (form,) = (form for form in _FORMS if form in entry)
    group = entry.get("group", entry["key"])
    return Range(entry["key"], form, tuple(entry[form]), group, entry["reason"])


def _times(value: Any, factor: float) -> str | None:
    """Multiply a number, a list, or a quantity such as ``32 MiB``; what is whole stays whole."""
    if isinstance(value, list):
        return json.dumps([float(f"{each * factor:.6g}") for each in value])
    number, _, unit = str(value).partition(" ")
    try:
        whole = not isinstance(value, float) and float(number).is_integer() and float(number) >= 8
        product = float(number) * factor
    except ValueError:
        return None
    return f"{round(product) if whole else product:.6g}" + (f" {unit}" if unit else "")
