"""What a listing of partitions says: where each begins, as exactly as it says it.

A tool may round: parted prints 1049kB for every start from 1048500 to 1049499 bytes, and fdisk's
cylinders hold 16065 sectors. A start is therefore the set of all places that the listing allows,
and the answer to whether it fits a unit is yes, no, or that the listing does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

from ssdlab.ground.unread import Unread

SECTOR_BYTES = 512
"""Assumed where a listing does not say what a sector holds."""
SECTOR_SIZES = tuple(512 << power for power in range(8))
"""What a sector may hold: 512 bytes to 64 KiB."""
_TOLD_APART = 64
"""So many times its precision a unit has to be for a rounded start to tell of it."""


@dataclass(frozen=True)
class Start:
    """The places low, low + step, … up to high, in bytes.

    Attributes
    ----------
    low, high
        The first and the last of them; `high` None where there is no last one.
    step
        From one to the next.
    """

    low: int
    high: int | None
    step: int = SECTOR_BYTES

    @classmethod
    def at(cls, byte: int) -> Start:
        """Begin at one place, which the listing names."""
        return cls(byte, byte)

    @classmethod
    def between(cls, low: int, high: int, step: int) -> Start:
        """Begin at a sector within a range; where none lies in it, at any byte of it."""
        first, last = -(-low // step) * step, high // step * step
        return cls(first, last, step) if first <= last else cls(low, high, 1)

    @classmethod
    def anywhere(cls) -> Start:
        """Begin where the listing does not say."""
        return cls(0, None, 1)

    @property
    def exact(self) -> bool:
        """Whether there is only one place."""
        return self.low == self.high

    @property
    def byte(self) -> int | None:
        """The place, where there is only one."""
        return self.low if self.exact else None

    def moved(self, by: int) -> Start:
        """Give the same places further on."""
        return Start(self.low + by, None if self.high is None else self.high + by, self.step)

    def fits(self, unit: int) -> bool | None:
        """Say whether the place is a multiple of a unit; None where the listing does not tell.

        Examples
        --------
        >>> Start.at(32256).fits(4096), Start.between(1048500, 1049499, 512).fits(2**20)
        (False, None)
        >>> Start.between(16896, 17920, 512).fits(2**20)
        False
        """
        if self.exact:
            return self.low % unit == 0
        found = self._first_multiple(unit)
        if found is None or (self.high is not None and found > self.high):
            return False
        return True if self.step % unit == 0 and self.low % unit == 0 else None

    def fits_as_printed(self, unit: int) -> bool:
        """Whether a rounded start is a multiple of a unit, to the listing's precision.

        The unit has to be many times the precision: 1024 KB are a multiple of 1 MiB but for one
        chance in 512, whereas 32 KB are as likely the old sector 63 (31.5 KB) as a multiple of
        4 KiB.

        Examples
        --------
        >>> kb = Start.between(1023 * 1024 + 1, 1025 * 1024 - 1, 512)
        >>> kb.fits(2**20), kb.fits_as_printed(2**20), kb.fits_as_printed(4096)
        (None, True, False)
        """
        if self.high is None or (self.high - self.low) * _TOLD_APART > unit:
            return False
        found = self._first_multiple(unit)
        return found is not None and found <= self.high

    def _first_multiple(self, unit: int) -> int | None:
        """Solve low + k * step = 0 modulo the unit for the least k."""
        common = gcd(self.step, unit)
        if self.low % common:
            return None
        period = unit // common
        steps = -self.low // common * pow(self.step // common, -1, period) % period
        return self.low + steps * self.step


@dataclass(frozen=True)
class ListedPartition:
    """One partition of a listing.

    Attributes
    ----------
    name
        As the listing names it.
    start
        Where it begins on the drive.
    size
        In bytes; None where the listing does not say.
    idle
        Why where it begins costs nothing; empty where data lie in it.
    is_label
        It lies in a slice, so that tracks are nothing to it.
    may_hold
        Its type does not say that data lie in it: others may.
    line, quoted
        Where the listing says so, and its words; 0 where that is no line.
    """

    name: str
    start: Start
    size: int | None = None
    idle: str = ""
    is_label: bool = False
    may_hold: bool = field(default=False, compare=False)
    line: int = field(default=0, compare=False)
    quoted: str = field(default="", compare=False)


@dataclass(frozen=True)
class ListedDisk:
    """One drive of a listing.

    Attributes
    ----------
    name
        As the listing names it.
    partitions
        In the listing's order.
    sector_bytes, physical_bytes
        What a logical and a physical sector hold; None where the listing does not say.
    optimal_bytes
        The I/O size that the drive asks for; None or 0 where it does not.
    capacity
        In bytes; None where the listing does not say it exactly.
    notes
        What was assumed, and what the listing hides.
    unseen
        Why its real partitions are not in the listing; empty where they are.
    """

    name: str
    partitions: tuple[ListedPartition, ...] = ()
    sector_bytes: int | None = None
    physical_bytes: int | None = None
    optimal_bytes: int | None = None
    capacity: int | None = None
    notes: tuple[str, ...] = ()
    unseen: str = ""


@dataclass(frozen=True)
class Listing:
    """What was read of a text.

    Attributes
    ----------
    read_as
        The programs and forms that it is of.
    disks
        In the listing's order.
    unread
        What was not understood, in its order.
    """

    read_as: tuple[str, ...]
    disks: tuple[ListedDisk, ...]
    unread: tuple[Unread, ...] = ()


CONTAINER = "a container; what counts is where the partitions in it begin"
BOOT_CODE = "holds a boot loader only"
RESERVED = "holds no data"
PROTECTIVE = "a protective MBR, no partition; the real table is GPT"
BESIDE_GPT = "a row of the MBR, which does not count beside a GPT"

_CUT_AT = 15
_SLICES = frozenset({"a5", "a6", "a9", "bf", "freebsd", "netbsd", "openbsd"})
"""Types of slices in which a label may list others."""
_IDLE_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("ee", "gpt protective"), PROTECTIVE),
    **dict.fromkeys(("5", "05", "f", "0f", "85", "extended", "ebr"), CONTAINER),
    **dict.fromkeys(
        (
            "21686148-6449-6e6f-744e-656564454649",
            "83bd6b9d-7f41-11dc-be0b-001560b84f0f",
            "bios boot",
            "bios boot partition",
            "bios_grub",
            "freebsd-boot",
            "freebsd boot",
            "bios-boot",
        ),
        BOOT_CODE,
    ),
    **dict.fromkeys(
        (
            "e3c9e316-0b5c-4db8-817d-f92df00215ae",
            "microsoft reserved",
            "microsoft reserved partition",
            "ms-reserved",
            "msftres",
            "reserved",
        ),
        RESERVED,
    ),
}


def idle_reason(*types: str) -> str:
    """Say why a partition of such a type is not judged; empty where it is.

    fdisk of util-linux 2.23 cuts the types of GPT after 15 letters.

    Examples
    --------
    >>> idle_reason("83"), idle_reason("BIOS boot"), idle_reason("Microsoft reser")
    ('', 'holds a boot loader only', 'holds no data')
    """
    for each in types:
        word = each.strip().lower().removeprefix("0x")
        reason = _IDLE_TYPES.get(word) or (CONTAINER if word.startswith("extended") else "")
        if not reason and len(word) == _CUT_AT:
            whole = (told for known, told in _IDLE_TYPES.items() if known.startswith(word))
            reason = next(whole, "")
        if reason:
            return reason
    return ""


def may_hold(*types: str) -> bool:
    """Whether a partition of such a type may be a container: no type is listed, or a slice's."""
    words = [each.strip().lower().removeprefix("0x") for each in types if each.strip()]
    return not words or any(each in _SLICES for each in words)
