"""A slice of a drive: a part of its dies, so that a run takes seconds.

With per-die blocks each die collects by itself, so 1/N of the dies, with 1/N of the capacity, of
the link's and the controller's rate, of the buffer, an SLC cache and the queue, does 1/N of the
work in the same virtual time: blocks a die, pages a block, all times of the flash and the pool stay
as they are. Rates are multiplied by N afterwards. Left out: what depends on the number of dies that
are busy at once, which is why latencies are taken on the whole drive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters, sizes
from ssdlab.ground.errors import SsdlabError

PAGE_BYTES = 4096
_OF_BYTES = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_OF_BYTES |= {"kB": 10**3, "MB": 10**6, "GB": 10**9}
_OF_THE_WHOLE = (
    "buffer.bytes",
    "ftl.mapping_cache_bytes",
    "ftl.slc_cache_bytes",
    "ftl.slc_cache_fixed_bytes",
)
_SLOWER = tuple(f"controller.{each}_us" for each in ("read_command", "write_command", "move_unit"))


@dataclass(frozen=True)
class Twin:
    """A slice of a drive.

    Attributes
    ----------
    settings
        What differs from the profile.
    capacity_bytes
        Of the slice.
    pages
        4 KiB pages of the whole drive.
    """

    settings: Settings
    capacity_bytes: int
    pages: int


def twin(drive: str, parts: int, given: Settings = (), *, slower: bool = True) -> Twin:
    """Return one of so many equal parts of a drive.

    Parameters
    ----------
    given
        What differs from the profile, on the whole drive.
    slower
        The link and the controller are a part of the whole drive's, too. Without it they are as
        fast, so that a request takes as long as on the whole drive while they are far from busy.

    Raises
    ------
    SsdlabError
        Its dies do not come in so many parts.
    """
    shown = engine.show(drive, given)
    values = parameters(shown)
    pages = sizes(shown).capacity_bytes // PAGE_BYTES
    changed = {"capacity_bytes": pages // parts * PAGE_BYTES, **_dies(values, parts)}
    changed |= {key: _bytes(values[key]) // parts for key in _OF_THE_WHOLE if _bytes(values[key])}
    if slower:
        changed["link.mb_per_s"] = float(values["link.mb_per_s"]) / parts
        changed |= {key: float(values[key]) * parts for key in _SLOWER}
    settings = {**dict(given), **{key: str(value) for key, value in changed.items()}}
    return Twin(tuple(settings.items()), int(changed["capacity_bytes"]), pages)


def _dies(values: Mapping[str, Any], parts: int) -> dict[str, int | float]:
    channels, per_channel = (int(values[f"nand.{key}"]) for key in ("channels", "dies_per_channel"))
    dies = channels * per_channel // parts
    if dies * parts != channels * per_channel:
        raise SsdlabError(f"{channels * per_channel} dies do not come in {parts} equal parts")
    kept = max(1, channels // parts)
    return {"nand.channels": kept, "nand.dies_per_channel": dies // kept}


def _bytes(value: Any) -> int:
    if value == "none":
        return 0
    number, _, unit = str(value).partition(" ")
    return round(float(number) * _OF_BYTES[unit])
