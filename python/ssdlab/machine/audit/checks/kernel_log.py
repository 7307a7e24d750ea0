"""The kernel's log since the boot: errors of drives, resets of their links and controllers.

What the documents find by hand with ``dmesg``: requests that failed (``I/O error, dev sda``),
ATA's exceptions and failed commands, links that are reset or come up slower, time-outs of NVMe,
drives that were given up, errors of PCIe, md and file systems (``kernel_lines``). A link
(``ata3``), SCSI or PCI address is told of its drive by the drive's place in sysfs; a drive that is
no longer there is told of by the name it had. A line of another kind that names a device in
question and an error is quoted, and not looked at. Left out: errors before the last boot, and
lines that name no device, or only numbers of a driver that are not known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.kernel_lines import (
    KINDS,
    alarming_names,
    known,
    may_be_gone,
    spellings,
)
from ssdlab.machine.audit.remedy import advice
from ssdlab.real.device import Device
from ssdlab.real.mapper import numbers
from ssdlab.real.system import System

JOURNAL = ("journalctl", "--dmesg", "--boot", "--quiet", "--no-pager", "--output=cat")
DMESG = ("dmesg",)
_SOURCE = "Linux libata (Documentation/driver-api/libata.rst, error handling) and nvme: their words"
_PLACE = "the kernel's log"
_SHOWN_SIGNS = 120


@dataclass
class _Told:
    """What the log tells of one drive."""

    counts: Counter[str] = field(default_factory=Counter)
    last: str = ""
    odd: list[str] = field(default_factory=list)


def check(machine: Machine) -> Iterator[Finding]:
    """Check the log, and tell of every drive that it names."""
    log = _log(machine.system)
    if log is None:
        because = "neither journalctl nor dmesg shows it here; root may see it"
        yield not_looked_at("kernel_log", because, _PLACE)
        return
    owners = _owners(machine)
    told = _read(log, owners)
    for owner, each in told.items():
        if each.counts:
            yield _finding(owner, each, is_gone=owner not in owners.values())
        if each.odd:
            yield _not_understood(owner, each.odd)
    if not told:
        what = "no errors of drives, and no resets of their links, since the boot"
        yield Finding("kernel_log", Severity.GREEN, what, _PLACE)


def interesting(log: str) -> str:
    """Return the lines that the check may count, behind one that shows that there is a log."""
    kept = (each for each in log.splitlines() if known(each.rstrip()) or alarming_names(each))
    return "\n".join(["the kernel's log", *kept])


def _log(system: System) -> str | None:
    return system.run(*JOURNAL) or system.run(*DMESG)


def _read(log: str, owners: Mapping[str, str | None]) -> dict[str, _Told]:
    """Sort the lines by whom they are about."""
    told: dict[str, _Told] = {}
    for line in map(str.strip, log.splitlines()):
        if found := known(line):
            kind, name, what = found
            owner = _owner(name, owners, is_told_itself=what in ("link", "address"))
            if owner is not None:
                each = told.setdefault(owner, _Told(last=line))
                each.counts[kind.what] += 1
                each.last = line
                continue
        # Which drives an HBA's own number (mpt3sas_cm0) has, no place in sysfs says.
        named = (
            _owner(name, owners, is_told_itself=name.startswith("mpt"))
            for name in alarming_names(line)
        )
        if owner := next(filter(None, named), None):
            told.setdefault(owner, _Told()).odd.append(line)
    return told


def _owners(machine: Machine) -> Mapping[str, str | None]:
    """Give the label of every name that a line may use; None where nobody asked about it."""
    owners: dict[str, str | None] = {}
    shared: dict[str, set[str | None]] = {}
    for device in machine.topology.devices.values():
        label = device.label if device.name in machine.chosen else None
        owners |= {device.name: label, device.label.removeprefix("/dev/"): label}
        if device.kind == "drive":
            for name in _other_names(machine.system, device):
                shared.setdefault(name, set()).add(label)
    for number, device in numbers(machine.system, machine.topology.devices).items():
        owners[number] = owners[device.name]
    for name, labels in shared.items():
        # What several drives hang on is named itself, if any of them is asked about.
        owners[name] = labels.pop() if len(labels) == 1 else name
    # A card reader or drive for discs is there without a medium, too: nothing is lost.
    for name in machine.system.entries("/sys/block"):
        if name not in owners and machine.system.read(f"/sys/block/{name}/removable") == "1":
            owners[name] = None
    return owners


def _other_names(system: System, drive: Device) -> set[str]:
    """Name the drive's link, its addresses and controllers, by its place in sysfs."""
    place = system.real(f"/sys/block/{drive.name}") or ""
    names = set(re.findall(r"/(ata\d+|host\d+|\d+:\d+:\d+:\d+)(?=/)", place))
    names |= set(re.findall(r"/(nvme\d+)/nvme", place))
    # The last is the drive's own controller; those before it are bridges.
    names |= set(re.findall(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)(?=/)", place)[-1:])
    if found := re.match(r"nvme\d+", drive.name):
        names.add(found[0])
    return names


def _owner(
    name: str, owners: Mapping[str, str | None], *, is_told_itself: bool = False
) -> str | None:
    """Return who a line is about: what is no longer there is named itself."""
    spelt = list(spellings(name))
    for each in spelt:
        if each in owners:
            return owners[each]
    if may_be_gone(spelt[0]):
        return spelt[0] if re.fullmatch(r"nvme\d+", spelt[0]) else f"/dev/{spelt[0]}"
    return name if is_told_itself else None


def _finding(owner: str, each: _Told, *, is_gone: bool) -> Finding:
    worst = max(kind.severity for kind in KINDS if each.counts[kind.what])
    told = ", ".join(f"{number} {what}" for what, number in each.counts.items())
    lost = ""
    # A link without a known drive may be an empty port; a drive without a place is lost.
    if is_gone and may_be_gone(owner.removeprefix("/dev/")):
        worst, lost = Severity.RED, ", and it is no longer among the drives here"
    return Finding(
        "kernel_log",
        worst,
        f"{told} since the boot{lost}; the last: {each.last[:_SHOWN_SIGNS]}",
        owner,
        "each costs seconds in which the drive does not answer, and a drive, cable or supply that "
        "fails begins so",
        advice("compare with ssdlab health, change cable or slot, then the drive", "none"),
        _SOURCE,
    )


def _not_understood(owner: str, lines: list[str]) -> Finding:
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    because = f"a line of the log is not understood: {lines[-1][:_SHOWN_SIGNS]}{more}"
    return not_looked_at("kernel_log", because, owner)
