"""What sfdisk lists: ``-l`` before util-linux 2.26 in its four units, ``-d``, and ``-J``.

``-l`` counts from 0, in cylinders, sectors, blocks of 1 KiB or mebibytes, as its line of units says
and its heading repeats. It marks what it rounds: ``+`` is more than shown, ``-`` less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread
from ssdlab.machine.align.listings.model import SECTOR_BYTES, ListedDisk, Listing, Start
from ssdlab.machine.align.listings.rows import (
    GPT_UNSUPPORTED,
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    rule,
    sector_size,
    sectors,
)

_Match = re.Match[str]
_UNITS = {"sectors": 512, "blocks": 1024, "mib": 2**20, "mebibytes": 2**20}
_COLUMNS = {512: "#sectors", 1024: "#blocks", 2**20: "MiB"}
_ROW_KEYS = frozenset({"start", "size", "Id", "type", "uuid", "name", "attrs", "bootable"})


class OldSfdisk(Reader):
    """``sfdisk -l`` before util-linux 2.26, with -uS, -uB, -uM, -uC or none of them."""

    program = "sfdisk -l before util-linux 2.26"

    def __init__(self) -> None:
        super().__init__()
        self._unit: int | None = None
        self._columns_fit = False

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self._unit, self._columns_fit = None, False
        cylinders, heads, tracks = (int(match[each]) for each in ("c", "h", "s"))
        limit = (cylinders + 1) * heads * tracks * SECTOR_BYTES or None
        # sysfs's geometry of 0 heads, or of an endless drive, says nothing.
        self.drafts.append(Draft(match["name"], limit=limit))

    def _units(self, row: ListingRow, match: _Match) -> None:
        self._unit = None
        word, size = match["word"].lower(), int(match["size"])
        if word == "cylinders":
            if size % SECTOR_BYTES or not SECTOR_BYTES < size:
                raise Unclear(f"cylinders of {size} bytes are no whole sectors")
        elif _UNITS.get(word) != size:
            raise Unclear(f"{word} of {size} bytes are no unit of sfdisk's")
        self._unit = size

    def _unknown_units(self, row: ListingRow, match: _Match) -> None:
        self._unit = None
        raise Unclear("not a unit that sfdisk is known to count in")

    def _heading(self, row: ListingRow, match: _Match) -> None:
        words = row.text.split()
        counted = words[words.index("End") + 1]
        wanted = _COLUMNS.get(self._unit or 0, "#cyls")
        self._columns_fit = counted == wanted
        if self._unit is None:
            raise Unclear("no line of units precedes it")
        if not self._columns_fit:
            raise Unclear(f"its column {counted} contradicts the line of units")

    def _row(self, row: ListingRow, match: _Match) -> None:
        if match["count"] == "0":
            return
        if self._unit is None or not self._columns_fit:
            raise Unclear("in which unit it counts is not known; sfdisk -d counts in sectors")
        if match["end"] == "-":
            raise Unclear("it has a length, and no end")
        if not match["name"].startswith(self.draft.name):
            raise Unclear(f"it is no partition of {self.draft.name}")
        marks = match["mark"] + match["endmark"] + match["countmark"]
        count = None if marks else match["count"]
        sectors(match["start"], match["end"], count)
        size = int(match["count"]) * self._unit if not marks else None
        start = _marked(int(match["start"]), match["mark"], self._unit)
        add(self.draft, row, match["name"], start, size, match["id"])
        if not start.exact:
            self.draft.notes.append("the listing is rounded; sfdisk -d shows sectors")

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            r"Disk (?P<name>/\S+): (?P<c>\d+) cylinders, (?P<h>\d+) heads, (?P<s>\d+) "
            r"sectors/track",
            _disk,
            starts=True,
        ),
        rule(
            r"Units(?: =|:) (?P<word>cylinders|sectors|blocks|mebibytes) of (?P<size>\d+) bytes, "
            r"(?:blocks of 1024 bytes, )?counting from 0",
            _units,
            starts=True,
        ),
        rule(
            r"Units(?: =|:) 1(?P<word>MiB) = (?P<size>\d+) bytes, blocks of 1024 bytes, counting "
            "from 0",
            _units,
            starts=True,
        ),
        rule(r"Units\b.*", _unknown_units),
        rule(
            r"Device\s+Boot\s+Start\s+End\s+(?:#sectors|#blocks|#cyls\s+#blocks|MiB\s+#blocks)\s+"
            r"Id\s+System",
            _heading,
            starts=True,
            heads=True,
        ),
        rule(
            r"(?P<name>/\S+)\s+(?:\*\s+)?(?P<start>\d+)(?P<mark>[+-]?)\s+(?P<end>\d+|-)"
            r"(?P<endmark>[+-]?)\s+(?P<count>\d+)(?P<countmark>[+-]?)\s+(?:\d+[+-]?\s+)?"
            r"(?P<id>[\da-f]{1,2})\s+\S.*",
            _row,
        ),
        rule(r"(?:sfdisk: )?Disk \S+: unrecognized partition table type"),
        rule(r"(?:sfdisk: )?No partitions found"),
        rule(r"(?:Old|New) situation:"),
        rule(GPT_UNSUPPORTED, Reader.gpt_unsupported, aside=True),
        rule(r"Warning: extended partition does not start at a cylinder boundary\."),
        rule(r"DOS and Linux will interpret the contents differently\."),
        rule(r"Warning: The partition table looks like it was made"),
        rule(r"for C/H/S=\S+ \(instead of \d+/\d+/\d+\)\."),
        rule(r"For this listing I'll assume that geometry\."),
        rule(r"(?:start|end): \(c,h,s\) expected \(\S+\) found \(\S+\)"),
    )


def _marked(shown: int, mark: str, unit: int) -> Start:
    """Give the places that a number with sfdisk's mark stands for."""
    if not mark:
        return Start.at(shown * unit)
    first = shown if mark == "+" else shown - 1
    return Start.between(max(1, first * unit + 1), (first + 1) * unit - 1, SECTOR_BYTES)


class Dump(Reader):
    """``sfdisk -d``, of all ages."""

    program = "sfdisk -d"

    def __init__(self) -> None:
        super().__init__()
        self._unclear = ""
        self._order = 0
        self._known = False

    def _new(self, name: str) -> Draft:
        if self._known or not self.drafts:
            self.drafts.append(Draft(name))
            self._unclear, self._order, self._known = "", 0, False
        self.draft.name = name if name != "the drive" else self.draft.name
        return self.draft

    def _table(self, row: ListingRow, match: _Match) -> None:
        self._known = True
        self._new(match["name"])

    def _key(self, row: ListingRow, match: _Match) -> None:
        key, value = match["key"], match["value"]
        if key == "label":
            self._known = True
            self._new("the drive")
        elif key == "device":
            self._new(value).name = value
        elif key == "unit" and value != "sectors":
            self._unclear = f"the dump counts in {value}"
            raise Unclear("expected sectors, as sfdisk -d prints")
        elif key == "sector-size":
            try:
                self.draft.sector = sector_size(value if value.isdecimal() else "0")
            except Unclear:
                self._unclear = "the sector's size is not understood"
                raise

    def _row(self, row: ListingRow, match: _Match) -> None:
        if self._unclear:
            raise Unclear(self._unclear)
        draft = self._new(self.draft.name)
        self._order += 1
        fields = _fields(match["fields"])
        if fields["start"] == "0" and fields["size"] == "0":
            return
        sector = draft.sector_bytes
        start, size = (int(fields[each]) * sector for each in ("start", "size"))
        kind = fields.get("type", fields.get("Id", ""))
        if size == 0:
            raise Unclear("it has a start, and no size")
        name = (match["name"] or f"{draft.name}, row {self._order}").strip()
        add(draft, row, name, Start.at(start), size, kind)

    def finish(self) -> None:
        """Say what was assumed."""
        for draft in self.drafts:
            if draft.sector is None:
                draft.notes.append(f"sectors of {SECTOR_BYTES} bytes are assumed")

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"# partition table of (?P<name>/\S+)", _table, starts=True),
        rule(
            r"(?P<key>label|label-id|device|unit|first-lba|last-lba|table-length|grain|"
            r"sector-size): *(?P<value>\S+)",
            _key,
            starts=True,
        ),
        rule(
            r"(?:(?P<name>\S[^:]*?) *: *)?(?P<fields>start= *\d+ *, *size= *\d+.*)",
            _row,
            starts=True,
        ),
        rule(GPT_UNSUPPORTED, Reader.gpt_unsupported, aside=True),
    )


def _fields(text: str) -> dict[str, str]:
    """Read ``start= 2048, size= 4096, name="a, b", bootable``.

    Raises
    ------
    Unclear
        A field is unknown, or no number where one is due.
    """
    found: dict[str, str] = {}
    place = 0
    form = re.compile(r'\s*(?P<key>[\w-]+)(?:= *(?P<value>"[^"]*"|[^,"]*?))?\s*(?:,|$)')
    while place < len(text):
        match = form.match(text, place)
        if match is None or match["key"] not in _ROW_KEYS or match["key"] in found:
            raise Unclear(f"its field “{text[place:].strip()}” is not known")
        found[match["key"]] = (match["value"] or "").strip('"').strip()
        place = match.end()
    if not (found.get("start", "").isdecimal() and found.get("size", "").isdecimal()):
        raise Unclear("expected start and size in sectors")
    return found


_KNOWN_TABLE = frozenset(
    {
        "label",
        "id",
        "device",
        "unit",
        "firstlba",
        "lastlba",
        "sectorsize",
        "table-length",
        "grain",
        "partitions",
    }
)
_KNOWN_PARTITION = frozenset({"node", "start", "size", "type", "uuid", "name", "attrs", "bootable"})


def read_sfdisk_json(root: Mapping[str, Any], name: str) -> Listing:
    """Read what ``sfdisk -J`` printed.

    Raises
    ------
    SsdlabError
        It is not of sfdisk's form.
    """
    table = root["partitiontable"]
    rows = table.get("partitions") if isinstance(table, dict) else None
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise SsdlabError(
            f"listing {name}: partitiontable: expected partitions with node, start and size, as "
            "sfdisk -J prints"
        )
    unread = [
        Unread(key, str(value), "not a part that sfdisk -J is known to print")
        for key, value in root.items()
        if key != "partitiontable"
    ]
    unread += _unknown(table, _KNOWN_TABLE, "partitiontable")
    draft = Draft(str(table.get("device", "the drive")))
    unclear = _table_unclear(table, draft, unread)
    for number, each in enumerate(rows):
        place = f"partitiontable.partitions[{number}]"
        unread += _unknown(each, _KNOWN_PARTITION, place)
        try:
            if unclear:
                raise Unclear(unclear)
            _partition(draft, each)
        except Unclear as reason:
            unread.append(Unread(place, str(each), str(reason)))
    disks: tuple[ListedDisk, ...] = (draft.listed(),)
    return Listing(("sfdisk -J",), disks, tuple(unread))


def _unknown(table: Mapping[str, Any], known: frozenset[str], place: str) -> list[Unread]:
    why = "not a field that is known here"
    return [Unread(f"{place}.{key}", str(table[key]), why) for key in table if key not in known]


def _table_unclear(table: Mapping[str, Any], draft: Draft, unread: list[Unread]) -> str:
    """Read unit and sector; say why the rows cannot be understood, if they cannot."""
    unit, size = table.get("unit", "sectors"), table.get("sectorsize")
    if unit != "sectors":
        unread.append(Unread("partitiontable.unit", str(unit), "expected sectors"))
        return f"the table counts in {unit}"
    if size is None:
        draft.notes.append(f"sectors of {SECTOR_BYTES} bytes are assumed")
        return ""
    try:
        draft.sector = sector_size(str(size) if str(size).isdecimal() else "0")
    except Unclear as reason:
        unread.append(Unread("partitiontable.sectorsize", str(size), str(reason)))
        return "the sector's size is not understood"
    return ""


def _partition(draft: Draft, row: Mapping[str, Any]) -> None:
    told = [str(row.get(key)) for key in ("start", "size")]
    if not all(each.isdecimal() for each in told) or "node" not in row:
        raise Unclear("expected node, start and size, as sfdisk -J prints")
    start, size = (int(each) * draft.sector_bytes for each in told)
    if size == 0:
        return
    add(draft, ListingRow(0, ""), str(row["node"]), Start.at(start), size, str(row.get("type", "")))
