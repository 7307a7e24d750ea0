"""A write-ahead log on a drive that loses power: it needs its flush, and here is who finds that.

    python examples/write_ahead_log.py [CUTS]

The log is a ring of records, one sector each. It promises that a record is there for good once
`commit` has returned. The test cuts the power again and again, at whatever instant, and looks
whether the log kept its promise. On drives that break theirs no log can: the cut says so.
"""

from __future__ import annotations

import random
import struct
import sys
import zlib
from collections.abc import Iterator

import ssdlab

ROOM = 32
"""Records that the ring holds."""

_HEAD = struct.Struct("<IQ")
"""Checksum of all that follows, and the record's number."""


class Log:
    """A log on a drive; what lies there is read first.

    Parameters
    ----------
    drive
        Where it lies.
    flushes
        Whether `commit` flushes: without it the promise is not kept.
    """

    def __init__(self, drive: ssdlab.Disk, flushes: bool = True) -> None:
        self.drive = drive
        self.flushes = flushes
        self.records = dict(self._read())
        self.next = max(self.records, default=0) + 1

    def commit(self, text: bytes) -> int:
        """Add a record; return its number once it is there for good."""
        self.drive.write(*self._place(text))
        if self.flushes:
            self.drive.flush()
        self.next += 1
        return self.next - 1

    def begin_commit(self, text: bytes) -> None:
        """Begin to add a record, and do not wait."""
        self.drive.submit_write(*self._place(text))
        if self.flushes:
            self.drive.submit_flush()

    def _place(self, text: bytes) -> tuple[int, bytes]:
        sector = self.drive.sector_bytes
        body = struct.pack("<Q", self.next) + text.ljust(sector - _HEAD.size, b"\0")
        return self.next % ROOM * sector, struct.pack("<I", zlib.crc32(body)) + body

    def _read(self) -> Iterator[tuple[int, bytes]]:
        sector = self.drive.sector_bytes
        ring = self.drive.read(0, ROOM * sector)
        for start in range(0, len(ring), sector):
            record = ring[start : start + sector]
            checksum, number = _HEAD.unpack_from(record)
            if number and checksum == zlib.crc32(record[4:]):
                yield number, record[_HEAD.size :].rstrip(b"\0")


def text_of(number: int) -> bytes:
    """Return what the test writes as that record."""
    return f"record {number}".encode()


def cut_after(drive: ssdlab.Disk, flushes: bool, promised: int, events: int) -> str | None:
    """Cut the power so many events after a commit began; tell what is gone of what was promised."""
    log = Log(drive, flushes)
    log.begin_commit(text_of(log.next))
    for _ in range(events):
        drive.step()
    cut = drive.power_cut()
    found = Log(drive).records
    for number in range(max(1, promised - ROOM + 2), promised + 1):
        if found.get(number) != text_of(number):
            place = number % ROOM * drive.sector_bytes
            broken = {each.flushed for each in cut.broken_promises if each.offset == place}
            if broken:
                return f"record {number} is gone; the drive had promised write {broken.pop()}"
            lost = [str(each.write) for each in cut.lost if each.was_acknowledged]
            return f"record {number} is gone; not flushed were writes {', '.join(lost)}"
    return None


def broken_promise(
    drive: ssdlab.Disk, flushes: bool, cuts: int, clones: int = 4, seed: int = 1
) -> str | None:
    """Cut the power so often; return the first promise that was broken, None where none was.

    Parameters
    ----------
    drive
        The log's, which goes on after each loss of power.
    flushes
        As for `Log`.
    cuts
        How many.
    clones
        Each cut is tried on so many clones first, on each an event later.
    seed
        Of what chance decides here.
    """
    draws = random.Random(seed)
    promised, done = 0, 0
    while done < cuts:
        log = Log(drive, flushes)
        for _ in range(draws.randrange(4)):
            promised = log.commit(text_of(log.next))
        ends = [(drive.clone(), events) for events in range(clones)]
        for end, events in [*ends, (drive, draws.randrange(8))]:
            done += 1
            if broken := cut_after(end, flushes, promised, events):
                return f"cut {done}: {broken}"
        # What is there after a loss of power stays there.
        promised = Log(drive).next - 1
    return None


TRIALS = [
    ("with flush", "intel-x25-m-g2-80gb", True, ()),
    ("without flush", "intel-x25-m-g2-80gb", False, ()),
    ("with flush, flushes lie", "intel-x25-m-g2-80gb", True, ("lying",)),
    ("with flush, capacitor failed", "intel-dc-s3500-80gb", True, ("capacitor",)),
]
"""What it is called, the drive, whether the log flushes, and how the drive breaks its word."""


def main() -> None:
    """Try both logs on a drive with a volatile buffer, and the good one on drives that lie."""
    cuts = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for title, name, flushes, faults in TRIALS:
        drive = ssdlab.disk(name, capacity_bytes="1GB", faults=faults)
        broken = broken_promise(drive, flushes, cuts)
        print(f"{title}: {broken or f'{cuts} cuts, nothing lost'}")


if __name__ == "__main__":
    main()
