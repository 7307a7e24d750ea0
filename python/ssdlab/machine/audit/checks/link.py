"""The SATA link: AHCI, and a power management that some drives do not survive.

``min_power`` lets the link sleep whenever it can. It saves about half a watt, and has made drives
hang and lose data; ``med_power_with_dipm`` is what the kernel's developers recommend since 4.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.identity import Identity
from ssdlab.machine.audit.remedy import Remedy, UdevRule, advice, setting
from ssdlab.machine.known_faults import faults_of
from ssdlab.real.device import Device

_RISKY = {"min_power", "min_power_with_partial"}
_POLICIES = _RISKY | {
    "max_performance",
    "medium_power",
    "med_power_with_dipm",
    "keep_firmware_settings",
}
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
    'ATTR{{link_power_management_policy}}=="min_power*", '
    'ATTR{{link_power_management_policy}}="{}"'
)
_BEARABLE, _AWAKE = "med_power_with_dipm", "max_performance"
_OLD_CONTROLLERS = {"ata_piix", "pata_acpi"}


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SATA host."""
    identities = [machine.identity(machine.topology.devices[name]) for name in machine.ssds()]
    suffers = [each.model for each in identities if _suffers(each)]
    hosts = machine.system.entries("/sys/class/scsi_host")
    policies = {host: policy_of(machine, host) for host in hosts}
    told = _told_by_known_faults(machine)
    for host, policy in policies.items():
        if policy in _RISKY and host not in told:
            yield _risky(host, policy, suffers)
        if machine.system.read(f"/sys/class/scsi_host/{host}/proc_name") in _OLD_CONTROLLERS:
            yield _not_ahci(host)
    unknown = {host: each for host, each in policies.items() if each and each not in _POLICIES}
    for host, policy in unknown.items():
        because = f"what its link power management {policy} means is not known here"
        yield not_looked_at("link", because, host)
    if policies and not _RISKY & set(policies.values()):
        known = {policy for policy in policies.values() if policy in _POLICIES}
        if known:
            what = f"link power management: {', '.join(sorted(known))}"
            yield Finding("link", Severity.GREEN, what, "SATA hosts")
    silent = [
        host
        for host, policy in policies.items()
        if not policy and machine.system.read(f"/sys/class/scsi_host/{host}/proc_name") == "ahci"
    ]
    if silent:
        because = "the kernel does not show how these hosts manage the power of their links"
        yield not_looked_at("link", because, ", ".join(silent))


def _suffers(identity: Identity) -> bool:
    pattern = _CUT_SUFFERERS if identity.is_cut and len(identity.model) >= 16 else _SUFFERERS
    return bool(pattern.search(identity.model) or _SUFFERERS.search(identity.model))


def policy_of(machine: Machine, host: str) -> str:
    """Give a SATA host's link power management; empty where it is not told."""
    path = f"/sys/class/scsi_host/{host}/link_power_management_policy"
    return machine.system.read(path) or ""


def hosts_of(machine: Machine, drive: Device) -> list[str]:
    """Name the SATA host of a drive, or every host where that is not known."""
    number = drive.details.get("address", "").partition(":")[0]
    hosts = machine.system.entries("/sys/class/scsi_host")
    return [f"host{number}"] if f"host{number}" in hosts else hosts


def _told_by_known_faults(machine: Machine) -> set[str]:
    """Name the hosts of drives whose known fault is this very setting: one finding is enough."""
    told: set[str] = set()
    for drive in machine.drives:
        own = machine.identity(drive)
        for fault in faults_of(own.model, own.firmware, is_cut=own.is_cut):
            hosts = hosts_of(machine, drive) if fault.link else []
            told.update([host for host in hosts if policy_of(machine, host) == fault.link][:1])
    return told


def set_link(host: str, policy: str, *, is_sufferer: bool) -> Remedy:
    """Give the remedy for a host: the link of a drive that cannot bear it stays awake."""
    wanted = _AWAKE if is_sufferer else _BEARABLE
    return setting(
        (
            "keeps the link awake"
            if is_sufferer
            else "lets the link sleep only as far as drives bear"
        )
        + "; what set it before (/etc/rc.local, /etc/sysfs.conf, TLP) has to be changed too",
        f"/sys/class/scsi_host/{host}/link_power_management_policy",
        wanted,
        policy,
        UdevRule("60-ssd-link", _RULE.format(wanted)),
    )


def _risky(host: str, policy: str, suffers: list[str]) -> Finding:
    known = f"; {suffers[0]} is known to suffer" if suffers else ""
    return Finding(
        "link",
        Severity.RED if suffers else Severity.YELLOW,
        f"link power management is {policy}{known}",
        host,
        "the drive may hang until its link is reset, which takes seconds, or lose data",
        set_link(host, policy, is_sufferer=bool(suffers)),
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
