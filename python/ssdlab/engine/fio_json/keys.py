"""Names in fio's JSON, by place and version: what is not among them is not understood.

A name has the first version that writes it, and where it was dropped the first that no longer does.
Inside options, distributions and percentiles any name may stand: these are options, limits and
numbers. Of the object that ssdlab adds, all names are those of `docs/result.schema.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.engine.fio_json.version import (
    BANDWIDTH_BYTES,
    BYTES,
    COUNTS,
    NANOSECONDS,
    SAMPLES,
    Version,
)
from ssdlab.ground.unread import Unread

_ALWAYS, _NEVER = (0,), (99,)
_Names = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]
_SHOWN_SIGNS = 80


def _names(text: str, since: tuple[int, ...] = _ALWAYS, until: tuple[int, ...] = _NEVER) -> _Names:
    return {name.strip(): (since, until) for name in text.split(",")}


_TOP: _Names = {
    **_names("fio version, jobs, client_stats, disk_util, cpu_idleness, ssdlab experiment"),
    **_names("timestamp, time, timestamp_ms, global options", (2, 1, 4)),
}
_JOB: _Names = {
    **_names(
        "jobname, groupid, error, read, write, trim, mixed, usr_cpu, sys_cpu, ctx, majf, minf"
    ),
    **_names("iodepth_level, latency_us, latency_ms, total_err, first_error, desc, ssdlab"),
    **_names("latency_depth, latency_target, latency_percentile, latency_window", (2, 1, 5)),
    **_names("hostname, port, disk_util", (2, 1, 4)),
    **_names("block, eta, elapsed", (2, 2, 8)),
    **_names("job options", (2, 3)),
    **_names("steadystate", (2, 16)),
    **_names("latency_ns", NANOSECONDS),
    **_names("sync", (3, 4)),
    **_names("job_runtime", (3, 8)),
    **_names("iodepth_submit, iodepth_complete", (3, 9)),
    **_names("job_start", (3, 36)),
    **_names("latency_target_ns, latency_window_us, zone_resets", (3, 41)),
}
_DIRECTION: _Names = {
    **_names("io_bytes, bw, iops, runtime, bw_min, bw_max, bw_agg, bw_mean, bw_dev, cachehit"),
    **_names("slat, clat, lat", until=NANOSECONDS),
    **_names("total_ios, short_ios, drop_ios", COUNTS),
    **_names("io_kbytes", BYTES),
    **_names("slat_ns, clat_ns, lat_ns, bw_samples, iops_samples", NANOSECONDS),
    **_names("iops_min, iops_max, iops_mean, iops_stddev", NANOSECONDS),
    **_names("bw_bytes", BANDWIDTH_BYTES),
    **_names("clat_high_prio, clat_low_prio, lat_high_prio, lat_low_prio", (3, 17), (3, 30)),
    **_names("prios", (3, 30)),
}
_LATENCY: _Names = {
    **_names("min, max, mean, stddev, percentile"),
    **_names("bins", (2, 2, 12)),
    **_names("N", SAMPLES),
}
OURS = frozenset(
    (
        "schema_version, write_amplification, unit_write_amplification, host_pages_written, "
        "nand_pages_written, blocks_erased, unmapped_reads, virtual_time_ns, wall_s, cpu_s, "
        "steady_reached, seed, profile, version, condition, interrupted, job, counters, "
        "time_series, utilization, span, started_over, laid_out_bytes, read_only, wear, season, "
        "parameters, notices, ranges, stonewall_group, drive_time_series, read_only_reason, "
        "timeline, power, layers, not_steady, conditioned_by, drift, scale"
    ).split(", ")
)
"""Of the object ssdlab; `tests/python/test_fio_json.py` compares it with the schema."""
OUR_SCHEMAS = (2, 3)
DIRECTIONS = ("read", "write", "trim", "mixed", "sync")
LATENCIES = ("slat", "clat", "lat", "slat_ns", "clat_ns", "lat_ns")


def unknown_names(document: Mapping[str, Any], version: Version) -> Iterator[Unread]:
    """Give what stands under names that the version does not write."""
    yield from _others(document, _TOP, "", version)
    for number, job in enumerate(document["jobs"]):
        place = f"jobs[{number}]."
        yield from _others(job, _JOB, place, version)
        if not isinstance(job.get("job options", {}), Mapping):
            yield Unread(f"{place}job options", _shown(job["job options"]), "it is no object")
        for name in DIRECTIONS:
            yield from _of_direction(job.get(name), f"{place}{name}.", version)
        yield from _of_ours(job.get("ssdlab"), f"{place}ssdlab.")


def _of_direction(direction: object, place: str, version: Version) -> Iterator[Unread]:
    if not isinstance(direction, Mapping):
        return
    yield from _others(direction, _DIRECTION, place, version)
    for name in LATENCIES:
        block = direction.get(name)
        if isinstance(block, Mapping):
            yield from _others(block, _LATENCY, f"{place}{name}.", version)


def _others(
    found: Mapping[str, Any], names: _Names, place: str, version: Version
) -> Iterator[Unread]:
    for name, value in found.items():
        since, until = names.get(name, (_NEVER, _NEVER))
        if not since <= version.number < until:
            yield Unread(place + name, _shown(value), f"{version} writes nothing of that name here")


def _of_ours(found: object, place: str) -> Iterator[Unread]:
    if not isinstance(found, Mapping):
        return
    schema = found.get("schema_version")
    if schema not in OUR_SCHEMAS:
        why = f"of another version of ssdlab; known here are {OUR_SCHEMAS[0]} to {OUR_SCHEMAS[-1]}"
        yield Unread(f"{place}schema_version", _shown(schema), why)
    for name in found.keys() - OURS:
        why = "this version of ssdlab writes nothing of that name here"
        yield Unread(place + name, _shown(found[name]), why)
    if "write_amplification" not in found:
        yield Unread(f"{place}write_amplification", "(missing)", "ssdlab writes it here")


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN_SIGNS else f"{text[:_SHOWN_SIGNS]}…"
