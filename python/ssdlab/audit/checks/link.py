"""The SATA link: AHCI, and a power management that some drives do not survive.

``min_power`` lets the link sleep whenever it can. It saves about half a watt, and has made drives
hang and lose data; ``med_power_with_dipm`` is what the kernel's developers recommend since 4.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.audit.identity import Identity
from ssdlab.audit.remedy import Rule, advice, setting

_RISKY = {"min_power", "min_power_with_partial"}
_SUFFERERS = re.compile(
    r"(Crucial_CT\d+M(500|550)|CT\d+MX100|Micron_M500|M550|SAMSUNG MZ7TD256HAFV|SAMSUNG SSD PM830"
    r"|SAMSUNG MZ7LN|ST1000LM024|LITEON CX1-JB)",
    re.IGNORECASE,
)
# The same as SCSI shows them, cut at sixteen characters.
_CUT_SUFFERERS = re.compile(r"Crucial_CT\d+M5|SAMSUNG MZ7TD256|SAMSUNG SSD PM83", re.IGNORECASE)
_SOURCE = (
    "Linux libata's list of drives with broken link power management (ATA_QUIRK_NOLPM); "
    "Stapelberg 2009 (a drive that hung until its port was reset)"
)
_RULE = (
    'ACTION=="add|change", SUBSYSTEM=="scsi_host", KERNEL=="host*", '
    'ATTR{link_power_management_policy}=="min_power*", '
    'ATTR{link_power_management_policy}="med_power_with_dipm"'
)
_OLD_CONTROLLERS = {"ata_piix", "pata_acpi"}


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SATA host."""
    identities = [machine.identity(machine.topology.devices[name]) for name in machine.ssds()]
    suffers = [each.model for each in identities if _suffers(each)]
    hosts = machine.system.entries("/sys/class/scsi_host")
    policies = {host: policy_of(machine, host) for host in hosts}
    for host, policy in policies.items():
        if policy in _RISKY:
            yield _risky(host, policy, suffers)
        if machine.system.read(f"/sys/class/scsi_host/{host}/proc_name") in _OLD_CONTROLLERS:
            yield _not_ahci(host)
    if policies and not _RISKY & set(policies.values()):
        known = {policy for policy in policies.values() if policy}
        if known:
            what = f"link power management: {', '.join(sorted(known))}"
            yield Finding("link", Severity.GREEN, what, "SATA hosts")
    silent = [
        host
        for host, policy in policies.items()
        if not policy and machine.system.read(f"/sys/class/scsi_host/{host}/proc_name") == "ahci"
    ]
    if silent:
        because = "the kernel does not tell their link power management"
        yield not_looked_at("link", because, ", ".join(silent))


def _suffers(identity: Identity) -> bool:
    pattern = _CUT_SUFFERERS if identity.is_cut and len(identity.model) >= 16 else _SUFFERERS
    return bool(pattern.search(identity.model) or _SUFFERERS.search(identity.model))


def policy_of(machine: Machine, host: str) -> str:
    """Give a SATA host's link power management; empty where it is not told."""
    path = f"/sys/class/scsi_host/{host}/link_power_management_policy"
    return machine.system.read(path) or ""


def _risky(host: str, policy: str, suffers: list[str]) -> Finding:
    known = f"; {suffers[0]} is known to suffer" if suffers else ""
    return Finding(
        "link",
        Severity.RED if suffers else Severity.YELLOW,
        f"link power management is {policy}{known}",
        host,
        "the drive may hang until its link is reset, which takes seconds, or lose data",
        setting(
            "lets the link sleep only as far as drives bear it; what set it before (/etc/rc.local, "
            "/etc/sysfs.conf, TLP) has to be changed too",
            f"/sys/class/scsi_host/{host}/link_power_management_policy",
            "med_power_with_dipm",
            policy,
            Rule("60-ssd-link", _RULE),
        ),
        _SOURCE,
    )


def _not_ahci(host: str) -> Finding:
    return Finding(
        "link",
        Severity.YELLOW,
        "the controller runs in IDE mode, not AHCI",
        host,
        "no NCQ: one command at a time; and no hot plug",
        advice(
            "set the controller to AHCI in the machine's firmware setup, once the initramfs has "
            "the ahci module",
            "without the module the machine does not start",
            "set it back to IDE",
        ),
        "Thomas-Krenn SSD e-book, ch. 2 (AHCI and NCQ)",
    )
