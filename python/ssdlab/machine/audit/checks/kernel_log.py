"""The kernel's log since the boot: errors of drives, resets of their links and controllers.

What the documents find by hand with ``dmesg``: requests that failed (``I/O error, dev sda``),
ATA's exceptions and failed commands, links that are reset or come up slower, time-outs of NVMe. A
link (``ata3``) is told of its drive by the drive's place in sysfs. Left out: errors before the last
boot, and what a driver of another kind prints.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import advice
from ssdlab.real.device import Device
from ssdlab.real.system import System

JOURNAL = ("journalctl", "--dmesg", "--boot", "--quiet", "--no-pager", "--output=cat")
DMESG = ("dmesg",)
_SOURCE = "Linux libata (Documentation/driver-api/libata.rst, error handling) and nvme: their words"
_PLACE = "the kernel's log"
_SHOWN_SIGNS = 120


@dataclass(frozen=True)
class Trouble:
    """A kind of line: its name, how bad it is, and its words with the part that says who."""

    what: str
    severity: Severity
    words: re.Pattern[str]


_KINDS = (
    Trouble(
        "failed requests",
        Severity.RED,
        re.compile(r"(?:I/O error|critical \w+ error), dev (?P<device>[\w!-]+)"),
    ),
    Trouble("failed commands", Severity.RED, re.compile(r"(?P<link>ata\d+)\.\d+: failed command")),
    Trouble(
        "link resets",
        Severity.YELLOW,
        re.compile(r"(?P<link>ata\d+)(?:\.\d+)?: (?:hard|soft) resetting link"),
    ),
    Trouble(
        "link errors",
        Severity.YELLOW,
        re.compile(r"(?P<link>ata\d+)(?:\.\d+)?: (?:exception Emask|limiting SATA link speed)"),
    ),
    Trouble(
        "time-outs",
        Severity.YELLOW,
        re.compile(r"(?P<controller>nvme\d+): I/O .*timeout"),
    ),
    Trouble(
        "controller resets",
        Severity.RED,
        re.compile(
            r"(?P<controller>nvme\d+): (?:controller is down|Device not ready|.* will reset)"
        ),
    ),
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check the log, and tell of every drive that it names."""
    log = _log(machine.system)
    if log is None:
        because = "neither journalctl nor dmesg shows it here; root may see it"
        yield not_looked_at("kernel_log", because, _PLACE)
        return
    owners = _owners(machine)
    counted: dict[str, Counter[str]] = {}
    last: dict[str, str] = {}
    for line in log.splitlines():
        for kind in _KINDS:
            if found := kind.words.search(line):
                owner = _owner(found.groupdict(), owners)
                if owner is not None:
                    counted.setdefault(owner, Counter())[kind.what] += 1
                    last[owner] = line.strip()[:_SHOWN_SIGNS]
                break
    for owner, counts in counted.items():
        yield _finding(owner, counts, last[owner])
    if not counted:
        what = "no errors of drives, and no resets of their links, since the boot"
        yield Finding("kernel_log", Severity.GREEN, what, _PLACE)


def interesting(log: str) -> str:
    """Return the lines that the check would count, behind one that shows that there is a log."""
    lines = log.splitlines()
    return "\n".join(
        ["the kernel's log", *(each for each in lines if any(k.words.search(each) for k in _KINDS))]
    )


def _log(system: System) -> str | None:
    return system.run(*JOURNAL) or system.run(*DMESG)


def _owners(machine: Machine) -> Mapping[str, str | None]:
    """Give the label of every name that a line may use; None where nobody asked about it."""
    owners: dict[str, str | None] = {}
    for device in machine.topology.devices.values():
        label = device.label if device.name in machine.chosen else None
        owners[device.name] = label
        if device.kind == "drive":
            owners |= {name: label for name in _other_names(machine.system, device)}
    return owners


def _other_names(system: System, drive: Device) -> Iterator[str]:
    """Name the drive's link or controller, by its place in sysfs."""
    place = system.real(f"/sys/block/{drive.name}") or ""
    yield from re.findall(r"/(ata\d+)/", place)
    yield from re.findall(r"/(nvme\d+)/nvme", place)
    if found := re.match(r"nvme\d+", drive.name):
        yield found[0]


def _owner(named: Mapping[str, str | None], owners: Mapping[str, str | None]) -> str | None:
    """Return who a line is about: a link whose drive is not known is named itself."""
    (name,) = (each for each in named.values() if each)
    whole = re.sub(r"(?<=\d)p\d+$|(?<=[a-z])\d+$", "", name) if "device" in named else name
    for each in (name, whole):
        if each in owners:
            return owners[each]
    return name if "link" in named else None


def _finding(owner: str, counts: Counter[str], last: str) -> Finding:
    worst = max(kind.severity for kind in _KINDS if counts[kind.what])
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    return Finding(
        "kernel_log",
        worst,
        f"{told} since the boot; the last: {last}",
        owner,
        "each costs seconds in which the drive does not answer, and a drive, cable or supply that "
        "fails begins so",
        advice("compare with ssdlab health, change cable or slot, then the drive", "none"),
        _SOURCE,
    )
