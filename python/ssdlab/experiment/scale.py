"""How large the drives of experiments are, and how large that makes a drive.

What a smaller drive has in place of a large one is the engine's: a scale such as ``blocks:96`` or
``dies:64`` (`crates/lab/src/scale.rs`), a field of `RunRequest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import sizes

PAGE_BYTES = 4096


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

    @property
    def form(self) -> str:
        """The scale as a request has it."""
        return f"blocks:{self.blocks_a_die}"

    def share(self, drive: str) -> float:
        """Return how much of a drive is left at this scale."""
        return _share(drive, self.form)

    def at_most(self, blocks_a_die: int) -> Scale:
        """Return this scale, or a smaller one with so many blocks a die."""
        return replace(self, blocks_a_die=min(self.blocks_a_die, blocks_a_die))


FULL = Scale("full", 512, (1, 2))
QUICK = Scale("quick", 96, (1,))


def capacity_bytes(drive: str, settings: Settings = (), scale: str | None = None) -> int:
    """Return what a drive exports, whole or at a scale.

    Raises
    ------
    SsdlabError
        There is no such drive.
    """
    return sizes(engine.show(drive, settings, scale=scale)).capacity_bytes


@cache
def _share(drive: str, scale: str) -> float:
    return capacity_bytes(drive, scale=scale) / capacity_bytes(drive)
