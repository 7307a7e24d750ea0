"""Wear: what the drives themselves say of their life, read as their vendors mean it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import Device

_SOURCE = "smartctl -x; meanings by vendor: docs/health.md"


def check(machine: Machine) -> Iterator[Finding]:
    """Ask every drive through smartctl."""
    for name in sorted(machine.chosen):
        drive = machine.topology.devices[name]
        if drive.kind == "drive" and not drive.name.startswith("vd"):
            yield from _drive(machine, drive)


def _drive(machine: Machine, drive: Device) -> Iterator[Finding]:
    answer = machine.system.run("smartctl", "--json", "-x", "--nocheck=standby", drive.label)
    if answer is None:
        return
    try:
        from ssdlab.health.findings import DEFAULT_LIMITS, findings_of
        from ssdlab.health.life import life_of
        from ssdlab.health.report import read_report

        report = read_report(json.loads(answer), drive.label)
        if not (report.model or report.nvme or report.attributes):
            return
        life = life_of(report)
        found = findings_of(report, life, DEFAULT_LIMITS, {})
    except Exception as error:
        # A report that cannot be read is one finding, not the end of the audit.
        what = f"what smartctl says of it cannot be read: {error}".partition("\n")[0]
        yield Finding("wear", Severity.YELLOW, what, drive.label, source=_SOURCE)
        return
    for each in found:
        severity = {0: Severity.GREEN, 1: Severity.YELLOW, 2: Severity.RED}.get(
            int(each.severity), Severity.GREEN
        )
        yield Finding("wear", severity, each.what, drive.label, each.why, "", _SOURCE)
