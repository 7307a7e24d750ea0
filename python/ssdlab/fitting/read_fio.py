"""Measurements from fio's JSON: rates, mean latencies and 99 % latencies of each job.

The job is made again from fio's "global options" and "job options", without what names the device
that was measured. A mean latency at a fixed depth says the same as the rate (Little's law): it is
taken at depth 1 alone, and the rate at others. A percentile is spread more than a rate: fio's bins
are 1.6 % wide, and few requests are that slow. How much the rate is spread a log says, where there
is one (`read_log`). Options without a value are missing in fio's JSON (seen with fio 3.33, and the
same in our own results): a job that lasted for its `runtime` is taken as `time_based`, which comes
to the same. Left out: `norandommap` where it has no value; jobs that ran at the same time, which
are taken as if each had run alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.errors import SsdlabError
from ssdlab.fitting.measurement import SPREAD, TAIL_SPREAD, Load, Measurement, figure
from ssdlab.fitting.read_csv import condition_of
from ssdlab.fitting.read_log import spreads_of
from ssdlab.result import Job, Result

_OF_THE_MACHINE = (
    "filename", "directory", "name", "output", "output-format", "ioengine", "thread", "description",
    "write_iops_log", "write_bw_log", "write_lat_log", "log_avg_msec", "per_job_logs",
)  # fmt: skip
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
"""fio's units of a time; without one it is seconds."""


def read_fio(path: Path, condition: str | None) -> list[Measurement]:
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
        It is no result, or a job in it cannot be simulated.
    """
    result = Result.load(path)
    shared = _options(result.to_dict().get("global options"), f"{path}: global options")
    options = [
        {**shared, **_options(job.options, f"{path}: jobs[{number}]: job options")}
        for number, job in enumerate(result.jobs)
    ]
    found = [
        each
        for number, job in enumerate(result.jobs)
        for each in _of_job(
            job,
            options[number],
            spreads_of(path, options, number),
            f"{path}: jobs[{number}]",
            condition,
        )
    ]
    if not found:
        raise SsdlabError(f"{path}: no job in it did a read or a write\ngive another result")
    return found


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
    return (
        float(job.data.get("job_runtime") or 0) >= 1e3 * float(asked[1]) * _SECONDS[asked[2] or "s"]
    )


def _of_job(
    job: Job,
    options: Mapping[str, str],
    spreads: Mapping[str, float],
    place: str,
    condition: str | None,
) -> list[Measurement]:
    flags = tuple(
        f"--{name}={value}" if value else f"--{name}"
        for name, value in options.items()
        if name not in _OF_THE_MACHINE
    )
    if "time_based" not in options and _lasted_for_its_runtime(job, options):
        flags += ("--time_based",)
    try:
        engine.check_job(None, place, flags)
    except SsdlabError as error:
        raise SsdlabError(f"{place} ({job.name}): {error}") from None
    load = Load(flags, condition_of(condition or job.condition or "", place))
    several = len(job.directions) > 1
    found = []
    for direction in job.directions:
        prefix = f"{direction}_" if several else ""
        rate = "mean_us" if options.get("iodepth", "1") == "1" else "iops"
        spread_of_rate = spreads.get(direction, SPREAD)
        for name, spread in ((rate, spread_of_rate), ("p99_us", TAIL_SPREAD)):
            value = figure(job, prefix + name)
            if value is not None and value > 0:
                found.append(Measurement(load, prefix + name, value, spread, place))
    if job.write_amplification:
        value = job.write_amplification
        found.append(Measurement(load, "write_amplification", value, SPREAD, place))
    return found
