"""RAID controllers: whether theirs is a generation that was made with SSDs in mind.

MegaRAID's FastPath takes requests around the firmware's cache code; controllers for 12 Gb/s SAS
have it built in, those for 6 Gb/s by a licence. When it was made and what it has tells storcli;
what other makers' tools tell of age is not known well enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ssdlab.machine.audit.checks.raid_controller import by_family
from ssdlab.machine.audit.controllers import MEGARAID, TOOLS, media, rows, storcli
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import advice

_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 3 (current controllers; FastPath is built into those of 12 Gb/s)"
)
_OLD = ("SAS-3G", "SAS-6G", "SATA-3G", "SATA-6G")
_NEW = re.compile(r"SAS-(1[2-9]|2\d)G")


def check(machine: Machine) -> Iterator[Finding]:
    """Check the controllers of every family that tells."""
    for family, devices in by_family(machine).items():
        kind = media(machine.system, family, devices)
        if kind == "disk":
            continue
        found = list(_megaraid(machine, kind)) if family == MEGARAID else []
        behind = ", ".join(device.label for device in devices)
        because = (
            f"{TOOLS[family]} does not report how old the controller is or what features it has"
        )
        yield from found or [not_looked_at("RAID generation", because, behind)]


def _megaraid(machine: Machine, kind: str | None) -> Iterator[Finding]:
    _, answers = storcli(machine.system, "/cALL", "show", "all")
    for number, answer in enumerate(answers):
        interface = str(_part(answer, "Bus").get("Device Interface", ""))
        if interface:
            yield _judged(f"/c{number}", answer, interface, kind)


def _judged(place: str, answer: dict[str, Any], interface: str, kind: str | None) -> Finding:
    basics = _part(answer, "Basics")
    made = str(basics.get("Mfg Date", "00/00/00"))
    told = f"made {made} (month, day, year)" if not made.startswith("00") else "date not told"
    where = f"{place} ({basics.get('Model', 'model not told')}, {interface}, {told})"
    options = rows(answer, "Advanced Software Option")
    if any("FastPath" in str(option.get("Adv S/W Opt")) for option in options):
        return Finding("RAID generation", Severity.GREEN, "the controller has FastPath", where)
    if interface not in _OLD and not _NEW.fullmatch(interface):
        because = f"its interface is “{interface}”, which is not understood"
        return not_looked_at("RAID generation", because, where)
    if interface not in _OLD:
        what = "a controller of the generation that has FastPath built in"
        return Finding("RAID generation", Severity.GREEN, what, where)
    if kind is None:
        because = "it is old, without FastPath, and does not report whether SSDs are behind it"
        return not_looked_at("RAID generation", because, where)
    return Finding(
        "RAID generation",
        Severity.YELLOW,
        "SSDs behind an older controller without FastPath",
        where,
        "its firmware handles every request as for disks, which limits fast drives",
        advice(
            "add the FastPath licence, if its maker still sells one, or put the drives behind a "
            "controller of 12 Gb/s or more; it takes over arrays of the same maker's older ones",
            "a change of controller: have a backup that was read back",
            "put the old controller back",
        ),
        _SOURCE,
    )


def _part(answer: dict[str, Any], name: str) -> dict[str, Any]:
    part = answer.get(name)
    return part if isinstance(part, dict) else {}
