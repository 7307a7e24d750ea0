"""Models and firmware that are known to fail, where a source says so (``known_faults.json``).

The list has whole names. A name that the kernel cut is compared with what is left of them: the
patterns ``cut_model`` and ``cut_firmware``, which fit the same drives. NVMe's names are not cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.audit.device import Device
from ssdlab.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.audit.identity import Identity
from ssdlab.audit.remedy import advice


def check(machine: Machine) -> Iterator[Finding]:
    """Check model and firmware of every drive."""
    looked, nameless = [], []
    for drive in machine.drives:
        identity = machine.identity(drive)
        if drive.is_virtual:
            continue
        if not identity.model or not identity.firmware:
            nameless.append(drive.label)
            continue
        found = [_finding(drive, identity, fault) for fault in _faults() if _has(identity, fault)]
        yield from found
        if not found:
            looked.append(drive.label)
    if looked:
        what = "model and firmware have no known fault in this list"
        yield Finding("known faults", Severity.GREEN, what, ", ".join(looked))
    if nameless:
        because = "they do not tell model and firmware"
        yield not_looked_at("known faults", because, ", ".join(nameless))


@cache
def _faults() -> tuple[dict[str, Any], ...]:
    content = files("ssdlab.audit").joinpath("known_faults.json").read_text(encoding="utf-8")
    return tuple(json.loads(content))


def _has(identity: Identity, fault: dict[str, Any]) -> bool:
    """Whether a drive is one of those."""
    whole = re.match(fault["model"], identity.model)
    if whole and re.fullmatch(fault["firmware"], identity.firmware):
        return True
    return bool(
        identity.is_cut
        and "cut_model" in fault
        and re.match(fault["cut_model"], identity.model)
        and re.fullmatch(fault["cut_firmware"], identity.firmware)
    )


def _finding(drive: Device, identity: Identity, fault: dict[str, Any]) -> Finding:
    return Finding(
        "known faults",
        Severity.RED,
        f"{identity.model}, firmware {identity.firmware}: {fault['fault']}",
        drive.label,
        fault["why"],
        advice(
            fault["remedy"],
            "some updates erase the drive: back up and read the maker's notes first",
            "the older firmware seldom can be put back",
        ),
        fault["source"],
    )
