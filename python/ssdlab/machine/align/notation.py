"""Positions on a drive as people write them, in any unit, and back again.

A bare number is refused: 63 may be sectors (as partition tools mean it) or bytes (as file tools
do), and the difference is what misalignment is made of. Tracks and cylinders are those of a
`Geometry`; drives have had none for decades, but old partition tables count in them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.ground.errors import SsdlabError

_BYTES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    **{
        spelling: 2**power
        for power, prefix in ((10, "k"), (20, "m"), (30, "g"), (40, "t"))
        for spelling in (f"{prefix.upper()}iB", prefix, prefix.upper())
    },
}
_UNITS = "63s (sectors), 512B, 64KiB, 1MiB, 10GiB, 480GB, 3trk (tracks), 1cyl (cylinders)"
LARGEST_BYTES = 2**80
"""Beyond every drive; a longer number is a slip of the finger."""


@dataclass(frozen=True)
class Geometry:
    """What a sector, a track and a cylinder hold.

    Attributes
    ----------
    sector_bytes
        The drive's logical sector.
    sectors_per_track, heads
        By default those that every BIOS since LBA reports: 63 sectors, 255 heads.
    """

    sector_bytes: int = 512
    sectors_per_track: int = 63
    heads: int = 255

    @property
    def track_bytes(self) -> int:
        """Bytes from one track to the next."""
        return self.sectors_per_track * self.sector_bytes

    @property
    def cylinder_bytes(self) -> int:
        """Bytes from one cylinder to the next."""
        return self.heads * self.track_bytes


def parse_geometry(text: str, sector_bytes: int, place: str = "--geometry") -> Geometry:
    """Read ``HEADSxSECTORS`` as fdisk's ``-H`` and ``-S`` take them.

    Examples
    --------
    >>> parse_geometry("224x56", 512).cylinder_bytes // 2**17
    49
    """
    if sector_bytes not in (512, 4096):
        raise SsdlabError(f"--sector {sector_bytes}: drives have sectors of 512 or 4096 bytes")
    match = re.fullmatch(r"(\d{1,3})x(\d{1,3})", text)
    heads, sectors = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (1 <= heads <= 255 and 1 <= sectors <= 63):
        raise SsdlabError(
            f"{place} {text}: expected HEADSxSECTORS with 1 to 255 heads and 1 to 63 sectors a "
            "track, such as 255x63 or 224x56"
        )
    return Geometry(sector_bytes, sectors, heads)


def parse_position(text: str, place: str, geometry: Geometry) -> int:
    """Read a position or a size into bytes.

    Raises
    ------
    SsdlabError
        There is no unit, the unit is unknown, or it is no whole number of bytes.

    Examples
    --------
    >>> parse_position("63s", "start", Geometry()), parse_position("1.5MiB", "start", Geometry())
    (32256, 1572864)
    """
    match = re.fullmatch(r"\s*(\d{1,25}(?:\.\d{1,9})?)\s*([A-Za-z]*)\s*", text)
    factor = _factor(match[2], geometry) if match else None
    if match is None or (factor is None and Fraction(match[1]) != 0):
        raise SsdlabError(f"{place}: {text!r} is not a size; write a number and its unit: {_UNITS}")
    exact = Fraction(match[1]) * (factor or 0)
    if exact.denominator != 1 or exact > LARGEST_BYTES:
        reason = (
            "not a whole number of bytes" if exact.denominator != 1 else "more than any drive has"
        )
        raise SsdlabError(f"{place}: {text} is {reason}; write it in smaller numbers")
    return int(exact)


def _factor(unit: str, geometry: Geometry) -> int | None:
    of_geometry = {
        "s": geometry.sector_bytes,
        "trk": geometry.track_bytes,
        "cyl": geometry.cylinder_bytes,
    }
    return of_geometry.get(unit) or _BYTES.get(unit)


def binary_size(number: int) -> str:
    """Write bytes exactly, in the largest binary unit of which they are a round number.

    Examples
    --------
    >>> binary_size(66060288), binary_size(32256), binary_size(2**30), binary_size(511)
    ('63 MiB', '31.5 KiB', '1 GiB', '511 B')
    """
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number and number % factor == 0:
            return f"{number // factor} {unit}"
    if number > 2**10 and number * 2 % 2**10 == 0:
        return f"{number / 2**10:.1f} KiB"
    return f"{number} B"


def decimal_text(number: int, unit_bytes: int) -> str:
    """Write bytes in a unit, with three decimals at most; ``~`` marks what was rounded.

    Examples
    --------
    >>> decimal_text(32256, 2**10), decimal_text(1048576, 32256)
    ('31.5', '~32.508')
    """
    exact = Fraction(number, unit_bytes)
    if exact.denominator == 1:
        return str(exact.numerator)
    rounded = f"{number / unit_bytes:.3f}".rstrip("0").rstrip(".")
    return rounded if Fraction(rounded) == exact else f"~{rounded}"


def in_all_units(number: int, geometry: Geometry) -> dict[str, int | float]:
    """Give a position in every unit; whole numbers as such."""
    units = {
        "bytes": 1,
        "sectors": geometry.sector_bytes,
        "kib": 2**10,
        "mib": 2**20,
        "tracks": geometry.track_bytes,
        "cylinders": geometry.cylinder_bytes,
    }
    return {
        name: number // unit if number % unit == 0 else number / unit
        for name, unit in units.items()
    }
