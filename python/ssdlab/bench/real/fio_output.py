"""What fio printed, read into jobs as `ssdlab.bench.measurement` takes them.

`ssdlab.engine.fio_json` reads it; lines that are no JSON, and what it does not understand, are
notices. Here ``job_runtime``, of which fio adds up the threads of a group, is the time of the
slowest direction, at least a millisecond, which is fio's unit. Its own number stays as
``job_runtime_of_all_threads``.

A job that fio says failed, or that moved nothing, is an error: never zeros.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.engine.fio_json.reading import read_fio_json
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.untrusted import whole

DIRECTIONS = ("read", "write")
_SHOWN_SIGNS = 200


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
    try:
        read = read_fio_json(text, "what fio printed")
    except SsdlabError as error:
        said = " ".join(text.split())[:_SHOWN_SIGNS] or "nothing"
        raise FioError(f"{str(error).splitlines()[0]}; it said: {said}") from None
    beside = [each.quoted for each in read.unread if each.where.startswith("line")]
    others = [each.told() for each in read.unread if not each.where.startswith("line")]
    notices = (*read.said, *(line for each in beside for line in each.splitlines()), *others)
    jobs = tuple(_alike(job) for job in read.content["jobs"])
    for job in jobs:
        _check(job, list(notices))
    return Output(read.version.text, jobs, notices)


def _alike(job: Mapping[str, Any]) -> dict[str, Any]:
    """Give a group of threads its own run time."""
    made = dict(job)
    for name in DIRECTIONS:
        found = job.get(name)
        made[name] = dict(found) if isinstance(found, Mapping) else {"total_ios": 0}
    runtime = max(whole(made[name].get("runtime")) or 0 for name in DIRECTIONS)
    made["job_runtime_of_all_threads"] = job.get("job_runtime")
    moved = any(made[name]["total_ios"] for name in DIRECTIONS)
    made["job_runtime"] = max(runtime, 1) if moved else runtime
    return made


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
