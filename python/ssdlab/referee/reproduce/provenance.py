"""Where the parameters behind a figure come from, and what was fitted to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.ground import text
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

Parameters = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Fitted:
    """A parameter that was fitted.

    Attributes
    ----------
    drive
        Its profile.
    key, value
        The parameter.
    source
        To what.
    """

    drive: str
    key: str
    value: str
    source: str


def kinds(row: JudgedRow, drives: Mapping[str, Parameters]) -> dict[str, str]:
    """Return where each parameter that decides a row comes from, in every drive it rests on."""
    found: dict[str, dict[str, None]] = {}
    for profile, parameters in drives.items():
        for key in row.decided_by if row.profile in ("", profile) else ():
            if key in parameters:
                found.setdefault(key, {})[str(parameters[key]["kind"])] = None
    return {key: "/".join(each) for key, each in found.items()}


def fitted(results: Sequence[Results], others: Sequence[Fitted] = ()) -> list[Fitted]:
    """Return every fitted parameter of every profile that was run, and others."""
    found = {(each.drive, each.key): each for each in others}
    for each in results:
        for profile, parameters in each.parameters().items():
            for key, parameter in parameters.items():
                if parameter["kind"] == "fitted":
                    value = text.with_unit(str(parameter["text"]), str(parameter["unit"] or ""))
                    found[profile, key] = Fitted(profile, key, value, str(parameter["source"]))
    return [found[place] for place in sorted(found)]
