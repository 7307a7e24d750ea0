"""What FreeBSD's `gpart show` and `diskinfo -v` list, one or many of them in a text.

gpart counts in sectors without saying what they hold; that follows from diskinfo, where it is in
the same text, or from the size that gpart prints behind them. A BSD label counts from its slice.
diskinfo says of a partition only where it begins modulo the stripe size: exactly where the drive
reports no stripe (GEOM then counts from the drive's beginning).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from string import ascii_lowercase

from ssdlab.align.listings.model import (
    CONTAINER,
    SECTOR_BYTES,
    ListedDisk,
    ListedPartition,
    Start,
    idle_reason,
)
from ssdlab.errors import SsdlabError

_TABLE = re.compile(
    r"^=>\s+(?P<start>\d+)\s+(?P<size>\d+)\s+(?P<name>\S+)\s+(?P<scheme>\S+)"
    r"(?:\s+\((?P<human>\d+(?:\.\d+)?)(?P<unit>[KMGT])?\))?"
)
_ROW = re.compile(r"^\s+(?P<start>\d+)\s+(?P<size>\d+)\s+(?P<index>\S+)\s+(?P<type>\S+)")
_DEVICE = re.compile(r"^(?:/dev/)?(?P<name>[a-z][\w./-]*?)\s*$")
_FACT = re.compile(r"^\s*(?P<value>\d+)\s+# (?P<key>sectorsize|mediasize in bytes|stripe\w+)")
_OF_A_DRIVE = re.compile(r"^(?P<drive>\S*?\d)(?P<slice>[sp]\d+)?(?P<label>[a-h])?$")
_UNITS = {None: 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass
class _Table:
    """A partition table as gpart shows it."""

    name: str
    scheme: str
    rows: list[re.Match[str]]
    sector: int | None


def is_freebsd(text: str) -> bool:
    """Whether gpart or diskinfo printed this."""
    return any(_TABLE.match(line) or _FACT.match(line) for line in text.splitlines())


def read_freebsd(text: str, name: str) -> list[ListedDisk]:
    """Read what gpart and diskinfo printed.

    Raises
    ------
    SsdlabError
        A label's slice is not listed, so that its place on the drive is not known.
    """
    tables = list(_tables(text))
    infos = _infos(text)
    whole = {device: facts for device, facts in infos.items() if not _is_partition(device)}
    slices: dict[str, Start] = {}
    found: dict[str, ListedDisk] = {device: _drive(device, whole[device]) for device in whole}
    for table in tables:
        drive, sector = _drive_of(table.name), table.sector or SECTOR_BYTES
        facts = whole.get(drive, {})
        sector = facts.get("sectorsize", sector)
        listed = tuple(_rows(table, sector, slices, name))
        slices.update({each.name: each.start for each in listed})
        known = found.get(drive) or _assumed(drive, table.sector)
        kept = tuple(
            replace(each, idle=CONTAINER) if each.name == table.name else each
            for each in known.partitions
        )
        found[drive] = replace(known, partitions=(*kept, *listed))
    for device, facts in infos.items():
        if _is_partition(device) and device not in slices:
            drive = _drive_of(device)
            known = found.get(drive) or ListedDisk(drive, sector_bytes=facts.get("sectorsize"))
            partition = _informed(device, facts, name)
            found[drive] = replace(known, partitions=(*known.partitions, partition))
    return list(found.values())


def _tables(text: str) -> Iterator[_Table]:
    current: _Table | None = None
    for line in text.splitlines():
        if head := _TABLE.match(line):
            if current is not None:
                yield current
            current = _Table(head["name"], head["scheme"], [], _sector(head))
            line = ""
        row = _ROW.match(line)
        if current is not None and row is None and line:
            yield current
            current = None
        if current is not None and row and row["index"] != "-":
            current.rows.append(row)
    if current is not None:
        yield current


def _sector(head: re.Match[str]) -> int | None:
    """Take the sector from the size behind the numbers, such as 41943040 sectors (20G)."""
    if head["human"] is None or int(head["size"]) == 0:
        return None
    held = Fraction(head["human"]) * _UNITS[head["unit"]] / int(head["size"])
    return next((size for size in (512, 4096) if size / 2 < held < size * 2), None)


def _rows(
    table: _Table, sector: int, slices: Mapping[str, Start], name: str
) -> Iterator[ListedPartition]:
    base = Start.at(0)
    if _is_partition(table.name):
        if table.name not in slices:
            raise SsdlabError(
                f"listing {name}: {table.name}: where this slice begins is not listed, and its "
                f"label counts from there; list the drive before it: gpart show "
                f"{_drive_of(table.name)} {table.name}"
            )
        base = slices[table.name]
    for row in table.rows:
        yield ListedPartition(
            _name(table, row["index"]),
            base.moved(int(row["start"]) * sector),
            int(row["size"]) * sector,
            idle_reason(row["type"]),
            is_label=table.scheme == "BSD",
        )


def _name(table: _Table, index: str) -> str:
    """Name a partition as FreeBSD does; ``gpart show -p`` names it already."""
    if not index.isdecimal():
        return index
    if table.scheme == "BSD" and 0 < int(index) <= len(ascii_lowercase):
        return table.name + ascii_lowercase[int(index) - 1]
    return f"{table.name}{'s' if table.scheme == 'MBR' else 'p'}{index}"


def _infos(text: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    device = ""
    for line in text.splitlines():
        if head := _DEVICE.match(line):
            device = head["name"]
        elif fact := _FACT.match(line):
            found.setdefault(device or "the drive", {})[fact["key"]] = int(fact["value"])
    return found


def _is_partition(device: str) -> bool:
    match = _OF_A_DRIVE.match(device)
    return bool(match and (match["slice"] or match["label"]))


def _drive_of(device: str) -> str:
    match = _OF_A_DRIVE.match(device)
    return match["drive"] if match else device


def _drive(device: str, facts: Mapping[str, int]) -> ListedDisk:
    return ListedDisk(
        device,
        sector_bytes=facts.get("sectorsize"),
        physical_bytes=facts.get("stripesize") or None,
        capacity=facts.get("mediasize in bytes"),
    )


def _assumed(drive: str, sector: int | None) -> ListedDisk:
    said = f"sectors of {sector or SECTOR_BYTES} bytes are "
    how = "taken from gpart's sizes" if sector else "assumed; diskinfo -v shows them"
    return ListedDisk(drive, sector_bytes=sector, notes=(said + how,))


def _informed(device: str, facts: Mapping[str, int], name: str) -> ListedPartition:
    try:
        offset, stripe = facts["stripeoffset"], facts["stripesize"]
    except KeyError as error:
        raise SsdlabError(
            f"listing {name}: {device}: no {error.args[0]}; give all of diskinfo -v"
        ) from None
    start = Start(offset, None, stripe) if stripe else Start.at(offset)
    return ListedPartition(device, start, facts.get("mediasize in bytes"))
