"""What tools call the state of an array, a pool or a drive: good, being rebuilt, bad or unknown.

There is one judgement for all families, so that what is red of one is red of each. The words are
those of md (``array_state``), zpool (``health``), storcli and perccli, ssacli, arcconf and Windows
(``OperationalStatus``); no two of them mean different things by one word. A word that is not listed
here is quoted and not judged: a tool to come may call anything by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.remedy import refused


class StateKind(Enum):
    """What a state means."""

    GOOD = "good"
    UNKNOWN = "unknown"
    REBUILT = "being rebuilt"
    BAD = "bad"


_GOOD = """
ok; optl; optimal; onln; online; conf; ugood; unconfigured good; ghs; dhs; hot spare; jbod; cpybck;
not configured; clean; active; active-idle; write-pending; readonly; read-auto
"""
_REBUILT = "rec; rbld; rebuild; rebuilding; recovery; recovering; resilvering"
_BAD = """
failed; failure; predictive failure; failed media; failed physical drive; offline; ofln; offln;
degraded; dgrd; partially degraded; pdgd; interim recovery mode; ready for rebuild;
ready for recovery; rebuild paused; suboptimal; broken; inactive; clear; suspended; faulted;
unavail; removed; missing; msng; ubad; ubunsp; unconfigured bad; permanently disabled;
wrong physical drive replaced; physical drive not properly connected; error; io error;
lost communication; no contact; non-recoverable error; device hardware error; transient error;
threshold exceeded; abnormal latency; unresponsive; not usable; split; stale metadata;
unrecognized metadata; incomplete; detached; no redundancy; supporting entity in error
"""
_KINDS = {
    word.strip(): kind
    for kind, words in (
        (StateKind.GOOD, _GOOD),
        (StateKind.REBUILT, _REBUILT),
        (StateKind.BAD, _BAD),
    )
    for word in " ".join(words.split()).split(";")
}
_BESIDE = re.compile(r"\([^()]*\)|\d+(\.\d+)?\s*% complete")
"""What says more of a state, such as how far a rebuild is."""


def state_of(told: str) -> StateKind:
    """Say what a state means; of several, as in “Degraded, Rebuilding”, the worst.

    A rebuild that is told of counts before what it mends.
    """
    words = [word.strip() for word in re.split("[,;{}]", _BESIDE.sub("", told.lower()))]
    kinds = {_KINDS.get(word, StateKind.UNKNOWN) for word in words if word}
    for kind in (StateKind.REBUILT, StateKind.BAD, StateKind.UNKNOWN, StateKind.GOOD):
        if kind in kinds:
            return kind
    return StateKind.UNKNOWN


@dataclass(frozen=True)
class StatedPart:
    """Something that has a state, and what is said where it is bad.

    Attributes
    ----------
    check
        The check that looks at it.
    name
        What it is, such as ``the logical drive``.
    source
        Who says what its states mean.
    fault
        What a bad state says of it.
    why
        What that costs.
    cure
        Why no remedy is given.
    """

    check: str
    name: str
    source: str
    fault: str = "is not whole"
    why: str = "its data is out of reach, or may be taken by the next failure"
    cure: str = "which drive is to be replaced must be judged by its own state"


def judged_state(part: StatedPart, told: str, where: str) -> Iterator[Finding]:
    """Judge a state; nothing is said of a good one."""
    kind = state_of(told)
    if not told:
        yield not_looked_at(part.check, f"the state of {part.name} is not reported", where)
    elif kind is StateKind.UNKNOWN:
        because = f"the state of {part.name} is “{told}”, which is not understood"
        yield not_looked_at(part.check, because, where)
    elif kind is not StateKind.GOOD:
        busy = kind is StateKind.REBUILT
        remedy = refused(
            "it is being rebuilt already; audit again when it is done" if busy else part.cure
        )
        what = f"{part.name} {part.fault}: {told}"
        yield Finding(part.check, Severity.RED, what, where, part.why, remedy, part.source)
