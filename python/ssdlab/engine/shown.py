"""What the engine shows of a drive, typed: parameters by key, and the sizes that follow from them.

`ssdlab show --json` has the same, each with its source and in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.ground.errors import SsdlabError

Shown = Mapping[str, Any]
"""What `ssdlab.engine.show` returns."""


def parameters(shown: Shown) -> dict[str, Any]:
    """Return the values of a drive's parameters by key, as they are written in a profile."""
    return {each["key"]: each["value"] for each in shown["parameters"]}


_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_UNITS |= {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def in_bytes(value: Any) -> int:
    """Return a parameter's amount in bytes; 0 of ``none``.

    Examples
    --------
    >>> in_bytes("16 MiB"), in_bytes("1MiB"), in_bytes(4096), in_bytes("none")
    (16777216, 1048576, 4096, 0)
    """
    if value == "none":
        return 0
    text = str(value)
    number = text.rstrip("BKMGTikmgtb ")
    return round(float(number) * _UNITS[text[len(number) :].strip()])


@dataclass(frozen=True)
class FlashSizes:
    """Sizes of flash.

    Attributes
    ----------
    physical_bytes
        All blocks, those included that are bad from the factory.
    spare_share
        physical / exported - 1.
    mapping_unit_bytes, page_bytes, row_bytes, block_bytes
        What an entry of the map stands for, what is a row's part in one plane, what is programmed
        at once, what is erased at once.
    blocks_per_die
        At least; the first dies may have one more.
    map_bytes
        The map, all in RAM.
    """

    physical_bytes: int
    spare_share: float
    mapping_unit_bytes: int
    page_bytes: int
    row_bytes: int
    block_bytes: int
    blocks_per_die: int
    map_bytes: int


@dataclass(frozen=True)
class Sizes:
    """Sizes of a drive, or of the first drive of a stack.

    Attributes
    ----------
    capacity_bytes
        What the drive exports.
    host_bytes, host_sector_bytes
        At the top of a stack; of a drive alone its own.
    drives
        In the stack.
    """

    capacity_bytes: int
    host_bytes: int
    host_sector_bytes: int
    drives: int
    _flash: FlashSizes | None

    @property
    def has_flash(self) -> bool:
        """Tell whether it is a solid-state drive."""
        return self._flash is not None

    @property
    def flash(self) -> FlashSizes:
        """Sizes of its flash.

        Raises
        ------
        SsdlabError
            It has none.
        """
        if self._flash is None:
            raise SsdlabError("a hard disk has no flash\ngive a solid-state drive")
        return self._flash


def sizes(shown: Shown) -> Sizes:
    """Return the sizes of what is shown."""
    told = {each["key"]: each["value"] for each in shown["derived"]}
    capacity = int(told["capacity"])
    sector = told.get("sector", parameters(shown).get("sector_bytes", 512))
    flash = _flash_sizes(told) if "page" in told else None
    return Sizes(
        capacity,
        int(told.get("host sees", capacity)),
        int(sector),
        int(told.get("drives", 1)),
        flash,
    )


def _flash_sizes(told: Mapping[str, Any]) -> FlashSizes:
    return FlashSizes(
        physical_bytes=int(told["physical"]),
        spare_share=told["spare share"] / 100,
        mapping_unit_bytes=int(told["mapping unit"]),
        page_bytes=int(told["page"]),
        row_bytes=int(told["row"]),
        block_bytes=int(told["block"]),
        blocks_per_die=int(told["blocks a die"]),
        map_bytes=int(told["map"]),
    )
