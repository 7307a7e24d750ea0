"""Listings of partitions as people have them, read into one form and judged.

`read_listing` tells by its lines which tools printed a text, and reads each part of it with that
tool's reader. Whatever no reader understands stands in `Listing.unread`. What is left out: listings
of volumes (`lvs`, `mdadm --examine`, `zpool status`), whose layers `ssdlab align check` takes as a
layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread
from ssdlab.machine.align.listings.bsd import BsdFdisk, BsdLabel, Diskutil, Gpt
from ssdlab.machine.align.listings.fdisk import Fdisk
from ssdlab.machine.align.listings.freebsd import FreeBsd
from ssdlab.machine.align.listings.gdisk import Gdisk
from ssdlab.machine.align.listings.judging import JudgedDisk, JudgedPartition, judge
from ssdlab.machine.align.listings.linux import Blkid, Blockdev, Mmls, Partx, Proc
from ssdlab.machine.align.listings.lsblk import read_lsblk
from ssdlab.machine.align.listings.lsblk_table import LsblkTable
from ssdlab.machine.align.listings.model import (
    ListedDisk,
    ListedPartition,
    Listing,
    Start,
    idle_reason,
)
from ssdlab.machine.align.listings.notices import is_typed, without_prompt
from ssdlab.machine.align.listings.parted import Parted
from ssdlab.machine.align.listings.rows import ListingRow, Reader
from ssdlab.machine.align.listings.sfdisk import Dump, OldSfdisk, read_sfdisk_json
from ssdlab.machine.align.listings.windows import Windows
from ssdlab.machine.align.notation import LARGEST_BYTES

KNOWN = (
    "fdisk -l, sfdisk -l or -d, gdisk or sgdisk -p, parted print, lsblk -J -b -o +START, "
    "blockdev --report, gpart show, diskinfo -v, diskpart's list or detail partition, "
    "Get-Partition"
)
"""What is read, for messages."""

READERS: tuple[type[Reader], ...] = (
    OldSfdisk,
    Dump,
    Gdisk,
    BsdFdisk,
    BsdLabel,
    Gpt,
    Diskutil,
    Blockdev,
    Blkid,
    LsblkTable,
    Proc,
    Mmls,
    Partx,
    FreeBsd,
    Windows,
    Fdisk,
    Parted,
)
"""The narrower forms first: of two that know a row the earlier begins with it."""
_JSON: dict[str, Callable[[dict[str, Any], str], Listing]] = {
    "blockdevices": read_lsblk,
    "partitiontable": read_sfdisk_json,
}
_LONGEST_NUMBER = 30
_LONGEST_ROW = 1000
_LONGEST_BLANKS = " " * 150
"""blkid's rows are the longest, PowerShell's have the most blanks."""
_BLANKS = str.maketrans("\u00a0\u202f\u2007", "   ")
"""Blanks of other widths, which some languages put before colons and units."""


def is_listing(text: str) -> bool:
    """Whether a known tool printed this, or a part of it."""
    if text.lstrip().startswith("{"):
        return _json_reader(text) is not None
    return any(
        _starts(line.expandtabs().translate(_BLANKS))
        for line in text.splitlines()
        if not _is_endless(line)
    )


def read_listing(text: str, name: str) -> Listing:
    """Read what tools printed of the partitions of one or many drives.

    Parameters
    ----------
    text
        The listing, or several.
    name
        Its file, for messages.

    Raises
    ------
    SsdlabError
        No known tool printed it, or it lists no drive and no partition.
    """
    from_json = _json_reader(text) if text.lstrip().startswith("{") else None
    if from_json is None and not is_listing(text):
        raise SsdlabError(f"listing {name}: not a known listing; give one of {KNOWN}")
    listing = from_json(name) if from_json else _read_rows(text)
    listing = _within_limits(listing)
    seen = any(disk.partitions or disk.unseen for disk in listing.disks)
    if not seen and not listing.unread:
        raise SsdlabError(f"listing {name}: no partition in it; list a drive that has one")
    return listing


def _read_rows(text: str) -> Listing:
    """Let each row be taken by the reader at work, or by the one that it starts."""
    readers: list[Reader] = []
    unread: list[Unread] = []
    before: list[ListingRow] = []
    for number, line in enumerate(text.splitlines(), 1):
        row = ListingRow(number, without_prompt(line.expandtabs().translate(_BLANKS)).rstrip())
        if not row.text.strip():
            if readers:
                readers[-1].blank()
            continue
        if _is_endless(row.text) or _has_endless_number(row.text):
            why = "a number in it is more than any drive has"
            if _is_endless(row.text):
                why = f"no row of a listing has more than {_LONGEST_ROW} letters, or such blanks"
            unread.append(Unread(f"line {number}", line, why))
            continue
        known = bool(readers) and readers[-1].knows(row.text, surely=True)
        begun = None if known else _starts(row.text)
        if begun is None and readers and readers[-1].knows(row.text):
            readers[-1].take(row)
        elif begun is not None:
            readers.append(begun())
            unread += _taken_before(before, readers[-1])
            readers[-1].take(row)
        elif is_typed(row.text):
            continue
        elif readers:
            readers[-1].take(row)
        else:
            before.append(row)
    return _gathered(readers, unread)


def _taken_before(rows: list[ListingRow], reader: Reader) -> list[Unread]:
    """Give what stands before a listing to its reader, and what that does not know to nobody."""
    why = "no listing that is known here begins before it"
    unread = [
        Unread(f"line {each.number}", each.text, why)
        for each in rows
        if not reader.knows(each.text)
    ]
    for each in rows:
        if reader.knows(each.text):
            reader.take(each)
    rows.clear()
    return unread


def _is_endless(text: str) -> bool:
    """Whether a line is longer, or has more blanks, than a row; it would only cost time."""
    return len(text) > _LONGEST_ROW or _LONGEST_BLANKS in text.strip()


def _has_endless_number(text: str) -> bool:
    """Whether a row has a number of more digits than Python or any drive is ready for."""
    digits = 0
    for each in text:
        digits = digits + 1 if each.isdecimal() else 0
        if digits > _LONGEST_NUMBER:
            return True
    return False


def _starts(text: str) -> type[Reader] | None:
    return next((kind for kind in READERS if kind.starts_with(text)), None)


def _gathered(readers: list[Reader], unread: list[Unread]) -> Listing:
    disks: list[ListedDisk] = []
    for reader in readers:
        reader.end()
        disks += [draft.listed() for draft in reader.drafts]
        unread += reader.unread
    unread.sort(key=lambda each: int(each.where.rpartition(" ")[2]))
    known = tuple(dict.fromkeys(reader.said() for reader in readers))
    shown = [disk for disk in disks if disk.partitions or disk.capacity or disk.unseen]
    return Listing(known, tuple(shown), tuple(unread))


def _within_limits(listing: Listing) -> Listing:
    """Leave unread what begins where no drive reaches."""
    unread = list(listing.unread)
    disks = []
    for disk in listing.disks:
        kept = []
        for each in disk.partitions:
            if max(each.start.low, each.size or 0) > LARGEST_BYTES:
                where = f"line {each.line}" if each.line else f"{disk.name}, {each.name}"
                why = "a number in it is more than any drive has"
                unread.append(Unread(where, each.quoted or str(each.start.low), why))
            else:
                kept.append(each)
        disks.append(replace(disk, partitions=tuple(kept)))
    return replace(listing, disks=tuple(disks), unread=tuple(unread))


def _json_reader(text: str) -> Callable[[str], Listing] | None:
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = next((read for key, read in _JSON.items() if key in root), None)
    return None if found is None else lambda name: found(root, name)


__all__ = [
    "KNOWN",
    "READERS",
    "JudgedDisk",
    "JudgedPartition",
    "ListedDisk",
    "ListedPartition",
    "Listing",
    "Start",
    "idle_reason",
    "is_listing",
    "judge",
    "read_listing",
]
