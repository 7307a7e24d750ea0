"""What is read at sampled places tells whether a purge took place.

Before the purge random data are written at places all over the target; after it they are read
again. Zeroes (or ones, which some drives give for unmapped blocks) at every place show that nothing
of them is mapped; the data as written show that nothing happened; anything else shows that the data
are gone, and not that the blocks are unmapped (a drive that only changed its key reads so).

Left out: places that were not sampled. Each sample lies in a stripe of its own, at a random place.
"""

from __future__ import annotations

import mmap
import os
import random
from dataclasses import dataclass
from typing import Protocol

from ssdlab.bench.real.nbd import ExportClient
from ssdlab.bench.real.safety import Permission

SAMPLES = 128
"""A drive of which a tenth stayed as it was is found out with 1 - 0.9^128 = 99.9999 %."""


class UncachedBytes(Protocol):
    """Bytes of a target, around all caches of this machine."""

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes."""

    def write(self, offset: int, content: bytes) -> None:
        """Write bytes."""

    def flush(self) -> None:
        """Make what was written last."""


class DeviceBlocks:
    """Bytes of a block device that may be destroyed."""

    def __init__(self, permission: Permission) -> None:
        self._permission = permission

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes; offset and length are multiples of the logical block."""
        # Memory that begins at a page, as reads around the page cache need.
        with mmap.mmap(-1, length) as buffer:
            got = os.preadv(self._permission.descriptor, [buffer], offset)
            return buffer[:got]

    def write(self, offset: int, content: bytes) -> None:
        """Write bytes; offset and length are multiples of the logical block."""
        with mmap.mmap(-1, len(content)) as buffer:
            buffer[:] = content
            os.pwritev(self._permission.descriptor, [buffer], offset)

    def flush(self) -> None:
        """Have the drive flush its cache."""
        os.fsync(self._permission.descriptor)


class ExportBlocks:
    """Bytes of an export that may be destroyed."""

    def __init__(self, permission: Permission, client: ExportClient) -> None:
        self._permission, self._client = permission, client

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes."""
        return self._client.read(offset, length)

    def write(self, offset: int, content: bytes) -> None:
        """Write bytes."""
        self._permission.check()
        self._client.write(offset, content)

    def flush(self) -> None:
        """Have the server flush."""
        self._client.flush()


@dataclass(frozen=True)
class Seen:
    """What was read at how many places.

    Attributes
    ----------
    blank
        All zeroes, or all ones.
    unchanged
        As it was written before.
    other
        Anything else.
    """

    blank: int
    unchanged: int
    other: int

    @property
    def places(self) -> int:
        """How many there are."""
        return self.blank + self.unchanged + self.other

    @property
    def shows_a_purge(self) -> bool:
        """Whether all that was written is unmapped."""
        return self.places > 0 and self.blank == self.places

    def __str__(self) -> str:
        """Say it in words."""
        return (
            f"{self.places} places, written with random data before, were read: {self.blank} read "
            f"as zeroes or ones, {self.unchanged} as written, {self.other} as something else"
        )


class Samples:
    """Places that are written, and read after a purge.

    Parameters
    ----------
    blocks
        The target.
    capacity_bytes
        Its size.
    block_bytes
        Size and alignment of a sample, a multiple of the logical block.
    seed
        Chooses places and data.
    """

    def __init__(
        self, blocks: UncachedBytes, capacity_bytes: int, block_bytes: int, seed: int
    ) -> None:
        self._blocks = blocks
        self._length = block_bytes
        chance = random.Random(seed)
        count = min(SAMPLES, capacity_bytes // block_bytes)
        stripe = capacity_bytes // max(count, 1) // block_bytes
        begins = [number * stripe * block_bytes for number in range(count)]
        self.offsets = [begin + chance.randrange(stripe) * block_bytes for begin in begins]
        self._written = [chance.randbytes(block_bytes) for _ in self.offsets]

    def mark(self) -> None:
        """Write at every place.

        Raises
        ------
        OSError
            The device failed.
        """
        for offset, content in zip(self.offsets, self._written, strict=True):
            self._blocks.write(offset, content)
        self._blocks.flush()

    def look(self) -> Seen:
        """Read every place.

        Raises
        ------
        OSError
            The device failed.
        """
        blank = unchanged = 0
        for offset, written in zip(self.offsets, self._written, strict=True):
            found = self._blocks.read(offset, self._length)
            if found == written:
                unchanged += 1
            elif len(found) == self._length and found.strip(found[:1]) == b"":
                blank += found[:1] in (b"\0", b"\xff")
        return Seen(blank, unchanged, len(self.offsets) - blank - unchanged)
