"""Spare area: whether the drive has room to collect garbage in.

A part of the drive that is never written, or trimmed and then left alone, works as spare area on
top of the drive's own. Where TRIM reaches the drive, free space in file systems does the same. It
does not reach the SSD of a cache, which fills up and stays full.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.audit.checks.discard import passes_discards, where_sight_ends
from ssdlab.audit.cost import cost_of_spare
from ssdlab.audit.device import Device
from ssdlab.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.audit.remedy import Remedy, advice

_WANTED = 0.10
_SOURCE = "Thomas-Krenn SSD e-book, ch. 2 and 3 (use 90 % without TRIM, 80 % in arrays)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SSD that TRIM does not reach."""
    for name in machine.ssds():
        drive = machine.topology.devices[name]
        if not machine.topology.users(name):
            continue
        share = unpartitioned_share(machine, drive)
        unseen = [
            reason
            for use in machine.topology.users(name)
            for reason in where_sight_ends(machine, use.device)
        ]
        if share < _WANTED and unseen:
            yield not_looked_at("spare area", unseen[0], drive.label)
            continue
        untrimmed = _untrimmed(machine, name)
        if not untrimmed:
            what = "TRIM reaches it: free space serves as spare area"
        elif share < _WANTED:
            yield _too_little(drive, share, untrimmed)
            continue
        else:
            what = f"{share:.0%} of it is unpartitioned"
        if not drive.is_virtual:
            yield Finding("spare area", Severity.GREEN, what, drive.label)


def unpartitioned_share(machine: Machine, drive: Device) -> float:
    """Give the share of a drive that no partition covers; 0 where it is used as a whole."""
    parts = machine.topology.partitions(drive.name)
    if not parts or not drive.size_bytes:
        return 0.0
    return max(0.0, 1 - sum(part.size_bytes for part in parts) / drive.size_bytes)


def _untrimmed(machine: Machine, drive: str) -> list[str]:
    """Name the places on a drive whose discards do not get all the way to it."""
    places = []
    for use in machine.topology.users(drive):
        layers = machine.topology.trimmed_layers(use.device)
        above = [each for each in layers if each.kind != "drive" or each.name == drive]
        arrives = any(each.name == drive for each in layers)
        if not arrives or not all(passes_discards(device) for device in above):
            places.append(use.place)
    return places


def _too_little(drive: Device, share: float, untrimmed: list[str]) -> Finding:
    places = ", ".join(dict.fromkeys(untrimmed))
    return Finding(
        "spare area",
        Severity.YELLOW,
        f"no TRIM reaches it from {places}, and only {share:.0%} of it is unpartitioned",
        drive.label,
        cost_of_spare(_WANTED),
        _leave_room(drive),
        _SOURCE,
    )


def _leave_room(drive: Device) -> Remedy:
    return advice(
        f"leaves a tenth of {drive.label} without a partition (ssdlab align --help); do it when "
        "the drive is set up anew for another reason",
        costs="all data on the drive, which has to be erased for it",
    )
