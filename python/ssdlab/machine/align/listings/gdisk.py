"""What gdisk and sgdisk list (``p``, ``-p``, ``i``, ``-i``), and busybox's fdisk of GPT.

They count in sectors. The table's rows name no device; a row of the MBR that gdisk lists for
recovery is no partition of the GPT that counts.
"""

from __future__ import annotations

import re
from typing import ClassVar

from ssdlab.machine.align.listings.model import Start
from ssdlab.machine.align.listings.notices import GDISK
from ssdlab.machine.align.listings.rows import (
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    partition_name,
    rule,
    sectors,
)

_Match = re.Match[str]
_ONE = "the partition"


class Gdisk(Reader):
    """The table of ``p``, and one partition's facts of ``i``."""

    program = "gdisk or sgdisk"

    def __init__(self) -> None:
        super().__init__()
        self._columns = False
        self._unclear = ""
        self._facts: dict[str, int] = {}
        self._first: ListingRow | None = None
        self._types: tuple[str, ...] = ()

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._columns, self._unclear = False, ""
        self.drafts.append(Draft(match["name"]))
        self._count = int(match["count"])

    def _sector(self, row: ListingRow, match: _Match) -> None:
        try:
            self.sector_rows(row, match)
        except Unclear:
            self._unclear = "the sector's size is not understood"
            raise
        self.draft.capacity = getattr(self, "_count", 0) * self.draft.sector_bytes or None

    def _heading(self, row: ListingRow, match: _Match) -> None:
        self._columns = True

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._columns:
            raise Unclear("no heading of such rows precedes it")
        if self._unclear:
            raise Unclear(self._unclear)
        start, length = sectors(match["start"], match["end"])
        self._held_against_size(match, length)
        sector = self.draft.sector_bytes
        name = partition_name(self.draft.name, match["number"])
        code = {"ef02": "bios boot", "0c01": "microsoft reserved", "a501": "freebsd-boot"}
        kind = code.get((match["code"] or "").lower(), "")
        add(self.draft, row, name, Start.at(start * sector), length * sector, kind)

    def _held_against_size(self, match: _Match, length: int) -> None:
        """Hold the rounded size against the sectors.

        Raises
        ------
        Unclear
            They contradict each other, or the unit is unknown.
        """
        units = {"bytes": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
        said, unit = float(match["size"]), match["unit"][:1].upper()
        unit = "bytes" if match["unit"] == "bytes" else unit
        if unit not in units:
            raise Unclear(f"{match['unit']} is no unit that gdisk is known to print")
        bytes_said = said * 1024 ** units[unit]
        held = length * self.draft.sector_bytes
        # busybox prints whole units, gdisk one decimal.
        step = 1024 ** units[unit] * (0.1 if "." in match["size"] else 1.01)
        if abs(bytes_said - held) > step + 1:
            raise Unclear(
                f"{length} sectors of {self.draft.sector_bytes} bytes are not "
                f"{match['size']} {match['unit']}"
            )

    def _fact(self, row: ListingRow, match: _Match) -> None:
        if match["key"] == "First":
            self._close()
            self._first = row
        self._facts[match["key"]] = int(match["value"])

    def _type(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._types = (match["guid"], match["words"] or "")

    def _close(self) -> None:
        facts, self._facts, row, self._first = self._facts, {}, self._first, None
        if row is not None:
            self.attempt(row, Gdisk._informed, facts)

    def _informed(self, row: ListingRow, facts: dict[str, int]) -> None:
        if facts.keys() != {"First", "Last", "Partition"}:
            raise Unclear("expected first sector, last sector and size, as sgdisk -i prints")
        start, length = sectors(str(facts["First"]), str(facts["Last"]), str(facts["Partition"]))
        draft = self.draft
        sector = draft.sector_bytes
        if draft.sector is None:
            draft.notes.append("sectors of 512 bytes are assumed")
        name = f"{_ONE} {len(draft.partitions) + 1}"
        add(draft, row, name, Start.at(start * sector), length * sector, *self._types)

    def finish(self) -> None:
        """Understand the last facts."""
        self._close()

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"GPT fdisk \(s?gdisk\) version [01]\.\d+(?:\.\d+)*", starts=True),
        rule(r"Disk (?P<name>/?\S+): (?P<count>\d+) sectors, [\d.]+ ?\S+", _disk, starts=True),
        rule(
            r"Sector size \(logical/physical\): (?P<logical>\d+)/(?P<physical>\d+) bytes", _sector
        ),
        rule(r"Sector size \(logical\): (?P<logical>\d+) bytes", _sector),
        rule(r"Logical sector size: (?P<logical>\d+)(?: bytes)?", _sector, starts=True),
        rule(
            r"Number\s+Start \(sector\)\s+End \(sector\)\s+Size\s+(?:Code\s+)?Name",
            _heading,
            starts=True,
            heads=True,
        ),
        rule(
            r"(?P<number>\d+)\s+(?P<start>\d+)\s+(?P<end>\d+)\s+(?P<size>[\d.]+) ?"
            r"(?P<unit>[A-Za-z]+)(?:\s+(?P<code>[\dA-Fa-f]{4}))?(?:\s+\S.*)?",
            _row,
        ),
        rule(
            r"Partition GUID code: (?P<guid>[\da-fA-F-]{36}) \((?P<words>.*)\)",
            _type,
            starts=True,
        ),
        rule(r"(?P<key>First|Last) sector: (?P<value>\d+) \(at .*\)", _fact, starts=True),
        rule(r"(?P<key>Partition) size: (?P<value>\d+) sectors \(.*\)", _fact, starts=True),
        rule(r"Partition unique GUID: .*"),
        rule(r"Attribute flags: [\da-fA-F]+"),
        rule(r"Partition name: .*"),
        *(rule(each) for each in GDISK),
    )
