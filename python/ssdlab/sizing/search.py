"""The search: for each drive and layout, the least spare that meets what is asked.

Shares left unused are tried from the least up. A share that a closed form rules out costs nothing;
the first that meets ends the search, and the one below it is run, whatever the closed form said, so
that a buyer sees what it would lack. Left out: shares between those that are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ssdlab.engine import Progress
from ssdlab.errors import SsdlabError
from ssdlab.sizing.candidate import Candidate, Layout
from ssdlab.sizing.load import Limits, Load
from ssdlab.sizing.simulate import simulate
from ssdlab.sizing.verdict import Verdict, by_closed_form, by_run, impossible


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
    """

    load: Load
    limits: Limits
    prices: dict[str, float]
    seed: int


def search(
    asked: Asked,
    drive: str,
    layout: Layout,
    shares: Sequence[float],
    keep: Callable[[Verdict], None],
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
    below: Verdict | None = None
    for number, share in enumerate(shares):
        candidate = Candidate(drive, share, layout)

        def part(phase: str, done: float, label: str = candidate.label, n: int = number) -> bool:
            return progress(f"{label}: {phase}", (n + done) / len(shares))

        found = judge(asked, candidate, part)
        keep(found)
        if found.meets:
            if below is not None and below.figures is None and "capacity" not in below.limited_by:
                keep(judge(asked, below.candidate, part, whatever=True))
            return True
        if "capacity" in found.limited_by:
            return False
        below = found
    return False


def judge(
    asked: Asked, candidate: Candidate, progress: Progress, *, whatever: bool = False
) -> Verdict:
    """Return the verdict on a candidate, by a closed form where that rules it out.

    Parameters
    ----------
    whatever
        Run it, whatever a closed form says.
    """
    found = None if whatever else by_closed_form(candidate, asked.load, asked.limits)
    if found is None:
        try:
            figures = simulate(candidate, asked.load, asked.seed, progress)
            found = by_run(candidate, asked.load, asked.limits, figures, asked.seed)
        except SsdlabError as error:
            found = impossible(candidate, asked.load, str(error))
    price = asked.prices.get(candidate.drive)
    return replace(found, price=None if price is None else price * candidate.layout.drives)


def ranked(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Sort what meets first; then the cheapest, where all prices are known, else the smallest."""
    priced = all(each.price is not None for each in verdicts)

    def place(each: Verdict) -> tuple[bool, float, str, float]:
        candidate = each.candidate
        cost = each.price if priced and each.price is not None else candidate.bought_bytes
        return not each.meets, cost, candidate.drive, candidate.unused

    return sorted(verdicts, key=place)
