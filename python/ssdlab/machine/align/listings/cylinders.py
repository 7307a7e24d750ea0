"""A partition that fdisk lists in cylinders: the sectors at which it may begin.

A start is known to a cylinder only; with the blocks and the end's cylinder it often comes down to
fewer sectors, since the partition has to end in that cylinder.
"""

from __future__ import annotations

import re

from ssdlab.machine.align.listings.model import ListedPartition, Start, idle_reason, may_hold
from ssdlab.machine.align.listings.rows import ListingRow, Unclear

_Match = re.Match[str]


def in_cylinders(
    row: ListingRow,
    match: _Match,
    per_unit: int,
    sector: int,
    types: tuple[str, ...],
    no_blocks: bool,
) -> ListedPartition:
    """List a partition whose row counts in cylinders.

    Raises
    ------
    Unclear
        Its numbers contradict each other.
    """
    first, last = int(match["start"]), int(match["end"])
    if last < first:
        raise Unclear(f"it ends at {last}, before it begins at {first}")
    if no_blocks and abs(int(match["third"] or 0) - (last - first + 1)) > 1:
        raise Unclear(f"{first} to {last} are not {match['third']} cylinders")
    size = None if no_blocks else _size_in_blocks(match, per_unit, sector)
    start = _within_cylinder(first, last, size, per_unit, sector)
    length = None if size is None else size * sector
    idle = idle_reason(*types)
    return ListedPartition(
        match["name"], start, length, idle, False, may_hold(*types), row.number, row.text
    )


def _size_in_blocks(row: _Match, per_unit: int, sector: int) -> int | None:
    """Give the sectors, where the third column are blocks; ``+`` means half a block more.

    Since util-linux 2.26 it may be cylinders.

    Raises
    ------
    Unclear
        It is neither.
    """
    cylinders = int(row["end"]) - int(row["start"]) + 1
    if row["third"] is None or int(row["third"]) == cylinders:
        return None
    count = int(row["third"]) * 1024 // sector + (row["odd"] == "+")
    if abs(count - cylinders * per_unit) >= 2 * per_unit:
        raise Unclear(f"{cylinders} cylinders of {per_unit} sectors do not hold {row['third']} KiB")
    return count


def _within_cylinder(first: int, last: int, size: int | None, per: int, sector: int) -> Start:
    """Bound the start by its own cylinder and, from the end's, by the size.

    Sector 0 holds the partition table. Some versions count cylinders from 0.
    """
    low, high = max(1, (first - 1) * per), first * per - 1
    if size is not None:
        low, high = max(low, (last - 1) * per - size + 1), min(high, last * per - size)
    if low > high:
        low, high = max(1, (first - 1) * per), (first + 1) * per - 1
    return Start.between(low * sector, high * sector, sector)
