"""What `parted print` lists, as a table or for programs (``-m``), in any of its units.

Sectors (``unit s``) and bytes are exact. The others are rounded to two decimals below 10, to one
below 100, to none above (libparted's ped_unit_format): a start is then known to half of the last
digit. Percent, cylinders and CHS say too little to judge and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ssdlab.align.listings.model import (
    SECTOR_BYTES,
    ListedDisk,
    ListedPartition,
    Start,
    idle_reason,
)
from ssdlab.errors import SsdlabError

_EXACT = {"s": 0, "B": 1}
_ROUNDED = {
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(("k", "M", "G", "T"), 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T"), 1)},
    "kiB": 1024,
}
_PLACE = r"\d+(?:[.,]\d+)*\s?[a-zA-Z%]*"
# Chinese has full-width colons, with no space behind them.
_DISK = re.compile(rf"^\S+ (?P<name>\S+?)\s?(?:: |：)(?P<size>{_PLACE})\s*$")
_SECTOR = re.compile(r"^.*?(?:: |：)(\d+)B/(\d+)B\s*$")
_ROW = re.compile(
    rf"^\s*(?P<number>\d+)\s+(?P<start>{_PLACE})\s+(?P<end>{_PLACE})\s+(?P<size>{_PLACE})"
    r"(?P<rest>(?:\s.*)?)$"
)
_FOR_PROGRAMS = re.compile(r"^(?:BYT|CHS|CYL);", re.M)
_ASK = "print it in sectors: parted DEVICE unit s print"


def is_parted(text: str) -> bool:
    """Whether parted printed this."""
    lines = text.splitlines()
    return bool(_FOR_PROGRAMS.search(text)) or (
        any(_SECTOR.match(line) for line in lines) and any(_DISK.match(line) for line in lines)
    )


def read_parted(text: str, name: str) -> list[ListedDisk]:
    """Read what parted printed.

    Raises
    ------
    SsdlabError
        A number has a unit that does not say where a partition begins.
    """
    if _FOR_PROGRAMS.search(text):
        return list(_for_programs(text, name))
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if _DISK.match(line.strip()):
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
    return [_disk(block, name) for block in blocks]


def _disk(lines: Sequence[str], name: str) -> ListedDisk:
    head = _DISK.match(lines[0].strip())
    assert head is not None
    sizes = next((match for line in lines if (match := _SECTOR.match(line.strip()))), None)
    sector = int(sizes[1]) if sizes else SECTOR_BYTES
    rows = [match for line in lines if (match := _ROW.match(line))]
    partitions = tuple(
        _partition(
            head["name"], row["number"], row["start"], row["size"], row["rest"], sector, name
        )
        for row in rows
    )
    return _listed(head["name"], head["size"], sizes, partitions, sector, name)


def _for_programs(text: str, name: str) -> Iterator[ListedDisk]:
    lines = [line.strip().rstrip(";").split(":") for line in text.splitlines() if line.strip()]
    heads = [number for number, fields in enumerate(lines) if fields[0].startswith("/")]
    for begin, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        device, size, _, sector, physical = (*lines[begin], "", "", "", "")[:5]
        sizes = _SECTOR.match(f": {sector}B/{physical}B")
        width = int(sizes[1]) if sizes else SECTOR_BYTES
        rows = (row for row in lines[begin + 1 : end] if len(row) > 3 and row[4:] != ["free"])
        partitions = tuple(
            _partition(device, row[0], row[1], row[3], "  ".join(row[4:]), width, name)
            for row in rows
        )
        yield _listed(device, size, sizes, partitions, width, name)


def _listed(
    device: str,
    size: str,
    sizes: re.Match[str] | None,
    partitions: tuple[ListedPartition, ...],
    sector: int,
    name: str,
) -> ListedDisk:
    rounded = any(not each.start.exact for each in partitions)
    notes = ("the listing is rounded; for exact sectors: parted DEVICE unit s print",)
    capacity = _range(size, sector, f"listing {name}: {device}")
    return ListedDisk(
        device,
        partitions,
        int(sizes[1]) if sizes else None,
        int(sizes[2]) if sizes else None,
        None,
        capacity.byte if capacity else None,
        notes if rounded else (),
    )


def _partition(
    device: str, number: str, start: str, size: str, rest: str, sector: int, name: str
) -> ListedPartition:
    place = f"listing {name}: partition {number} of {device}"
    found = _range(start, sector, place)
    if found is None:
        raise SsdlabError(f"{place}: {start} does not say where it begins; {_ASK}")
    length = _range(size, sector, place)
    words = re.split(r"\s+|,", rest)
    label = f"{device}{'p' if device[-1:].isdigit() else ''}{number}"
    return ListedPartition(label, found, length.byte if length else None, idle_reason(*words))


def _range(text: str, sector: int, place: str) -> Start | None:
    """Read a number as every place that is printed like this."""
    match = re.fullmatch(r"(\d+)(?:[.,](\d+))?\s?([a-zA-Z%]*)", text)
    unit = match[3] if match else ""
    if match is None or unit not in (*_EXACT, *_ROUNDED):
        return None
    if unit in _EXACT:
        if match[2]:
            raise SsdlabError(f"{place}: {text} is not a whole number; {_ASK}")
        return Start.at(int(match[1]) * (_EXACT[unit] or sector))
    digits = match[2] or ""
    value = Fraction(int(match[1] + digits), 10 ** len(digits)) * _ROUNDED[unit]
    half = Fraction(_ROUNDED[unit], 2 * 10 ** len(digits))
    return Start.between(-int(-max(Fraction(0), value - half) // 1), int(value + half), sector)
