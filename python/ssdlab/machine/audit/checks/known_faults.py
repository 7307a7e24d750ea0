"""Models and firmware that are known to fail, by the one list of `ssdlab.machine.known_faults`.

A fault with ``link`` shows only while the SATA link is managed so; elsewhere it is named in green.
Where it is, its remedy is the one that ``link`` has for that host.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.audit.checks.link import hosts_of, policy_of, set_link
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.identity import Identity
from ssdlab.machine.audit.remedy import advice
from ssdlab.machine.known_faults import LOOKED_UP, Fault, faults_of
from ssdlab.real.device import Device

_SEVERITIES = {"red": Severity.RED, "yellow": Severity.YELLOW}


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
        faults = faults_of(identity.model, identity.firmware, is_cut=identity.is_cut)
        found = [_judged(machine, drive, identity, fault) for fault in faults]
        yield from found
        if not found:
            looked.append(drive.label)
    if looked:
        what = f"no fault is known of this model and firmware (list of {LOOKED_UP})"
        yield Finding("known faults", Severity.GREEN, what, ", ".join(looked))
    if nameless:
        because = "neither the kernel nor smartctl shows model and firmware"
        yield not_looked_at("known faults", because, ", ".join(nameless))


def _judged(machine: Machine, drive: Device, identity: Identity, fault: Fault) -> Finding:
    """Make the finding of a fault, or say that what brings it out is not set."""
    told = fault.sentence(identity.model, identity.firmware, identity.power_on_hours)
    if not fault.link:
        remedy = advice(fault.remedy, fault.risk, fault.undo)
        severity = _SEVERITIES[fault.severity]
        return Finding("known faults", severity, told, drive.label, fault.why, remedy, fault.source)
    policies = {host: policy_of(machine, host) for host in hosts_of(machine, drive)}
    known = {host: policy for host, policy in policies.items() if policy}
    if not known:
        because = f"{told}, and the kernel does not show how its link is managed"
        return not_looked_at("known faults", because, drive.label)
    for host, policy in known.items():
        if policy == fault.link:
            remedy = set_link(host, policy, is_sufferer=True)
            return Finding(
                "known faults", Severity.RED, told, drive.label, fault.why, remedy, fault.source
            )
    what = f"{told}; here it is {', '.join(sorted(set(known.values())))}"
    return Finding("known faults", Severity.GREEN, what, drive.label, source=fault.source)
