"""What the drives of a report are made of, and where each number comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.ground import text
from ssdlab.report.runs import Run

KINDS = {
    "datasheet": "the maker's data sheet",
    "measured": "measured on a drive",
    "published": "published by a third party",
    "assumed": "assumed; typical of such parts",
    "fitted": "fitted to a figure, which it therefore does not predict",
    "set": "set for this run",
}
"""What each kind of source means."""


ParameterRow = tuple[str, str, str, str, str]
"""Key, value with unit, kind, source, meaning."""


@dataclass(frozen=True)
class DriveParameters:
    """A drive's parameters for the page.

    Attributes
    ----------
    drive
        The profile.
    runs
        Titles of the runs on it.
    rows
        Key, value with unit, kind, source, meaning.
    kinds
        How many parameters are of which kind.
    differs_from
        The drive that the rows are compared with; None where every parameter is listed.
    """

    drive: str
    runs: list[str]
    rows: list[ParameterRow]
    kinds: dict[str, int]
    differs_from: str | None


def row_of(parameter: Mapping[str, Any]) -> ParameterRow:
    """Return a parameter as ``engine.show`` and results tell it as a row of a table."""
    return (
        str(parameter["key"]),
        text.with_unit(str(parameter["text"]), str(parameter.get("unit") or "")),
        str(parameter["kind"]),
        str(parameter.get("source") or ""),
        str(parameter.get("about") or ""),
    )


def drives_of(runs: Sequence[Run]) -> list[DriveParameters]:
    """Return each drive once: the first in full, others by what differs from it."""
    groups: dict[tuple[str, tuple[ParameterRow, ...]], list[Run]] = {}
    for run in runs:
        rows = tuple(row_of(parameter) for parameter in run.lab.get("parameters") or [])
        if rows:
            groups.setdefault((run.first.profile or "", rows), []).append(run)
    found: list[DriveParameters] = []
    for (drive, rows), members in groups.items():
        base = found[0] if found else None
        listed = [row for row in rows if base is None or row not in base.rows]
        found.append(
            DriveParameters(
                drive,
                [run.title for run in members],
                listed,
                dict(Counter(row[2] for row in rows)),
                None if base is None else base.drive,
            )
        )
    return found


def kinds_in_words(kinds: Mapping[str, int]) -> str:
    """Count parameters by kind of source, in a fixed order.

    Examples
    --------
    >>> kinds_in_words({"assumed": 12, "datasheet": 3})
    '3 datasheet, 12 assumed'
    """
    known = [kind for kind in KINDS if kind in kinds]
    return ", ".join(f"{kinds[kind]} {kind}" for kind in [*known, *(kinds.keys() - KINDS.keys())])
