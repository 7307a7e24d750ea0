"""What fdisk and sfdisk list, of all their ages and in any language.

Three forms of `fdisk -l` are about: sectors (``-u``, and the default since util-linux 2.22) with
a column of 1 KiB blocks or, since 2.26, of sectors; and cylinders, the default before. busybox adds
columns of CHS. Words are translated by the system's language, so lines are told by their numbers.
In cylinders a start is known to a cylinder only; with the blocks and the end's cylinder it often
comes down to fewer sectors, since the partition has to end in that cylinder. `sfdisk -d` counts in
sectors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ssdlab.align.listings.model import (
    SECTOR_BYTES,
    ListedDisk,
    ListedPartition,
    Start,
    idle_reason,
)
from ssdlab.errors import SsdlabError

# Chinese has full-width colons, with no space behind them.
_DISK = re.compile(r"^\S+ (/\S+?|\S+?\.\w+)\s?(?:: |：).*?\b(\d{5,}) \w+", re.M)
_UNITS = re.compile(r"\b(\d+) ?\\?[*x]? (\d+) ?= ?(\d+)\b")
_SECTOR = re.compile(r"^.*?(?:: |：)(\d+) [^\s/]+ / (\d+) [^\s/]+\s*$")
_ROW = re.compile(
    r"^(?P<name>/\S+|\S+\d+)\s+(?:\*\s+)?(?:\d+,\d+,\d+\s+){0,2}(?P<start>\d+)(?P<rounded>[+-]?)\s+(?P<end>\d+)[+-]?\s+"
    r"(?:(?P<third>\d+)(?P<odd>[+-]?)\s+)?(?P<rest>\S.*)$"
)
_BLOCKS = re.compile(r"\d+[+-]?\s+[\da-f]{1,2}\s")
_DUMPED = re.compile(
    r"^(?P<name>\S+?)\s*:\s*start=\s*(?P<start>\d+)\s*,\s*size=\s*(?P<size>\d+)"
    r"(?:,\s*(?:Id|type)=\s*(?P<type>[\w-]+))?"
)
_DUMP_HEAD = re.compile(r"^(?:unit|label|device|sector-size|first-lba):\s*(\S+)", re.M)


def is_fdisk(text: str) -> bool:
    """Whether fdisk, or ``sfdisk -l``, printed this."""
    return bool(_DISK.search(text)) or any(
        _ROW.match(line) and line.startswith("/") for line in text.splitlines()
    )


def is_dump(text: str) -> bool:
    """Whether ``sfdisk -d`` printed this."""
    return any(_DUMPED.match(line) for line in text.splitlines())


def read_fdisk(text: str, name: str) -> list[ListedDisk]:
    """Read what ``fdisk -l`` printed.

    Raises
    ------
    SsdlabError
        A line contradicts the others.
    """
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if _DISK.match(line):
            blocks.append([])
        blocks[-1].append(line)
    disks = (_disk(block, name) for block in blocks)
    return [disk for disk in disks if disk.partitions or disk.capacity]


def _disk(lines: Sequence[str], name: str) -> ListedDisk:
    head = _DISK.match(lines[0]) if lines else None
    rows = [match for line in lines if (match := _ROW.match(line.strip()))]
    units = next((match for line in lines if (match := _units(line))), None)
    sizes = [match for line in lines if (match := _SECTOR.match(line.strip()))]
    sector = int(sizes[0][1]) if sizes else (int(units[2]) if units else SECTOR_BYTES)
    per_unit = int(units[1]) if units else _assumed(rows, name)
    notes = (
        []
        if units
        else ["the listing does not name its unit; its numbers make sense only as sectors"]
    )
    if per_unit > 1:
        notes.append(
            f"the listing counts cylinders of {per_unit} sectors, which hide where in them a "
            "partition begins; fdisk -l -u shows sectors"
        )
    return ListedDisk(
        head[1] if head else "the drive",
        tuple(_partition(row, per_unit, sector) for row in rows),
        sector if sizes or units else None,
        int(sizes[0][2]) if sizes else None,
        int(sizes[1][2]) if len(sizes) > 1 else None,
        int(head[2]) if head else None,
        tuple(notes),
    )


def _units(line: str) -> re.Match[str] | None:
    """Find ``1 * 512 = 512``, in which the product has to be right."""
    match = _UNITS.search(line)
    return match if match and int(match[1]) * int(match[2]) == int(match[3]) else None


def _assumed(rows: Sequence[re.Match[str]], name: str) -> int:
    """Take the numbers as sectors where the third column bears that out.

    `sfdisk -l` before util-linux 2.26 has no such line: it marks what it rounds, and lists blocks
    behind the length in its unit.
    """
    for row in rows:
        length = int(row["end"]) - int(row["start"]) + 1
        counts = row["third"] is not None and int(row["third"]) in (length, length // 2)
        if not counts or row["rounded"] or _BLOCKS.match(row["rest"]):
            raise SsdlabError(
                f"listing {name}: {row['name']}: {row['start']} to {row['end']}: sectors or "
                "cylinders? give all of fdisk -l, with its line of units, or sfdisk -d"
            )
    return 1


def _partition(row: re.Match[str], per_unit: int, sector: int) -> ListedPartition:
    first, last = int(row["start"]), int(row["end"])
    # "Type" follows a size such as 1.8T; before util-linux 2.26 it follows "Id".
    words = row["rest"].split(None, 1)
    kind = words[-1] if len(words) > 1 else ""
    idle = idle_reason(words[0], kind, kind.split(None, 1)[0] if kind else "")
    if per_unit == 1:
        return ListedPartition(
            row["name"], Start.at(first * sector), (last - first + 1) * sector, idle
        )
    size = _size_in_blocks(row, per_unit, sector)
    start = _within_cylinder(first, last, size, per_unit, sector)
    return ListedPartition(row["name"], start, None if size is None else size * sector, idle)


def _size_in_blocks(row: re.Match[str], per_unit: int, sector: int) -> int | None:
    """Give the sectors, where the third column are blocks; ``+`` means half a block more.

    Since util-linux 2.26 it may be cylinders.
    """
    cylinders = int(row["end"]) - int(row["start"]) + 1
    if row["third"] is None or int(row["third"]) == cylinders:
        return None
    sectors = int(row["third"]) * 1024 // sector + (row["odd"] == "+")
    return sectors if abs(sectors - cylinders * per_unit) < 2 * per_unit else None


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


def read_dump(text: str, name: str) -> list[ListedDisk]:
    """Read what ``sfdisk -d`` printed.

    Raises
    ------
    SsdlabError
        It counts in something else than sectors.
    """
    said = {line.split(":")[0]: match[1] for line in text.splitlines() if (match := _head(line))}
    unit = said.get("unit", "sectors")
    if unit != "sectors":
        raise SsdlabError(f"listing {name}: unit: {unit}: expected sectors, as sfdisk -d prints")
    sector = _sector_size(said.get("sector-size"), name)
    matches = (match for line in text.splitlines() if (match := _DUMPED.match(line)))
    rows = ((row["name"], int(row["start"]), int(row["size"]), row["type"]) for row in matches)
    return [_dumped(said.get("device", "the drive"), rows, sector)]


def _head(line: str) -> re.Match[str] | None:
    return _DUMP_HEAD.match(line)


def _sector_size(said: str | None, name: str) -> int | None:
    if said is not None and said not in ("512", "4096"):
        raise SsdlabError(f"listing {name}: sector-size: {said}: expected 512 or 4096")
    return None if said is None else int(said)


def _dumped(
    device: str, rows: Iterable[tuple[str, int, int, str | None]], sector: int | None
) -> ListedDisk:
    """List rows of a name, a start and a size in sectors, and a type."""
    unit = sector or SECTOR_BYTES
    partitions = tuple(
        ListedPartition(name, Start.at(start * unit), size * unit, idle_reason(kind or ""))
        for name, start, size, kind in rows
        if size
    )
    notes = () if sector else (f"sectors of {SECTOR_BYTES} bytes are assumed",)
    return ListedDisk(device, partitions, sector, notes=notes)


def read_sfdisk_json(root: Mapping[str, Any], name: str) -> list[ListedDisk]:
    """Read what ``sfdisk -J`` printed."""
    table = root["partitiontable"]
    try:
        rows = [
            (str(each["node"]), int(each["start"]), int(each["size"]), str(each.get("type", "")))
            for each in table["partitions"]
        ]
        device, size = str(table.get("device", "the drive")), table.get("sectorsize")
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        rows = None
    if rows is None or any(start < 0 or length < 0 for _, start, length, _ in rows):
        raise SsdlabError(
            f"listing {name}: partitiontable: expected partitions with node, start and size, as "
            "sfdisk -J prints"
        )
    sector = _sector_size(None if size is None else str(size), name)
    return [_dumped(device, rows, sector)]
