"""A job of any version as the newest one would write it, in bytes and nanoseconds.

    bw_bytes    io_bytes / runtime, else bw
    iops        total_ios / runtime
    io_bytes    bw_bytes x runtime
    total_ios   iops x runtime, rounded
    N           total_ios

Each follows from the others where the version does not write it, and also where it should stand
and does not, which is told. A figure that nothing gives is None, never 0: the rates of a job that
took less than a millisecond, which fio writes as 0, and latencies that were not measured
(``gtod_reduce``, ``disable_clat``), of which fio writes zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.engine.fio_json.keys import DIRECTIONS
from ssdlab.engine.fio_json.version import (
    BANDWIDTH_BYTES,
    COUNTS,
    NO_FILLING,
    PERCENTILES_ASKED,
    SAMPLES,
    WHOLE_BINS,
    Version,
)
from ssdlab.ground.unread import Unread

_KIB = 1024
_MS_PER_S = 1000
_TIMES = ("min", "max", "mean", "stddev")
_FILLING = "0.00"
"""The percentile that stands, with 0, for each one that was not asked for."""


def alike(
    job: Mapping[str, Any], place: str, version: Version
) -> tuple[dict[str, Any], list[Unread]]:
    """Return a job as the newest version would write it, and what was missing in it.

    Parameters
    ----------
    job
        An entry of ``jobs``; its figures are figures.
    place
        Its own, such as ``jobs[0]``.
    version
        That wrote it.
    """
    made, missing = dict(job), list(_missing_parts(job, place, version))
    for name in DIRECTIONS:
        found = job.get(name)
        if isinstance(found, Mapping):
            of_rates = {} if name == "sync" else _rates(found, version)
            rates = {**found, **of_rates}
            if name != "sync" and rates.get("total_ios"):
                missing += _missing_figures(found, rates, f"{place}.{name}", version)
            made[name] = _with_latencies(rates, version)
    return made, missing


def _missing_parts(job: Mapping[str, Any], place: str, version: Version) -> Iterator[Unread]:
    directions = () if "mixed" in job else ("read", "write", "trim")
    for name in ("jobname", "error", *directions):
        if job.get(name) is None:
            yield Unread(f"{place}.{name}", "(missing)", f"{version} writes it here")


def _missing_figures(
    found: Mapping[str, Any], made: Mapping[str, Any], place: str, version: Version
) -> Iterator[Unread]:
    """Tell figures that the version writes and that do not stand there."""
    wanted = ["io_bytes", "iops", "runtime"]
    wanted += ["total_ios"] if version.number >= COUNTS else []
    wanted += ["bw_bytes"] if version.number >= BANDWIDTH_BYTES else ["bw"]
    for name in wanted:
        if found.get(name) is None:
            known = made.get("bw_bytes" if name == "bw" else name) is not None
            more = "it is worked out from the others" if known else "it is not known"
            yield Unread(f"{place}.{name}", "(missing)", f"{version} writes it here; {more}")
    clat = found.get(version.latency("clat"))
    if (
        version.number < PERCENTILES_ASKED
        and isinstance(clat, Mapping)
        and not clat.get("percentile")
    ):
        where = f"{place}.{version.latency('clat')}.percentile"
        yield Unread(where, "(missing)", f"{version} writes it here")
    names = [version.latency("clat"), version.latency("lat")]
    for name in names:
        if not isinstance(found.get(name), Mapping):
            yield Unread(f"{place}.{name}", "(missing)", f"{version} writes it here")
            continue
        samples = ("N",) if version.number >= SAMPLES else ()
        for part in ("min", "max", "mean", *samples):
            if found[name].get(part) is None:
                yield Unread(f"{place}.{name}.{part}", "(missing)", f"{version} writes it here")


def _rates(found: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Return counts and rates in bytes; None where none follows."""
    runtime = found.get("runtime")
    seconds = runtime / _MS_PER_S if runtime else None
    size, count = found.get("io_bytes"), found.get("total_ios")
    size = None if size is None else size * version.unit_bytes
    iops, bandwidth = found.get("iops"), found.get("bw_bytes")
    if bandwidth is None and size is not None and seconds:
        bandwidth = size / seconds
    if bandwidth is None and found.get("bw") is not None:
        bandwidth = found["bw"] * _KIB
    if size is None and bandwidth is not None and seconds:
        size = round(bandwidth * seconds)
    if count is None and iops is not None:
        count = round(iops * seconds) if seconds else None if iops else 0
    if count is not None and seconds and (iops is None or version.number < COUNTS or not iops):
        iops = count / seconds
    if count and not seconds:
        # fio writes 0 where a job took less than a millisecond.
        iops, bandwidth = iops or None, bandwidth or None
    if not count and not size and (iops or bandwidth):
        count = None
    return {"io_bytes": size, "total_ios": count, "iops": iops, "bw_bytes": bandwidth}


def _with_latencies(direction: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Return a direction with its latencies under the newest names."""
    made = dict(direction)
    for kind in ("slat", "clat", "lat"):
        found = direction.get(version.latency(kind))
        if isinstance(found, Mapping):
            made.pop(kind, None)
            made[f"{kind}_ns"] = _latency(found, direction.get("total_ios"), version)
    if not made.get("lat_ns") and made.get("clat_ns"):
        made["lat_ns"] = made["clat_ns"]
    return made


def _latency(found: Mapping[str, Any], count: Any, version: Version) -> dict[str, Any]:
    """Return a block of latencies in nanoseconds, with N; without figures where there are none."""
    made = dict(found)
    listed = {key: value for key, value in (found.get("percentile") or {}).items()}
    if version.number < NO_FILLING:
        listed.pop(_FILLING, None)
    if "N" not in found:
        is_empty = not any(found.get(name) for name in _TIMES) and not any(listed.values())
        made["N"] = 0 if is_empty else count
    for name in _TIMES:
        if found.get(name) is not None:
            made[name] = found[name] * version.unit_ns
    made.pop("percentile", None)
    if listed and made["N"] != 0:
        made["percentile"] = {key: value * version.unit_ns for key, value in listed.items()}
    if isinstance(found.get("bins"), Mapping):
        made["bins"] = dict(_bins(found["bins"], version))
    return made


def _bins(found: Mapping[str, Any], version: Version) -> Iterator[tuple[str, Any]]:
    """Give bins by their latency."""
    bits = int(found.get("FIO_IO_U_PLAT_BITS") or 6)
    for name, requests in found.items():
        if not name.isdigit():
            continue
        place = int(name)
        if version.number < WHOLE_BINS:
            place = _middle(place, bits)
        yield str(place * version.unit_ns), requests


def _middle(number: int, bits: int) -> int:
    """Return the latency of a bin: each of the first two groups is one wide, the next 2, 4, 8 ….

    Examples
    --------
    >>> _middle(127, 6), _middle(128, 6), _middle(192, 6)
    (127, 129, 258)
    """
    size = 1 << bits
    if number < 2 * size:
        return number
    group, within = divmod(number, size)
    width = 1 << (group - 1)
    return (size + within) * width + width // 2
