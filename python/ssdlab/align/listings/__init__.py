"""Listings of partitions as people have them, read into one form and judged.

`read_listing` tells by its lines which tool printed a text. What is left out: listings of volumes
(`lvs`, `mdadm --examine`, `zpool status`), whose layers `ssdlab align check` takes as a layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ssdlab.align.listings.fdisk import (
    is_dump,
    is_fdisk,
    read_dump,
    read_fdisk,
    read_sfdisk_json,
)
from ssdlab.align.listings.freebsd import is_freebsd, read_freebsd
from ssdlab.align.listings.judging import JudgedDisk, JudgedPartition, judge
from ssdlab.align.listings.lsblk import read_lsblk
from ssdlab.align.listings.model import ListedDisk, ListedPartition, Start
from ssdlab.align.listings.parted import is_parted, read_parted
from ssdlab.align.listings.windows import is_windows, read_windows
from ssdlab.align.notation import LARGEST_BYTES
from ssdlab.errors import SsdlabError

KNOWN = (
    "fdisk -l, sfdisk -d, parted print, lsblk -J -b -o +START, gpart show, diskinfo -v, diskpart's "
    "list or detail partition, Get-Partition"
)
"""What is read, for messages."""

_Read = Callable[[str, str], list[ListedDisk]]
_TEXTS: tuple[tuple[Callable[[str], bool], _Read], ...] = (
    (is_dump, read_dump),
    (is_freebsd, read_freebsd),
    (is_parted, read_parted),
    (is_fdisk, read_fdisk),
    (is_windows, read_windows),
)
_JSON: dict[str, Callable[[dict[str, Any], str], list[ListedDisk]]] = {
    "blockdevices": read_lsblk,
    "partitiontable": read_sfdisk_json,
}


def is_listing(text: str) -> bool:
    """Whether a known tool printed this."""
    return _reader(text) is not None


def read_listing(text: str, name: str) -> list[ListedDisk]:
    """Read what a tool printed of the partitions of one or many drives.

    Parameters
    ----------
    text
        The listing; what is before and after it does no harm.
    name
        Its file, for messages.

    Raises
    ------
    SsdlabError
        No known tool printed it, or it lists no drive and no partition.
    """
    reader = _reader(text)
    if reader is None:
        raise SsdlabError(f"listing {name}: not a known listing; give one of {KNOWN}")
    try:
        disks = _within_limits(reader(text, name))
    except ValueError:
        raise SsdlabError(
            f"listing {name}: a number in it is more than any drive has; give it as printed"
        ) from None
    if not any(disk.partitions for disk in disks):
        raise SsdlabError(f"listing {name}: no partition in it; list a drive that has one")
    return disks


def _within_limits(disks: list[ListedDisk]) -> list[ListedDisk]:
    """Refuse numbers as Python does beyond sys.get_int_max_str_digits, only sooner."""
    listed = (each for disk in disks for each in disk.partitions)
    if any(max(each.start.low, each.size or 0) > LARGEST_BYTES for each in listed):
        raise ValueError
    return disks


def _reader(text: str) -> Callable[..., list[ListedDisk]] | None:
    if text.lstrip().startswith("{"):
        return _json_reader(text)
    return next((read for recognised, read in _TEXTS if recognised(text)), None)


def _json_reader(text: str) -> Callable[..., list[ListedDisk]] | None:
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = next((read for key, read in _JSON.items() if key in root), None)
    return None if found is None else lambda _, name: found(root, name)


__all__ = [
    "KNOWN",
    "JudgedDisk",
    "JudgedPartition",
    "ListedDisk",
    "ListedPartition",
    "Start",
    "is_listing",
    "judge",
    "read_listing",
]
