"""What Windows lists: diskpart, PowerShell, wmic, and System Information.

`list partition` of diskpart rounds to KB, MB or GB (binary, and nothing documents in which
direction), so a start is known to one of these at best: it hides whether 32 KB are 31.5. `detail
partition`, `Get-Partition`, `wmic partition`, Win32_DiskPartition and msinfo32 give bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ssdlab.machine.align.listings.model import SECTOR_BYTES, ListedPartition, Start, idle_reason
from ssdlab.machine.align.listings.rows import Draft, ListingRow, Reader, Rule, Unclear, add, rule

_Match = re.Match[str]
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SIZE = r"(?:B|[KMGT]B)"
_ROUNDS = "diskpart rounds; for bytes: select partition N, detail partition"
_OFFSET_KEYS = ("offset", "startingoffset", "offset in bytes", "offset in byte")
_LONGEST_NUMBER = 24
_KEYS = (
    "Type|Typ|Tipo|Hidden|Versteckt|Masqué|Oculto|Active|Aktiv|Actif|Activo|Required|Erforderlich|"
    "Attrib|Offset in Bytes?|Offset in Byte|PartitionNumber|DriveLetter|DiskNumber|DiskId|DiskPath|"
    "Offset|Size|Name|StartingOffset|Index|BootPartition|PrimaryPartition|Bootable|BlockSize|"
    "NumberOfBlocks|DeviceID|Description|Caption|SystemName|Guid|GptType|MbrType|IsActive|IsBoot|"
    "IsDAX|IsHidden|IsOffline|IsReadOnly|IsShadowCopy|IsSystem|NoDefaultDriveLetter|AccessPaths|"
    "OperationalStatus|TransitionState|UniqueId|ObjectId|PassThroughClass|PassThroughIds|"
    "PassThroughNamespace|PassThroughServer|PSComputerName|Disk Number|RequiredOnly|__GENUS|"
    "__CLASS|__SUPERCLASS|__DYNASTY|__RELPATH|__PROPERTY_COUNT|__DERIVATION|__SERVER|__NAMESPACE|"
    "__PATH|Access|Availability|ConfigManagerErrorCode|ConfigManagerUserConfig|CreationClassName|"
    "DiskIndex|ErrorCleared|ErrorDescription|ErrorMethodology|HiddenSectors|IdentifyingDescriptions"
    "|InstallDate|LastErrorCode|MaxQuiesceTime|OtherIdentifyingInfo|PNPDeviceID|PowerManagement\\w+|"
    "PowerOnHours|Purpose|RewritePartition|Status|StatusInfo|SystemCreationClassName|"
    "TotalPowerOnHours|Path|ClassName|CimClass|CimInstanceProperties|CimSystemProperties|Qualifiers|"
    "Container|Site|Options|ClassPath|Properties|SystemProperties|Scope|RewritePartition"
)


@dataclass
class _Column:
    """What a table has in a column: its heading's place."""

    name: str
    first: int
    last: int


class Windows(Reader):
    """Tools of Windows, several in one text."""

    program = "diskpart, Get-Partition, wmic or msinfo32 of Windows"

    def __init__(self) -> None:
        super().__init__()
        self._disk = ""
        self._columns: list[_Column] = []
        self._table = ""
        self._block: dict[str, tuple[ListingRow, str]] = {}
        self._heading = ""
        self._rounded: list[tuple[Draft, ListedPartition]] = []
        self._last_name = ""

    def _of(self) -> Draft:
        return self.named(self._disk or "the drive")

    def _selected(self, row: ListingRow, match: _Match) -> None:
        self._close()
        number = match["a"]
        self._disk = f"Disk {number}"

    def _path(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._disk = match["path"]

    def _diskpart(self, row: ListingRow, match: _Match) -> None:
        self._close()
        grain = _UNITS[match["grain"]]
        shown = int(match["start"]) * grain
        start = Start.between(max(0, shown - grain + 1), shown + grain - 1, SECTOR_BYTES)
        if match["grain"] == "B":
            start = Start.at(shown)
        name = re.sub(r"\s+", " ", match["name"])
        found = ListedPartition(
            name,
            start,
            None,
            idle_reason(match["type"]),
            line=row.number,
            quoted=row.text,
        )
        self._rounded.append((self._of(), found))

    def _detail(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._heading = match["name"]

    def _columns_of(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._columns = [
            _Column(each[0], *each.span())
            for each in re.finditer(r"\S+(?: \S+)*?(?=\s|$)", row.text)
        ]
        unknown = [each.name for each in self._columns if not re.fullmatch(_KEYS, each.name)]
        if unknown:
            self._columns = []
            raise Unclear(f"{', '.join(unknown)} is no column that is known here")

    def _row(self, row: ListingRow, match: _Match) -> None:
        """Take a row below headings; a number stands at its heading's left or right."""
        if not self._columns:
            raise Unclear("no heading of a table precedes it")
        names = [each.name for each in self._columns]
        column = next((each for each in ("Offset", "StartingOffset") if each in names), None)
        if column is None:
            raise Unclear("the table has no column Offset or StartingOffset")
        offset = self._cell(row.text, column)
        name = self._row_name(row.text, names)
        kind = self._cell(row.text, "Type") if "Type" in names else ""
        if not offset.isdecimal() or len(offset) > _LONGEST_NUMBER:
            raise Unclear(f"its offset “{offset}” is no number of bytes")
        add(self._of(), row, name, Start.at(int(offset)), None, kind)

    def _row_name(self, text: str, names: list[str]) -> str:
        known = re.search(r"Disk #\d+, Partition #\d+", text)
        if known:
            return known[0]
        if "PartitionNumber" in names:
            number = self._cell(text, "PartitionNumber")
            letter = self._cell(text, "DriveLetter") if "DriveLetter" in names else ""
            return f"Partition {number}" + (f" ({letter}:)" if letter else "")
        return f"Partition #{len(self._of().partitions)}"

    def _cell(self, text: str, name: str) -> str:
        """Give the word below a heading: the one that overlaps it and no other heading.

        Numbers on the right reach left of their heading, where the one before has no word.
        """
        column = next(each for each in self._columns if each.name == name)
        words = [each for each in re.finditer(r"\S+", text) if _overlap(each, column)]
        return words[0][0] if len(words) == 1 else ""

    def _field(self, row: ListingRow, match: _Match) -> None:
        key = match["key"].lower()
        if key in self._block:
            self._close()
        if key == "disknumber" and match["value"].isdecimal():
            self._disk = f"Disk {match['value']}"
        self._block[key] = (row, match["value"])

    def _close(self) -> None:
        """Understand a block of ``Key : value``; it has one offset."""
        block, self._block = self._block, {}
        heading, self._heading = self._heading, ""
        offset = next((block[key] for key in _OFFSET_KEYS if key in block), None)
        if offset is not None:
            self.attempt(offset[0], Windows._informed, heading, block, offset[1])
        elif "partitionnumber" in block or "startingoffset" in block:
            self.leave(next(iter(block.values()))[0], "no offset of this partition is listed")
        elif heading and block:
            self.leave(next(iter(block.values()))[0], "no offset of this partition is listed")

    def _informed(
        self, row: ListingRow, heading: str, block: dict[str, tuple[ListingRow, str]], offset: str
    ) -> None:
        told = {key: value for key, (_, value) in block.items()}
        number = told.get("partitionnumber")
        count = len(self._of().partitions) + 1
        name = f"Partition {number}" if number else told.get("name") or heading
        name = name or f"Partition {count}"
        if not offset.isdecimal() or len(offset) > _LONGEST_NUMBER:
            raise Unclear(f"offset {offset}: expected bytes")
        size = told.get("size", "")
        length = int(size) if size.isdecimal() and len(size) <= _LONGEST_NUMBER else None
        kind = told.get("type", "")
        add(self._of(), row, name, Start.at(int(offset)), length, kind)

    def _msinfo(self, row: ListingRow, match: _Match) -> None:
        byte = re.sub(r"\D", "", match["start"])
        if len(byte) > _LONGEST_NUMBER:
            raise Unclear("more bytes than any drive has")
        name = self._last_name or f"Partition #{len(self._of().partitions)}"
        self._last_name = ""
        add(self._of(), row, name, Start.at(int(byte)))

    def _msinfo_name(self, row: ListingRow, match: _Match) -> None:
        self._last_name = match["name"]

    def _csv(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._csv_columns = row.text.strip().split(",")

    def _csv_row(self, row: ListingRow, match: _Match) -> None:
        columns = getattr(self, "_csv_columns", [])
        # The name itself has a comma: Disk #0, Partition #0.
        cells = re.sub(r"(Disk #\d+), (Partition #\d+)", r"\1; \2", row.text.strip()).split(",")
        if not columns or len(cells) != len(columns):
            raise Unclear("no heading of so many columns precedes it")
        told = dict(zip(columns, cells, strict=True))
        offset = told.get("StartingOffset", "")
        if not offset.isdecimal() or len(offset) > _LONGEST_NUMBER:
            raise Unclear(f"its offset “{offset}” is no number of bytes")
        name = told.get("Name", "").replace("; ", ", ")
        name = name or f"Partition #{told.get('Index') or len(self._of().partitions)}"
        add(self._of(), row, name, Start.at(int(offset)))

    def blank(self) -> None:
        """End a block: an empty line stands between objects."""
        if any(key in self._block for key in _OFFSET_KEYS):
            self._close()

    def finish(self) -> None:
        """Take what is rounded, where nothing gave its bytes."""
        self._close()
        for draft, found in self._rounded:
            if any(each.name == found.name for each in draft.partitions):
                continue
            draft.partitions.append(found)
            if not found.start.exact:
                draft.notes.append(_ROUNDS)
        for draft in self.drafts:
            draft.notes.insert(0, f"sectors of {SECTOR_BYTES} bytes are assumed")

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"(?:DISKPART>\s*)?sel\w*\s+dis\w*\s+(?P<a>\d+)", _selected, starts=True),
        rule(r"Disk (?P<a>\d+) is now the selected disk\.?", _selected, starts=True),
        rule(r"Disk:\s*(?P<a>\d+)", _selected),
        rule(r"DiskPath: ?(?P<path>\S+)", _path, starts=True),
        rule(
            r"[*]?\s*(?P<name>[^\W\d]+ +\d+)\s{2,}(?P<type>\S.*?)\s{2,}(?P<size>\d+)\s+(?P<unit>"
            rf"{_SIZE})\s+(?P<start>\d+)\s+(?P<grain>{_SIZE})",
            _diskpart,
            starts=True,
        ),
        rule(r"[^\W\d]+ ###\s+(?:Type|Typ|Tipo|Тип)\s+\S+\s+Off?set.*", starts=True, heads=True),
        rule(r"[-\s]*-{3,}[-\s]*"),
        rule(r"(?P<name>[^\W\d]+ \d+)", _detail),
        rule(
            r"PartitionNumber\s+DriveLetter\s+Offset\s+Size\s+Type",
            _columns_of,
            starts=True,
            heads=True,
        ),
        rule(r"(?:\w+\s+)*StartingOffset(?:\s+\w+)*", _columns_of, starts=True, heads=True),
        rule(r"(?:\w+,)*StartingOffset(?:,\w+)*", _csv, starts=True, heads=True),
        rule(r"Partition\s+(?P<name>Disk #\d+, Partition #\d+)", _msinfo_name, starts=True),
        rule(r"[^,\s]*,(?:.*,)?Disk #\d+, Partition #\d+,.*", _csv_row),
        rule(r"(?:.*\s)?Disk #\d+, Partition #\d+(?:\s.*)?", _row),
        rule(r"(?:TRUE|FALSE|\d+)(?:\s+(?:TRUE|FALSE|\d+))+", _row),
        rule(r"\d+(?:\s+[A-Z])?\s+\d+\s+[\d.,]+ [KMGT]?B\s+\S.*", _row),
        rule(r"\d+(?:\s+\d+)*", _row),
        rule(r"Partition Starting Offset\s+(?P<start>[\d.,\s]+?)\s+bytes", _msinfo, starts=True),
        rule(r"Partition Size\s+[\d.,\s]+ \S+ \([\d.,\s]+ bytes\)"),
        rule(
            r"(?P<key>Offset in Bytes?|StartingOffset)\s*[:=]\s*(?P<value>.*?)", _field, starts=True
        ),
        rule(r"(?P<key>PartitionNumber|Offset)\s*[:=]\s*(?P<value>.*?)", _field, starts=True),
        rule(rf"(?P<key>{_KEYS})\s*[:=]\s*(?P<value>.*?)", _field),
        rule(r"Microsoft DiskPart version (?:5|6|10)\.[\d.]+", starts=True),
        rule(r"Copyright \(C\).* Microsoft Corporation\.?"),
        rule(r"On computer: \S+"),
        rule(r"Partition \d+ is now the selected partition\.?"),
        rule(r"Volume ###\s+Ltr\s+Label\s+Fs\s+Type\s+Size\s+Status\s+Info"),
        rule(r"[*]?\s*Volume \d+\s+.*"),
        rule(r"Disk ###\s+Status\s+Size\s+Free\s+Dyn\s+Gpt"),
        rule(r"[^,\s]+(?:,[^,]*)+", _csv_row, weak=True),
        rule(rf"[*]?\s*Disk \d+\s+Online\s+\d+ {_SIZE}\s+\d+ {_SIZE}(?:\s+[*])*"),
    )


def _overlap(word: re.Match[str], column: _Column) -> bool:
    return word.start() < column.last and word.end() > column.first
