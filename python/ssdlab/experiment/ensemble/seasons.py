"""Seasons of an ensemble: the drive as its profile has it, and each drawn one, made steady.

What is told is how preconditioning went; no drive is kept. Left out: conditions but steady, of
which nothing is drawn that a figure could show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.comparison import Metric
from ssdlab.experiment.ensemble.runs import Ensemble
from ssdlab.experiment.ensemble.summary import DrawnFigure, figures
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError

Season = dict[str, Any]
"""What `engine.season` tells."""
SeasonOrReason = Season | str
"""What a draw gave, or why there is no such drive."""

JOB = "season"
"""What the figures are of, where runs have the names of jobs."""


def last_amplification(season: Season) -> float | None:
    """Return the write amplification of the last round; None where no round was run."""
    scaled = season.get("scale_model")
    last = scaled["slices"] if scaled else season.get("rounds")
    return float(last[-1]) if last else None


def _rounds(season: Season) -> float | None:
    return float(len(season["rounds"])) if season.get("rounds") else None


_METRICS: tuple[Metric[Season], ...] = (
    Metric("write_amplification", "write amplification", last_amplification, text.ratio),
    Metric("rounds", "rounds until steady", _rounds, text.count),
)


def tasks(drives: Ensemble) -> list[Callable[[Progress], SeasonOrReason]]:
    """Return the seasons: the profile's, then those of the draws."""
    of_draws = [lambda progress, each=each: _drawn(each, progress) for each in drives.requests]
    return [lambda progress: engine.seasoning(drives.request, progress), *of_draws]


def _drawn(request: RunRequest, progress: Progress) -> SeasonOrReason:
    try:
        return engine.seasoning(request, progress)
    except SsdlabError as error:
        return str(error)


def of(drives: Ensemble, outcomes: Sequence[SeasonOrReason | None]) -> list[DrawnFigure]:
    """Summarise what `tasks` gave; None is one that was stopped."""
    point, *draws = (each if isinstance(each, dict) else None for each in outcomes)
    return [] if point is None else figures(JOB, _METRICS, point, drives.drawn, draws)


def reached_in(outcomes: Sequence[SeasonOrReason | None]) -> dict[str, Any]:
    """Return whether the profile and each draw reached steady state; None for one that is none."""
    point, *draws = (
        bool(each["steady_reached"]) if isinstance(each, dict) else None for each in outcomes
    )
    return {"point": point, "draws": draws}
