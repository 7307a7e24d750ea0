"""A text that fio or ssdlab wrote, as jobs in one form, with all that was not understood in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdlab.engine.failures import failures_of
from ssdlab.engine.figures import wrong_figure
from ssdlab.engine.fio_json.agreement import disagreements
from ssdlab.engine.fio_json.documents import REMEDY, FoundDocument, find_document
from ssdlab.engine.fio_json.entry import alike
from ssdlab.engine.fio_json.keys import unknown_names
from ssdlab.engine.fio_json.version import Version, version_of
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.recognise import what_it_is
from ssdlab.ground.unread import Unread
from ssdlab.ground.untrusted import whole

_DIRECTIONS = ("read", "write", "trim", "mixed")
_RESULTS = ("fio's JSON", "fio's JSON of several clients")
_ERRORS = 4096
"""More numbers of errors than any system has."""


@dataclass(frozen=True)
class FioJson:
    """What a text holds.

    Attributes
    ----------
    version
        Of the program that wrote it.
    content
        The document, its jobs as the newest version would write them.
    said
        Messages of fio's beside it.
    failures
        Sentences about jobs that failed, or that passed over errors.
    unread
        What was not understood.
    """

    version: Version
    content: Mapping[str, Any]
    said: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = field(default=())


def read_fio_json(text: str, name: str) -> FioJson:
    """Read what fio or ssdlab printed.

    Parameters
    ----------
    text
        One document, with fio's messages around it.
    name
        Of the file, for messages.

    Raises
    ------
    SsdlabError
        There is no document, more than one, none of fio's, or a figure in it is none.
    """
    found = find_document(text, name)
    content = _with_jobs(found, text, name)
    if (wrong := wrong_figure(content)) is not None:
        raise SsdlabError(f"{name}: {wrong}, which is not a figure\nrun it again, or edit the file")
    version = version_of(content.get("fio version"))
    unread = [*found.unread, *_of_version(version)]
    unread += unknown_names(content, version)
    jobs = []
    for number, job in enumerate(content["jobs"]):
        made, missing = alike(job, f"jobs[{number}]", version)
        unread += missing
        for each in _DIRECTIONS:
            if isinstance(job.get(each), Mapping):
                place = f"jobs[{number}].{each}"
                unread += disagreements(job[each], made[each], place, version)
        jobs.append(made)
    # What ssdlab ran tells more: whether its drive takes no writes any more.
    told = (failures_of(job) if "ssdlab" in job else _failures(job) for job in jobs)
    failures = tuple(dict.fromkeys(each for job in told for each in job))
    return FioJson(version, {**content, "jobs": jobs}, found.said, failures, tuple(unread))


def _with_jobs(found: FoundDocument, text: str, name: str) -> dict[str, Any]:
    """Return the document with ``jobs``, which a server's clients have under another name."""
    content = dict(found.content)
    jobs = content.get("jobs", content.get("client_stats"))
    if not isinstance(jobs, list) or not all(isinstance(job, Mapping) for job in jobs):
        kind = what_it_is(text.encode(errors="replace"))
        what = f"; {kind.told(name)}" if kind and kind.name not in _RESULTS else ""
        raise SsdlabError(
            f"{name}: no jobs in it, so it is no result of fio or ssdlab{what}\n{REMEDY}"
        )
    if not jobs:
        said = f": fio said: {'; '.join(found.said)[:300]}" if found.said else ""
        raise SsdlabError(f"{name}: no job of fio's ran{said}\nmend the job, and run fio again")
    return {**content, "jobs": jobs}


def _of_version(version: Version) -> Iterator[Unread]:
    if version.why_unknown:
        yield Unread("fio version", version.text or "(missing)", version.why_unknown)


def _failures(job: Mapping[str, Any]) -> Iterator[str]:
    """Say that a job failed, or passed over errors."""
    name = job.get("jobname", "")
    directions = [job.get(each) or {} for each in _DIRECTIONS]
    figures = ("total_ios", "io_bytes", "iops", "bw_bytes")
    done = any(each.get(figure) for each in directions for figure in figures)
    if not done and not (job.get("sync") or {}).get("total_ios") and not job.get("error"):
        yield f"job {name} did nothing: no request is counted in it"
    if error := job.get("error"):
        until = "its figures are of what it did until then"
        yield f"job {name} failed with error {_error(error)}: {until}"
    elif errors := job.get("total_err"):
        first = job.get("first_error")
        what = f", the first with error {_error(first)}" if first else ""
        yield f"job {name} passed over {errors} errors{what}"
    for figure, what in (("short_ios", "came back short"), ("drop_ios", "were dropped")):
        if count := sum(whole(each.get(figure)) or 0 for each in directions):
            yield f"of job {name} {count} requests {what}"


def _error(number: float) -> str:
    words = os.strerror(int(number)) if number < _ERRORS else "Unknown error"
    return f"{number} ({words})"
