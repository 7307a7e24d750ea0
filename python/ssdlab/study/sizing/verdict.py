"""The verdict on a candidate: whether it keeps all limits, and which one is nearest.

Each limit has a reserve, how many times over it is kept:

    capacity    room / data                throughput  IOPS without a pause / IOPS asked
    tail        limit / p99                wear        years / years asked
    warranty    years until the rated bytes are written / years asked; where a rating is known

A candidate meets what is asked where every reserve is 1 or more, and the drive did the rate. What
limits it are the reserves below 1, or else the smallest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ssdlab.ground import text
from ssdlab.study.sizing.candidate import Candidate
from ssdlab.study.sizing.closed_form import (
    Bounds,
    bounds,
    clearly_keeps,
    room,
    ruled_out,
    under_warranty,
)
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import Rating
from ssdlab.study.sizing.simulate import LoadFigures, Morning, commands

CLOSED_FORM, SIMULATED, REFUSED = "closed form", "simulated", "not possible"


@dataclass(frozen=True)
class CandidateVerdict:
    """What was found of a candidate.

    Attributes
    ----------
    candidate
        What could be bought.
    bounds
        What it cannot pass.
    figures
        What its runs gave; None where none was made.
    meets
        Whether it keeps all limits.
    limited_by
        The limits that are missed, or the nearest one.
    decided_by
        A closed form, a run, or the engine, which cannot make such a drive.
    price
        Of all drives; None where it is not known.
    commands
        What makes the same runs.
    reason
        Why there is no such drive.
    rating
        What one drive is rated for; None where it is not known.
    """

    candidate: Candidate
    bounds: Bounds
    figures: LoadFigures | None
    meets: bool
    limited_by: tuple[str, ...]
    decided_by: str
    price: float | None = None
    commands: tuple[str, ...] = ()
    reason: str = ""
    rating: Rating | None = None

    @property
    def is_judged(self) -> bool:
        """Whether it says if the limits are kept."""
        return self.decided_by != REFUSED

    @property
    def not_steady(self) -> str | None:
        """Why the drive of its runs did not come into steady state; None where it did, or unrun."""
        return None if self.figures is None else self.figures.not_steady

    def warranty_years(self, load: HostLoad) -> float | None:
        """Years until what the drives are rated for is written; None where it is not known."""
        return under_warranty(self.candidate, load, self.rating)

    def to_dict(self, load: HostLoad) -> dict[str, Any]:
        """Return the verdict as plain data."""
        candidate, found = self.candidate, self.figures
        return {
            "drive": candidate.drive,
            "unused": candidate.unused,
            "layout": candidate.layout.layer or candidate.layout.name,
            "drives": candidate.layout.drives,
            "host_bytes": candidate.host_bytes,
            "meets": self.meets,
            "limited_by": list(self.limited_by),
            "decided_by": self.decided_by,
            "headroom": None if found is None else found.headroom(load),
            "years": None if found is None else found.years(load.bytes_per_day),
            "rated": None if self.rating is None else self.rating.to_dict(),
            "warranty_years": self.warranty_years(load),
            "figures": None if found is None else found.to_dict(),
            "bounds": {k: v for k, v in self.bounds.to_dict().items() if v != math.inf},
            "price": self.price,
            "commands": list(self.commands),
            "reason": self.reason,
        }


def by_closed_form(
    candidate: Candidate, load: HostLoad, limits: Limits, rating: Rating | None = None
) -> CandidateVerdict | None:
    """Return the verdict where no run is needed; None where one is."""
    missed = ruled_out(candidate, load, limits, rating)
    keeps = not missed and clearly_keeps(candidate, load, limits, rating)
    if not missed and not keeps:
        return None
    found = bounds(candidate, load)
    return CandidateVerdict(candidate, found, None, keeps, missed, CLOSED_FORM, rating=rating)


def by_more_spare(candidate: Candidate, load: HostLoad, most: CandidateVerdict) -> CandidateVerdict:
    """Return the verdict on less spare where more of it misses: it moves no less."""
    missed, share = most.limited_by, text.percent(most.candidate.unused, 0)
    decided_by = f"{share} unused misses, too"
    found = bounds(candidate, load)
    return CandidateVerdict(candidate, found, None, False, missed, decided_by, rating=most.rating)


def by_run(
    candidate: Candidate,
    load: HostLoad,
    limits: Limits,
    found: LoadFigures,
    seed: int,
    rating: Rating | None = None,
    *,
    exact: bool = False,
) -> CandidateVerdict:
    """Return the verdict that runs give."""
    kept = reserves(candidate, load, limits, found, rating)
    missed = tuple(name for name, reserve in kept.items() if reserve < 1)
    return CandidateVerdict(
        candidate,
        bounds(candidate, load),
        found,
        not missed,
        missed or tuple(sorted(kept, key=lambda name: kept[name])[:1]),
        f"{SIMULATED}, {found.way_told}",
        commands=tuple(commands(candidate, load, seed, exact=exact)),
        rating=rating,
    )


def impossible(candidate: Candidate, load: HostLoad, reason: str) -> CandidateVerdict:
    """Return the verdict on a drive that the engine cannot make."""
    return CandidateVerdict(
        candidate, bounds(candidate, load), None, False, (), REFUSED, reason=reason
    )


def reserves(
    candidate: Candidate,
    load: HostLoad,
    limits: Limits,
    found: LoadFigures,
    rating: Rating | None = None,
) -> dict[str, float]:
    """Return how many times over each limit is kept, by its name."""
    headroom = found.headroom(load)
    kept = {} if headroom is None else {"throughput": headroom}
    moments: list[LoadFigures | Morning] = [found]
    moments += [] if found.morning is None else [found.morning]
    tails = [
        limit / latency
        for each in moments
        for limit, latency in (
            (limits.read_p99_ns, each.read_p99_ns),
            (limits.write_p99_ns, each.write_p99_ns),
        )
        if limit is not None and latency
    ]
    if tails:
        kept["tail"] = min(tails)
    if limits.years is not None:
        kept["wear"] = found.years(load.bytes_per_day) / limits.years
        if (warranty := under_warranty(candidate, load, rating)) is not None:
            kept["warranty"] = warranty / limits.years
    if limits.data_bytes is not None:
        kept["capacity"] = room(candidate, load) / limits.data_bytes
    return kept
