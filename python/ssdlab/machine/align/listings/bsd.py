"""Other BSDs and macOS: their fdisks, `bsdlabel`, `gpt show`, and `diskutil list`.

FreeBSD's, macOS' and OpenBSD's fdisk list MBR slices in sectors. bsdlabel counts from the slice
or from the drive, which it does not say: only where its drive is no slice is a start known.
`diskutil list` shows no starts at all.
"""

from __future__ import annotations

import re
from typing import ClassVar

from ssdlab.machine.align.listings.model import Start
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


class BsdFdisk(Reader):
    """``fdisk`` of FreeBSD, macOS and OpenBSD."""

    program = "fdisk of FreeBSD, macOS or OpenBSD"

    def __init__(self) -> None:
        super().__init__()
        self._number: str | None = None
        self._type = ""

    def _disk(self, row: ListingRow, match: _Match) -> None:
        told = match.groupdict()
        self.drafts.append(Draft(match["name"]))
        if told.get("count"):
            self.draft.capacity = int(told["count"]) * self.draft.sector_bytes

    def _sector(self, row: ListingRow, match: _Match) -> None:
        self.draft.sector = sector_size(match["logical"])

    def _data(self, row: ListingRow, match: _Match) -> None:
        self._number, self._type = match["number"], ""

    def _sysid(self, row: ListingRow, match: _Match) -> None:
        self._type = match["id"]

    def _start(self, row: ListingRow, match: _Match) -> None:
        if self._number is None:
            raise Unclear("which partition it is of is not known")
        name, sector = f"{self.draft.name}s{self._number}", self.draft.sector_bytes
        start, size = int(match["start"]) * sector, int(match["size"]) * sector
        self._number = None
        self._add(row, name, start, size, self._type)

    def _row(self, row: ListingRow, match: _Match) -> None:
        if match["size"] == "0":
            return
        name, sector = f"{self.draft.name}s{match['number']}", self.draft.sector_bytes
        start, size = int(match["start"]) * sector, int(match["size"]) * sector
        self._add(row, name, start, size, match["id"])

    def _add(self, row: ListingRow, name: str, start: int, size: int, kind: str) -> None:
        add(self.draft, row, name, Start.at(start), size, kind)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"\*+ Working on device (?P<name>\S+) \*+", _disk, starts=True),
        rule(
            r"Disk: (?P<name>\S+)\s+geometry: \d+/\d+/\d+ \[(?P<count>\d+) [Ss]ectors\]",
            _disk,
            starts=True,
        ),
        rule(r"Media sector size is (?P<logical>\d+)", _sector),
        rule(r"The data for partition (?P<number>\d) is:", _data, starts=True),
        rule(r"sysid \d+ \(0x(?P<id>[\da-f]{2})\),\(.*\)", _sysid),
        rule(
            r"start (?P<start>\d+), size (?P<size>\d+) \(\d+ Meg\), flag \S+(?: \(active\))?",
            _start,
        ),
        rule(
            r"[*]?\s*(?P<number>\d+): (?P<id>[\dA-F]{2})(?:\s+\d+){3} -(?:\s+\d+){3} "
            r"\[\s*(?P<start>\d+)[:\s-]+(?P<size>\d+)\s*\]\s*\S.*",
            _row,
        ),
        rule(r"parameters extracted from in-core disklabel are:"),
        rule(r"parameters to be used for BIOS calculations are:"),
        rule(r"cylinders=\d+ heads=\d+ sectors/track=\d+ \(\d+ blks/cyl\)"),
        rule(r"Figures below won't work with BIOS for partitions not in cyl 1"),
        rule(r"Warning: BIOS sector numbering starts with sector [01]"),
        rule(r"Information from DOS bootblock is:"),
        rule(r"(?:beg|end): cyl \d+/ head \d+/ sector \d+[;,]?"),
        rule(r"<UNUSED>"),
        rule(r"(?:Offset: 0\s+)?Signature: 0xAA55"),
        rule(r"Starting\s+Ending(?:\s+LBA Info:)?"),
        rule(
            r"#: id\s+(?:cyl|C)\s+(?:hd|H)\s+(?:sec|S) -\s+(?:cyl|C)\s+(?:hd|H)\s+(?:sec|S) "
            r"\[\s*start\s*[:-]\s*size\s*\]",
            heads=True,
        ),
        rule(r"-{20,}"),
    )


class BsdLabel(Reader):
    """``bsdlabel`` and ``disklabel``."""

    program = "bsdlabel"

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self.drafts.append(Draft(match["name"]))

    def _row(self, row: ListingRow, match: _Match) -> None:
        name, sector = self.draft.name, self.draft.sector_bytes
        start = int(match["offset"]) * sector
        if match["letter"] == "c":
            return
        if not self.drafts or re.search(r"s\d+$", name):
            raise Unclear(
                f"its offset counts from {name}, whose start is not listed; gpart show lists both"
            )
        size = int(match["size"]) * sector
        add(self.draft, row, name + match["letter"], Start.at(start), size, is_label=True)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"# (?P<name>/dev/\S+):", _disk, starts=True),
        rule(r"\d+ partitions:", starts=True),
        rule(r"#\s+size\s+offset\s+fstype\s+\[fsize bsize bps/cpg\]", starts=True, heads=True),
        rule(
            r"(?P<letter>[a-p]):\s+(?P<size>\d+)\s+(?P<offset>\d+)\s+(?P<type>\S+)(?:\s+\d+)*"
            r"(?:\s+#.*)?",
            _row,
        ),
    )


class Gpt(Reader):
    """``gpt show`` of macOS and NetBSD."""

    program = "gpt show"

    def _disk(self, row: ListingRow, match: _Match) -> None:
        draft = Draft(match["name"])
        self.drafts.append(draft)
        draft.sector = sector_size(match["logical"])
        draft.capacity = int(match["bytes"])

    def _row(self, row: ListingRow, match: _Match) -> None:
        draft = self.draft
        name = f"{draft.name}s{match['index']}"
        start, size = (int(match[each]) * draft.sector_bytes for each in ("start", "size"))
        add(draft, row, name, Start.at(start), size, match["guid"] or "")

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            r"gpt show: (?P<name>\S+): mediasize=(?P<bytes>\d+); sectorsize=(?P<logical>\d+); "
            r"blocks=\d+",
            _disk,
            starts=True,
        ),
        rule(r"gpt show: \S+: (?:PMBR|Pri GPT|Sec GPT|MBR) at sector \d+"),
        rule(r"start\s+size\s+index\s+contents", starts=True, heads=True),
        rule(r"\d+\s+\d+\s+(?:PMBR|MBR|Hybrid MBR|(?:Pri|Sec) GPT (?:header|table))"),
        rule(
            r"(?P<start>\d+)\s+(?P<size>\d+)\s+(?P<index>\d+)\s+GPT part - "
            r"(?:(?P<guid>[\dA-Fa-f-]{36})|\S.*)",
            _row,
        ),
        rule(r"\d+\s+\d+"),
    )


class Diskutil(Reader):
    """``diskutil list``, which shows no starts."""

    program = "diskutil list, which does not show where partitions begin"

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self.drafts.append(Draft(match["name"]))
        self.draft.notes.append(
            "diskutil list does not show where partitions begin; gpt -r show /dev/diskN does, or "
            "diskutil info diskNsM (Partition Offset)"
        )

    def _row(self, row: ListingRow, match: _Match) -> None:
        if match["number"] == "0" or match["whole"]:
            return
        add(self.draft, row, match["name"], Start.anywhere())

    def _info(self, row: ListingRow, match: _Match) -> None:
        self.drafts.append(Draft("the drive"))
        name = f"partition {len(self.drafts)}"
        byte, logical = int(match["byte"]), sector_size(match["logical"])
        if int(match["count"]) * logical != byte:
            raise Unclear(f"{match['count']} blocks of {logical} bytes are not {byte} bytes")
        self.draft.sector = logical
        add(self.draft, row, name, Start.at(byte))

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            r"(?P<name>/dev/disk\d+)(?: \((?:internal|external|synthesized|disk image)"
            r"(?:, (?:physical|virtual))?\))?:?",
            _disk,
            starts=True,
        ),
        rule(r"#:\s+TYPE NAME\s+SIZE\s+IDENTIFIER", starts=True, heads=True),
        rule(
            r"(?P<number>\d+):\s+.*\s(?P<whole>[*+]?)[\d.]+ [KMGTP]?B\s+(?P<name>disk\d+(?:s\d+)*)",
            _row,
        ),
        rule(r"Physical Store disk\d+s\d+"),
        rule(
            r"Partition Offset:\s+(?P<byte>\d+) Bytes \((?P<count>\d+) (?P<logical>\d+)-Byte-"
            r"Device-Blocks\)",
            _info,
            starts=True,
        ),
    )
