"""What rules a candidate out without a run: bounds that no drive of these parts can pass.

With n drives, f bytes written to drives for each byte of the host (at least: whole stripes), r and
w the shares of reads and writes, B bytes a request, WA the least write amplification, D dies, rows
of P bytes, tR, tPROG, and the controller's times cR and cW

    link        R ≤ n · link / (B · max(r, w · f))
    controller  R ≤ n / (r · cR + w · f · cW)
    flash       R ≤ n · D / (r · tR · max(1, B/P) + w · f · B · WA · tPROG / P)
    years       ≤ n · F · N / (f · WA · bytes a day · 365.25)

WA is the closed form of greedy collection (`ssdlab theory`) for uniform writes, with all the spare
in one pool: no policy moves less on average. Space that nights trim counts as spare all day. A
write of less than a mapping unit programs the whole unit. For other loads and fio jobs WA is 1,
where a drive compresses 0; of fio jobs the rate has no bound. A candidate is ruled out where a
bound misses its limit by more than 5 %, since the closed form of WA is an approximation. Left out:
erases, channels, waiting, what an array reads to write.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ssdlab import engine
from ssdlab.endurance import lifetime_years
from ssdlab.sizing.candidate import Candidate, Sheet, sheet
from ssdlab.sizing.load import Limits, Load

MARGIN = 1.05
"""A judgement: of the runs in docs/validation.md, section 7, the closed form of WA lies 0 to 10 %
below, and above none by more than 0.1 %."""
_COMPRESSED_TO = 0.0


@dataclass(frozen=True)
class Bounds:
    """What a candidate cannot pass.

    Attributes
    ----------
    write_amplification
        At least.
    iops
        Of the host, at most.
    iops_of
        The part that sets it: link, controller or flash.
    years
        At most.
    read_ns
        Latency of a read from flash, at least.
    """

    write_amplification: float
    iops: float
    iops_of: str
    years: float
    read_ns: float

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain data."""
        return asdict(self)


def bounds(candidate: Candidate, load: Load) -> Bounds:
    """Return what a candidate cannot pass under a load."""
    facts = sheet(candidate.drive)
    amplification = least_write_amplification(candidate, load)
    rates = _rates(facts, candidate, load, amplification) if load.job is None else {"": math.inf}
    slowest = min(rates, key=lambda part: rates[part])
    programmed = amplification * candidate.layout.least_copies
    flash = facts.flash_bytes * candidate.layout.drives
    years = (
        lifetime_years(flash, facts.rated_cycles, programmed, load.bytes_per_day)
        if programmed > 0
        else math.inf
    )
    return Bounds(amplification, rates[slowest], slowest, years, facts.least_read_s * 1e9)


def least_write_amplification(candidate: Candidate, load: Load) -> float:
    """Return the least bytes programmed for each byte that a drive receives."""
    facts = sheet(candidate.drive)
    if facts.compresses:
        return _COMPRESSED_TO
    if load.job is not None:
        return 1.0
    of_unit = max(1.0, facts.unit_bytes / load.block_bytes) if not load.sequential else 1.0
    if load.sequential or load.trimmed or load.block_bytes > facts.unit_bytes:
        return of_unit
    free = load.free if facts.trims else 0.0
    spare = (1 + candidate.over_provisioning) / (1 - free) - 1
    return of_unit * _greedy(spare, facts.units_a_block)


@cache
def _greedy(over_provisioning: float, units_a_block: int) -> float:
    answer = engine.theory(over_provisioning, pages_per_block=units_a_block)
    return max(1.0, float(answer["write_amplification"]))


def _rates(
    facts: Sheet, candidate: Candidate, load: Load, amplification: float
) -> dict[str, float]:
    drives, copies = candidate.layout.drives, candidate.layout.least_copies
    read, write = load.read_share, load.write_share * copies
    rows = load.block_bytes / facts.row_bytes
    sensed = rows if load.sequential else max(1.0, rows)
    busy = {
        "link": max(read, write) * load.block_bytes / facts.link_bytes_per_s,
        "controller": read * facts.read_command_s + write * facts.write_command_s,
        "flash": (read * facts.sense_s * sensed + write * rows * amplification * facts.program_s)
        / facts.dies,
    }
    return {part: drives / seconds for part, seconds in busy.items() if seconds > 0}


def room(candidate: Candidate, load: Load) -> float:
    """Return the bytes of data that find room; what a file system has to keep free is none."""
    return candidate.host_bytes * (1 - load.free)


def ruled_out(candidate: Candidate, load: Load, limits: Limits) -> tuple[str, ...]:
    """Name the limits that a candidate cannot keep: capacity, throughput, tail, wear."""
    found = bounds(candidate, load)
    missed = {
        "capacity": limits.data_bytes is not None and room(candidate, load) < limits.data_bytes,
        "throughput": load.iops is not None and found.iops * MARGIN < load.iops,
        "tail": _cannot_read(found, load, limits),
        "wear": limits.years is not None and found.years * MARGIN < limits.years,
    }
    return tuple(name for name, is_missed in missed.items() if is_missed)


def _cannot_read(found: Bounds, load: Load, limits: Limits) -> bool:
    limit = limits.read_p99_ns
    return load.read_share > 0 and limit is not None and found.read_ns > limit * MARGIN
