"""A smaller drive in place of a large one: fewer blocks a die, or fewer dies.

**Fewer blocks** (`Scale`). Channels, dies, times and the share of spare blocks stay, and with them
rates and write amplification. But a die keeps a few blocks free for collection; of the whole
drive's spare they are next to nothing, of a small one's a part. So they come on top
(``ftl.spare_counts = collected``), and what parity takes goes off. Where write amplification alone
has to stay, a smaller ``capacity_bytes`` does it: the engine sees to the spare.

**Fewer dies** (`slice_of`). With per-die blocks each die collects by itself, so 1/N of the dies,
with 1/N of the capacity, of the link's and the controller's rate, of the buffer and its reach, an
SLC cache and the queue, does 1/N of the work in the same virtual time: blocks a die, pages a block,
all times of the flash and the pool stay as they are. Rates are multiplied by N afterwards. Left
out: what depends on the number of dies that are busy at once, which is why latencies are taken on
the whole drive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import in_bytes, parameters, sizes
from ssdlab.ground.errors import SsdlabError

PAGE_BYTES = 4096
_GRAIN_BYTES = 2**20
_OF_THE_WHOLE = (
    "buffer.bytes",
    "buffer.join_bytes",
    "ftl.mapping_cache_bytes",
    "ftl.slc_cache_bytes",
    "ftl.slc_cache_fixed_bytes",
)
_SLOWER = tuple(f"controller.{each}_us" for each in ("read_command", "write_command", "move_unit"))


@dataclass(frozen=True)
class Scale:
    """How large the drives are and how often each experiment is run.

    Attributes
    ----------
    name
        For people.
    blocks_a_die
        At most so many erase groups (a block of each plane) a die.
    seeds
        A run each.
    """

    name: str
    blocks_a_die: int
    seeds: tuple[int, ...]

    def capacity_bytes(self, drive: str, settings: Settings = ()) -> int | None:
        """Return the exported capacity of a drive at this scale; None for that of the profile."""
        capacity, blocks = _size(drive, settings)
        if blocks <= self.blocks_a_die:
            return None
        return capacity * self.blocks_a_die // blocks // _GRAIN_BYTES * _GRAIN_BYTES

    def settings(self, drive: str, settings: Settings = ()) -> Settings:
        """Return what differs from the profile on a drive with settings at this scale."""
        capacity = self.capacity_bytes(drive, settings)
        if capacity is None:
            return settings
        smaller = {"capacity_bytes": str(capacity), "ftl.spare_counts": "collected"}
        return tuple({**dict(settings), **smaller, **_less_parity(drive, settings)}.items())

    def share(self, drive: str) -> float:
        """Return how much of a drive is left at this scale."""
        return (self.capacity_bytes(drive) or _size(drive, ())[0]) / _size(drive, ())[0]

    def at_most(self, blocks_a_die: int) -> Scale:
        """Return this scale, or a smaller one with so many blocks a die."""
        return replace(self, blocks_a_die=min(self.blocks_a_die, blocks_a_die))


FULL = Scale("full", 512, (1, 2))
QUICK = Scale("quick", 96, (1,))


@cache
def _size(drive: str, settings: Settings) -> tuple[int, int]:
    """Return exported bytes, and erase groups a die."""
    found = sizes(engine.show(drive, settings))
    return found.capacity_bytes, found.flash.blocks_per_die


@cache
def _less_parity(drive: str, settings: Settings) -> dict[str, str]:
    """Return the over-provisioning without the pages that parity takes, where it takes any."""
    values = parameters(engine.show(drive, settings))
    share = _data_share(values)
    if share == 1:
        return {}
    return {"over_provisioning": f"{(1 + float(values['over_provisioning'])) * share - 1:.6g}"}


def _data_share(values: Mapping[str, Any]) -> float:
    """Return the share of the pages that parity leaves, where it is part of the spare.

    Parameters
    ----------
    values
        A drive's parameters by key.

    Examples
    --------
    >>> stripe = {"ftl.parity_stripe_pages": "16", "nand.pages_per_block": 64}
    >>> _data_share({**stripe, "ftl.spare_counts": "all"})
    0.9375
    """
    stripe = values["ftl.parity_stripe_pages"]
    if stripe == "none" or values["ftl.spare_counts"] != "all":
        return 1.0
    pages = int(values["nand.pages_per_block"])
    return 1 - max(1, pages // int(stripe)) / pages


@dataclass(frozen=True)
class DieSlice:
    """A slice of a drive: a part of its dies.

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


def slice_of(drive: str, parts: int, given: Settings = (), *, slower: bool = True) -> DieSlice:
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
    of_whole = {key: in_bytes(values[key]) for key in _OF_THE_WHOLE}
    changed |= {key: whole // parts for key, whole in of_whole.items() if whole}
    if slower:
        changed["link.mb_per_s"] = float(values["link.mb_per_s"]) / parts
        changed |= {key: float(values[key]) * parts for key in _SLOWER}
    settings = {**dict(given), **{key: str(value) for key, value in changed.items()}}
    return DieSlice(tuple(settings.items()), int(changed["capacity_bytes"]), pages)


def _dies(values: Mapping[str, Any], parts: int) -> dict[str, int | float]:
    channels, per_channel = (int(values[f"nand.{key}"]) for key in ("channels", "dies_per_channel"))
    dies = channels * per_channel // parts
    if dies * parts != channels * per_channel:
        raise SsdlabError(f"{channels * per_channel} dies do not come in {parts} equal parts")
    kept = max(1, channels // parts)
    return {"nand.channels": kept, "nand.dies_per_channel": dies // kept}
