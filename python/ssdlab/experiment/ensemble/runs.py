"""Runs of an ensemble: a job on a drive as its profile has it, and on each that is drawn.

A draw may make no drive that can work, such as one with less spare than its open blocks need; it
is left out and told of. Left out: several seeds; chance within a run is small beside the ranges.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import runner
from ssdlab.experiment.comparison import metrics_of
from ssdlab.experiment.ensemble import ranges
from ssdlab.experiment.ensemble.draw import Draw, draws_of, layers, settings
from ssdlab.experiment.ensemble.ranges import Range
from ssdlab.experiment.ensemble.summary import DrawnFigure, figures
from ssdlab.ground.errors import SsdlabError

RunOrReason = Result | str
"""What a run gave, or why there is no such drive."""


@dataclass(frozen=True)
class Ensemble:
    """A drive and the drives that it may be.

    Attributes
    ----------
    request
        On the profile as it is.
    uncertain
        The ranges that apply.
    drawn
        Where each draw lies in them.
    requests
        On each drive that is drawn.
    """

    request: RunRequest
    uncertain: tuple[Range, ...]
    drawn: tuple[Draw, ...]
    requests: tuple[RunRequest, ...]

    def tasks(self) -> list[Callable[[Progress], RunOrReason]]:
        """Return the runs: the profile's, then those of the draws."""
        of_draws = [lambda progress, each=each: _drawn(each, progress) for each in self.requests]
        return [lambda progress: runner.run(self.request, progress), *of_draws]

    def figures(self, outcomes: Sequence[RunOrReason | None]) -> list[DrawnFigure]:
        """Summarise what `tasks` gave: each figure of each job; None is a run that was stopped."""
        point = outcomes[0]
        if not isinstance(point, Result):
            return []
        found = []
        for number, job in enumerate(point.jobs):
            of_draws = [
                each.jobs[number] if isinstance(each, Result) else None for each in outcomes[1:]
            ]
            found += figures(job.name, metrics_of(job), job, self.drawn, of_draws)
        return found

    def assumptions(self) -> list[dict[str, Any]]:
        """Return the ranges as plain data."""
        return [
            {"key": each.key, each.form: list(each.limits), "reason": each.reason}
            for each in self.uncertain
        ]


def ensemble(request: RunRequest, count: int) -> Ensemble:
    """Draw so many drives, by the request's seed.

    Raises
    ------
    SsdlabError
        The drive has nothing that is drawn: a drive file, `theory`, or a profile without a number
        that is assumed.
    """
    shown = ranges.whole(request.drive, request.settings, request.layers)
    if shown.get("drive_file"):
        raise SsdlabError(
            f"--ensemble: {request.drive} is a drive file, whose numbers are settled\n"
            "give the profile, and the condition with --state"
        )
    everything, drawn = draws_of(shown["name"], count, request.seed)
    values = ranges.of_drive(shown, everything)
    if not values:
        raise SsdlabError(
            f"--ensemble: {request.drive} assumes nothing that could be drawn; give another drive"
        )
    spare = ranges.spare(shown)
    uncertain = tuple(each for each in everything if each.key in values)
    places = tuple({key: draw[key] for key in values} for draw in drawn)
    requests = tuple(
        dataclasses.replace(
            request,
            settings=request.settings + settings(uncertain, place, values, request.layers, spare),
            layers=layers(uncertain, place, values, request.layers),
            cache=False,
        )
        for place in places
    )
    return Ensemble(request, uncertain, places, requests)


def _drawn(request: RunRequest, progress: Progress) -> RunOrReason:
    try:
        return runner.run(request, progress)
    except SsdlabError as error:
        return str(error)
