"""A verdict's figures as people read them: with digits that differ from the limit they miss."""

from __future__ import annotations

import math

from ssdlab.ground import text
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.simulate import LoadFigures
from ssdlab.study.sizing.verdict import CandidateVerdict

_CENTURY = 100.0


def times(headroom: float | None, bound: str = "") -> str:
    """Write IOPS in multiples of what is asked."""
    if not headroom or headroom == math.inf:
        return text.NOTHING
    return f"{bound}{text.beside(headroom, 1.0, text.significant)} ×"


def latency(nanoseconds: float | None, limit_ns: float | None) -> str:
    """Write a percentile."""
    if nanoseconds is None:
        return text.NOTHING
    return text.beside(nanoseconds, limit_ns, text.duration)


def years(number: float | None, limits: Limits) -> str:
    """Write a lifetime; beyond a century the figure says nothing more."""
    if number is None or number > _CENTURY:
        return text.years(number)
    return text.beside(number, limits.years, text.significant)


def percentiles(figures: LoadFigures, limits: Limits) -> dict[str, str]:
    """Write the 99th percentiles of reads and of writes."""
    return {
        "read": latency(figures.read_p99_ns, limits.read_p99_ns),
        "write": latency(figures.write_p99_ns, limits.write_p99_ns),
    }


def line(found: CandidateVerdict, load: HostLoad, limits: Limits) -> str:
    """Write what is known of a verdict, such as ``8.8 × the IOPS, read p99 160 µs, 9.1 years``."""
    figures = found.figures
    if figures is None:
        return found.decided_by
    headroom = figures.headroom(load)
    said = [] if headroom is None else [f"{times(headroom)} the IOPS"]
    for name, value in percentiles(figures, limits).items():
        if value != text.NOTHING:
            said.append(f"{name} p99 {value}")
    said.append(text.plural(years(figures.years(load.bytes_per_day), limits), "year"))
    warranty = found.warranty_years(load)
    if warranty is not None:
        said.append(f"{years(warranty, limits)} under warranty")
    return ", ".join(said)


def missed(found: CandidateVerdict, load: HostLoad, limits: Limits) -> str:
    """Write which limits are missed, and by what figures."""
    if found.reason:
        return "there is no such drive"
    names = ", ".join(found.limited_by)
    if found.figures is None:
        return f"{names}, by {found.decided_by}"
    return f"{names} ({line(found, load, limits)})"
