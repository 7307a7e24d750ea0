"""The search: for each drive and layout, the least spare that meets what is asked.

Closed forms come first, and cost nothing. Of the shares left unused that remain the least is run;
where it misses, the most: if that misses, too, so do those between, since more spare never moves
more. Else they are run from the least up. The first that meets ends the search, and the one below
it is run, whatever the closed form said, so that a buyer sees what it would lack. Left out: shares
between those that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ssdlab.engine import Progress
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing.candidate import ArrayLayout, Candidate
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import Rating
from ssdlab.study.sizing.simulate import simulate
from ssdlab.study.sizing.verdict import (
    CandidateVerdict,
    by_closed_form,
    by_more_spare,
    by_run,
    impossible,
)


@dataclass(frozen=True)
class Asked:
    """A load, its limits, and what does not change between candidates.

    Attributes
    ----------
    load, limits
        What is asked.
    prices
        Of one drive, by its name.
    seed
        Of all runs.
    ratings
        What a drive is rated for, by its name.
    exact
        Whole drives are run, however large.
    """

    load: HostLoad
    limits: Limits
    prices: dict[str, float]
    seed: int
    ratings: dict[str, Rating] = field(default_factory=dict)
    exact: bool = False


def search(
    asked: Asked,
    drive: str,
    layout: ArrayLayout,
    shares: Sequence[float],
    keep: Callable[[CandidateVerdict], None],
    progress: Progress,
) -> bool:
    """Look for the least spare of a drive in a layout.

    Parameters
    ----------
    shares
        Left unused, rising.
    keep
        Hears of each verdict as it comes; a later one on the same candidate replaces it.

    Returns
    -------
    bool
        Whether a share meets what is asked.
    """
    judged = dict[float, CandidateVerdict]()

    def run(share: float, *, whatever: bool = False) -> CandidateVerdict:
        def part(phase: str, done: float) -> bool:
            label = text.percent(share, 0)
            return progress(f"{label} unused, {phase}", (len(judged) + done) / len(shares))

        found = judge(asked, Candidate(drive, share, layout), part, whatever=whatever)
        judged[share] = found
        keep(found)
        return found

    left = []
    for share in shares:
        found = decide(asked, Candidate(drive, share, layout))
        if found is None:
            left.append(share)
            continue
        judged[share] = found
        keep(found)
        if found.meets:
            break
    least = _least_that_meets(asked, left, run, judged, keep)
    least = min((share for share in judged if judged[share].meets), default=least)
    if least is None:
        return False
    below = max((share for share in judged if share < least), default=None)
    if below is not None and judged[below].figures is None and judged[least].figures is not None:
        if "capacity" not in judged[below].limited_by:
            run(below, whatever=True)
    return True


def _least_that_meets(
    asked: Asked,
    shares: Sequence[float],
    run: Callable[[float], CandidateVerdict],
    judged: dict[float, CandidateVerdict],
    keep: Callable[[CandidateVerdict], None],
) -> float | None:
    """Run shares, the least and the most first; give the least that meets."""
    if not shares:
        return None
    least, *others = shares
    if run(least).meets:
        return least
    if not others:
        return None
    most = run(others[-1])
    if not most.meets:
        for share in others[:-1] if most.is_judged else ():
            candidate = replace(most.candidate, unused=share)
            judged[share] = _priced(asked, by_more_spare(candidate, asked.load, most))
            keep(judged[share])
        return None
    return next((share for share in others[:-1] if run(share).meets), others[-1])


def decide(asked: Asked, candidate: Candidate) -> CandidateVerdict | None:
    """Return the verdict of closed forms; None where a run is needed."""
    rating = asked.ratings.get(candidate.drive)
    found = by_closed_form(candidate, asked.load, asked.limits, rating)
    return None if found is None else _priced(asked, found)


def judge(
    asked: Asked, candidate: Candidate, progress: Progress, *, whatever: bool = False
) -> CandidateVerdict:
    """Return the verdict on a candidate, by a closed form where that decides it.

    Parameters
    ----------
    whatever
        Run it, whatever a closed form says.
    """
    found = None if whatever else decide(asked, candidate)
    if found is not None:
        return found
    load, seed, exact = asked.load, asked.seed, asked.exact
    try:
        figures = simulate(candidate, load, seed, progress, exact=exact)
        rating = asked.ratings.get(candidate.drive)
        found = by_run(candidate, load, asked.limits, figures, seed, rating, exact=exact)
    except SsdlabError as error:
        found = impossible(candidate, load, str(error))
    return _priced(asked, found)


def _priced(asked: Asked, found: CandidateVerdict) -> CandidateVerdict:
    price = asked.prices.get(found.candidate.drive)
    drives = found.candidate.layout.drives
    return replace(found, price=None if price is None else price * drives)


def ranked(verdicts: Sequence[CandidateVerdict]) -> list[CandidateVerdict]:
    """Sort what meets first; then the cheapest, where all prices are known, else the smallest."""
    priced = all(each.price is not None for each in verdicts)

    def place(each: CandidateVerdict) -> tuple[bool, float, str, float]:
        candidate = each.candidate
        cost = each.price if priced and each.price is not None else candidate.bought_bytes
        return not each.meets, cost, candidate.drive, candidate.unused

    return sorted(verdicts, key=place)
