"""How long a drive lasts under a load, and what would change it, a run for each change.

    TBW of the cells = flash bytes · rated cycles / bytes programmed for each byte of the host
    years            = TBW / (bytes a day · 365.25)

Write amplification in steady state does not depend on the rate, so half the writes last twice as
long without a run of their own; only where nights trim the drive, they leave more of it unmapped.
Left out: all that `ssdlab.engine.endurance` leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.engine import Progress
from ssdlab.ground import text
from ssdlab.study.sizing import nights
from ssdlab.study.sizing.candidate import SINGLE, Candidate, layout
from ssdlab.study.sizing.intervals import DrawnInterval, FiguresOrReason, not_steady, of_wear, tasks
from ssdlab.study.sizing.load import HostLoad
from ssdlab.study.sizing.simulate import DrawnDrive, LoadFigures, commands, conditioning, simulate

CHANGE = 0.2
"""The share that changes leave unused, or trimmed: what is customarily advised."""


@dataclass(frozen=True)
class Case:
    """A drive and a load whose lifetime is asked.

    Attributes
    ----------
    name
        What people call it.
    candidate, load
        What is run.
    """

    name: str
    candidate: Candidate
    load: HostLoad

    def figures(self, seed: int, progress: Progress, *, exact: bool = False) -> LoadFigures:
        """Run it; the whole drive where that is asked."""
        return simulate(self.candidate, self.load, seed, progress, wear_alone=True, exact=exact)


@dataclass(frozen=True)
class Years:
    """What came of a case."""

    case: Case
    figures: LoadFigures
    drawn: Sequence[LoadFigures] = ()
    """What came of drives that are drawn from what the profile assumes."""

    def intervals(self) -> dict[str, DrawnInterval]:
        """Return 5, 50 and 95 % of WA, TBW and years; nothing where no draw worked."""
        return of_wear(self.drawn, self.case.load) if self.drawn else {}

    @property
    def years(self) -> float:
        """Until the cells are worn to their rating."""
        return self.figures.years(self.case.load.bytes_per_day)

    @property
    def not_steady(self) -> str | None:
        """Why it, or a draw of it, did not come into steady state; None where all did."""
        return self.figures.not_steady or not_steady(self.drawn)

    def to_dict(self, seed: int, *, exact: bool = False) -> dict[str, Any]:
        """Return it as plain data."""
        candidate, load = self.case.candidate, self.case.load
        return {
            "case": self.case.name,
            "unused": candidate.unused,
            "load": load.to_dict(),
            "write_amplification": self.figures.write_amplification,
            "programmed": self.figures.programmed,
            "bytes_written": self.figures.bytes_written,
            "years": self.years,
            "way": self.figures.way,
            "not_steady": self.not_steady,
            "draws": len(self.drawn),
            "intervals": {name: each.to_dict() for name, each in self.intervals().items()},
            "commands": commands(candidate, load, seed, wear_alone=True, exact=exact),
        }


def cases(drive: str, unused: float, load: HostLoad) -> list[Case]:
    """Return the case that is asked, and the changes to it that are not there already."""
    plain = Candidate(drive, unused, layout(SINGLE))
    found = [Case("as asked", plain, load)]
    if unused < CHANGE:
        share = text.percent(CHANGE, 0)
        found.append(Case(f"{share} unused", replace(plain, unused=CHANGE), load))
        if not load.sequential and not load.free:
            trimmed, nightly = replace(load, trimmed=CHANGE), replace(load, free=CHANGE)
            found.append(Case(f"{share} free and trimmed", plain, trimmed))
            found.append(Case(f"{share} free, trimmed daily", plain, nightly))
    if load.free:
        found.append(Case("never trimmed", plain, replace(load, free=0.0)))
    if not load.sequential:
        found.append(Case("in order", plain, replace(load, sequential=True, free=0.0)))
    found.append(Case("half the writes", plain, load.times(0.5)))
    return found


def runs(
    asked: Sequence[Case], seed: int, *, exact: bool = False
) -> dict[str, Callable[[Progress], LoadFigures]]:
    """Return a run for each drive in steady state that the cases need, by its conditioning."""

    def run(case: Case) -> Callable[[Progress], LoadFigures]:
        return lambda progress: case.figures(seed, progress, exact=exact)

    return {key(case, seed): run(case) for case in reversed(asked)}


def drawn_runs(
    asked: Sequence[Case], wanted: str, draws: Sequence[DrawnDrive], seed: int
) -> list[Callable[[Progress], FiguresOrReason]]:
    """Return the runs of each draw for the cases that one conditioning, by its key, is for."""
    case = next(each for each in asked if key(each, seed) == wanted)
    return tasks(case.candidate, case.load, draws, seed, wear_alone=True)


def key(case: Case, seed: int) -> str:
    """Name what a case needs run; its rate plays a part where nights do."""
    candidate, load = case.candidate, case.load
    asked = conditioning(candidate, load, seed)[0].to_json()
    return f"{asked} {load.bytes_per_day}" if nights.lived(candidate, load) else asked
