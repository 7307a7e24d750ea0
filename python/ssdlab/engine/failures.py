"""What went wrong with a job's requests: a drive that is worn out, full or read-only, failed reads.

A job ends at its first failed request, as fio's does; its ``error`` is Linux's number. The
sentences stand among the notices of the result, and the command ends with `Exit.FINDING`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SIGNS = re.compile(r'"(error":\s*[1-9]|read_only":\s*true)')
_WORN_OUT = "good blocks"
"""What the engine's reason is about where blocks have gone bad, rather than run out."""
_ERRORS = {
    5: "a read failed: its data could not be corrected (EIO)",
    28: "a request went beyond the end of the drive (ENOSPC)",
    30: "a write failed: the drive takes none any more (EROFS)",
}


def with_failures(document: str) -> str:
    """Add to each job's notices what failed; a result without failures stays as it is.

    Parameters
    ----------
    document
        fio's JSON, as the engine wrote it.
    """
    if not _SIGNS.search(document):
        return document
    data = json.loads(document)
    for job in data.get("jobs") or ():
        own = job.get("ssdlab")
        told = failures_of(job)
        if told and isinstance(own, dict):
            own["notices"] = list(dict.fromkeys([*told, *(own.get("notices") or [])]))
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def failures_of(job: Mapping[str, Any]) -> list[str]:
    """Say what failed of a job, a sentence each; nothing where all went well."""
    own = job.get("ssdlab")
    own = own if isinstance(own, Mapping) else {}
    drive, name = own.get("profile") or "the drive", job.get("jobname") or "a job"
    told = []
    if own.get("read_only"):
        reason = str(own.get("read_only_reason") or "")
        state = "worn out and read-only" if _WORN_OUT in reason else "read-only"
        told.append(f"{drive} is {state}" + (f": {reason}" if reason else ""))
    error = job.get("error")
    if isinstance(error, int) and error > 0:
        what = _ERRORS.get(error, f"a request failed with error {error}")
        done = sum(_requests(job, kind) for kind in ("read", "write", "trim"))
        told.append(f"{name} stopped after {done:,} requests, because {what}")
    return told


def _requests(job: Mapping[str, Any], kind: str) -> int:
    block = job.get(kind)
    count = block.get("total_ios") if isinstance(block, Mapping) else None
    return count if isinstance(count, int) else 0
