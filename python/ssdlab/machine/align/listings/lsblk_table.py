"""What `lsblk` prints as a table or as pairs (``-P``), and which columns and devices it has.

With the column START (util-linux 2.38) it shows where partitions begin, in sectors of 512 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from ssdlab.machine.align.listings.linux import COUNTS_512, drive_of
from ssdlab.machine.align.listings.model import SECTOR_BYTES, Start
from ssdlab.machine.align.listings.rows import (
    Draft,
    ListingRow,
    Reader,
    Rule,
    Unclear,
    add,
    rule,
)

_Match = re.Match[str]


class LsblkTable(Reader):
    """``lsblk`` as a table, with the column START or without, and ``lsblk -P``."""

    program = "lsblk"

    def __init__(self) -> None:
        super().__init__()
        self._columns: dict[str, tuple[int, int]] = {}
        self._layers: list[tuple[Draft | None, str]] = []

    @classmethod
    def starts_with(cls, text: str) -> bool:
        """Whether lsblk prints such a row: zpool, losetup and others begin with NAME as well."""
        words = text.split()
        known = sum(each in COLUMNS for each in words)
        return super().starts_with(text) and ("=" in text or 2 * known > len(words))

    def _heading(self, row: ListingRow, match: _Match) -> None:
        words = list(re.finditer(r"\S+", row.text))
        unknown = [each[0] for each in words if each[0] not in COLUMNS]
        self._columns = {}
        if unknown:
            raise Unclear(f"{', '.join(unknown)} is no column that lsblk is known to have")
        self._columns = {each[0]: each.span() for each in words}

    def _row(self, row: ListingRow, match: _Match) -> None:
        if not self._columns:
            raise Unclear("no heading of lsblk precedes it")
        self._device(row, match["name"], None)

    def _device(self, row: ListingRow, name: str, told: dict[str, str] | None) -> None:
        kind = told.get("TYPE") if told is not None else self._cell(row.text, "TYPE")
        if kind is None:
            drive = drive_of(name)
        elif kind == "part":
            drive = drive_of(name) or "the drive"
        elif kind in LSBLK_WHOLE:
            drive = None
        else:
            raise Unclear(f"a device of type {kind} is not known here")
        if drive is None:
            self._whole(row, name, kind, told)
            return
        draft = self.named(drive)
        start = told.get("START") if told is not None else self._cell(row.text, "START")
        if start is None:
            draft.notes.append(
                "lsblk shows where partitions begin with: lsblk -J -b -o +START (util-linux 2.38)"
            )
            add(draft, row, name, Start.anywhere())
        elif not start.isdecimal():
            raise Unclear(f"a start of {start} is no number of sectors")
        else:
            draft.notes.append(f"START counts {COUNTS_512}")
            add(draft, row, name, Start.at(int(start) * SECTOR_BYTES))

    def _whole(
        self, row: ListingRow, name: str, kind: str | None, told: dict[str, str] | None
    ) -> None:
        """Take a device that is no partition: it has no start."""
        start = told.get("START") if told is not None else self._below(row.text, "START")
        if start not in (None, "", "0"):
            raise Unclear(f"{name} is no partition, and begins at {start}")
        if kind in LSBLK_LAYERS:
            self._layers.append((self.drafts[-1] if self.drafts else None, name))
        else:
            self.named(name)

    def finish(self) -> None:
        """Name the layers with the drive above them, or with all where that has no partitions."""
        for draft in self.drafts:
            layers = [
                name
                for above, name in self._layers
                if above is draft or above is None or not above.partitions
            ]
            if layers and draft.partitions:
                draft.notes.append(layers_note(layers))

    def _below(self, text: str, column: str) -> str:
        """Give the number that ends where its heading does, if any; `lsblk -r` keeps no columns."""
        _, last = self._columns.get(column, (0, 0))
        words = re.finditer(r"\S+", text)
        return next((each[0] for each in words if each.end() == last and each[0].isdecimal()), "")

    def _cell(self, text: str, column: str) -> str | None:
        """Give the word below or beside a heading; None where it has no place of its own."""
        if column not in self._columns:
            return None
        first, last = self._columns[column]
        words = [each for each in re.finditer(r"\S+", text) if each.start() < last]
        beside = [each for each in words if each.end() > first]
        if len(beside) != 1:
            raise Unclear(f"what stands below {column} is not clear; give lsblk -J")
        return beside[0][0]

    def _pairs(self, row: ListingRow, match: _Match) -> None:
        told = dict(re.findall(r'([A-Z][A-Z:_%-]*)="([^"]*)"', row.text))
        unknown = [each for each in told if each not in COLUMNS]
        if unknown or "NAME" not in told:
            raise Unclear(f"{', '.join(unknown) or 'no NAME'}: not as lsblk -P prints")
        self._device(row, told["NAME"], told)

    rules: ClassVar[tuple[Rule, ...]] = (
        rule(r"(?:NAME|KNAME)(?:\s+[A-Z][A-Z:_%-]+)+", _heading, starts=True, heads=True),
        rule(
            r'(?:[A-Z][A-Z:_%-]*="[^"]*"\s*)*NAME="[^"]*"(?:\s+[A-Z][A-Z:_%-]*="[^"]*")*',
            _pairs,
            starts=True,
        ),
        rule(r"[\s│|]*/\S*|[\s│|]*\[SWAP\]"),
        rule(r"[\s│├└─|`-]*(?P<name>[\w/!.-]*\w)\s+\S.*", _row, weak=True),
    )


LSBLK_WHOLE = frozenset(
    "disk loop rom lvm crypt dm md mpath linear raid0 raid1 raid4 raid5 raid6 raid10 zram zd swap "
    "dmraid multipath worm".split()
)
"""Devices that are no partitions."""
LSBLK_LAYERS = LSBLK_WHOLE - set("disk loop rom zram zd swap worm".split())
"""Those of them that lie on others."""
COLUMNS = frozenset(
    (
        "ALIGNMENT ID-LINK ID DAX DISC-ALN DISC-GRAN DISC-MAX DISC-ZERO DISK-SEQ FSAVAIL FSROOTS "
        "FSSIZE FSTYPE FSUSED FSUSE% FSVER GROUP HCTL HOTPLUG KNAME LABEL LOG-SEC MAJ:MIN MAJ MIN "
        "MIN-IO MODE MODEL MQ NAME OPT-IO OWNER PARTFLAGS PARTLABEL PARTN PARTTYPE PARTTYPENAME "
        "PARTUUID PATH PHY-SEC PKNAME PTTYPE PTUUID RA RAND REV RM RO ROTA RQ-SIZE SCHED SERIAL "
        "SIZE START STATE SUBSYSTEMS MOUNTPOINT MOUNTPOINTS TRAN TYPE UUID VENDOR WSAME WWN ZONED "
        "ZONE-SZ ZONE-WGRAN ZONE-APP ZONE-NR ZONE-OMAX ZONE-AMAX "
    ).split()
)
"""Columns of lsblk since util-linux 2.19, from its manual pages."""


def layers_note(names: Iterable[str]) -> str:
    """Say that layers are not judged here, and how to have them judged."""
    return (
        f"the layers {', '.join(dict.fromkeys(names))} are not judged: lsblk does not say where "
        "they begin in what they lie on; to judge them, give them from below: ssdlab align check "
        "--layer partition:start=2048s --layer crypt --layer lvm"
    )
