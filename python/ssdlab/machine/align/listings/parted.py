"""What `parted print` lists, as a table or for programs (``-m``), in any of its units.

Sectors (``unit s``) and bytes are exact. The others are rounded to two decimals below 10, to one
below 100, to none above (libparted's ped_unit_format): a start is then known to half of the last
digit. Percent, cylinders and CHS say too little to judge: such rows are unread.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import ClassVar

from ssdlab.machine.align.listings.model import Start
from ssdlab.machine.align.listings.notices import PARTED
from ssdlab.machine.align.listings.rows import (
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    partition_name,
    rule,
)

_EXACT = {"s": 0, "B": 1}
_ROUNDED = {
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(("k", "M", "G", "T"), 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T"), 1)},
    "kiB": 1024,
}
_PLACE = r"\d+(?:[.,]\d+)*\s?[a-zA-Z%]*"
# Chinese has full-width colons, with no space behind them.
_COLON = r"\s?(?:: |：)\s*"
_FREE = (
    "Free Space|Freier Platz|Freier Speicherplatz|Espace libre|Espacio libre|Spazio libero|"
    "Свободное место|Volné místo|可用空间"
)
_NUMBERS = "Number|Nummer|Numéro|Número|Numero|Номер|Číslo|数字|编号|番号"
_TYPES = "primary|extended|logical"
_ROUNDS = "the listing is rounded; for exact sectors: parted DEVICE unit s print"
_ASK = "print it in sectors: parted DEVICE unit s print"
_Match = re.Match[str]


class Parted(Reader):
    """``parted print`` and ``parted -l``."""

    program = "parted print"

    def __init__(self) -> None:
        super().__init__()
        self._unclear = ""
        self._headings: list[tuple[str, int]] = []
        self._size = ""
        self._is_machine = False

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self._unclear, self._headings, self._size = "", [], match["size"]
        self._is_machine = False
        self.drafts.append(Draft(match["name"]))
        if _range(match["size"], 512) is None:
            raise Unclear(f"{match['size']} is no size that parted is known to print")

    def _sectors(self, row: ListingRow, match: _Match) -> None:
        try:
            self.sector_rows(row, match)
        except Unclear:
            self._unclear = "the sector's size is not understood"
            raise
        self._measure()

    def _measure(self) -> None:
        whole = _range(self._size, self.draft.sector_bytes)
        if whole is None and self._is_machine:
            self._unclear = "the drive's size is not understood"
            raise Unclear(f"{self._size} is no size that parted is known to print; {_ASK}")
        self.draft.capacity = whole.byte if whole is not None else None

    def _heading(self, row: ListingRow, match: _Match) -> None:
        self._headings = [
            (each[0], each.start()) for each in re.finditer(r"\S+(?: \S+)*", row.text)
        ]

    def _row(self, row: ListingRow, match: _Match) -> None:
        if self._unclear:
            raise Unclear(self._unclear)
        if not self.drafts:
            raise Unclear("no line of a disk precedes it")
        fields = [match[each] for each in ("number", "start", "end", "size")]
        self._partition(row, fields, self._types(row.text, match))

    def _types(self, text: str, match: _Match) -> tuple[str, ...]:
        """Give a row's type and flags, which follow the size; a name in between is neither."""
        rest = match["rest"].strip()
        first = re.match(rf"(?:{_TYPES})\b", rest)
        flags = next((at for word, at in self._headings if word == "Flags"), None)
        if flags is not None:
            # What begins at the heading's place, a column more or less.
            indent = len(text) - len(text.lstrip())
            first_place = max(flags - 1, indent + match.end("size"))
            behind = re.search(r"(?<!\S)\S.*$", text[first_place:])
            found = behind[0] if behind and len(text) > flags - 1 else ""
        else:
            found = re.split(r"\s{2,}", rest)[-1] if rest else ""
        words = [each.strip() for each in found.split(",")]
        known = [each for each in words if each in ("bios_grub", "msftres")]
        return (*([first[0]] if first else []), *known)

    def _partition(self, row: ListingRow, fields: list[str], types: tuple[str, ...]) -> None:
        number, first, last, length = fields
        draft = self.draft
        sector = draft.sector_bytes
        start, end, size = (_range(each, sector) for each in (first, last, length))
        if start is None or end is None or size is None:
            raise Unclear(f"{first} does not say where it begins; {_ASK}")
        if end.high is not None and end.high < start.low:
            raise Unclear(f"it ends at {last}, before it begins at {first}")
        _agree(start, end, size, sector)
        if not start.exact:
            draft.notes.append(_ROUNDS)
        add(draft, row, partition_name(draft.name, number), start, size.byte, *types)

    def _free(self, row: ListingRow, match: _Match) -> None:
        if _range(match["start"], 512) is None or _range(match["size"], 512) is None:
            raise Unclear(f"{match['start']} is no place that parted is known to print")

    def _in_chs(self, row: ListingRow, match: _Match) -> None:
        raise Unclear(f"cylinder, head and sector do not say where it begins; {_ASK}")

    def _machine_disk(self, row: ListingRow, match: _Match) -> None:
        self._unclear, self._size, self._is_machine = "", match["size"], True
        self.drafts.append(Draft(match["name"]))
        try:
            self.sector_rows(row, match)
        except Unclear:
            self._unclear = "the sector's size is not understood"
            raise
        self._measure()

    def _machine_row(self, row: ListingRow, match: _Match) -> None:
        if self._unclear:
            raise Unclear(self._unclear)
        if not self.drafts:
            raise Unclear("no line of a disk precedes it")
        if match["rest"] == "free":
            self._free(row, match)
            return
        flags = match["rest"].split(":")[-1]
        known = [each.strip() for each in flags.split(",")]
        types = tuple(each for each in known if each in ("bios_grub", "msftres"))
        fields = [match[each] for each in ("number", "start", "end", "size")]
        self._partition(row, fields, types)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(rf"\S+\s+(?P<name>/\S+?|\S+?\.\w+){_COLON}(?P<size>{_PLACE})", _disk, starts=True),
        rule(rf"[^:：]+{_COLON}(?P<logical>\d+)B/(?P<physical>\d+)B", _sectors, starts=True),
        # Rows widen the columns: where they are not wider than their headings, the table is empty.
        rule(rf"(?:{_NUMBERS})(?:  \S+(?: \S+)*)+", _heading),
        rule(rf"(?:{_NUMBERS})\s+\S[^\d]*", _heading, heads=True),
        rule(
            rf"(?P<number>\d+)\s+(?P<start>{_PLACE})\s+(?P<end>{_PLACE})\s+(?P<size>{_PLACE})"
            r"(?P<rest>(?:\s.*)?)",
            _row,
        ),
        rule(
            rf"(?P<start>{_PLACE})\s+(?P<end>{_PLACE})\s+(?P<size>{_PLACE})\s+(?:{_FREE})",
            _free,
        ),
        rule(r"(?:BYT|CHS|CYL);", starts=True),
        rule(r"Model: .* \(\w+\)", starts=True),
        rule(
            r"(?P<name>[^:;]*[^:;\d][^:;]*):(?P<size>[^:;]*):[a-z]\w*:(?P<logical>\d+):(?P<physical>\d+):"
            r"[^:;]*:[^;]*;",
            _machine_disk,
            starts=True,
        ),
        rule(
            r"(?P<number>\d+):(?P<start>[^:;]+):(?P<end>[^:;]+):(?P<size>[^:;]+):(?P<rest>[^;]*);?",
            _machine_row,
        ),
        rule(r"\d+(?:\s+\d+,\d+,\d+){2}(?:\s+\S.*)?", _in_chs),
        rule(r"\d+(?::\d+,\d+,\d+){2}:[^;]*;?", _in_chs),
        *(rule(each) for each in PARTED),
    )


def _agree(start: Start, end: Start, size: Start, sector: int) -> None:
    """Hold start, end and size against each other, as exactly as they are printed.

    Raises
    ------
    Unclear
        They contradict each other.
    """
    assert start.high is not None and end.high is not None and size.high is not None
    low = end.low - start.high
    high = end.high - start.low + sector
    if size.high < low or size.low > high:
        raise Unclear("its start, end and size contradict each other")


def _range(text: str, sector: int) -> Start | None:
    """Read a number as every place that is printed like this; None where it is no place."""
    match = re.fullmatch(r"(\d+)(?:[.,](\d+))?\s?([a-zA-Z%]*)", text)
    unit = match[3] if match else ""
    if match is None or unit not in (*_EXACT, *_ROUNDED):
        return None
    digits = match[2] or ""
    if unit in _EXACT:
        if digits.strip("0"):
            return None
        return Start.at(int(match[1]) * (_EXACT[unit] or sector))
    value = Fraction(int(match[1] + digits), 10 ** len(digits)) * _ROUNDED[unit]
    half = Fraction(_ROUNDED[unit], 2 * 10 ** len(digits))
    return Start.between(-int(-max(Fraction(0), value - half) // 1), int(value + half), sector)
