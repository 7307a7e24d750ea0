"""How sure an answer is: the same runs on drives that are drawn from what a profile assumes.

The draws are those of `ssdlab run --ensemble` (`ssdlab.experiment.ensemble`); of each figure 5, 50
and 95 % are told, and in how many draws all limits are kept. All drives of an array, and its
layers, are of one draw: drives of one model err alike. A draw of the drive's own spare keeps the
share that is left unused.

Ends of IOPS, write amplification, TBW and years hold the model's own error as well
(`ssdlab.experiment.ensemble.model_error`); those of latencies do not, since it is not known. Years
and TBW go as 1/A, so their ends are those of wear, the reciprocal, with the error of the write
amplification A. Whether a draw keeps its limits is told without it. Left out: draws that make no
drive that works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.engine import Progress
from ssdlab.engine.endurance import DAYS_PER_YEAR
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.ensemble import model_error
from ssdlab.experiment.ensemble.runs import ensemble
from ssdlab.experiment.ensemble.summary import HIGH, LOW
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing.candidate import Candidate
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.simulate import DrawnDrive, LoadFigures, simulate
from ssdlab.study.sizing.verdict import reserves

FiguresOrReason = LoadFigures | str
"""What the runs of a draw gave, or why there is no such drive."""

_AMPLIFICATION = "write_amplification"
_LEVELS = (LOW, 0.5, HIGH)


@dataclass(frozen=True)
class DrawnInterval:
    """5, 50 and 95 %."""

    low: float
    median: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return it as plain data."""
        return {"low": self.low, "median": self.median, "high": self.high}


@dataclass(frozen=True)
class CandidateSpread:
    """What the draws of a candidate gave.

    Attributes
    ----------
    candidate
        Whose.
    draws, kept
        Drives that worked; those of them that keep all limits.
    intervals
        By figure: headroom, read_p99_ns, write_p99_ns, and those `of_wear`.
    not_steady
        How many did not come into steady state, and why; None where all did.
    """

    candidate: Candidate
    draws: int
    kept: int
    intervals: Mapping[str, DrawnInterval]
    not_steady: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        layout = self.candidate.layout
        return {
            "drive": self.candidate.drive,
            "unused": self.candidate.unused,
            "layout": layout.layer or layout.name,
            "draws": self.draws,
            "kept": self.kept,
            "intervals": {name: each.to_dict() for name, each in self.intervals.items()},
            "not_steady": self.not_steady,
        }


def drawn(candidate: Candidate, count: int, seed: int) -> list[DrawnDrive]:
    """Draw the drive of a candidate, and its layers, so many times.

    Raises
    ------
    SsdlabError
        The profile assumes nothing that could be drawn.
    """
    request = RunRequest(drive=candidate.drive, layers=candidate.layout.layers, seed=seed)
    return [DrawnDrive(each.settings, each.layers) for each in ensemble(request, count).requests]


def tasks(
    candidate: Candidate,
    load: HostLoad,
    draws: Sequence[DrawnDrive],
    seed: int,
    *,
    wear_alone: bool = False,
) -> list[Callable[[Progress], FiguresOrReason]]:
    """Return the runs of each draw."""

    def run(draw: DrawnDrive) -> Callable[[Progress], FiguresOrReason]:
        def task(progress: Progress) -> FiguresOrReason:
            try:
                return simulate(candidate, load, seed, progress, draw=draw, wear_alone=wear_alone)
            except SsdlabError as error:
                return str(error)

        return task

    return [run(each) for each in draws]


def spread(
    candidate: Candidate, load: HostLoad, limits: Limits, found: Sequence[FiguresOrReason | None]
) -> CandidateSpread | None:
    """Summarise the draws; None where none of them worked."""
    worked = [each for each in found if isinstance(each, LoadFigures)]
    if not worked:
        return None
    kept = [
        all(reserve >= 1 for reserve in reserves(candidate, load, limits, each).values())
        for each in worked
    ]
    intervals = of_wear(worked, load)
    by_name: dict[str, list[float | None]] = {
        "headroom": [each.headroom(load) for each in worked],
        "read_p99_ns": [each.read_p99_ns for each in worked],
        "write_p99_ns": [each.write_p99_ns for each in worked],
    }
    for name, values in by_name.items():
        if None not in values:
            figure = "iops" if name == "headroom" else name
            intervals[name] = interval([each for each in values if each is not None], figure)
    return CandidateSpread(candidate, len(worked), sum(kept), intervals, not_steady(worked))


def not_steady(worked: Sequence[LoadFigures]) -> str | None:
    """Say how many drawn drives did not come into steady state, and why the first did not."""
    reasons = [each.not_steady for each in worked if each.not_steady]
    return f"{len(reasons)} of {len(worked)} draws, the first: {reasons[0]}" if reasons else None


def of_wear(worked: Sequence[LoadFigures], load: HostLoad) -> dict[str, DrawnInterval]:
    """Return the intervals of what wears, by the names of `LoadFigures`.

    Parameters
    ----------
    worked
        Of at least one draw.
    """
    amplifications = [each.write_amplification for each in worked]
    errors = [model_error.deviation(_AMPLIFICATION, each) or 0.0 for each in amplifications]

    def mixed(values: Sequence[float]) -> DrawnInterval:
        # No drive programs less than it does without copies, but where it compresses.
        least = min(value / max(1.0, a) for value, a in zip(values, amplifications, strict=True))
        return DrawnInterval(*model_error.quantiles(values, errors, _LEVELS, least=least))

    wear = mixed([1 / each.bytes_written for each in worked])
    written = DrawnInterval(1 / wear.high, 1 / wear.median, 1 / wear.low)
    days = load.bytes_per_day * DAYS_PER_YEAR
    return {
        _AMPLIFICATION: mixed(amplifications),
        "programmed": mixed([each.programmed for each in worked]),
        "bytes_written": written,
        "years": DrawnInterval(written.low / days, written.median / days, written.high / days),
    }


def interval(values: Sequence[float], figure: str = "") -> DrawnInterval:
    """Return 5, 50 and 95 % of at least one value, with the model's error where it is known.

    Examples
    --------
    >>> interval([1.0, 2.0, 3.0]).median
    2.0
    """
    low, median, high = model_error.interval(figure, values, _LEVELS)
    return DrawnInterval(low, median, high)
