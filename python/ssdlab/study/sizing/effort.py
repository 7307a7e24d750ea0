"""What a search takes, told before: drives that need runs, processor time, memory.

A run writes its mapping units about five times over, which takes half a microsecond a unit, and a
fio job that has to run to its end as much again; of a drive and layout one or two shares are run.
In memory at once are as many as there are cores, or fewer where they would take more than 4 GB.
What is in the cache already takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.experiment.parallel import cores
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing.candidate import ArrayLayout, Candidate, sheet
from ssdlab.study.sizing.search import Asked, decide
from ssdlab.study.sizing.simulate import conditioning

_S_PER_UNIT, _S_PER_UNIT_OF_A_JOB, _S_PER_RUN, _RUNS = 4e-7, 6e-7, 1.5, 1.5
_MOST_BYTES = 4e9


@dataclass(frozen=True)
class SearchEffort:
    """What a search takes.

    Attributes
    ----------
    pairs
        Drives and layouts, in the order in which they are searched: the quickest first.
    workers
        As many at once.
    told
        What people are told.
    """

    pairs: Sequence[tuple[str, ArrayLayout]]
    workers: int
    told: str


def plan(
    asked: Asked, pairs: Sequence[tuple[str, ArrayLayout]], shares: Sequence[float]
) -> SearchEffort:
    """Plan a search.

    Parameters
    ----------
    pairs
        What is searched.
    shares
        Left unused, rising.
    """
    left = {pair: _first_undecided(asked, *pair, shares) for pair in pairs}
    run = {pair: each for pair, each in left.items() if each is not None}
    seconds = {pair: _seconds(asked, each) for pair, each in run.items()}
    needed = sorted((_bytes(asked, each) for each in run.values()), reverse=True)
    most = min(cores(), len(run))
    fitting = [n for n in range(1, most + 1) if sum(needed[:n]) <= _MOST_BYTES]
    workers = max(fitting, default=1)
    return SearchEffort(
        sorted(pairs, key=lambda pair: seconds.get(pair, 0.0)),
        workers,
        _told(len(pairs), len(run), sum(seconds.values()), sum(needed[:workers]), workers),
    )


def _told(drives: int, run: int, seconds: float, needed: float, workers: int) -> str:
    if not run:
        return "closed forms decide, and nothing is run"
    about = f"about {text.long_time(seconds * _RUNS / workers)}, {text.size(needed)} of memory"
    decided = f"closed forms decide {drives - run} of {drives}; " if run < drives else ""
    return f"{decided}{run} to run take {about}, a tenth of the time where they are in the cache"


def _first_undecided(
    asked: Asked, drive: str, layout: ArrayLayout, shares: Sequence[float]
) -> Candidate | None:
    candidates = (Candidate(drive, share, layout) for share in shares)
    return next((each for each in candidates if decide(asked, each) is None), None)


def _seconds(asked: Asked, candidate: Candidate) -> float:
    facts = sheet(candidate.drive)
    try:
        part = conditioning(candidate, asked.load, asked.seed, exact=asked.exact)[1]
    except SsdlabError:
        return _S_PER_RUN
    units = facts.capacity_bytes / facts.unit_bytes / part.parts * part.blocks
    to_its_end = asked.load.job is not None and not asked.load.stationary
    return units * (_S_PER_UNIT + to_its_end * _S_PER_UNIT_OF_A_JOB) + _S_PER_RUN


def _bytes(asked: Asked, candidate: Candidate) -> float:
    try:
        season, _ = conditioning(candidate, asked.load, asked.seed, exact=asked.exact)
        taken = (season.drive, season.settings, candidate.layout.layers, season.scale)
        return float(engine.memory_bytes(*taken))
    except SsdlabError:
        return 0.0
