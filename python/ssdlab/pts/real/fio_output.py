"""What fio printed, read into jobs as `ssdlab.pts.measurement` takes them.

fio writes text where only JSON should be (warnings before it, and between its lines): lines that
cannot stand in fio's JSON are taken out and kept as notices. What fio has changed over the years
is made alike:

- ``job_runtime`` adds up the threads of a group; here it is the time of the slowest direction, at
  least a millisecond, which is fio's unit. Its own number stays as ``job_runtime_of_all_threads``.
- Before 3.0 latencies are in microseconds under ``lat``, ``clat``, ``slat``; here they are in
  nanoseconds under ``lat_ns``…. Before 3.0 ``io_bytes`` are KiB.
- ``total_ios`` and ``lat_ns`` may be missing; they then follow from rate and time, and from
  ``clat_ns``.

A job that fio says failed, or that moved nothing, is an error: never zeros.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.errors import SsdlabError
from ssdlab.health.untrusted import real, whole

DIRECTIONS = ("read", "write")
_JSON_LINE = re.compile(
    r"""\s*(?:
        [\]}],? | [\[{]                                   # an end, a beginning
      | "(?:[^"\\]|\\.)*"\s*:\s*(?:[\[{]\s*[\]}]?,? | "(?:[^"\\]|\\.)*",? | [-\w.+]+,?)
      | "(?:[^"\\]|\\.)*",? | -?\d[-\w.+]*,?              # an entry of a list
    )\s*$""",
    re.VERBOSE,
)
_TIMES = ("lat", "clat", "slat")


class FioError(SsdlabError):
    """fio failed; the message has its own words."""


@dataclass(frozen=True)
class Output:
    """What fio printed.

    Attributes
    ----------
    version
        Such as ``fio-3.33``.
    jobs
        Groups of threads, in order, made alike.
    notices
        Lines that are no JSON: warnings.
    """

    version: str
    jobs: tuple[dict[str, Any], ...]
    notices: tuple[str, ...]


def read_output(text: str) -> Output:
    """Read what fio printed.

    Raises
    ------
    FioError
        There is no JSON in it, or it is not fio's, or a job failed.
    """
    content, notices = _parsed(text)
    version = content.get("fio version")
    jobs = content.get("jobs")
    if not isinstance(version, str) or not isinstance(jobs, list) or not jobs:
        raise FioError(f"fio printed JSON without jobs: {_first_words(text)}")
    is_old = _major(version) < 3
    alike = tuple(_alike(job, is_old) for job in jobs if isinstance(job, Mapping))
    for job in alike:
        _check(job, notices)
    return Output(version, alike, tuple(notices))


def _first_words(text: str) -> str:
    return " ".join(text.split())[:200] or "nothing"


def _parsed(text: str) -> tuple[Mapping[str, Any], list[str]]:
    """Find the JSON; first as it is, then without lines that cannot belong to it."""
    lines = text.splitlines()
    begin = next((at for at, line in enumerate(lines) if line.strip() == "{"), None)
    if begin is None:
        raise FioError(f"fio printed no result: {_first_words(text)}")
    before = [line.strip() for line in lines[:begin] if line.strip()]
    body = lines[begin:]
    kept = [line for line in body if _JSON_LINE.match(line) or not line.strip()]
    for part in (body, kept):
        try:
            content, end = json.JSONDecoder().raw_decode("\n".join(part))
        except (ValueError, RecursionError):
            continue
        rest = "\n".join(part)[end:].splitlines()
        others = [line for line in body if line not in kept] if part is kept else []
        notices = [*before, *others, *rest]
        return content, [line.strip() for line in notices if line.strip()]
    raise FioError(f"fio's result breaks off or cannot be read: {_first_words(text)}")


def _major(version: str) -> int:
    found = re.search(r"(\d+)\.", version)
    return int(found[1]) if found else 3


def _alike(job: Mapping[str, Any], is_old: bool) -> dict[str, Any]:
    """Make what versions of fio print alike."""
    made = dict(job)
    for name in DIRECTIONS:
        found = job.get(name)
        made[name] = _direction(found if isinstance(found, Mapping) else {}, is_old)
    runtime = max(whole(made[name].get("runtime")) or 0 for name in DIRECTIONS)
    made["job_runtime_of_all_threads"] = job.get("job_runtime")
    moved = any(made[name]["total_ios"] for name in DIRECTIONS)
    made["job_runtime"] = max(runtime, 1) if moved else runtime
    return made


def _direction(block: Mapping[str, Any], is_old: bool) -> dict[str, Any]:
    made = dict(block)
    for name in _TIMES:
        found = block.get(name)
        if f"{name}_ns" not in block and isinstance(found, Mapping):
            made[f"{name}_ns"] = _in_nanoseconds(found)
    if is_old and "io_bytes" in block:
        made["io_bytes"] = (whole(block["io_bytes"]) or 0) * 1024
    if "total_ios" not in block:
        made["total_ios"] = round((real(block.get("iops")) or 0) * _runtime_s(block))
    if "lat_ns" not in made and "clat_ns" in made:
        made["lat_ns"] = made["clat_ns"]
    return made


def _runtime_s(block: Mapping[str, Any]) -> float:
    return (whole(block.get("runtime")) or 0) / 1e3


def _in_nanoseconds(times: Mapping[str, Any]) -> dict[str, Any]:
    """Turn microseconds into nanoseconds: extremes, mean, percentiles and the bins' names."""
    made: dict[str, Any] = dict(times)
    for key in ("min", "max", "mean", "stddev"):
        value = times.get(key)
        if isinstance(value, (int, float)):
            made[key] = value * 1000
    for key in ("percentile", "bins"):
        listed = times.get(key)
        if isinstance(listed, Mapping):
            made[key] = dict(_scaled(listed, key))
    return made


def _scaled(listed: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    for name, value in listed.items():
        if key == "bins" and name.isdigit():
            yield str(int(name) * 1000), value
        elif key == "percentile" and isinstance(value, (int, float)):
            yield name, value * 1000


def _check(job: Mapping[str, Any], notices: list[str]) -> None:
    """Refuse a job that failed or moved nothing.

    Raises
    ------
    FioError
        It did.
    """
    error = whole(job.get("error")) or 0
    said = "; ".join(notices)
    if error:
        raise FioError(
            f"fio's job {job.get('jobname')} failed with error {error} ({os.strerror(error)})"
            + (f": {said}" if said else "")
        )
    requests = sum(whole(job[name].get("total_ios")) or 0 for name in DIRECTIONS)
    if requests == 0:
        raise FioError(
            f"fio's job {job.get('jobname')} moved nothing"
            + (f": {said}" if said else ", and said nothing of why")
        )
