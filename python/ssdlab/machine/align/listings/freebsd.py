"""What FreeBSD's `gpart show`, `gpart list` and `diskinfo -v` list, one or many of them in a text.

gpart counts in sectors without saying what they hold; that follows from diskinfo, where it is in
the same text, or from the size that gpart prints behind them. A BSD label counts from its slice.
diskinfo says of a partition only where it begins modulo the stripe size: exactly where the drive
reports no stripe (GEOM then counts from the drive's beginning).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from string import ascii_lowercase
from typing import ClassVar

from ssdlab.machine.align.listings.model import CONTAINER, SECTOR_BYTES, ListedPartition, Start
from ssdlab.machine.align.listings.rows import (
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    rule,
    sector_size,
)

_Match = re.Match[str]
_OF_A_DRIVE = re.compile(r"(?P<drive>\S*?\d)(?P<slice>[sp]\d+)?(?P<label>[a-h])?")
_HUMAN = r"\d+(?:\.\d+)?[kKMGTPE]?"
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_SCHEMES = "GPT|MBR|BSD|BSD64|EBR|APM|VTOC8|LDM|PC98"
_FACTS = {
    "sectorsize": "sector",
    "mediasize in bytes": "bytes",
    "stripesize": "stripe",
    "stripeoffset": "offset",
}
_IDLE_TYPES = frozenset({"freebsd-boot", "bios-boot", "ms-reserved", "ebr", "extended"})
"""The only ones that are looked at: with -l there are labels in place of types."""
_IDLE_FACTS = (
    r"mediasize in sectors|Cylinders according to firmware\.|Heads according to firmware\.|"
    r"Sectors according to firmware\.|Disk descr\.|Disk ident\.|Attachment|Physical path|"
    r"TRIM/UNMAP support|Rotation rate in RPM|Zone Mode|Not_Zoned|Host Managed.*"
)


@dataclass
class _Table:
    """A partition table as gpart shows it."""

    name: str
    scheme: str
    row: ListingRow
    size: int
    sector: int | None
    rows: list[tuple[ListingRow, _Match]] = field(default_factory=list)


class FreeBsd(Reader):
    """``gpart show`` (with -p, -l, -r too), ``gpart list`` and ``diskinfo -v``."""

    program = "gpart show, gpart list or diskinfo -v of FreeBSD"

    def __init__(self) -> None:
        super().__init__()
        self._tables: list[_Table] = []
        self._infos: dict[str, tuple[ListingRow, dict[str, int]]] = {}
        self._device: tuple[str, ListingRow] | None = None
        self._provider: dict[str, str] = {}
        self._provider_row: ListingRow | None = None
        self._consumers = False

    def _table(self, row: ListingRow, match: _Match) -> None:
        size = int(match["size"])
        sector = _sector(match["human"], size)
        if match["human"] and sector is None:
            raise Unclear(f"{size} sectors of no known size make {match['human']}")
        self._tables.append(_Table(match["name"], match["scheme"], row, size, sector))

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._tables:
            raise Unclear("no line of a table (=>) precedes it")
        table = self._tables[-1]
        _agrees(match, table.sector)
        table.rows.append((row, match))

    def _free(self, row: ListingRow, match: _Match) -> None:
        if not self._tables:
            raise Unclear("no line of a table (=>) precedes it")
        _agrees(match, self._tables[-1].sector)

    def _named(self, row: ListingRow, match: _Match) -> None:
        self._close_named()
        self._device = (match["name"], row)

    def _close_named(self) -> None:
        if self._device is not None and self._device[0] not in self._infos:
            self.leave(self._device[1], "nothing of diskinfo -v follows it")

    def _fact(self, row: ListingRow, match: _Match) -> None:
        name, first = self._device or ("the drive", row)
        facts = self._infos.setdefault(name, (first, {}))[1]
        key = _FACTS[match["key"]]
        if key in facts:
            raise Unclear("it stands twice; which device it is of is not known")
        facts[key] = int(match["value"])

    def _geom(self, row: ListingRow, match: _Match) -> None:
        self._close_provider()
        self._consumers = False
        self.named(match["name"])

    def _section(self, row: ListingRow, match: _Match) -> None:
        self._close_provider()
        self._consumers = match["which"] == "Consumers"

    def _entry(self, row: ListingRow, match: _Match) -> None:
        self._close_provider()
        self._provider, self._provider_row = {"name": match["name"]}, row

    def _key(self, row: ListingRow, match: _Match) -> None:
        if not self.drafts:
            raise Unclear("no line “Geom name” precedes it")
        if match["key"] == "Sectorsize":
            sector_size(match["value"] if match["value"].isdecimal() else "0")
        self._provider[match["key"].lower()] = match["value"]

    def _close_provider(self) -> None:
        told, self._provider = self._provider, {}
        row, self._provider_row = self._provider_row, None
        if row is None:
            return
        if self._consumers:
            if told.get("mediasize", "").split(" ")[0].isdecimal():
                self.draft.capacity = int(told["mediasize"].split(" ")[0])
        else:
            self.attempt(row, FreeBsd._provided, told)

    def _provided(self, row: ListingRow, told: dict[str, str]) -> None:
        offset, length = told.get("offset", ""), told.get("length", "")
        if not offset.isdecimal():
            raise Unclear("no offset in bytes follows it, as gpart list prints")
        size = int(length) if length.isdecimal() else None
        sector, first = told.get("sectorsize", ""), told.get("start", "")
        if sector.isdecimal() and first.isdecimal() and int(sector) * int(first) != int(offset):
            raise Unclear(f"start {first} in sectors of {sector} bytes is not offset {offset}")
        if _is_partition(self.draft.name):
            raise Unclear(f"its offset counts from {self.draft.name}, which is not listed")
        add(self.draft, row, told["name"], Start.at(int(offset)), size, told.get("type", ""))

    def finish(self) -> None:
        """Put tables and labels on their drives, and take what only diskinfo tells."""
        self._close_provider()
        self._close_named()
        for device, (row, facts) in self._infos.items():
            if not _is_partition(device):
                self.attempt(row, FreeBsd._whole, device, facts)
        slices: dict[str, Start] = {}
        labelled = {each.name for each in self._tables if _is_partition(each.name)}
        # A label counts from its slice, wherever in the text that is listed.
        for table in sorted(self._tables, key=lambda each: _is_partition(each.name)):
            self._of_table(table, slices, labelled)
        for device, (row, facts) in self._infos.items():
            if _is_partition(device) and device not in slices:
                self.attempt(row, FreeBsd._informed, device, facts)
        for draft in self.drafts:
            draft.partitions = [_as_container(each, labelled) for each in draft.partitions]

    def _whole(self, row: ListingRow, device: str, facts: dict[str, int]) -> None:
        draft = self.named(device)
        if "sector" in facts:
            draft.sector = sector_size(str(facts["sector"]))
        draft.physical = facts.get("stripe") or None
        draft.capacity = facts.get("bytes")

    def _of_table(self, table: _Table, slices: dict[str, Start], labelled: set[str]) -> None:
        drive = _drive_of(table.name)
        draft = self.named(drive)
        if draft.sector is None:
            draft.sector = table.sector
            if drive not in self._infos:
                draft.notes.append(_assumed(table.sector))
        if table.name not in self._infos and draft.capacity is None and table.name == drive:
            # The table's own range ends with the drive, or 33 sectors of a GPT before.
            first = int(table.row.text.split()[1])
            draft.limit = (first + table.size + 34) * draft.sector_bytes
        base = Start.at(0)
        if _is_partition(table.name):
            if table.name not in slices:
                for row, _ in table.rows:
                    self.leave(
                        row,
                        f"where the slice {table.name} begins is not listed, and its label counts "
                        f"from there; list the drive before it: gpart show {drive} {table.name}",
                    )
                return
            base = slices[table.name]
        for row, match in table.rows:
            self.attempt(row, FreeBsd._partition, match, table, base, slices)

    def _partition(
        self, row: ListingRow, match: _Match, table: _Table, base: Start, slices: dict[str, Start]
    ) -> None:
        draft = self.named(_drive_of(table.name))
        sector = draft.sector_bytes
        name = _name(table, match["index"])
        start, size = base.moved(int(match["start"]) * sector), int(match["size"]) * sector
        if int(match["start"]) + int(match["size"]) > table.size + 64 + int(
            table.row.text.split()[1]
        ):
            raise Unclear(f"it ends beyond {table.name} of {table.size} sectors")
        kind = match["type"] if match["type"] in _IDLE_TYPES else ""
        add(draft, row, name, start, size, kind, is_label=table.scheme == "BSD")
        slices[name] = start

    def _informed(self, row: ListingRow, device: str, facts: dict[str, int]) -> None:
        missing = [key for key, own in _FACTS.items() if own in ("stripe", "offset")]
        missing = [key for key in missing if _FACTS[key] not in facts]
        if missing:
            raise Unclear(f"no {missing[-1]} of {device}; give all of diskinfo -v")
        draft = self.named(_drive_of(device))
        if draft.sector is None and "sector" in facts:
            draft.sector = sector_size(str(facts["sector"]))
        offset, stripe = facts["offset"], facts["stripe"]
        start = Start(offset, None, stripe) if stripe else Start.at(offset)
        add(draft, row, device, start, facts.get("bytes"))

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            rf"=>\s*\d+\s+(?P<size>\d+)\s+(?P<name>\S+)\s+(?P<scheme>{_SCHEMES})"
            rf"(?:\s+\((?P<human>{_HUMAN})\))?(?:\s+\[CORRUPT\])?",
            _table,
            starts=True,
            heads=True,
        ),
        rule(
            rf"(?P<start>\d+)\s+(?P<size>\d+)\s+-\s+free\s+-(?:\s+\((?P<human>{_HUMAN})\))?",
            _free,
        ),
        rule(
            r"(?P<start>\d+)\s+(?P<size>\d+)\s+(?P<index>\S+)\s+(?P<type>[^\s(\[]\S*)"
            rf"(?:\s+\[[\w,]+\])?(?:\s+\((?P<human>{_HUMAN})\))?",
            _row,
        ),
        rule(
            rf"(?P<value>\d+)\s+# (?P<key>{'|'.join(_FACTS)})(?: \({_HUMAN}\))?",
            _fact,
            starts=True,
        ),
        rule(rf"(?:\S.*\S|\S)?\s+# (?:{_IDLE_FACTS})"),
        rule(r"Geom name: (?P<name>\S+)", _geom, starts=True),
        rule(r"(?P<which>Providers|Consumers):", _section),
        rule(r"\d+\. Name: (?P<name>\S+)", _entry),
        rule(
            r"(?P<key>Mediasize|Sectorsize|Stripesize|Stripeoffset|Mode|offset|length|start|end|"
            r"first|last|type|index|label|rawtype|rawuuid|efimedia|attrib|modified|state|fwheads|"
            r"fwsectors|entries|scheme): ?(?P<value>.*)",
            _key,
        ),
        rule(r"(?:/dev/)?(?P<name>[a-z][\w./-]*\d[\w./-]*)", _named),
    )


def _sector(human: str | None, count: int) -> int | None:
    """Take the sector from the size behind the numbers, such as 41943040 sectors (20G)."""
    if human is None or count == 0:
        return None
    held = _bytes(human) / count
    return next((size for size in (512, 4096) if size / 2 < held < size * 2), None)


def _bytes(human: str) -> Fraction:
    unit = human[-1] if human[-1].isalpha() else ""
    return Fraction(human.removesuffix(unit)) * Fraction(1024) ** _POWERS[unit.upper()]


def _agrees(match: _Match, sector: int | None) -> None:
    """Hold the rounded size behind a row against its sectors.

    Raises
    ------
    Unclear
        They contradict each other.
    """
    if match["human"] is None:
        return
    held, said = int(match["size"]) * (sector or SECTOR_BYTES), _bytes(match["human"])
    if not said * Fraction(9, 10) <= held <= said * Fraction(11, 10):
        raise Unclear(
            f"{match['size']} sectors of {sector or SECTOR_BYTES} bytes are not {match['human']}"
        )


def _name(table: _Table, index: str) -> str:
    """Name a partition as FreeBSD does; ``gpart show -p`` names it already."""
    if not index.isdecimal():
        return index
    if table.scheme == "BSD" and 0 < int(index) <= len(ascii_lowercase):
        return table.name + ascii_lowercase[int(index) - 1]
    return f"{table.name}{'s' if table.scheme == 'MBR' else 'p'}{index}"


def _as_container(each: ListedPartition, labelled: set[str]) -> ListedPartition:
    """Call a slice a container where its label is listed."""
    if each.name not in labelled:
        return each
    return replace(each, idle=CONTAINER)


def _is_partition(device: str) -> bool:
    match = _OF_A_DRIVE.match(device)
    return bool(match and (match["slice"] or match["label"]))


def _drive_of(device: str) -> str:
    match = _OF_A_DRIVE.match(device)
    return match["drive"] if match else device


def _assumed(sector: int | None) -> str:
    said = f"sectors of {sector or SECTOR_BYTES} bytes are "
    return said + ("taken from gpart's sizes" if sector else "assumed; diskinfo -v shows them")


__all__ = ["Draft", "FreeBsd"]
