"""How sure a verdict is: the same runs on drives that are drawn from what a profile assumes.

The draws are those of `ssdlab run --ensemble` (`ssdlab.ensemble`); of each figure 5, 50 and 95 %
are told, and in how many draws all limits are kept. A draw of the drive's own spare keeps the share
that is left unused. Left out: arrays, whose members would all be drawn alike, and draws that make
no drive that works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab import engine, runner
from ssdlab.engine import Progress
from ssdlab.ensemble.runs import ensemble
from ssdlab.ensemble.summary import HIGH, LOW
from ssdlab.errors import SsdlabError
from ssdlab.request import RunRequest
from ssdlab.sizing.candidate import Candidate, sheet
from ssdlab.sizing.load import Limits, Load
from ssdlab.sizing.simulate import Figures, figures, measured
from ssdlab.sizing.verdict import reserves


@dataclass(frozen=True)
class Interval:
    """5, 50 and 95 % of the draws."""

    low: float
    median: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return it as plain data."""
        return {"low": self.low, "median": self.median, "high": self.high}


@dataclass(frozen=True)
class Spread:
    """What the draws of a candidate gave.

    Attributes
    ----------
    candidate
        Whose.
    draws, kept
        Drives that worked; those of them that keep all limits.
    intervals
        By figure: headroom, write_amplification, years, read_p99_ns, write_p99_ns.
    """

    candidate: Candidate
    draws: int
    kept: int
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "drive": self.candidate.drive,
            "unused": self.candidate.unused,
            "draws": self.draws,
            "kept": self.kept,
            "intervals": {name: each.to_dict() for name, each in self.intervals.items()},
        }


def drawn(candidate: Candidate, load: Load, count: int, seed: int) -> list[RunRequest]:
    """Return a run for each drive that is drawn.

    Raises
    ------
    SsdlabError
        The profile assumes nothing that could be drawn.
    """
    # The load's own writes make a draw steady; reads are left out there.
    request = RunRequest(
        drive=candidate.drive,
        condition="steady",
        seed=seed,
        job_text=measured(load),
        job_name=load.job_name,
        json_plus=True,
    )
    return [_unused(each, candidate) for each in ensemble(request, count).requests]


def _unused(request: RunRequest, candidate: Candidate) -> RunRequest:
    """Leave the candidate's share of a drawn drive unused."""
    settings = dict(request.settings)
    own = settings.get("over_provisioning", sheet(candidate.drive).over_provisioning)
    return replace(
        request, settings=tuple((settings | dict(candidate.settings_at(float(own)))).items())
    )


def tasks(
    candidate: Candidate, load: Load, requests: Sequence[RunRequest]
) -> list[Callable[[Progress], Figures | str]]:
    """Return the runs; each gives figures, or why there is no such drive."""

    def run(request: RunRequest) -> Callable[[Progress], Figures | str]:
        def task(progress: Progress) -> Figures | str:
            try:
                result = runner.whole(engine.run(request, progress), candidate.label)
                return figures(result, load, candidate)
            except SsdlabError as error:
                return str(error)

        return task

    return [run(each) for each in requests]


def spread(
    candidate: Candidate, load: Load, limits: Limits, found: Sequence[Figures | str | None]
) -> Spread | None:
    """Summarise the draws; None where none of them worked."""
    worked = [each for each in found if isinstance(each, Figures)]
    if not worked:
        return None
    kept = [
        all(reserve >= 1 for reserve in reserves(candidate, load, limits, each).values())
        for each in worked
    ]
    by_name: dict[str, list[float | None]] = {
        "headroom": [each.headroom(load) for each in worked],
        "write_amplification": [each.write_amplification for each in worked],
        "years": [each.years(load.bytes_per_day) for each in worked],
        "read_p99_ns": [each.read_p99_ns for each in worked],
        "write_p99_ns": [each.write_p99_ns for each in worked],
    }
    intervals = {
        name: interval([each for each in values if each is not None])
        for name, values in by_name.items()
        if None not in values
    }
    return Spread(candidate, len(worked), sum(kept), intervals)


def interval(values: Sequence[float]) -> Interval:
    """Return 5, 50 and 95 % of at least one value.

    Examples
    --------
    >>> interval([1.0, 2.0, 3.0]).median
    2.0
    """
    import numpy as np

    low, median, high = (float(each) for each in np.quantile(values, [LOW, 0.5, HIGH]))
    return Interval(low, median, high)
