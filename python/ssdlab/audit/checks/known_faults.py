"""Models and firmware that are known to fail, where a source says so (``known_faults.json``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import Device


def check(machine: Machine) -> Iterator[Finding]:
    """Check model and firmware of every drive."""
    looked = []
    for name in sorted(machine.chosen):
        drive = machine.topology.devices[name]
        if drive.kind != "drive" or not drive.details.get("model"):
            continue
        found = [_finding(drive, fault) for fault in _faults() if _has(drive, fault)]
        yield from found
        if not found:
            looked.append(drive.label)
    if looked:
        what = "model and firmware have no known fault in this list"
        yield Finding("known faults", Severity.GREEN, what, ", ".join(looked))


@cache
def _faults() -> tuple[dict[str, Any], ...]:
    content = files("ssdlab.audit").joinpath("known_faults.json").read_text(encoding="utf-8")
    return tuple(json.loads(content))


def _firmware(drive: Device) -> str:
    return drive.details.get("firmware_rev") or drive.details.get("rev") or ""


def _has(drive: Device, fault: dict[str, Any]) -> bool:
    model = drive.details.get("model", "")
    return bool(re.search(fault["model"], model)) and bool(
        re.fullmatch(fault["firmware"], _firmware(drive))
    )


def _finding(drive: Device, fault: dict[str, Any]) -> Finding:
    return Finding(
        "known faults",
        Severity.RED,
        f"{drive.details['model']}, firmware {_firmware(drive)}: {fault['fault']}",
        drive.label,
        fault["why"],
        fault["remedy"],
        fault["source"],
    )
