"""The SATA link: AHCI, and a power management that some drives do not survive.

``min_power`` lets the link sleep whenever it can. It saves about half a watt, and has made drives
hang and lose data; ``med_power_with_dipm`` is what the kernel's developers recommend since 4.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity

_RISKY = {"min_power", "min_power_with_partial"}
_SUFFERERS = re.compile(
    r"(Crucial_CT\d+M(500|550)|CT\d+MX100|Micron_M500|M550|SAMSUNG MZ7TD256HAFV|SAMSUNG SSD PM830"
    r"|SAMSUNG MZ7LN|ST1000LM024|LITEON CX1-JB)",
    re.IGNORECASE,
)
_SOURCE = (
    "Linux libata's list of drives with broken link power management (ATA_QUIRK_NOLPM); "
    "Stapelberg 2009 (a drive that hung until its port was reset)"
)
_OLD_CONTROLLERS = {"ata_piix", "pata_acpi"}


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SATA host."""
    models = [machine.topology.devices[name].details.get("model", "") for name in machine.ssds()]
    suffers = [model for model in models if _SUFFERERS.search(model)]
    hosts = machine.system.entries("/sys/class/scsi_host")
    policies = {host: _policy(machine, host) for host in hosts}
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


def _policy(machine: Machine, host: str) -> str:
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
        f"echo med_power_with_dipm > /sys/class/scsi_host/{host}/link_power_management_policy",
        _SOURCE,
    )


def _not_ahci(host: str) -> Finding:
    return Finding(
        "link",
        Severity.YELLOW,
        "the controller runs in IDE mode, not AHCI",
        host,
        "no NCQ: one command at a time; and no hot plug",
        "# set the controller to AHCI in the firmware; the initramfs needs the ahci module first",
        "Thomas-Krenn SSD e-book, ch. 2 (AHCI and NCQ)",
    )
