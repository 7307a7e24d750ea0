"""How the verbs of ``ssdlab align`` word sizes and shares."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.ground import text
from ssdlab.machine.align.grid import Unit
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.places import Straddle


def size_of(unit: Unit) -> str:
    """Give a unit's size behind its name, unless the name says it."""
    size = binary_size(unit.bytes)
    return "" if size in unit.name else f" {size}"


def writes_that_straddle(straddling: Sequence[Straddle]) -> str:
    """Name the smallest size that straddles, and from where on all do."""
    if not straddling:
        return ""
    first = straddling[0]
    every = next((each for each in straddling if each.share == 1), None)
    parts = []
    if first.share < 1:
        parts.append(
            f"{text.significant(first.share * 100, 2)} % at {binary_size(first.write_bytes)}"
        )
    if every is not None:
        parts.append(f"all from {binary_size(every.write_bytes)}")
    return ", ".join(parts)
