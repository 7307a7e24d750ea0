"""Where the layers of a layout lie on the drive.

The layers' beginnings add up. A layer may begin at one place, or, as a volume in an LVM group, at
any of start + k * step: then a unit u is met for every k only if it divides both, and with
d = gcd(step, u) the worst remainder is u - d + start mod d.

Above a striped array there are two positions: x in the array, and on the member that holds it
data_offset + floor(x / stripe) * chunk + x mod chunk. Where chunks tile a unit or hold it whole,
and the data offset fits it, only x mod gcd(u, chunk) can do harm: what crosses a chunk's end goes
to another member in any case. Else every chunk may begin at another remainder.

A write of s bytes, at a multiple of s in its layer, crosses one boundary of u more than it has to
in the share gcd(s, u) / u of all places, unless the layer's beginning is a multiple of gcd(s, u).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ssdlab.machine.align.layout import Array, Layout, PhysicalVolume

WRITE_SIZES = tuple(512 << n for n in range(12))
"""512 B to 1 MiB."""


@dataclass(frozen=True)
class Offsets:
    """Places start + k * step, in bytes; with step 0 a single one."""

    start: int
    step: int = 0

    def moved(self, by: int) -> Offsets:
        """Give the same places further on."""
        return Offsets(self.start + by, self.step)

    def spread(self, step: int) -> Offsets:
        """Allow for any multiple of a further step."""
        return Offsets(self.start, gcd(self.step, step))

    def fits(self, unit: int) -> bool:
        """Whether all places are multiples of a unit."""
        return self.start % unit == 0 and self.step % unit == 0

    def worst_remainder(self, unit: int) -> int:
        """Give the largest distance of a place behind a multiple of a unit.

        Examples
        --------
        >>> Offsets(32256).worst_remainder(4096)
        3584
        >>> Offsets(0, 4 * 2**20).worst_remainder(24 * 2**20) // 2**20
        20
        """
        period = gcd(self.step, unit) if self.step else unit
        return unit - period + self.start % period


@dataclass(frozen=True)
class Straddle:
    """How many writes of one size cross a boundary more than they have to."""

    write_bytes: int
    share: float


def straddles(places: Offsets, unit: int) -> list[Straddle]:
    """Say which sizes of writes, the unit's own among them, cross more boundaries than they must.

    Examples
    --------
    >>> [(s.write_bytes, s.share) for s in straddles(Offsets(63 * 512), 4096)][:3]
    [(1024, 0.25), (2048, 0.5), (4096, 1.0)]
    """
    common = {size: gcd(size, unit) for size in sorted({*WRITE_SIZES, unit})}
    return [Straddle(s, part / unit) for s, part in common.items() if not places.fits(part)]


@dataclass(frozen=True)
class Spot:
    """Where a layer begins.

    Attributes
    ----------
    drive
        On the drive, or on each member of an array.
    array
        The striped array it lies on, if there is one.
    members
        Where that array's data begin on its members.
    within
        Where the layer begins in that array.
    """

    drive: Offsets
    array: Array | None = None
    members: Offsets = Offsets(0)
    within: Offsets = Offsets(0)

    def moved(self, by: int, step: int = 0) -> Spot:
        """Go up by a layer that begins so far into this one, or any number of steps further."""
        if self.array is None:
            return Spot(self.drive.moved(by).spread(step))
        within = self.within.moved(by).spread(step)
        return Spot(self._on_member(within), self.array, self.members, within)

    def striped(self, array: Array) -> Spot:
        """Go up by a striped array."""
        members = self.moved(array.start).drive
        return Spot(members, array, members)

    def _on_member(self, within: Offsets) -> Offsets:
        assert self.array is not None
        chunk, row = self.array.chunk, within.start // self.array.stripe
        start = self.members.start + row * chunk + within.start % chunk
        return Offsets(start, gcd(self.members.step, chunk, within.step))

    def against(self, unit: int) -> tuple[Offsets, int]:
        """Give the places that count for a unit of the drive, and what they have to fit."""
        if self.array is None:
            return self.drive, unit
        chunk = self.array.chunk
        tiles = chunk % unit == 0 or unit % chunk == 0
        if tiles and self.members.fits(unit):
            return self.within, gcd(unit, chunk)
        return (self.drive if tiles else self.drive.spread(chunk)), unit


def spots(layout: Layout) -> list[Spot]:
    """Place every layer; the first spot is the drive's own beginning."""
    found = [Spot(Offsets(0))]
    for layer in layout.layers:
        if isinstance(layer, Array) and layer.striped:
            found.append(found[-1].striped(layer))
        else:
            step = layer.extent if isinstance(layer, PhysicalVolume) else 0
            found.append(found[-1].moved(layer.start, step))
    return found
