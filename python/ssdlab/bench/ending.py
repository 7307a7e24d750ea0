"""When the rounds of a part end, and what its window says; rounds are as they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.bench.plan import Part
from ssdlab.bench.steady import Steadiness, judge

Round = Mapping[str, Any]


def tracked(part: Part, rounds: Sequence[Round]) -> list[float]:
    """Return the tracking variable of rounds."""
    place = [cell.name for cell in part.cells].index(part.tracking.cell)
    return [float(each["cells"][place]["both"][part.tracking.figure] or 0) for each in rounds]


def steadiness(part: Part, rounds: Sequence[Round]) -> Steadiness | None:
    """Judge the newest window; None where there are too few rounds for one."""
    return judge(tracked(part, rounds), part.stop)


def has_ended(part: Part, rounds: Sequence[Round], capacity_bytes: int) -> bool:
    """Whether no round follows: it is steady, a limit is reached, or the part has no rounds."""
    if not part.cells:
        return True
    judged = steadiness(part, rounds)
    if part.stop.until_steady and judged is not None and judged.steady:
        return True
    return bool(rounds) and limit_reached(part, rounds, capacity_bytes) is not None


def limit_reached(part: Part, rounds: Sequence[Round], capacity_bytes: int) -> str | None:
    """Name the limit that ends rounds without steady state; None where there is none yet."""
    stop, last = part.stop, rounds[-1]
    limits = (
        ("rounds", stop.most_rounds, len(rounds)),
        ("times the capacity written", stop.most_passes, last["written_bytes"] / capacity_bytes),
        ("seconds", stop.most_seconds, last["elapsed_s"]),
    )
    for what, most, reached in limits:
        if most is not None and reached >= most:
            return f"{most:g} {what.removesuffix('s') if most == 1 else what}"
    return None


def without_raw(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a round, or a cell, without raw records: they are large, and nothing here needs them.

    Examples
    --------
    >>> without_raw({"round": 1, "cells": [{"seconds": 60.0, "raw": []}]})
    {'round': 1, 'cells': [{'seconds': 60.0}]}
    """
    light = {key: value for key, value in data.items() if key != "raw"}
    if "cells" in light:
        light["cells"] = [without_raw(cell) for cell in light["cells"]]
    return light
