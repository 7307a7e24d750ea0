"""A part of SNIA's test as an experiment, carried out by the code of `ssdlab pts`.

Purge, preconditioning, rounds and the rule of steady state are those of `ssdlab pts`; only the
drive is smaller, by the scale, and its cells are shorter by as much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.bench.plan import Part
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.simulated import SimulatedTarget
from ssdlab.bench.store import Store
from ssdlab.bench.summary import part_summary
from ssdlab.engine import Progress
from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment
from ssdlab.experiment.scale import Scale


@dataclass(frozen=True)
class Specified:
    """A part of a test on a drive, or on an array of drives.

    Attributes
    ----------
    name
        Its name for people; unique within its question.
    drive
        A profile's name.
    part
        What is done, its cells as long as the scale asks for.
    layers
        What lies over the drive, bottom up.
    settings
        What differs from the profile.
    most_blocks_a_die
        No more than these, whatever the scale.
    """

    name: str
    drive: str
    part: Part
    layers: tuple[str, ...] = ()
    settings: Settings = ()
    most_blocks_a_die: int | None = None

    @property
    def state(self) -> str:
        """The state that its rounds begin in, for people."""
        return "purged and preconditioned" if self.part.conditioning else "purged"

    @property
    def span(self) -> float:
        """Share of the drive that is used."""
        return 1.0

    @property
    def job(self) -> str:
        """What is done, for people."""
        cells = [f"  {cell.name}, {cell.seconds:.3g} s" for cell in self.part.cells]
        return "\n".join([f"{self.part.name} of ssdlab pts, in each round:", *cells])

    def as_experiment(self) -> Experiment:
        """Return an experiment on the same drive, which knows its size at a scale."""
        return Experiment(
            self.name,
            self.drive,
            "",
            settings=self.settings,
            layers=self.layers,
            most_blocks_a_die=self.most_blocks_a_die,
        )

    def perform(self, scale: Scale, seed: int, progress: Progress) -> dict[str, Any]:
        """Carry it out; return what follows from its rounds, with the drive's parameters."""
        asked = self.as_experiment().request(scale, seed)
        target = SimulatedTarget(asked)
        capacity = target.describe().capacity_bytes
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
            store = Store(Path(folder)).part(self.part.name)
            PartRun(self.part, target, store, seed, self._told(progress)).perform()
            summary = part_summary(self.part, store, capacity)
        shown = engine.show(asked.drive, asked.settings, asked.layers, asked.scale)
        return {"part": summary, "profile": self.drive, "parameters": shown["parameters"]}

    def _told(self, progress: Progress) -> Callable[[int, str, float], bool]:
        least = self.part.stop.window
        return lambda rounds, what, share: progress(what, min(1.0, (rounds + share) / least))
