"""How the kernel writes what the audit reads: a value in another form is noted, never guessed at.

What has no row here is text of the drive's own, such as its model: one line of it.
"""

from __future__ import annotations

import re

from ssdlab.ground.unread import Unread
from ssdlab.real.system import System

_WHOLE = (re.compile(r"\d{1,20}"), "a whole number was expected")
_COUNT = (re.compile(r"-?\d{1,20}"), "a whole number was expected")
_ONE_LINE = (re.compile(".*"), "one line was expected")
_FORMS = {
    "rotational": (re.compile("[01]"), "0 or 1 was expected"),
    "missing": (re.compile("[01]"), "0 or 1 was expected"),
    "dev": (re.compile(r"\d+:\d+"), "two numbers with a colon between them were expected"),
    "fua": (re.compile("[01]"), "0 or 1 was expected"),
    "write_cache": (
        re.compile("write (back|through)"),
        "“write back” or “write through” was expected",
    ),
    "scheduler": (
        # Each character has one place in it: a pattern that can try several takes exponential time.
        re.compile(r"[\w-]+|([\w-]+ )*\[[\w-]+\]( [\w-]+)*"),
        "a list of schedulers was expected, the one in use in brackets",
    ),
    "level": (
        re.compile(r"raid(0|1|4|5|6|10)|linear|multipath|faulty|container"),
        "a level of RAID that md has was expected",
    ),
    "sync_action": (
        re.compile("idle|resync|recover|check|repair|reshape|frozen|none"),
        "an action of md was expected",
    ),
    **dict.fromkeys(
        (
            "discard_max_bytes",
            "discard_granularity",
            "optimal_io_size",
            "minimum_io_size",
            "physical_block_size",
            "logical_block_size",
            "nr_requests",
            "read_ahead_kb",
            "chunk_size",
            "raid_disks",
            "queue_depth",
            "size",
            "start",
            "partition",
        ),
        _WHOLE,
    ),
    **dict.fromkeys(("alignment_offset", "degraded", "mismatch_cnt"), _COUNT),
}


def read(system: System, key: str, path: str, unread: list[Unread]) -> str | None:
    """Read a value; one in another form than the kernel's is noted and given as it is."""
    text = system.read(path)
    form = _FORMS.get(key, _ONE_LINE)
    if text is not None and not form[0].fullmatch(text):
        # Some attributes of some kernels are empty or say that they do not apply.
        if text not in _NOT_THERE or key in ("size", "start", "rotational"):
            unread.append(Unread(path, text, form[1]))
    return text


_NOT_THERE = ("none", "unknown")
