"""One draw of what profiles assume, put on the experiments of every question.

All drives assume alike in one draw, and so do the layers over them and the everyday jobs. Left out:
the processor's part of those jobs, which was fitted, and would be fitted again, a little lower or
higher, if they touched more or fewer files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ssdlab.engine.request import Settings
from ssdlab.experiment.ensemble import draw as drawing
from ssdlab.experiment.ensemble.draw import Draw, draws, draws_of
from ssdlab.experiment.ensemble.ranges import Range, known, of_drive, spare, whole
from ssdlab.experiment.experiment import Experiment, Scene
from ssdlab.referee.reproduce.specified import Specified

AnyExperiment = Experiment | Scene | Specified


@dataclass(frozen=True)
class Assumed:
    """A draw of the known ranges.

    Attributes
    ----------
    number, count, seed
        Which of how many draws it is, and what they were drawn by.
    scene_ranges, scene_draw
        The ranges of everyday jobs, and a place in each: a range's key is a scenario, or a state
        of its file system, and a value of it.
    """

    number: int
    count: int
    seed: int
    scene_ranges: Sequence[Range] = ()
    scene_draw: Draw = field(default_factory=dict)

    def on(self, run: AnyExperiment) -> AnyExperiment:
        """Return an experiment on the drawn drive."""
        shown = _shown(run.drive, run.settings, run.layers)
        ranges, drawn_all = _draws_of(shown["name"], self.count, self.seed)
        draw, values = drawn_all[self.number], of_drive(shown, ranges)
        settings = drawing.settings(ranges, draw, values, run.layers, spare(shown))
        layers = drawing.layers(ranges, draw, values, run.layers)
        drawn = replace(run, settings=(*run.settings, *settings), layers=layers)
        if isinstance(drawn, Scene):
            return replace(drawn, values=(*drawn.values, *self._values(drawn)))
        return drawn

    def _values(self, scene: Scene) -> Settings:
        """Return what a draw makes of a scenario, but for what the scene says itself."""
        given = dict(scene.values)
        found = []
        for each in self.scene_ranges:
            where, _, key = each.key.partition(" ")
            if where in (scene.scenario, given.get("state")) and key not in given:
                found.append((key, str(each.at(self.scene_draw[each.key], None))))
        return tuple(found)


def assumptions(count: int, seed: int) -> list[Assumed]:
    """Draw so many times what drives, layers and everyday jobs assume."""
    of_scenes = known("scenario_ranges.toml")
    scenes = draws(of_scenes, count, seed)
    return [Assumed(number, count, seed, of_scenes, scene) for number, scene in enumerate(scenes)]


@cache
def _draws_of(drive: str, count: int, seed: int) -> tuple[list[Range], list[Draw]]:
    return draws_of(drive, count, seed)


@cache
def _shown(drive: str, settings: Settings, layers: tuple[str, ...]) -> dict[str, Any]:
    return whole(drive, settings, layers)
