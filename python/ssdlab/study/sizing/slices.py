"""What of a large drive is run: a slice of a few dies, or all dies with fewer blocks.

Of a plain load a few dies are run, with as much of the load as falls on them.

With per-die blocks each die collects by itself, and at random loads each gets as much, so that a
slice of 1/n of the dies, the capacity, the caches and the buffer, at 1/n of the rate, does what the
drive does (`crates/lab/src/scale.rs`). The link and the controller stay as fast as they are: a
request takes as long there as on the whole drive, while they are far from busy. What they let
through at most is a closed form, which bounds the IOPS of n slices:

    IOPS = min(n · IOPS of the slice, bounds of link and controller)

Of a drive of up to 2^23 mapping units all is run; of a larger one four dies, for wear alone two, or
fewer where those have more than 2^24 units. Left out: waiting at the link and the controller beyond
that of the slice, which shortens a 99th percentile of reads by up to 13 % where half of what the
drive can do is asked, and those of writes, where they only wait there (docs/howto/sizing.md);
arrays of plain loads, which run on whole drives.

A fio job has a depth, which is not divided among slices. If any stretch of it is like any other,
and it works on a share of the drive, whatever that is in bytes, it runs on all dies with fewer
blocks each: the smaller capacity of `ssdlab run --set capacity_bytes=…`, whose write amplification
is that of the profile, again of 2^23 units or 64 blocks a die. All times are those of the drive. On
one whose map is coarse the 99th percentile of writes may be a quarter lower: it lies where few
requests wait for many. Other jobs run on whole drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from ssdlab.engine.request import Settings
from ssdlab.ground import text
from ssdlab.study.sizing.candidate import Candidate, Sheet, sheet
from ssdlab.study.sizing.closed_form import shared_iops
from ssdlab.study.sizing.load import HostLoad

_WHOLE_UNITS, _MOST_UNITS = 2**23, 2**24
_LEAST_DIES, _LEAST_DIES_OF_WEAR = 4, 2
_LEAST_BLOCKS = 64
"""Of a die; twice as many as the engine takes."""


@dataclass(frozen=True)
class Slice:
    """What is run in place of a drive.

    Attributes
    ----------
    settings
        What differs from the profile.
    parts
        As many of it are the drive; 1 where it is the whole drive.
    dies, of_dies
        Of the slice, and of the drive.
    blocks
        The share of each die's blocks that it has.
    scale
        As a request has it.
    """

    settings: Settings
    parts: int
    dies: int
    of_dies: int
    blocks: float = 1.0
    scale: str | None = None

    @property
    def told(self) -> str:
        """What people call it; nothing of a whole drive."""
        if self.blocks < 1:
            return f"{text.percent(self.blocks)} of the blocks"
        return f"{self.dies} of {self.of_dies} dies" if self.parts > 1 else ""


def parts_of(candidate: Candidate, load: HostLoad, *, wear_alone: bool = False) -> int:
    """Return of how many equal parts one is run: of arrays and jobs the whole.

    Examples
    --------
    Of 64 dies with 3.7 million units each four are run.
    """
    if candidate.layout.layers or load.job is not None:
        return 1
    return _parts(candidate.drive, _LEAST_DIES_OF_WEAR if wear_alone else _LEAST_DIES)


@cache
def _parts(drive: str, least: int) -> int:
    facts = sheet(drive)
    units = facts.capacity_bytes / facts.unit_bytes
    if units <= _WHOLE_UNITS:
        return 1
    most = max(1.0, _MOST_UNITS * facts.dies / units)
    fitting = [n for n in range(1, facts.dies + 1) if facts.dies % n == 0 and n <= most]
    return facts.dies // min((n for n in fitting if n >= least), default=max(fitting))


def blocks_of(candidate: Candidate, load: HostLoad) -> float:
    """Return the share of each die's blocks that a load is run on; of most loads all."""
    if load.job is None or not (load.stationary and load.scales):
        return 1.0
    facts = sheet(candidate.drive)
    units = candidate.exported_bytes / facts.unit_bytes
    blocks_a_die = units / facts.units_a_block / facts.dies
    return min(1.0, max(_WHOLE_UNITS / units, _LEAST_BLOCKS / blocks_a_die))


def slice_of(candidate: Candidate, settings: Settings, parts: int, blocks: float = 1.0) -> Slice:
    """Return one of so many parts of a candidate's drive.

    Parameters
    ----------
    settings
        What differs from the profile, on the whole drive.
    blocks
        Share of each die's blocks, where it is the whole drive otherwise.
    """
    dies = sheet(candidate.drive).dies
    if parts == 1 and blocks < 1:
        return Slice(_with_fewer_blocks(candidate, settings, blocks), 1, dies, dies, blocks)
    if parts == 1:
        return Slice(settings, 1, dies, dies)
    return Slice(settings, parts, dies // parts, dies, scale=f"dies:{parts},whole-link")


def _with_fewer_blocks(candidate: Candidate, settings: Settings, blocks: float) -> Settings:
    """Return the settings with a smaller capacity, from which the spare follows."""
    values = dict(settings) | {"capacity_bytes": str(round(candidate.exported_bytes * blocks))}
    values.pop("ftl.spare_counts", None)
    return tuple(values.items())


def most_iops(candidate: Candidate, load: HostLoad, drawn: Settings = ()) -> float:
    """Return what the link and the controller of the whole drive let through."""
    return shared_iops(_drawn(sheet(candidate.drive), dict(drawn)), candidate, load)


def _drawn(facts: Sheet, values: Mapping[str, str]) -> Sheet:
    """Put in what a draw sets of the link and the controller."""

    def given(key: str, scale: float, own: float) -> float:
        return float(values[key]) * scale if key in values else own

    return replace(
        facts,
        link_bytes_per_s=given("link.mb_per_s", 1e6, facts.link_bytes_per_s),
        read_command_s=given("controller.read_command_us", 1e-6, facts.read_command_s),
        write_command_s=given("controller.write_command_us", 1e-6, facts.write_command_s),
    )
