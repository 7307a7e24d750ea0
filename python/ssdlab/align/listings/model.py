"""What a listing of partitions says: where each begins, as exactly as it says it.

A tool may round: parted prints 1049kB for every start from 1048500 to 1049499 bytes, and fdisk's
cylinders hold 16065 sectors. A start is therefore the set of all places that the listing allows,
and the answer to whether it fits a unit is yes, no, or that the listing does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

SECTOR_BYTES = 512
"""Assumed where a listing does not say what a sector holds."""


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
    """

    name: str
    start: Start
    size: int | None = None
    idle: str = ""
    is_label: bool = False


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
    """

    name: str
    partitions: tuple[ListedPartition, ...] = ()
    sector_bytes: int | None = None
    physical_bytes: int | None = None
    optimal_bytes: int | None = None
    capacity: int | None = None
    notes: tuple[str, ...] = ()


CONTAINER = "a container; what counts is where the partitions in it begin"
BOOT_CODE = "holds a boot loader only"
RESERVED = "holds no data"

_IDLE_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("5", "05", "f", "0f", "85", "extended"), CONTAINER),
    **dict.fromkeys(
        (
            "21686148-6449-6e6f-744e-656564454649",
            "83bd6b9d-7f41-11dc-be0b-001560b84f0f",
            "bios boot",
            "bios_grub",
            "freebsd-boot",
            "freebsd boot",
        ),
        BOOT_CODE,
    ),
    **dict.fromkeys(
        ("e3c9e316-0b5c-4db8-817d-f92df00215ae", "microsoft reserved", "msftres", "reserved"),
        RESERVED,
    ),
}


def idle_reason(*types: str) -> str:
    """Say why a partition of such a type is not judged; empty where it is.

    Examples
    --------
    >>> idle_reason("83"), idle_reason("BIOS boot")
    ('', 'holds a boot loader only')
    """
    for each in types:
        word = each.strip().lower().removeprefix("0x")
        reason = _IDLE_TYPES.get(word) or (CONTAINER if word.startswith("extended") else "")
        if reason:
            return reason
    return ""
