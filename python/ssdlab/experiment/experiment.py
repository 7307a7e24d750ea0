"""What is run, as data: a drive, what is set and what lies over it, its condition, a job.

A job is a fio job file. Its parts, parted by ``stonewall``, run one after the other on the same
drive, so that an experiment can tell a story: write, delete, write again, trim, write again.

**Scale.** A drive is made smaller by giving its dies fewer blocks: channels, dies, times and the
share of spare blocks stay, and with them rates and write amplification. But a die keeps a few
blocks free for collection; of the whole drive's spare they are next to nothing, of a small one's a
part. So they come on top here (``ftl.spare_counts = collected``), and what parity takes goes off.
Sizes in jobs are shares of the drive where the drive's size matters, and bytes where the request's
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.shown import parameters, sizes


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

    def share(self, drive: str) -> float:
        """Return how much of a drive is left at this scale."""
        return (self.capacity_bytes(drive) or _size(drive, ())[0]) / _size(drive, ())[0]

    def at_most(self, blocks_a_die: int) -> Scale:
        """Return this scale, or a smaller one with so many blocks a die."""
        return replace(self, blocks_a_die=min(self.blocks_a_die, blocks_a_die))


FULL = Scale("full", 512, (1, 2))
QUICK = Scale("quick", 96, (1,))
_GRAIN_BYTES = 2**20


@cache
def _size(drive: str, settings: Settings) -> tuple[int, int]:
    """Return exported bytes, and erase groups a die."""
    found = sizes(engine.show(drive, settings))
    return found.capacity_bytes, found.flash.blocks_per_die


@cache
def _less_parity(drive: str, settings: Settings) -> dict[str, str]:
    """Return the over-provisioning without the pages that parity takes, where it takes any."""
    values = parameters(engine.show(drive, settings))
    share = data_share(values)
    if share == 1:
        return {}
    return {"over_provisioning": f"{(1 + float(values['over_provisioning'])) * share - 1:.6g}"}


def data_share(values: Mapping[str, Any]) -> float:
    """Return the share of the pages that parity leaves, where it is part of the spare.

    Parameters
    ----------
    values
        A drive's parameters by key.

    Examples
    --------
    >>> stripe = {"ftl.parity_stripe_pages": "16", "nand.pages_per_block": 64}
    >>> data_share({**stripe, "ftl.spare_counts": "all"})
    0.9375
    """
    stripe = values["ftl.parity_stripe_pages"]
    if stripe == "none" or values["ftl.spare_counts"] != "all":
        return 1.0
    pages = int(values["nand.pages_per_block"])
    return 1 - max(1, pages // int(stripe)) / pages


@dataclass(frozen=True)
class Experiment:
    """One run.

    Attributes
    ----------
    name
        Its name for people; unique within its question.
    drive
        A profile's name.
    job
        A fio job file.
    state
        The condition to precondition to; None for a drive fresh out of the box.
    span
        Share of the drive that is used to bring it there.
    settings
        What differs from the profile.
    layers
        What lies over the drive, bottom up, as `--layer` takes it.
    each_member
        Each drive is brought into its state by itself, before the layers are put over it.
    start_over
        How the drive is started over once it is in its state, as `ssdlab season` takes it.
    layout
        Read jobs on a fresh drive find data.
    whole
        The drive keeps its size, because places on it matter.
    most_blocks_a_die
        No more than these, whatever the scale.
    """

    name: str
    drive: str
    job: str
    state: str | None = None
    span: float = 1.0
    settings: Settings = ()
    layers: tuple[str, ...] = ()
    each_member: bool = False
    start_over: str | None = None
    layout: bool = True
    whole: bool = False
    most_blocks_a_die: int | None = None

    def request(self, scale: Scale, seed: int) -> RunRequest:
        """Return what the engine is asked for."""
        if self.most_blocks_a_die is not None:
            scale = scale.at_most(self.most_blocks_a_die)
        capacity = None if self.whole else scale.capacity_bytes(self.drive, self.settings)
        smaller = {}
        if capacity is not None:
            smaller = {"capacity_bytes": str(capacity), "ftl.spare_counts": "collected"}
            smaller |= _less_parity(self.drive, self.settings)
        return RunRequest(
            drive=self.drive,
            settings=tuple({**dict(self.settings), **smaller}.items()),
            layers=self.layers,
            job_text=self.job,
            job_name=self.name,
            condition=self.state,
            span=self.span,
            # The drive is a small one already.
            exact=True,
            seed=seed,
            layout=self.layout,
        )


@dataclass(frozen=True)
class Scene:
    """What a person does with files, on a drive fresh out of the box: a scenario of the engine.

    Attributes
    ----------
    name
        Its name for people; unique within its question.
    drive
        A profile's name; the drive keeps its size, because places on a disk matter.
    scenario
        An included one, such as ``boot``.
    values
        What differs from it, by dotted key.
    layers
        What lies over the drive, bottom up.
    settings
        What differs from the profile.
    state, span
        As of an experiment; a scenario begins with a drive fresh out of the box.
    """

    name: str
    drive: str
    scenario: str
    values: Settings = ()
    layers: tuple[str, ...] = ()

    settings: Settings = ()
    state: str | None = None
    span: float = 1.0

    @property
    def job(self) -> str:
        """What is done, for people."""
        return "\n".join(
            [f"scenario {self.scenario}", *(f"{key}={value}" for key, value in self.values)]
        )

    def perform(self, seed: int) -> dict[str, Any]:
        """Run it."""
        request = RunRequest(self.drive, self.settings, self.layers, seed=seed)
        return engine.scenario(request, self.scenario, self.values)


Value = str | int | float | bool


def section(name: str, **options: Value) -> str:
    """Write one section of a job file; an option that is True stands alone.

    All jobs work on the drive itself, which a job says with a ``filename``: without one each would
    have a range of its own.

    Examples
    --------
    >>> print(section("used", rw="randwrite", bs="4k", norandommap=True), end="")
    [used]
    filename=/dev/ssd
    rw=randwrite
    bs=4k
    norandommap
    """
    lines = [name if value is True else f"{name}={value}" for name, value in options.items()]
    return "\n".join([f"[{name}]", "filename=/dev/ssd", *lines, ""])


def story(*sections: str) -> str:
    """Join sections into a job file in which each waits for the one before."""
    return "\n".join([sections[0], *(f"{each}stonewall\n" for each in sections[1:])])
