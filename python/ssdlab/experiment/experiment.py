"""What is run, as data: a drive, what is set and what lies over it, its condition, a job.

A job is a fio job file. Its parts, parted by ``stonewall``, run one after the other on the same
drive, so that an experiment can tell a story: write, delete, write again, trim, write again.

Sizes in jobs are shares of the drive where the drive's size matters, and bytes where the request's
does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.experiment.runner import Chain
from ssdlab.experiment.scale import Scale


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
        return RunRequest(
            drive=self.drive,
            settings=self.settings,
            layers=self.layers,
            scale=None if self.whole else scale.form,
            job_text=self.job,
            job_name=self.name,
            condition=self.state,
            span=self.span,
            # The drive is a small one already.
            exact=True,
            seed=seed,
            layout=self.layout,
        )

    def chain(self, scale: Scale, seed: int) -> Chain:
        """Return what the runner carries out: the request, and what its drive is prepared by."""
        request = self.request(scale, seed)
        if not (self.each_member or self.start_over):
            return Chain.of(request)
        # Steady by uniform writes, whatever the job's own are; of a size that no other run has.
        drive = replace(request, job_text=None, cache=False)
        return Chain.of(request, drive, self.start_over)


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
