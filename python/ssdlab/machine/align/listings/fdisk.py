"""What fdisk of util-linux and of busybox list, of all their ages and in any language.

Forms of `fdisk -l` that are about: sectors (``-u``, and the default since util-linux 2.22) with a
column of 1 KiB blocks or, since 2.26, of sectors; cylinders, the default before; and GPT of
util-linux 2.23 to 2.25, whose rows are numbers without a device. busybox adds columns of CHS. Words
are translated by the system's language, so lines are told by their numbers where they have some.
In cylinders a start is known to a cylinder only; with the blocks and the end's cylinder it often
comes down to fewer sectors, since the partition has to end in that cylinder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from ssdlab.machine.align.listings.cylinders import in_cylinders
from ssdlab.machine.align.listings.model import Start
from ssdlab.machine.align.listings.notices import DEVICES, FDISK, LABELS, MODELS, UNIT_WORDS
from ssdlab.machine.align.listings.rows import (
    GPT_UNSUPPORTED,
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    partition_name,
    rule,
    sector_size,
    sectors,
)
from ssdlab.machine.align.rule import PAGE_BYTES

# Chinese has full-width colons, with no space behind them.
_COLON = r"(?:\s?: |\s?：\s*| = )"
_NAME = r"/\S+?|\S+?\.\w+"
_REST = r"(?P<rest>\S.*)"
_ROW = (
    r"(?P<name>/\S+|\S+\d)\s+(?:\*\s+)?(?:\d+,\d+,\d+\s+){0,2}(?P<start>\d+)(?P<rounded>[+-]?)\s+"
    r"(?P<end>\d+)[+-]?\s+(?:(?P<third>\d+)(?P<odd>[+-]?)\s+)?" + _REST
)
_WHOLE_ROW = _ROW.removesuffix(_REST) + (
    r"(?P<rest>[\d.]+[KMGTPEB]?\s+[\da-f]{1,2}\s+\S.*|[\da-f]{1,2}\s+[^\d\s].*|"
    r"[\d.]+[KMGTPEB]\s+\S.*)"
)
"""A row that nothing but fdisk prints: with a size, or an Id and words."""
_BLOCKS = re.compile(r"\d+[+-]?\s+[\da-f]{1,2}\s")
_FEWEST_IN_CYLINDER = 32
_FORMS = {
    "Blocks": "before util-linux 2.26 (with blocks of 1 KiB)",
    "Sectors": "of util-linux since 2.26 (with sectors)",
    "Cylinders": "of util-linux since 2.26 (with cylinders)",
    "#": "of util-linux 2.23 to 2.25 (GPT)",
    "StartLBA": "of busybox",
}
"""What a heading's words tell of the version."""
_Match = re.Match[str]


@dataclass
class _Table:
    """What is known of the drive that is being read, until its rows can be understood."""

    per_unit: int | None = None
    unit_sector: int | None = None
    unclear: str = ""
    sizes: int = 0
    rows: list[tuple[ListingRow, _Match]] = field(default_factory=list)
    free: bool = False
    gpt: bool = False
    expert: bool = False
    third: str = ""


class Fdisk(Reader):
    """``fdisk -l``, the commands ``p``, ``F``, ``i`` and ``x``, and ``sfdisk -l`` since 2.26."""

    program = "fdisk -l of util-linux or busybox"

    def __init__(self) -> None:
        super().__init__()
        self._table = _Table()
        self._info: dict[str, tuple[ListingRow, str]] = {}
        self._wrapped: ListingRow | None = None
        self._forms: dict[str, None] = {}
        self._offs: list[tuple[ListingRow, str, Draft | None]] = []

    def _disk(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self.drafts.append(Draft(match["name"], capacity=int(match["bytes"])))

    def _free(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._table.free = True

    def _units(self, row: ListingRow, match: _Match) -> None:
        try:
            count, size = _unit_of(row.text, match)
        except Unclear:
            self._table.unclear = "the line of units is not understood"
            raise
        if not self._table.free:
            self._table.per_unit, self._table.unit_sector = count, size
            self.draft.sector = size

    def _unknown_units(self, row: ListingRow, match: _Match) -> None:
        self._table.unclear = "the line of units is not understood"
        raise Unclear("not a unit that fdisk is known to count in")

    def _sizes(self, row: ListingRow, match: _Match) -> None:
        first, second = int(match["first"]), int(match["second"])
        if self._table.free:
            sector_size(match["first"])
            return
        self._table.sizes += 1
        if self._table.sizes > 1:
            self.draft.optimal = second
            return
        logical, physical = sector_size(match["first"]), sector_size(match["second"])
        if self._table.unit_sector not in (None, logical) or physical < logical:
            self._table.unclear = "the sizes of sectors contradict each other"
            raise Unclear(f"sectors of {first} or {second} bytes contradict the line of units")
        self.draft.sector, self.draft.physical = logical, physical

    def _offset(self, row: ListingRow, match: _Match) -> None:
        if int(match["offset"]):
            self._table.unclear = "the drive's own offset is not reckoned with"
            raise Unclear("an offset of the drive's physical sectors is not reckoned with")

    def _heading(self, row: ListingRow, match: _Match) -> None:
        words = row.text.split()
        self._table.third = next((each for each in _FORMS if each in words), "")
        self._table.gpt = words[0] == "#"
        form = "#" if self._table.gpt else "StartLBA" if "StartLBA" in words else self._table.third
        self._forms[_FORMS.get(form, "")] = None

    def _expert_heading(self, row: ListingRow, match: _Match) -> None:
        self._table.expert = True

    def _device_row(self, row: ListingRow, match: _Match) -> None:
        self._unwrap()
        drive = self.drafts[-1].name if self.drafts else "/"
        if not match["name"].startswith(drive) and drive != "the drive":
            raise Unclear(f"it is no partition of {drive}")
        self._table.free = False
        self._table.rows.append((row, match))

    def _number_row(self, row: ListingRow, match: _Match) -> None:
        """Take a row that names no device: of GPT in 2.23, or of a name on the line before."""
        if self._wrapped is not None:
            name, self._wrapped = self._wrapped, None
            whole = re.fullmatch(_WHOLE_ROW, f"{name.text.strip()} {row.text.strip()}")
            if whole is None:
                self.leave(name, "no start follows it")
                raise Unclear("it does not go on with the line before")
            self._device_row(row, whole)
        elif self._table.free:
            if not re.fullmatch(r"\s*\d+\s+\d+\s+\d+\s+[\d.]+[KMGTPE]?\s*", row.text):
                raise Unclear("expected start, end, sectors and size of free space")
        elif self._table.gpt:
            self._gpt_row(row)
        elif self._table.expert:
            self._expert_row(row)
        else:
            raise Unclear("it names no device, and no heading of such rows precedes it")

    def _gpt_row(self, row: ListingRow) -> None:
        form = r"\s*(\d+)\s+(\d+)\s+(\d+)\s+([\d.]+[KMGTPE]?)(?:\s+(\S.*?))?\s*"
        match = re.fullmatch(form, row.text)
        if match is None:
            raise Unclear("expected number, start, end, size, type and name")
        self._demand_sectors()
        start, length = sectors(match[2], match[3])
        sector = self.draft.sector_bytes
        # The type is cut after 15 letters, and the name follows it.
        kind = match[5] or ""
        types = (kind[:15], re.split(r"\s{2,}", kind)[0])
        name = partition_name(self.draft.name, match[1])
        add(self.draft, row, name, Start.at(start * sector), length * sector, *types)

    def _demand_sectors(self) -> None:
        if self._table.unclear:
            raise Unclear(self._table.unclear)
        if self._table.per_unit not in (None, 1):
            raise Unclear("its numbers are not cylinders, which the line of units names")

    def _expert_row(self, row: ListingRow) -> None:
        words = row.text.split()
        if len(words) != 11 or not all(each.isdecimal() for each in words[:1] + words[8:10]):
            raise Unclear("expected the 11 columns of the expert's list")
        if words[9] == "0":
            return
        sector = self.draft.sector_bytes
        name = partition_name(self.draft.name, words[0])
        start = Start.at(int(words[8]) * sector)
        add(self.draft, row, name, start, int(words[9]) * sector, words[10])

    def _wrapped_name(self, row: ListingRow, match: _Match) -> None:
        self._unwrap()
        self._wrapped = row

    def _unwrap(self) -> None:
        if self._wrapped is not None:
            self.leave(self._wrapped, "no start follows it")
            self._wrapped = None

    def _fact(self, row: ListingRow, match: _Match) -> None:
        """Take a line of the command ``i``."""
        if match["key"] == "Device":
            self._close_info()
        self._info[match["key"]] = (row, match["value"])

    def finish(self) -> None:
        """Understand the rows of the last drive, and hold them against what fdisk says of them."""
        self._close()
        for row, number, draft in self._offs:
            self._contradicted(row, number, draft)

    def _off(self, row: ListingRow, match: _Match) -> None:
        """Keep what fdisk says of a start, until starts are known."""
        self._offs.append((row, match["number"], self.drafts[-1] if self.drafts else None))

    def _contradicted(self, row: ListingRow, number: str, draft: Draft | None) -> None:
        """Leave unread what fdisk calls off the physical sectors, and its start does not.

        The drive then begins its sectors elsewhere, or they are larger: nobody can judge by the
        start. Without a drive, such as where errors are printed first, it may be any drive's.
        """
        drafts = [draft] if draft is not None else self.drafts
        named = [
            (each, found)
            for each in drafts
            for found in each.partitions
            if re.fullmatch(rf".*\D{number}", found.name)
        ]
        if any(found.idle or found.start.fits(PAGE_BYTES) is False for _, found in named):
            return
        why = "fdisk says that it does not start on a boundary of physical sectors"
        for each, found in named:
            each.partitions.remove(found)
            self.leave(ListingRow(found.line, found.quoted), f"{why} (line {row.number})")
        where = "the row's sector" if named else "no row that is understood"
        shows = "cat /sys/block/*/alignment_offset shows whether the drive has an offset"
        self.leave(row, f"{where} does not bear it out; {shows}")

    def _close(self) -> None:
        if self.headed is not None and not _may_head_nothing(self.headed.text):
            self.leave_heading()
        self._unwrap()
        self._close_info()
        table, self._table = self._table, _Table()
        for row, match in table.rows:
            self.attempt(row, Fdisk._partition, match, table)

    def _close_info(self) -> None:
        info, self._info = self._info, {}
        if info:
            row = next(iter(info.values()))[0]
            self.attempt(row, Fdisk._informed, info)

    def _informed(self, row: ListingRow, info: dict[str, tuple[ListingRow, str]]) -> None:
        told = {key: value for key, (_, value) in info.items()}
        if not {"Device", "Start", "End", "Sectors"} <= told.keys():
            raise Unclear("expected Device, Start, End and Sectors, as the command i prints")
        if not all(told[each].isdecimal() for each in ("Start", "End", "Sectors")):
            raise Unclear("its Start, End and Sectors are no numbers")
        known = self.drafts[-1].name if self.drafts else ""
        if not re.fullmatch(rf"{re.escape(known)}.*\d", told["Device"]):
            raise Unclear(f"{told['Device']} is no partition of {known or 'a drive'}")
        start, length = sectors(told["Start"], told["End"], told["Sectors"])
        draft, sector = self.draft, self.draft.sector_bytes
        types = (told.get("Type", ""), told.get("Type-UUID", ""), told.get("Id", ""))
        add(draft, row, told["Device"], Start.at(start * sector), length * sector, *types)

    def _partition(self, row: ListingRow, match: _Match, table: _Table) -> None:
        if table.unclear:
            raise Unclear(table.unclear)
        draft = self.draft
        sector = draft.sector_bytes
        per_unit = table.per_unit
        if per_unit is None:
            _assume_sectors(match)
            draft.notes.append(
                "the listing does not name its unit; its numbers make sense only as sectors"
            )
        # "Type" follows a size such as 1.8T; before util-linux 2.26 it follows "Id".
        words = match["rest"].split(None, 1)
        kind = words[-1] if len(words) > 1 else ""
        types = (words[0], kind, kind.split(None, 1)[0] if kind else "")
        if per_unit is None or per_unit == 1:
            start, length = sectors(match["start"], match["end"])
            _counts(match, length, sector, table.third)
            add(draft, row, match["name"], Start.at(start * sector), length * sector, *types)
            return
        draft.notes.append(
            f"the listing counts cylinders of {per_unit} sectors, which hide where in them a "
            "partition begins; fdisk -l -u shows sectors"
        )
        draft.partitions.append(
            in_cylinders(row, match, per_unit, sector, types, table.third == "Cylinders")
        )

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            rf"\S+\s(?P<name>{_NAME}){_COLON}(?!\d+ sectors, ).*?\b(?P<bytes>\d{{5,}}) \w+"
            r"(?:[,，].*)?",
            _disk,
            starts=True,
        ),
        rule(r"Unpartitioned space \S+: .*\d+ bytes, \d+ sectors", _free, starts=True),
        rule(
            rf"[^:：=]+{_COLON}[^:：=]*?\b(?P<count>\d+) ?[*x×]? ?(?P<size>\d+) ?= ?"
            r"(?P<product>\d+)(?: \S+)?",
            _units,
            starts=True,
        ),
        rule(
            rf"[^:：]+{_COLON}(?P<first>\d+) [^\s/\d]+ / (?P<second>\d+) [^\s/\d]+",
            _sizes,
            starts=True,
        ),
        rule(r"Alignment offset: (?P<offset>\d+) bytes", _offset),
        rule(rf"(?:{UNIT_WORDS})\b.*", _unknown_units),
        rule(r"(?:[^:\d]+: )?\d+ [^\d,]+, \d+ [^\d,]+, \d+ [^\d,]+(?:,[^\d,]+\d+ [^\d,]+)?"),
        rule(rf"[^:：\d]+{_COLON}(?:{LABELS})"),
        rule(r"Disk identifier: .*"),
        rule(
            rf"[^:：\d]+{_COLON}(?:0x[\da-fA-F]{{1,8}}|[\da-fA-F]{{8}}(?:-[\da-fA-F]{{4}}){{3}}-"
            r"[\da-fA-F]{12})"
        ),
        rule(rf"(?:{MODELS})\s*[:：].*"),
        rule(rf"(?:{DEVICES})\s[^\d]+", _heading, starts=True, heads=True),
        rule(r"#\s+Start\s+End\s+Size\s+Type\s+Name", _heading, starts=True, heads=True),
        rule(r"Start\s+End\s+Sectors\s+Size", None),
        rule(
            r"Nr AF\s+Hd Sec\s+Cyl\s+Hd Sec\s+Cyl\s+Start\s+Size ID",
            _expert_heading,
            starts=True,
            heads=True,
        ),
        rule(
            r"Expert command \(m for help\): ?\w?|Command \(m for help\): ?\w?", None, starts=True
        ),
        rule(
            r"(?P<key>Device|Start|End|Sectors|Cylinders|Size|Type|Type-UUID|UUID|Name|Attrs|Id|"
            r"Boot|Flag|Start-C/H/S|End-C/H/S|FirstLBA|LastLBA): ?(?P<value>.*?)",
            _fact,
        ),
        rule(
            rf"(?=/){_WHOLE_ROW}",
            _device_row,
            starts=True,
        ),
        rule(_ROW.replace(r"|\S+\d)", r"|[^\s/]+\.\w*\d+)"), _device_row),
        rule(r"/\S*\d", _wrapped_name),
        rule(r"\d+\s.*", _number_row, weak=True),
        rule(GPT_UNSUPPORTED, Reader.gpt_unsupported, aside=True),
        rule(
            r"Partition (?P<number>\d+) does not start on physical sector boundary\.",
            _off,
            aside=True,
        ),
        *(rule(each) for each in FDISK),
    )

    def said(self) -> str:
        """Name the versions and forms."""
        forms = " and ".join(each for each in self._forms if each)
        return f"fdisk -l {forms}" if forms else self.program


def _may_head_nothing(heading: str) -> bool:
    """Whether a heading may stand above an empty table: since util-linux 2.26 fdisk prints none.

    Those before have seven columns, or a number first; busybox's are its own.
    """
    words = heading.split()
    return len(words) == 7 or words[0] in ("#", "Nr") or "StartLBA" in words


def _unit_of(text: str, match: _Match) -> tuple[int, int]:
    """Take the sectors of a unit, and what a sector holds.

    Raises
    ------
    Unclear
        It is neither sectors nor cylinders, by its word in English or by its numbers.
    """
    count, size, product = (int(match[each]) for each in ("count", "size", "product"))
    sector_size(match["size"])
    word = re.match(r"\s*Units(?: =|:) (\w+) of ", text)
    is_english = text.lstrip().startswith("Units")
    if is_english and (word is None or word[1] != ("sectors" if count == 1 else "cylinders")):
        raise Unclear("not a unit that fdisk is known to count in")
    if count * size != product:
        raise Unclear(f"{count} times {size} is not {product}")
    if count != 1 and count < _FEWEST_IN_CYLINDER:
        raise Unclear(f"units of {count} sectors are neither sectors nor cylinders")
    return count, size


def _counts(match: _Match, length: int, sector: int, third: str) -> None:
    """Hold the third column against start and end.

    Raises
    ------
    Unclear
        It is neither their sectors nor their blocks of 1 KiB.
    """
    if match["third"] is None:
        return
    told = int(match["third"])
    blocks, is_odd = length * sector // 1024, length * sector % 1024 != 0
    fits = {"Sectors": told == length, "Blocks": told == blocks and is_odd == (match["odd"] == "+")}
    if not fits.get(third, any(fits.values())):
        raise Unclear(
            f"from {match['start']} to {match['end']} there are {length} sectors of {sector} "
            f"bytes, which the {third or 'third column'} {told}{match['odd']} contradicts"
        )


def _assume_sectors(row: _Match) -> None:
    """Take the numbers as sectors where the third column bears that out.

    `sfdisk -l` before util-linux 2.26 marks what it rounds, and lists blocks behind the length in
    its unit.

    Raises
    ------
    Unclear
        They may be cylinders.
    """
    length = int(row["end"]) - int(row["start"]) + 1
    counts = row["third"] is not None and int(row["third"]) in (length, length // 2)
    if not counts or row["rounded"] or _BLOCKS.match(row["rest"]):
        raise Unclear(
            f"{row['start']} to {row['end']}: sectors or cylinders? give all of fdisk -l, with its "
            "line of units, or sfdisk -d"
        )
