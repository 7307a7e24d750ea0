"""What else Linux prints of partitions: blockdev, blkid, partx, kpartx, sysfs, mmls and others.

sysfs and all that read it (blockdev --report, blkid, partx, hdparm -g) count sectors of 512 bytes,
whatever the drive's own are. A device that is no partition (a disk, dm, md, loop) begins where it
begins: at 0, and is not judged.
"""

from __future__ import annotations

import re
from typing import ClassVar

from ssdlab.machine.align.listings.model import SECTOR_BYTES, Start
from ssdlab.machine.align.listings.rows import (
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

_Match = re.Match[str]
_PARTITION = re.compile(
    r"(?P<drive>(?:/dev/)?(?:(?:[shv]d|xvd)[a-z]+(?=\d)|"
    r"(?:nvme\d+n\d+|mmcblk\d+|md\d+|md_d\d+|loop\d+|nbd\d+|pmem\d+|rbd\d+|cciss/c\d+d\d+|zd\d+)"
    r"(?=p\d)|(?:mapper|disk/by-\w+)/\S+?(?=(?:-part|p)\d+$)))(?:p|-part)?\d+"
)
_WHOLE = re.compile(
    r"(?:/dev/)?(?:(?:[shv]d|xvd)[a-z]+|nvme\d+n\d+|mmcblk\d+(?:boot\d|rpmb)?|md\d+|loop\d+|"
    r"nbd\d+|pmem\d+|rbd\d+|cciss/c\d+d\d+|zd\d+|dm-\d+|s?r\d+|sr\d+|ram\d+|zram\d+|fd\d+|bcache\d+|"
    r"mapper/\S+|drbd\d+)"
)
COUNTS_512 = "sectors of 512 bytes, as the kernel counts on every drive"


def drive_of(name: str) -> str | None:
    """Name the drive of a partition; None of a whole device.

    Raises
    ------
    Unclear
        It is neither, as far as is known here.
    """
    match = _PARTITION.fullmatch(name)
    if match:
        return match["drive"]
    if _WHOLE.fullmatch(name):
        return None
    raise Unclear(f"whether {name} is a partition is not known")


class Blockdev(Reader):
    """``blockdev --report``."""

    program = "blockdev --report"

    def __init__(self) -> None:
        super().__init__()
        self._columns = False

    def _heading(self, row: ListingRow, match: _Match) -> None:
        self._columns = True

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._columns:
            raise Unclear("no heading with StartSec precedes it")
        name = match["name"]
        start, size = int(match["start"]) * SECTOR_BYTES, int(match["size"])
        drive = drive_of(name)
        logical = sector_size(match["sector"])
        if drive is None:
            if start:
                raise Unclear(f"{name} is no partition, and begins at {match['start']}")
            draft = self.named(name)
            draft.sector, draft.capacity = logical, size
            return
        if not start:
            raise Unclear("a partition cannot begin at sector 0, where the table lies")
        draft = self.named(drive)
        draft.sector = draft.sector or logical
        draft.notes.append(f"StartSec counts {COUNTS_512}")
        add(draft, row, name, Start.at(start), size)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            r"RO\s+RA\s+SSZ\s+BSZ\s+Start[Ss]ec\s+Size\s+Device", _heading, starts=True, heads=True
        ),
        rule(
            r"(?:rw|ro)\s+\d+\s+(?P<sector>\d+)\s+\d+\s+(?P<start>\d+)\s+(?P<size>\d+)\s+"
            r"(?P<name>/\S+)",
            _row,
            starts=True,
        ),
    )


class Blkid(Reader):
    """``blkid -p``, in each of its forms of output."""

    program = "blkid -p"

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self._types: tuple[str, ...] = ()
        self._held: tuple[ListingRow, str] | None = None

    def _line(self, row: ListingRow, match: _Match) -> None:
        told = dict(re.findall(r'([A-Z_]+)="([^"]*)"', match["rest"]))
        if re.sub(r'\s*[A-Z_\d]+="[^"]*"\s*', "", match["rest"]):
            raise Unclear('expected KEY="value" only, as blkid prints')
        offset = told.get("PART_ENTRY_OFFSET")
        if offset is None:
            name = match["name"]
            if drive_of(name) is not None:
                raise Unclear(f"it does not show where {name} begins; blkid -p does, as root")
            return
        self._add(row, match["name"], offset, told.get("PART_ENTRY_TYPE", ""))

    def _add(self, row: ListingRow, name: str, offset: str, kind: str) -> None:
        if not offset.isdecimal():
            raise Unclear(f"an offset of {offset} is no number of sectors")
        draft = self.named(drive_of(name) or name if name.startswith("/dev/") else "the drive")
        draft.notes.append(f"blkid counts {COUNTS_512}")
        add(draft, row, name, Start.at(int(offset) * SECTOR_BYTES), None, kind)

    def _device(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._name = match["value"]

    def _offset(self, row: ListingRow, match: _Match) -> None:
        self._close()
        self._held = (row, match["value"])

    def _type(self, row: ListingRow, match: _Match) -> None:
        self._types = (match["value"],)

    def _close(self) -> None:
        held, self._held = self._held, None
        types, self._types = self._types, ()
        if held:
            name = self._name or "the partition"
            self.attempt(held[0], Blkid._add, name, held[1], types[0] if types else "")

    def finish(self) -> None:
        """Take the last block of KEY=value."""
        self._close()

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r'(?P<name>/dev/\S+): (?P<rest>[A-Z_\d]+=".*)', _line, starts=True),
        rule(r"(?:ID_)?PART_ENTRY_OFFSET=(?P<value>\S*)", _offset, starts=True),
        rule(r"(?:ID_)?PART_ENTRY_TYPE=(?P<value>\S*)", _type, starts=True),
        rule(r"DEVNAME=(?P<value>\S*)", _device, starts=True),
        rule(
            r"(?:ID_)?(?:PART_ENTRY_(?:SCHEME|NAME|UUID|NUMBER|SIZE|DISK|FLAGS)|FS_\w+|UUID\w*|"
            r"LABEL\w*|TYPE|USAGE|VERSION|BLOCK_SIZE|PARTUUID|PARTLABEL|PTTYPE|PTUUID|"
            r"MINIMUM_IO_SIZE|PHYSICAL_SECTOR_SIZE|LOGICAL_SECTOR_SIZE|PART_TABLE_\w+)=.*"
        ),
    )


class Partx(Reader):
    """``partx -s``, ``partx -l``, ``kpartx -l``, growpart, ``hdparm -g``, sysfs."""

    program = "partx, kpartx, growpart, hdparm -g or sysfs"

    def __init__(self) -> None:
        super().__init__()
        self._columns = False

    def _heading(self, row: ListingRow, match: _Match) -> None:
        self._columns = True

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._columns:
            raise Unclear("no heading of partx precedes it")
        self._ranged(row, match)

    def _ranged(self, row: ListingRow, match: _Match) -> None:
        start, length = sectors(match["start"], match["end"], match["count"])
        self._add(row, f"partition {match['number']}", start, length)

    def _add(self, row: ListingRow, name: str, start: int, length: int | None) -> None:
        size = None if length is None else length * SECTOR_BYTES
        self.draft.notes.append(f"it counts {COUNTS_512}")
        add(self.draft, row, name, Start.at(start * SECTOR_BYTES), size)

    def _mapped(self, row: ListingRow, match: _Match) -> None:
        """Take a partition; one of an extended partition counts from there."""
        size = int(match["count"]) * SECTOR_BYTES
        start = Start.at(int(match["start"]) * SECTOR_BYTES)
        short = match["drive"].removeprefix("/dev/")
        for draft in self.drafts:
            for each in draft.partitions:
                if each.name == short:
                    base = each.start.byte or 0
                    add(draft, row, match["name"], start.moved(base), size)
                    return
        if re.fullmatch(r"dm-\d+", short):
            raise Unclear(f"it counts from {match['drive']}, whose start is not listed")
        add(self.named(match["drive"]), row, match["name"], start, size)

    def _grown(self, row: ListingRow, match: _Match) -> None:
        self._add(row, f"partition {match['number']}", int(match["start"]), None)

    def _geometry(self, row: ListingRow, match: _Match) -> None:
        name, start = match["name"], int(match["start"])
        drive = drive_of(name)
        if drive is not None:
            draft = self.named(drive)
            add(draft, row, name, Start.at(start * SECTOR_BYTES))
        elif start:
            raise Unclear(f"{name} is no partition, and begins at {start}")

    def _sysfs(self, row: ListingRow, match: _Match) -> None:
        draft = self.named(match["drive"] or drive_of(match["name"]) or "the drive")
        add(draft, row, match["name"], Start.at(int(match["start"]) * SECTOR_BYTES))

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(
            r"NR\s+START\s+END\s+SECTORS\s+SIZE(?:\s+NAME)?(?:\s+UUID)?",
            _heading,
            starts=True,
            heads=True,
        ),
        rule(
            r"(?P<number>\d+)\s+(?P<start>\d+)\s+(?P<end>\d+)\s+(?P<count>\d+)\s+[\d.,]+[KMGTP]?B?"
            r"(?:\s+\S.*)?",
            _row,
        ),
        rule(
            r"#\s*(?P<number>\d+):\s+(?P<start>\d+)-\s*(?P<end>\d+) \(\s*(?P<count>\d+) sectors,"
            r"\s*\d+ [kKMGT]?i?B\)",
            _ranged,
            starts=True,
        ),
        rule(
            r"(?P<name>\S+) : \d+ (?P<count>\d+) (?P<drive>/dev/\S+|\S+) (?P<start>\d+)",
            _mapped,
            starts=True,
        ),
        rule(
            r"CHANGED: partition=(?P<number>\d+) start=(?P<start>\d+) old: size=\d+ end=\d+ new: "
            r"size=\d+,? ?end=\d+",
            _grown,
            starts=True,
        ),
        rule(
            r"(?P<name>/dev/[^\s:]+):(?:\s+geometry\s*=\s*[\d/]+, sectors = \d+, start = "
            r"(?P<start>\d+))",
            _geometry,
            starts=True,
        ),
        rule(
            r"/sys/(?:class/block|block/(?P<drive>[^/\s]+))/(?P<name>[^/\s]+)/start:(?P<start>\d+)",
            _sysfs,
            starts=True,
        ),
    )


class Proc(Reader):
    """``/proc/partitions``, which shows no starts."""

    program = "/proc/partitions, which does not show where partitions begin"

    def __init__(self) -> None:
        super().__init__()
        self._columns = False

    def _heading(self, row: ListingRow, match: _Match) -> None:
        self._columns = True

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._columns:
            raise Unclear("no heading of /proc/partitions precedes it")
        drive, size = drive_of(match["name"]), int(match["blocks"]) * 1024
        if drive is None:
            self.named(match["name"]).capacity = size
            return
        draft = self.named(drive)
        draft.notes.append(
            "/proc/partitions does not show where partitions begin; "
            "grep . /sys/block/*/*/start does"
        )
        add(draft, row, match["name"], Start.anywhere(), size)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"major minor\s+#blocks\s+name", _heading, starts=True, heads=True),
        rule(r"\d+\s+\d+\s+(?P<blocks>\d+)\s+(?P<name>\S+)", _row),
    )


class Mmls(Reader):
    """``mmls`` of the Sleuth Kit."""

    program = "mmls"

    def _unit(self, row: ListingRow, match: _Match) -> None:
        self.draft.sector = sector_size(match["logical"])

    def _row(self, row: ListingRow, match: _Match) -> None:
        if self.draft.sector is None:
            raise Unclear("no line of units precedes it")
        start, length = sectors(match["start"], match["end"], match["count"])
        sector, words = self.draft.sector_bytes, match["words"]
        code = re.search(r"\(0x([\da-fA-F]{2})\)", words)
        kind = code[1] if code else words
        name = partition_name("slot ", match["slot"]).replace("  ", " ")
        add(self.draft, row, name, Start.at(start * sector), length * sector, kind)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"(?:DOS|GUID|BSD|MAC|SUN) Partition Table(?: \(EFI\))?", starts=True),
        rule(r"Offset Sector: 0"),
        rule(r"Units are in (?P<logical>\d+)-byte sectors", _unit, starts=True),
        rule(r"Slot\s+Start\s+End\s+Length\s+Description", starts=True, heads=True),
        rule(r"\d{3}:\s+(?:Meta|-+)\s+\d+\s+\d+\s+\d+\s+\S.*"),
        rule(
            r"(?P<slot>\d{3}):\s+\d+(?::\d+)?\s+(?P<start>\d+)\s+(?P<end>\d+)\s+(?P<count>\d+)"
            r"(?P<words>(?:\s+\S.*)?)",
            _row,
        ),
    )
