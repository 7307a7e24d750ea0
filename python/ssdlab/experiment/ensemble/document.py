"""The JSON of an ensemble, written by `run` and `season`, read by `compare` and `report`.

    {"ensemble": {"draws", "seed", "drives": [
        {"drive", "runs", "left_out", "assumptions", "figures"}]}}

Each figure keeps its value of each draw, null where the draw has none, so that two ensembles can be
compared draw by draw.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.experiment.ensemble.runs import Ensemble
from ssdlab.experiment.ensemble.summary import DrawnFigure, strongest
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError

DrawnDrives = Sequence[tuple[Ensemble, Sequence[Any], Sequence[DrawnFigure]]]
"""Drives; what the profile and the draws gave, a text where there is no such drive; figures."""

_REMEDY = (
    "write it again with: ssdlab run … --ensemble N --output-format json --output FILE, "
    "or ssdlab season … --ensemble N --json > FILE"
)
_OF_DRIVES = ("drive", "runs", "left_out", "assumptions", "figures", "steady_reached")
_OF_FIGURES = (
    *("job", "metric", "label", "point", "low", "median", "high", "drawn_low", "drawn_high"),
    *("model_error", "influences", "draws"),
)
_SHOWN: tuple[tuple[str, Callable[[float | None], str]], ...] = (
    ("_ns", text.duration),
    ("bytes_per_second", text.rate),
    ("amplification", text.ratio),
    ("", text.count),
)


def written(found: DrawnDrives, count: int) -> dict[str, Any]:
    """Return ensembles of so many draws as plain data."""
    drives = [
        {
            "drive": each.request.drive,
            "runs": sum(outcome is not None for outcome in outcomes[1:]) - len(left_out(outcomes)),
            "left_out": left_out(outcomes),
            "assumptions": each.assumptions(),
            "figures": [figure.to_dict() for figure in figures],
        }
        for each, outcomes, figures in found
    ]
    return {"ensemble": {"draws": count, "seed": found[0][0].request.seed, "drives": drives}}


def left_out(outcomes: Sequence[Any]) -> list[str]:
    """Return why draws made no drive that works."""
    return [outcome for outcome in outcomes[1:] if isinstance(outcome, str)]


@dataclass(frozen=True)
class EnsembleFigure:
    """A figure that was read: of the profile, of the draws, and 5, 50 and 95 %.

    Attributes
    ----------
    job, metric, label
        Of what; the name for programs and that for people.
    point, low, median, high
        As in `ssdlab.experiment.ensemble.summary`.
    draws
        One value a draw; None where the draw has none.
    influences
        Rank correlations with the assumptions by key, the strongest first.
    """

    job: str
    metric: str
    label: str
    point: float
    low: float
    median: float
    high: float
    draws: tuple[float | None, ...]
    influences: Mapping[str, float]

    def show(self, value: float | None) -> str:
        """Write a value of it for people."""
        return next(show for ending, show in _SHOWN if self.metric.endswith(ending))(value)


@dataclass(frozen=True)
class Arm:
    """An ensemble of one drive that was read.

    Attributes
    ----------
    name
        What tells it from the others.
    drive
        Its profile.
    seed
        Of the draws.
    runs
        How many draws gave figures.
    left_out
        Why others made no drive that works.
    assumptions
        What was drawn: ``key``, its limits, ``reason``.
    figures
        In the order in which they were written.
    """

    name: str
    drive: str
    seed: int
    runs: int
    left_out: tuple[str, ...]
    assumptions: tuple[Mapping[str, Any], ...]
    figures: tuple[EnsembleFigure, ...]

    def hangs_on(self, figure: EnsembleFigure) -> str:
        """Name the assumptions that a figure hangs on most, each with its rank correlation."""
        names = {str(each["key"]): _upwards(each) for each in self.assumptions}
        told = strongest(figure.influences)
        return ", ".join(f"{names.get(key, key)} {r:+.2f}" for key, r in told.items())


def _upwards(assumption: Mapping[str, Any]) -> str:
    """Name what lies at the upper end, as `ssdlab.experiment.ensemble.ranges` does."""
    choices = assumption.get("choices")
    return f"{assumption['key']} → {choices[-1]}" if choices else str(assumption["key"])


def is_ensemble(document: str) -> bool:
    """Tell whether the text of a result is that of an ensemble."""
    return document.lstrip().startswith("{") and '"ensemble"' in document[:64]


def read(document: str, name: str) -> list[Arm]:
    """Read what was written, an arm a drive.

    Raises
    ------
    SsdlabError
        Something in it is out of shape.
    """
    try:
        whole = json.loads(document)
        told = whole["ensemble"]
        _check_names(whole, ("ensemble",), "the result")
        _check_names(told, ("draws", "seed", "drives"), "ensemble")
        drives, seed = told["drives"], int(told["seed"])
        several = len(drives) > 1
        return [
            _arm(each, f"{name} ({each['drive']})" if several else name, seed) for each in drives
        ]
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise SsdlabError(f"{name}: not JSON ({where}: {error.msg})\n{_REMEDY}") from None
    except KeyError as error:
        raise SsdlabError(f"{name}: no {error} in it\n{_REMEDY}") from None
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise SsdlabError(f"{name}: is out of shape: {error}\n{_REMEDY}") from None


def _check_names(told: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    others = told.keys() - set(known)
    if others:
        raise ValueError(f"{where} has {', '.join(map(repr, sorted(others)))}, which is not known")


def _arm(told: Mapping[str, Any], name: str, seed: int) -> Arm:
    _check_names(told, _OF_DRIVES, str(told["drive"]))
    return Arm(
        name,
        str(told["drive"]),
        seed,
        int(told["runs"]),
        tuple(str(each) for each in told["left_out"]),
        tuple(dict(each) for each in told["assumptions"]),
        tuple(_drawn(each) for each in told["figures"]),
    )


def _drawn(told: Mapping[str, Any]) -> EnsembleFigure:
    job, metric, label = (str(told[key]) for key in ("job", "metric", "label"))
    where = f"{job}, {metric}"
    _check_names(told, _OF_FIGURES, where)
    point, low, median, high = (
        _figure(told[key], f"{where}: {key}") for key in ("point", "low", "median", "high")
    )
    draws = tuple(
        None if each is None else _figure(each, f"{where}: draws") for each in told["draws"]
    )
    known = [each for each in draws if each is not None]
    if known and not math.isclose(median, statistics.median(known), rel_tol=1e-6):
        raise ValueError(f"{where}: median is {median:g}, and not that of the draws")
    if not low <= median <= high:
        raise ValueError(f"{where}: low, median and high do not rise")
    influences = {
        str(key): _figure(r, f"{where}: {key}") for key, r in dict(told["influences"]).items()
    }
    return EnsembleFigure(job, metric, label, point, low, median, high, draws, influences)


def _figure(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{where} is {value!r}, which is not a figure")
    return float(value)
