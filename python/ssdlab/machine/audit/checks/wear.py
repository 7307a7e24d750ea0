"""Wear: what the drives themselves say of their life, read as their vendors mean it.

Under the name ``SMART`` it says besides whether what an SSD tells is documented at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ssdlab.machine.audit.checks.raid_controller import is_behind_controller
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.identity import smartctl_words
from ssdlab.real.device import Device

_SOURCE = "smartctl -x; meanings by vendor: docs/reference/health.md"
_SEVERITIES = {0: Severity.GREEN, 1: Severity.YELLOW, 2: Severity.RED}


def check(machine: Machine) -> Iterator[Finding]:
    """Ask every drive through smartctl; a virtual one has nothing to tell."""
    behind: list[str] = []
    silent: list[str] = []
    for drive in machine.drives:
        if drive.is_virtual:
            continue
        found = list(_drive(machine, drive))
        yield from found
        if not found:
            (behind if is_behind_controller(drive) else silent).append(drive.label)
    if behind:
        because = "drives behind a controller are read one by one (ssdlab health -d megaraid,N)"
        yield not_looked_at("wear", because, ", ".join(behind))
    if silent:
        them = "this drive" if len(silent) == 1 else "these drives"
        because = f"smartctl reports nothing about {them}: smartctl is not installed, or needs root"
        yield not_looked_at("wear", because, ", ".join(silent))


def _drive(machine: Machine, drive: Device) -> Iterator[Finding]:
    answer = machine.system.run(*smartctl_words(drive))
    if answer is None:
        return
    try:
        from ssdlab.machine.health.findings import DEFAULT_LIMITS, findings_of
        from ssdlab.real.smart.life import life_of
        from ssdlab.real.smart.reading import read_report

        report = read_report(json.loads(answer), drive.label)
        if not (report.model or report.nvme or report.attributes):
            return
        life = life_of(report)
        found = findings_of(report, life, DEFAULT_LIMITS, {}, with_firmware=False)
    except Exception as error:
        # A report that cannot be read is one finding, not the end of the audit.
        because = f"what smartctl says of it cannot be read: {error}".partition("\n")[0]
        yield not_looked_at("wear", because, drive.label)
        return
    if machine.is_ssd(drive):
        yield _documented(drive, life.family.name if life.family else "", bool(report.nvme))
    if not found:
        yield Finding("wear", Severity.GREEN, "it reports nothing wrong", drive.label)
    for each in found:
        severity = _SEVERITIES.get(int(each.severity), Severity.UNSEEN)
        if severity is Severity.UNSEEN:
            yield not_looked_at("wear", f"{each.what}: {each.why}", drive.label)
        elif getattr(each, "looked_at", True):
            yield Finding("wear", severity, each.what, drive.label, each.why, None, _SOURCE)


def _documented(drive: Device, family: str, is_nvme: bool) -> Finding:
    """Say whether what the drive tells can be read by a description that is public."""
    if is_nvme:
        what = "its health log is that of the NVMe specification"
        return Finding("SMART", Severity.GREEN, what, drive.label)
    if family:
        what = f"what its attributes mean is published ({family})"
        return Finding("SMART", Severity.GREEN, what, drive.label)
    because = "no description of this model's attributes is known here (docs/reference/health.md)"
    return not_looked_at("SMART", because, drive.label)
