"""Measurements from fio's JSON: rates, mean latencies and 99 % latencies of each job.

The job is made again from fio's "global options" and "job options", without what names the device
that was measured. A mean latency at a fixed depth says the same as the rate (Little's law): it is
taken at depth 1 alone, and the rate at others. A percentile is spread more than a rate: fio's bins
are 1.6 % wide, and few requests are that slow. How much the rate is spread a log says, where there
is one (`read_log`). Options without a value are missing in fio's JSON (seen with fio 3.33, and the
same in our own results): a job that lasted for its `runtime` is taken as `time_based`, which comes
to the same. Left out: `norandommap` where it has no value; jobs that ran at the same time, which
are taken as if each had run alone.

What fio did not measure on the drive is refused (`fio_engine`): jobs that failed, and those through
the page cache. Before 2.3 fio wrote no options, so that a job cannot be made again from its JSON.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.engine.result import Job, Result
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.fio_engine import check_reached_drive, depth_of
from ssdlab.study.fitting.measurement import (
    SPREAD,
    TAIL_SPREAD,
    Gathered,
    MeasuredLoad,
    Measurement,
    figure,
)
from ssdlab.study.fitting.read_csv import condition_of
from ssdlab.study.fitting.read_log import spreads_of

_OF_THE_MACHINE = (
    "filename", "directory", "name", "output", "output-format", "ioengine", "thread", "description",
    "write_iops_log", "write_bw_log", "write_lat_log", "log_avg_msec", "per_job_logs",
)  # fmt: skip
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
"""fio's units of a time; without one it is seconds."""


def read_fio(path: Path, condition: str | None) -> Gathered:
    """Read a result.

    Parameters
    ----------
    path
        fio's JSON.
    condition
        Of the drive; None takes what one of our own results says, else fresh.

    Raises
    ------
    SsdlabError
        It is no result, or a job in it failed, did not reach the drive, or cannot be simulated.
    """
    result = Result.load(path)
    shared = _options(result.to_dict().get("global options"), f"{path}: global options")
    options = [
        {**shared, **_options(job.options, f"{path}: jobs[{number}]: job options")}
        for number, job in enumerate(result.jobs)
    ]
    found = Gathered(
        notices=[f"{path}: fio said: {line}" for line in result.said],
        unread=[replace(each, where=f"{path}: {each.where}") for each in result.unread],
    )
    for number, job in enumerate(result.jobs):
        place = f"{path}: jobs[{number}]"
        _check(job, options[number], f"{place} ({job.name})", result)
        spreads = spreads_of(path, options, number)
        _add_job(found, job, options[number], spreads, place, condition)
    if not found.measurements:
        raise SsdlabError(f"{path}: no job in it did a read or a write\ngive another result")
    return found


def _check(job: Job, options: Mapping[str, str], place: str, result: Result) -> None:
    """Refuse a job that tells nothing of the drive."""
    if error := job.data.get("error"):
        said = f"; fio said: {'; '.join(result.said)[:300]}" if result.said else ""
        raise SsdlabError(
            f"{place}: failed with error {error} ({os.strerror(int(error))}){said}\n"
            "measure again, or leave this result out"
        )
    if not options:
        raise SsdlabError(
            f"{place}: the options of the job do not stand in it (fio writes them since 2.3), so "
            f"that the job is not known\n{_as_table(job)}"
        )
    if not job.lab:
        check_reached_drive(options, place)


def _as_table(job: Job) -> str:
    """Offer the job's figures as a table, in which the reader fills in what the job was."""
    depth = job.data.get("latency_depth") or 1
    rows = []
    for direction in job.directions:
        block = job.direction(direction)
        size = block["io_bytes"] / block["total_ios"] if block.get("total_ios") else 0
        flags = f"--rw={direction} or rand{direction} --bs={round(size / 512) * 512}"
        for metric in ("iops", "mean_us", "p99_us"):
            value = _FIGURE[metric](job, direction)
            if value:
                rows.append(f"{flags} --iodepth={depth} --direct=1,steady,{metric},{value:.6g}")
    return "\n".join(
        ["write a table, with the job as it was: job,condition,metric,value", *rows[:6]]
    )


_FIGURE: dict[str, Callable[[Job, str], float | None]] = {
    "iops": lambda job, direction: job.known_iops(direction),
    "mean_us": lambda job, direction: (job.mean_ns(direction) or 0) / 1e3,
    "p99_us": lambda job, direction: (job.percentile_ns(99.0, direction) or 0) / 1e3,
}


def _options(found: Any, place: str) -> dict[str, str]:
    """Return options of fio's JSON, in which all values are texts."""
    if not isinstance(found or {}, Mapping):
        raise SsdlabError(f"{place}: {str(found)[:40]} is no object\nmeasure again with fio")
    return {str(name): str(value) for name, value in (found or {}).items()}


def _lasted_for_its_runtime(job: Job, options: Mapping[str, str]) -> bool:
    """Whether the job ended when its time was over, not before with its last request."""
    units = "|".join(_SECONDS)
    asked = re.fullmatch(rf"(\d+(?:\.\d+)?)({units})?", options.get("runtime", "").lower())
    if asked is None:
        return False
    times = [job.data.get("job_runtime")]
    if times == [None]:  # fio writes it since 3.8.
        times = [job.direction(each).get("runtime") for each in job.directions]
    lasted_ms = max((float(each) for each in times if each), default=0.0)
    return lasted_ms >= 1e3 * float(asked[1]) * _SECONDS[asked[2] or "s"]


def _flags(job: Job, options: Mapping[str, str], place: str) -> tuple[str, ...]:
    """Return the options that make the job again; a synchronous engine has a depth of 1."""
    depth = depth_of(options) if not job.lab or "ioengine" in options else options.get("iodepth")
    made = {name: value for name, value in options.items() if name not in _OF_THE_MACHINE}
    if "iodepth" in made and depth == "1":
        made["iodepth"] = depth
    flags = tuple(f"--{name}={value}" if value else f"--{name}" for name, value in made.items())
    if "time_based" not in options and _lasted_for_its_runtime(job, options):
        flags += ("--time_based",)
    try:
        engine.check_job(None, place, flags)
    except SsdlabError as error:
        raise SsdlabError(f"{place} ({job.name}): {error}") from None
    return flags


def _add_job(
    found: Gathered,
    job: Job,
    options: Mapping[str, str],
    spreads: Mapping[str, float],
    place: str,
    condition: str | None,
) -> None:
    flags = _flags(job, options, place)
    load = MeasuredLoad(flags, condition_of(condition or job.condition or "", place))
    is_alone = not any(each.startswith("--iodepth=") and each != "--iodepth=1" for each in flags)
    several = len(job.directions) > 1
    for direction in job.directions:
        prefix = f"{direction}_" if several else ""
        rate = "mean_us" if is_alone else "iops"
        spread_of_rate = spreads.get(direction, SPREAD)
        for name, spread in ((rate, spread_of_rate), ("p99_us", TAIL_SPREAD)):
            value = figure(job, prefix + name)
            if value is None:
                found.notices.append(f"{place} ({job.name}): {prefix}{name} is not known")
            elif value > 0:
                found.measurements.append(Measurement(load, prefix + name, value, spread, place))
    if job.write_amplification:
        value = job.write_amplification
        found.measurements.append(Measurement(load, "write_amplification", value, SPREAD, place))
