"""What rules a candidate out without a run: bounds that no drive of these parts can pass.

With n drives, f bytes written to drives for each byte of the host (at least: whole stripes), r and
w the shares of reads and writes, B bytes a request, WA the least write amplification, D dies, rows
of P bytes, tR, tPROG, and the controller's times cR and cW

    link        R ≤ n · link / (B · max(r, w · f))
    controller  R ≤ n / (r · cR + w · f · cW)
    flash       R ≤ n · D / (r · tR · max(1, B/P) + w · f · B · WA · tPROG / P)
    years       ≤ n · F · N / (f · WA · bytes a day · 365.25)
    warranty    = n · rated bytes / (f · bytes a day · 365.25), where a rating is known

WA is the closed form of greedy collection (`ssdlab theory`) for uniform writes, with all the spare
in one pool: no policy moves less on average. Space that nights trim counts as spare all day. A
write of less than a mapping unit programs the whole unit. For other loads and fio jobs WA is 1,
where a drive compresses 0; of fio jobs the rate has no bound. A candidate is ruled out where a
bound misses its limit by more than 5 %, since the closed form of WA is an approximation; the
warranty is exact. Left out: erases, channels, waiting, what an array reads to write.

**What clearly keeps the limits** needs no run either: where years are asked and no latency, and the
drive lasts and does twice what is asked even if it copied twice as much as greedy collection has
to, and did nothing at the speed of an SLC cache. Only plain loads without nights are judged so, of
single drives that do not compress.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from ssdlab import engine
from ssdlab.engine.endurance import DAYS_PER_YEAR, lifetime_years
from ssdlab.study.sizing.candidate import Candidate, Sheet, sheet
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import Rating

MARGIN = 1.05
"""A judgement: of the runs in docs/explanation/validation.md, Scale model, the closed form of WA
lies 0 to 10 % below, and above none by more than 0.1 %."""
_COMPRESSED_TO = 0.0
_CLEARLY = 2.0
"""Of those runs none has a WA of more than 1.3 times the closed form."""


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


def bounds(candidate: Candidate, load: HostLoad) -> Bounds:
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


def least_write_amplification(candidate: Candidate, load: HostLoad) -> float:
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
    facts: Sheet, candidate: Candidate, load: HostLoad, amplification: float
) -> dict[str, float]:
    read, write = load.read_share, load.write_share * candidate.layout.least_copies
    rows = load.block_bytes / facts.row_bytes
    sensed = rows if load.sequential else max(1.0, rows)
    busy = (read * facts.sense_s * sensed + write * rows * amplification * facts.program_s) / (
        facts.dies * candidate.layout.drives
    )
    of_flash = {"flash": 1 / busy} if busy > 0 else {}
    return _shared_rates(facts, candidate, load) | of_flash


def _shared_rates(facts: Sheet, candidate: Candidate, load: HostLoad) -> dict[str, float]:
    """Return what the parts of a drive let through that all its dies share."""
    drives, copies = candidate.layout.drives, candidate.layout.least_copies
    read, write = load.read_share, load.write_share * copies
    busy = {
        "link": max(read, write) * load.block_bytes / facts.link_bytes_per_s,
        "controller": read * facts.read_command_s + write * facts.write_command_s,
    }
    return {part: drives / seconds for part, seconds in busy.items() if seconds > 0}


def shared_iops(facts: Sheet, candidate: Candidate, load: HostLoad) -> float:
    """Return the IOPS that link and controller let through, whatever the flash does."""
    return min(_shared_rates(facts, candidate, load).values(), default=math.inf)


def room(candidate: Candidate, load: HostLoad) -> float:
    """Return the bytes of data that find room; what a file system has to keep free is none."""
    return candidate.host_bytes * (1 - load.free)


def under_warranty(candidate: Candidate, load: HostLoad, rating: Rating | None) -> float | None:
    """Return the years until what its drives are rated for is written; None where nobody knows."""
    if rating is None:
        return None
    layout = candidate.layout
    rated = rating.bytes_written * layout.drives / layout.least_copies
    return rated / (load.bytes_per_day * DAYS_PER_YEAR)


def clearly_keeps(
    candidate: Candidate, load: HostLoad, limits: Limits, rating: Rating | None = None
) -> bool:
    """Tell whether a candidate keeps all limits by so much that no run is needed."""
    facts = sheet(candidate.drive)
    plain = load.job is None and not load.free and not load.trimmed and load.hours == 24
    latencies = limits.read_p99_ns is not None or limits.write_p99_ns is not None
    if not plain or latencies or facts.compresses or candidate.layout.layers:
        return False
    if limits.years is None or ruled_out(candidate, load, limits, rating):
        return False
    amplification = _CLEARLY * least_write_amplification(candidate, load)
    rates = _rates(replace(facts, program_s=facts.slow_program_s), candidate, load, amplification)
    found = lifetime_years(facts.flash_bytes, facts.rated_cycles, amplification, load.bytes_per_day)
    return found >= limits.years * _CLEARLY and min(rates.values()) >= load.rate * _CLEARLY


def ruled_out(
    candidate: Candidate, load: HostLoad, limits: Limits, rating: Rating | None = None
) -> tuple[str, ...]:
    """Name the limits that a candidate cannot keep: capacity, throughput, tail, wear, warranty."""
    warranty = under_warranty(candidate, load, rating)
    found = bounds(candidate, load)
    missed = {
        "capacity": limits.data_bytes is not None and room(candidate, load) < limits.data_bytes,
        "throughput": load.iops is not None and found.iops * MARGIN < load.iops,
        "tail": _cannot_read(found, load, limits),
        "wear": limits.years is not None and found.years * MARGIN < limits.years,
        "warranty": bool(limits.years and warranty is not None and warranty < limits.years),
    }
    return tuple(name for name, is_missed in missed.items() if is_missed)


def _cannot_read(found: Bounds, load: HostLoad, limits: Limits) -> bool:
    limit = limits.read_p99_ns
    return load.read_share > 0 and limit is not None and found.read_ns > limit * MARGIN
