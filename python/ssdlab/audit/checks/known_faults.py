"""Models and firmware that are known to fail, where a source says so (``known_faults.json``).

The list has whole names. A name that the kernel cut is compared with what is left of them: the
patterns ``cut_model`` and ``cut_firmware``, which fit the same drives. NVMe's names are not cut.

A fault with ``link`` shows only while the SATA link is managed so; elsewhere it is named in green.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.audit.checks.link import policy_of
from ssdlab.audit.device import Device
from ssdlab.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.audit.identity import Identity
from ssdlab.audit.remedy import advice

_UPDATE_RISK = "some updates erase the drive: back up and read the maker's notes first"


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
        faults = [fault for fault in _faults() if _has(identity, fault)]
        found = [_judged(machine, drive, identity, fault) for fault in faults]
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


def _judged(machine: Machine, drive: Device, identity: Identity, fault: dict[str, Any]) -> Finding:
    """Make the finding of a fault, or say that what brings it out is not set."""
    if "link" not in fault:
        return _finding(drive, identity, fault)
    told = f"{identity.model}, firmware {identity.firmware}: {fault['fault']}"
    policies = _policies(machine, drive)
    if not policies:
        because = f"{told}, and the kernel does not tell how its link is managed"
        return not_looked_at("known faults", because, drive.label)
    if fault["link"] in policies:
        return _finding(drive, identity, fault)
    what = f"{told}; it is {', '.join(sorted(policies))}"
    return Finding("known faults", Severity.GREEN, what, drive.label, source=fault["source"])


def _policies(machine: Machine, drive: Device) -> set[str]:
    """Give the link power management of its host, or of every host where that is not known."""
    number = drive.details.get("address", "").partition(":")[0]
    hosts = machine.system.entries("/sys/class/scsi_host")
    chosen = [f"host{number}"] if f"host{number}" in hosts else hosts
    return {policy for host in chosen if (policy := policy_of(machine, host))}


def _finding(drive: Device, identity: Identity, fault: dict[str, Any]) -> Finding:
    return Finding(
        "known faults",
        Severity.RED,
        f"{identity.model}, firmware {identity.firmware}: {fault['fault']}",
        drive.label,
        fault["why"],
        advice(
            fault["remedy"],
            fault.get("risk", _UPDATE_RISK),
            fault.get("undo", "the older firmware seldom can be put back"),
        ),
        fault["source"],
    )
