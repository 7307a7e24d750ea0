"""Spare area: whether the drive has room to collect garbage in.

A part of the drive that is never written, or trimmed and then left alone, works as spare area on
top of the drive's own. Where TRIM reaches the drive, free space in file systems does the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.audit.checks.discard import passes_discards
from ssdlab.audit.cost import cost_of_spare
from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import Device

_WANTED = 0.10
_SOURCE = "Thomas-Krenn SSD e-book, ch. 2 and 3 (use 90 % without TRIM, 80 % in arrays)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SSD that TRIM does not reach."""
    for name in machine.ssds():
        drive = machine.topology.devices[name]
        if not machine.topology.users(name):
            continue
        share = unpartitioned_share(machine, drive)
        if _trim_arrives(machine, name):
            what = "TRIM reaches it: free space serves as spare area"
            yield Finding("spare area", Severity.GREEN, what, drive.label)
        elif share < _WANTED:
            yield _too_little(drive, share)
        else:
            what = f"{share:.0%} of it is unpartitioned"
            yield Finding("spare area", Severity.GREEN, what, drive.label)


def unpartitioned_share(machine: Machine, drive: Device) -> float:
    """Give the share of a drive that no partition covers; 0 where it is used as a whole."""
    parts = [
        device
        for device in machine.topology.above(drive.name)
        if device.kind == "partition" and any(below.device == drive.name for below in device.below)
    ]
    if not parts or not drive.size_bytes:
        return 0.0
    return max(0.0, 1 - sum(part.size_bytes for part in parts) / drive.size_bytes)


def _trim_arrives(machine: Machine, drive: str) -> bool:
    """Whether every file system on the drive passes discards all the way."""
    return all(
        all(passes_discards(device) for device, _ in machine.topology.layers(use.device))
        for use in machine.topology.users(drive)
    )


def _too_little(drive: Device, share: float) -> Finding:
    return Finding(
        "spare area",
        Severity.YELLOW,
        f"TRIM does not reach it and only {share:.0%} of it is unpartitioned",
        drive.label,
        cost_of_spare(_WANTED),
        "# after a secure erase, or after trimming the end of the drive (blkdiscard),\n"
        "# leave a tenth without a partition: ssdlab align --help",
        _SOURCE,
    )
