"""The recipe's runs on slices of a base, each kept, so that an interrupted recipe goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.engine.shown import parameters
from ssdlab.experiment import runner
from ssdlab.experiment.kept import Figures, kept
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.twin import latency, patterns, slices
from ssdlab.study.twin.goals import Goal

_STEADY_DRIVE_WRITES = 1.5
"""So much, since a greedy drive's rate still swings by some per cent over the first third."""
_DIES_OF_A_SLICE = 4
"""At least; within half a per cent of slices of eight."""


@dataclass(frozen=True)
class SliceRuns:
    """SliceRuns of a base with settings.

    Attributes
    ----------
    base
        A profile.
    parts
        Slices are 1/parts of it.
    folder
        Where results are kept.
    """

    base: str
    parts: int
    folder: Path

    def fill(self, settings: Settings, progress: Progress) -> float:
        """Return the rate of a sequential fill in MiB/s of the whole drive, as all rates here."""
        request = slices.fill(self.base, self.parts, settings)
        return self._rate("fill", request, slices.whole_rate, progress)

    def fresh(self, drive_writes: float, settings: Settings, progress: Progress) -> float:
        """Return the rate of the first random writes on the filled drive."""
        request = slices.writes(self.base, self.parts, patterns.UNIFORM, drive_writes, settings)
        return self._rate("fresh", request, slices.whole_rate, progress)

    def steady(self, settings: Settings, progress: Progress) -> float:
        """Return the rate of steady uniform writes."""
        request = slices.steady_writes(self.base, self.parts, _STEADY_DRIVE_WRITES, settings)
        return self._rate("steady", request, slices.rates, progress)

    def pattern(self, goal: Goal, settings: Settings, progress: Progress) -> float:
        """Return the rate of a pattern behind a fill, as it was measured."""
        request = slices.writes(self.base, self.parts, goal.name, goal.drive_writes, settings)
        return self._rate(goal.name, request, slices.rates, progress)

    def latencies(self, rates: Sequence[int], settings: Settings, progress: Progress) -> Figures:
        """Return percentiles of the probe in µs, each by its name and rate: ``read_p50 10000``."""
        chain = latency.loads(self.base, rates, settings, self.parts)

        def run() -> Figures:
            return {
                f"{key} {rate}": value
                for rate, result in zip(rates, runner.perform(chain, progress), strict=True)
                for key, value in latency.percentiles(result).items()
            }

        return kept(self.folder, self._name("latency"), [each for _, each in chain.runs], run)

    def _rate(
        self,
        what: str,
        request: RunRequest,
        read: Callable[[Result, int], Figures],
        progress: Progress,
    ) -> float:
        def run() -> Figures:
            return read(runner.run(request, progress), self.parts)

        return kept(self.folder, self._name(what), [request], run)["rate"]

    def _name(self, what: str) -> str:
        return f"{Path(self.base).stem}-{what}"


def parts_of(base: str) -> int:
    """Return how many slices of four dies, or a few more, a drive has.

    Raises
    ------
    SsdlabError
        It has no flash.
    """
    dies = dies_of(base)
    enough = [parts for parts in range(2, dies + 1) if dies // parts >= _DIES_OF_A_SLICE]
    return max([1, *(parts for parts in enough if dies % parts == 0)])


def dies_of(base: str) -> int:
    """Return how many dies a drive has.

    Raises
    ------
    SsdlabError
        It has no flash.
    """
    values = parameters(engine.show(base))
    if "nand.channels" not in values:
        raise SsdlabError(f"{base}: has no flash\ngive a solid-state drive")
    return int(values["nand.channels"]) * int(values["nand.dies_per_channel"])
