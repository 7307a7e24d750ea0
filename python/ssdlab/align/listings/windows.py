"""What Windows lists: diskpart, PowerShell, and System Information.

`list partition` of diskpart rounds to KB, MB or GB (binary, and nothing documents in which
direction), so a start is known to one of these at best: it hides whether 32 KB are 31.5. `detail
partition`, `Get-Partition`, `wmic partition`, Win32_DiskPartition and msinfo32 give bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ssdlab.align.listings.model import (
    SECTOR_BYTES,
    ListedDisk,
    ListedPartition,
    Start,
    idle_reason,
)
from ssdlab.errors import SsdlabError

_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SIZE = r"(?:B|[KMGT]B)"
_DISKPART = re.compile(
    r"^[\s*]*(?P<name>\S+ +\d+)\s{2,}(?P<type>\S.*?)\s{2,}(?P<size>\d+)\s+(?P<unit>"
    rf"{_SIZE})\s+(?P<start>\d+)\s+(?P<grain>{_SIZE})\s*$"
)
_DETAIL_NAME = re.compile(r"^\s*(?P<name>[^\W\d]+ \d+)\s*$")
_FIELD = re.compile(r"^\s*(?P<key>[^\W\d][^:]*?)\s*:\s*(?P<value>.*?)\s*$")
_OFFSET_KEYS = ("offset", "startingoffset", "offset in bytes", "offset in byte")
_TABLE = re.compile(r"^\s*PartitionNumber\s+DriveLetter\s+Offset\s+Size\s+Type", re.I)
_TABLE_ROW = re.compile(
    r"^\s*(?P<number>\d+)\s+(?P<letter>[A-Za-z])?\s+(?P<start>\d+)\s+"
    r"(?P<size>[\d.,]+)\s+(?P<unit>[KMGT]?B)\s+(?P<type>\S+)"
)
_WMIC_NAME = re.compile(r"Disk #\d+, Partition #\d+")
_MSINFO = re.compile(r"^\s*Partition Starting Offset\s+(?P<start>[\d.,\s]+?)\s+bytes", re.I | re.M)
_DISK = re.compile(r"^\s*(?:Disk Number|DiskNumber)\s*:\s*(\d+)|^\s*Disk:\s*(\d+)", re.I | re.M)
_SELECTED = re.compile(
    r"\bsel\w*\s+dis\w*\s+(\d+)\s*$|^\s*Disk (\d+) is now the selected disk", re.I
)
_PATH = re.compile(r"^\s*DiskPath:\s*(\S+)")
_ROUNDS = "diskpart rounds; for bytes: select partition N, detail partition"


def is_windows(text: str) -> bool:
    """Whether Windows printed this."""
    lines = text.splitlines()
    return (
        any(_DISKPART.match(line) or _TABLE.match(line) or _is_wmic(line) for line in lines)
        or bool(_MSINFO.search(text))
        or any(_is_offset(line) for line in lines)
    )


def read_windows(text: str, name: str) -> list[ListedDisk]:
    """Read what one of Windows' tools printed.

    Raises
    ------
    SsdlabError
        An offset is no number.
    """
    disks = (_disk(named, lines, name) for named, lines in _by_disk(text.splitlines()).items())
    return [disk for disk in disks if disk.partitions]


def _by_disk(lines: Sequence[str]) -> dict[str, list[str]]:
    """Divide a session of diskpart by the disks that were selected, and PowerShell's by its own."""
    found: dict[str, list[str]] = {}
    disk = ""
    for line in lines:
        if match := _SELECTED.search(line):
            disk = f"Disk {match[1] or match[2]}"
        elif match := _PATH.match(line):
            disk = match[1]
        found.setdefault(disk, []).append(line)
    return found


def _disk(named: str, lines: Sequence[str], name: str) -> ListedDisk:
    text = "\n".join(lines)
    exact = (*_table(lines), *_wmic(lines), *_fields(lines, name), *_system_information(text))
    in_bytes = {each.name for each in exact}
    rounded = [each for each in _diskpart(lines) if each.name not in in_bytes]
    match = _DISK.search(text)
    disk = named or (f"Disk {match[1] or match[2]}" if match else "the drive")
    notes = (f"sectors of {SECTOR_BYTES} bytes are assumed", *((_ROUNDS,) if rounded else ()))
    return ListedDisk(disk, (*exact, *rounded), notes=notes)


def _diskpart(lines: Sequence[str]) -> Iterator[ListedPartition]:
    for line in lines:
        if row := _DISKPART.match(line):
            grain = _UNITS[row["grain"]]
            shown = int(row["start"]) * grain
            start = Start.between(max(0, shown - grain + 1), shown + grain - 1, SECTOR_BYTES)
            yield ListedPartition(row["name"], start, None, idle_reason(row["type"]))


def _table(lines: Sequence[str]) -> Iterator[ListedPartition]:
    if not any(_TABLE.match(line) for line in lines):
        return
    for line in lines:
        if row := _TABLE_ROW.match(line):
            letter = f" ({row['letter']}:)" if row["letter"] else ""
            start = Start.at(int(row["start"]))
            yield ListedPartition(
                f"Partition {row['number']}{letter}", start, None, idle_reason(row["type"])
            )


def _is_wmic(line: str) -> bool:
    return "StartingOffset" in line.split()


def _wmic(lines: Sequence[str]) -> Iterator[ListedPartition]:
    """Read ``wmic partition get Name,StartingOffset``, and PowerShell's table of the same.

    A number stands below its heading, at the heading's left or right.
    """
    column = next((line.index("StartingOffset") for line in lines if _is_wmic(line)), None)
    if column is None:
        return
    rows = ((line, line[column:].split()) for line in lines)
    given = ((line, words[0]) for line, words in rows if words and words[0].isdecimal())
    for number, (line, start) in enumerate(given):
        called = _WMIC_NAME.search(line)
        name = called[0] if called else f"Partition #{number}"
        yield ListedPartition(name, Start.at(int(start)))


def _fields(lines: Sequence[str], name: str) -> Iterator[ListedPartition]:
    """Read ``Key : value`` blocks; each has one offset."""
    blocks: list[dict[str, str]] = [{}]
    for line in lines:
        if heading := _DETAIL_NAME.match(line):
            blocks.append({"name": heading["name"]})
        elif field := _FIELD.match(line):
            key = field["key"].lower()
            if key in blocks[-1]:
                blocks.append({})
            blocks[-1][key] = field["value"]
        elif not line.strip() and _offset(blocks[-1]) is not None:
            blocks.append({})
    for number, block in enumerate((each for each in blocks if _offset(each) is not None), 1):
        yield _from_fields(block, number, name)


def _from_fields(block: dict[str, str], number: int, name: str) -> ListedPartition:
    offset = str(_offset(block))
    label = block.get("partitionnumber")
    called = f"Partition {label}" if label else block.get("name", f"Partition {number}")
    if not offset.isdecimal() or len(offset) > 24:
        raise SsdlabError(f"listing {name}: {called}: offset {offset!r}: expected bytes")
    size = block.get("size", "")
    return ListedPartition(
        called,
        Start.at(int(offset)),
        int(size) if size.isdecimal() and len(size) < 25 else None,
        idle_reason(block.get("type", "")),
    )


def _offset(block: dict[str, str]) -> str | None:
    return next((block[key] for key in _OFFSET_KEYS if key in block), None)


def _is_offset(line: str) -> bool:
    field = _FIELD.match(line)
    return bool(field and field["key"].lower() in _OFFSET_KEYS and field["value"].isdecimal())


def _system_information(text: str) -> Iterator[ListedPartition]:
    for number, match in enumerate(_MSINFO.finditer(text)):
        byte = int(re.sub(r"\D", "", match["start"]))
        yield ListedPartition(f"Partition #{number}", Start.at(byte))
