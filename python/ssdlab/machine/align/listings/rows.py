"""The frame of all readers of text: each row is taken by one rule, or it is unread.

A reader has rules. The first rule whose pattern matches a row *as a whole* takes it; a row that no
rule takes, or whose rule finds that it makes no sense, becomes an `Unread`. So a row cannot vanish.
Rules that `start` are those that no other program's listings match: they tell which program printed
what follows, so that a text may hold the listings of several programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ssdlab.ground.unread import Unread
from ssdlab.machine.align.listings.model import (
    BESIDE_GPT,
    PROTECTIVE,
    SECTOR_BYTES,
    SECTOR_SIZES,
    ListedDisk,
    ListedPartition,
    Start,
    idle_reason,
    may_hold,
)

_GPT_ELSEWHERE = (
    "the real table is GPT, and its partitions are not listed; list them: sgdisk -p DEVICE, or "
    "parted DEVICE unit s print; on FreeBSD gpart show DEVICE, on macOS gpt -r show DEVICE"
)
_PROTECTED = f"a protective MBR (type ee) stands here: {_GPT_ELSEWHERE}"
_UNSUPPORTED = f"the tool that listed it cannot read GPT, and found one here: {_GPT_ELSEWHERE}"
_NO_ROWS = "no row follows this heading: the listing is cut here, or the table is empty"
GPT_UNSUPPORTED = (
    r"WARNING: GPT \(GUID Partition Table\) detected on '(?P<name>\S+)'! The util \w+ doesn't "
    r"support GPT\. Use GNU Parted\."
)
"""What fdisk and sfdisk before GPT say of a drive whose MBR they list: `Reader.gpt_unsupported`."""


class Unclear(Exception):  # noqa: N818
    """A row has the form that is expected, and does not make sense; the message says why."""


@dataclass(frozen=True)
class ListingRow:
    """A line of a listing, and its number from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Rule:
    """A form that a row may have, and what becomes of it.

    Attributes
    ----------
    pattern
        Of the whole row.
    use
        Takes the reader, the row and the match; None where the row says nothing of partitions.
    starts
        No other program prints such a row.
    weak
        Many programs print such rows: one that another program's listing starts with goes first.
    heads
        A heading of rows: where none follows, something is missing.
    aside
        A notice of some drive, not what a heading's rows are.
    """

    pattern: re.Pattern[str]
    use: Callable[[Any, ListingRow, re.Match[str]], None] | None = None
    starts: bool = False
    weak: bool = False
    heads: bool = False
    aside: bool = False


def rule(
    pattern: str,
    use: Callable[[Any, ListingRow, re.Match[str]], None] | None = None,
    *,
    starts: bool = False,
    weak: bool = False,
    heads: bool = False,
    aside: bool = False,
) -> Rule:
    """Make a rule; blanks around a row do not count, and are not there when it is matched."""
    return Rule(re.compile(pattern), use, starts, weak, heads, aside)


@dataclass
class Draft:
    """A drive that is being read; see `ListedDisk`."""

    name: str
    sector: int | None = None
    physical: int | None = None
    optimal: int | None = None
    capacity: int | None = None
    limit: int | None = None
    unseen: str = ""
    notes: list[str] = field(default_factory=list)
    partitions: list[ListedPartition] = field(default_factory=list)

    @property
    def sector_bytes(self) -> int:
        """What a sector holds, assumed where the listing does not say."""
        return self.sector or SECTOR_BYTES

    def listed(self) -> ListedDisk:
        """Give what was read; of a GPT no reader of MBRs sees the partitions."""
        protected = any(each.idle == PROTECTIVE for each in self.partitions)
        return ListedDisk(
            self.name,
            tuple(self.partitions),
            self.sector,
            self.physical,
            self.optimal,
            self.capacity,
            tuple(dict.fromkeys(self.notes)),
            self.unseen or (_PROTECTED if protected else ""),
        )

    def is_of(self, name: str) -> bool:
        """Whether this is the drive of that name, or has its partitions where none was named."""
        part = re.compile(re.escape(name) + r"p?\d+")
        return self.name == name or any(part.fullmatch(each.name) for each in self.partitions)

    def hide(self) -> None:
        """Say that a GPT counts here: no row of the MBR is judged."""
        self.unseen = _UNSUPPORTED
        self.partitions = [replace(each, idle=each.idle or BESIDE_GPT) for each in self.partitions]


class Reader:
    """What one program lists; a subclass has its rules."""

    program: ClassVar[str] = ""
    """Program and form, as people are told."""
    rules: ClassVar[tuple[Rule, ...]] = ()

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.unread: list[Unread] = []
        self.headed: ListingRow | None = None
        self._gpts: list[str] = []

    @classmethod
    def starts_with(cls, text: str) -> bool:
        """Whether only this program prints such a row."""
        return any(each.starts and each.pattern.fullmatch(text.strip()) for each in cls.rules)

    def knows(self, text: str, *, surely: bool = False) -> bool:
        """Whether a rule takes such a row; surely, if it is not a weak one."""
        rules = (each for each in self.rules if not (surely and each.weak))
        return any(each.pattern.fullmatch(text.strip()) for each in rules)

    def take(self, row: ListingRow) -> None:
        """Take a row, or leave it unread."""
        for each in self.rules:
            match = each.pattern.fullmatch(row.text.strip())
            if match is None:
                continue
            sound = each.use is None or self.attempt(row, each.use, match)
            if each.heads and sound:
                self.headed = row
            elif each.use is not None and not each.aside:
                self.headed = None
            return
        self.leave(row, f"it is no row that {self.program} is known to print")

    def attempt(self, row: ListingRow, use: Callable[..., None], *arguments: Any) -> bool:
        """Let something take a row; if it makes no sense there, the row is unread."""
        try:
            use(self, row, *arguments)
        except Unclear as reason:
            self.leave(row, str(reason))
            return False
        return True

    def leave(self, row: ListingRow, why: str) -> None:
        """Keep a row as unread."""
        self.unread.append(Unread(f"line {row.number}", row.text, why))

    def blank(self) -> None:
        """Note an empty line."""

    def leave_heading(self) -> None:
        """Keep a heading that no row follows as unread: an empty table may have none, too."""
        if self.headed is not None:
            self.leave(self.headed, _NO_ROWS)
            self.headed = None

    def gpt_unsupported(self, row: ListingRow, match: re.Match[str]) -> None:
        """Keep the name of a drive whose GPT the tool cannot read."""
        self._gpts.append(match["name"])

    def end(self) -> None:
        """Finish, and then tell what is missing: rows below a heading, a GPT beside an MBR."""
        self.finish()
        self.leave_heading()
        for name in self._gpts:
            drafts = [each for each in self.drafts if each.is_of(name)]
            for draft in drafts or [self.named(name)]:
                draft.hide()

    def finish(self) -> None:
        """Do what can only be done once all rows are there."""

    def said(self) -> str:
        """Name program, version and form."""
        return self.program

    @property
    def draft(self) -> Draft:
        """The drive that is being read; one without a name where none was named yet."""
        if not self.drafts:
            self.drafts.append(Draft("the drive"))
        return self.drafts[-1]

    def named(self, name: str) -> Draft:
        """Go on with a drive, a new one unless it was named before."""
        found = next((each for each in self.drafts if each.name == name), None)
        if found is None:
            found = Draft(name)
            self.drafts.append(found)
        return found

    def sector_rows(self, row: ListingRow, match: re.Match[str]) -> None:
        """Take the sizes of a logical and, where it is named, a physical sector."""
        sizes = match.groupdict()
        self.draft.sector = sector_size(sizes["logical"])
        if sizes.get("physical"):
            self.draft.physical = sector_size(sizes["physical"])


def sector_size(text: str) -> int:
    """Take what a sector holds.

    Raises
    ------
    Unclear
        No drive has such sectors.
    """
    if len(text) > 6 or int(text) not in SECTOR_SIZES:
        raise Unclear(f"sectors of {text} bytes are not known; known are 512, 1024, 2048, 4096, …")
    return int(text)


def add(
    draft: Draft,
    row: ListingRow,
    name: str,
    start: Start,
    size: int | None = None,
    *types: str,
    is_label: bool = False,
) -> None:
    """List a partition of a drive.

    Raises
    ------
    Unclear
        It does not lie on the drive.
    """
    idle = idle_reason(*types)
    end = draft.capacity if draft.capacity is not None else draft.limit
    if end and start.low >= end:
        raise Unclear(f"it begins at byte {start.low}, beyond the device of {end} bytes")
    if end and start.exact and size and start.low + size > end:
        raise Unclear(f"it ends at byte {start.low + size}, beyond the device of {end} bytes")
    draft.partitions.append(
        ListedPartition(name, start, size, idle, is_label, may_hold(*types), row.number, row.text)
    )


def partition_name(drive: str, number: str) -> str:
    """Name a partition as the kernel does: sda1, nvme0n1p1."""
    return f"{drive}{'p' if drive[-1:].isdigit() else ''}{number}"


def sectors(first: str, last: str, count: str | None = None) -> tuple[int, int]:
    """Give start and length of a row that names both ends, and its length where it names it.

    Raises
    ------
    Unclear
        They contradict each other.
    """
    start, length = int(first), int(last) - int(first) + 1
    if length < 1:
        raise Unclear(f"it ends at {last}, before it begins at {first}")
    if count is not None and int(count) != length:
        raise Unclear(f"from {first} to {last} there are {length}, not {count}")
    return start, length
