"""The verdict on a candidate: whether it keeps all limits, and which one is nearest.

Each limit has a reserve, how many times over it is kept:

    capacity    room / data                throughput  IOPS without a pause / IOPS asked
    tail        limit / p99                wear        years / years asked

A candidate meets what is asked where every reserve is 1 or more, and the drive did the rate. What
limits it are the reserves below 1, or else the smallest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ssdlab.sizing.candidate import Candidate
from ssdlab.sizing.closed_form import Bounds, bounds, room, ruled_out
from ssdlab.sizing.load import Limits, Load
from ssdlab.sizing.simulate import Figures, Morning, commands

CLOSED_FORM, SIMULATED, REFUSED = "closed form", "simulated", "not possible"


@dataclass(frozen=True)
class Verdict:
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
    """

    candidate: Candidate
    bounds: Bounds
    figures: Figures | None
    meets: bool
    limited_by: tuple[str, ...]
    decided_by: str
    price: float | None = None
    commands: tuple[str, ...] = ()
    reason: str = ""

    def to_dict(self, load: Load) -> dict[str, Any]:
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
            "figures": None if found is None else found.to_dict(),
            "bounds": {k: v for k, v in self.bounds.to_dict().items() if v != math.inf},
            "price": self.price,
            "commands": list(self.commands),
            "reason": self.reason,
        }


def by_closed_form(candidate: Candidate, load: Load, limits: Limits) -> Verdict | None:
    """Return the verdict where no run is needed; None where one is."""
    missed = ruled_out(candidate, load, limits)
    if not missed:
        return None
    return Verdict(candidate, bounds(candidate, load), None, False, missed, CLOSED_FORM)


def by_run(candidate: Candidate, load: Load, limits: Limits, found: Figures, seed: int) -> Verdict:
    """Return the verdict that runs give."""
    kept = reserves(candidate, load, limits, found)
    missed = tuple(name for name, reserve in kept.items() if reserve < 1)
    return Verdict(
        candidate,
        bounds(candidate, load),
        found,
        not missed,
        missed or tuple(sorted(kept, key=lambda name: kept[name])[:1]),
        f"{SIMULATED}, {found.way}",
        commands=tuple(commands(candidate, load, seed)),
    )


def impossible(candidate: Candidate, load: Load, reason: str) -> Verdict:
    """Return the verdict on a drive that the engine cannot make."""
    return Verdict(candidate, bounds(candidate, load), None, False, (), REFUSED, reason=reason)


def reserves(candidate: Candidate, load: Load, limits: Limits, found: Figures) -> dict[str, float]:
    """Return how many times over each limit is kept, by its name."""
    headroom = found.headroom(load)
    kept = {} if headroom is None else {"throughput": headroom}
    moments: list[Figures | Morning] = [found]
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
    if limits.data_bytes is not None:
        kept["capacity"] = room(candidate, load) / limits.data_bytes
    return kept
