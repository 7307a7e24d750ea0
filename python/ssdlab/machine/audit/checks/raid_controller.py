"""RAID controllers: the cache settings that slow SSDs down, and caches without a battery.

Seen through ``storcli`` (MegaRAID, PERC, Lenovo and others), ``ssacli`` (HPE) or ``arcconf``
(Adaptec) where they are installed. With SSDs write-through without read-ahead is what was measured
best on MegaRAID; TRIM passes through none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ssdlab.machine.audit.controllers import (
    ADAPTEC,
    MEGARAID,
    OTHER,
    PHYSICAL,
    SMART_ARRAY,
    TOOLS,
    arcconf,
    family_of,
    media,
    rows,
    ssacli,
    storcli,
)
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.real.device import Device, whole

_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 3 (RAID 5 of SSDs: write-back took four fifths of the random "
    "writes, read-ahead a fifth of the random reads)"
)
_HPE_SOURCE = "HPE Smart Storage Administrator CLI: No-Battery Write Cache, Drive Write Cache"
_WAITS = "writes wait for the drives; what is in the cache is written first"


def check(machine: Machine) -> Iterator[Finding]:
    """Check the virtual drives of every controller."""
    for family, devices in by_family(machine).items():
        behind = ", ".join(device.label for device in devices)
        kind = media(machine.system, family, devices)
        found = _SETTINGS[family](machine)
        if found is None:
            because = f"{TOOLS[family]} does not answer: it is missing, or needs root"
            yield not_looked_at("RAID controller", because, behind)
            continue
        if kind == "disk":
            # Before hard disks both caches help, as long as a battery keeps them.
            found = [each for each in found if each.severity is not Severity.YELLOW]
        elif kind is None and any(each.severity is Severity.YELLOW for each in found):
            found = [each for each in found if each.severity is not Severity.YELLOW]
            because = "the controller calls it a disk and does not report what is behind it"
            yield not_looked_at("RAID controller", because, behind)
            yield from found
            continue
        what = "no cache setting that slows SSDs down or loses data"
        yield from found or [Finding("RAID controller", Severity.GREEN, what, behind)]


def by_family(machine: Machine) -> dict[str, list[Device]]:
    """Give the virtual drives of RAID controllers among the devices in question."""
    found: dict[str, list[Device]] = {}
    for drive in machine.drives:
        family = family_of(drive)
        if family is not None:
            found.setdefault(family, []).append(drive)
    return found


def is_behind_controller(drive: Device) -> bool:
    """Whether a drive is a RAID controller's virtual one."""
    return family_of(drive) is not None


def _megaraid(machine: Machine) -> list[Finding] | None:
    program, answers = storcli(machine.system, "/cALL/vALL", "show")
    drives = [
        (number, drive)
        for number, answer in enumerate(answers)
        for drive in rows(answer, "Virtual Drives")
    ]
    if not drives:
        return None
    return [each for number, drive in drives for each in _cache(program, number, drive)]


_CACHE = re.compile("(NR|R)(WT|WB|AWB|FWB)[CD]?")
"""No read-ahead or read-ahead; WT, WB, or AWB and FWB (even without a battery); then D or C."""


def _cache(program: str, controller: int, drive: dict[str, Any]) -> Iterator[Finding]:
    cache, place = str(drive.get("Cache", "")), str(drive.get("DG/VD", "0/0"))
    number = place.rpartition("/")[2]
    target = f"/c{controller}/v{number if number.isdecimal() else 'ALL'}"
    where = f"{target} ({drive.get('TYPE', '?')}, cache {cache})"
    if not _CACHE.fullmatch(cache):
        because = (
            f"its Cache is “{cache}”, which is not understood; NRWTD was expected, or the like"
        )
        yield not_looked_at("RAID controller", because, where)
        return
    if "AWB" in cache or "FWB" in cache:
        remedy = _set(program, target, "wrcache=wt", "wrcache=awb", _WAITS)
        what, why = "write-back even without a battery", "a power cut loses what was acknowledged"
        yield Finding("RAID controller", Severity.RED, what, where, why, remedy, _SOURCE)
    elif "WB" in cache:
        remedy = _set(program, target, "wrcache=wt", "wrcache=wb", _WAITS)
        what = "write-back cache before SSDs"
        why = "the controller becomes the bottleneck of random writes"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)
    if cache.startswith("R"):
        risk = "sequential reads at depth 1 may be slower"
        remedy = _set(program, target, "rdcache=nora", "rdcache=ra", risk)
        what, why = "read-ahead before SSDs", "random reads fetch what nobody asked for"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)


def _set(program: str, target: str, new: str, old: str, risk: str) -> Remedy:
    command = f"{program} {target} set"
    return Remedy(
        f"sets {new} for the virtual drive, while it is in use",
        f"none to data; {risk}",
        f"{command} {old}",
        (f"{command} {new}",),
    )


_CACHES = ("Read-cache setting", "Write-cache setting")


def _adaptec(machine: Machine) -> list[Finding] | None:
    """Judge the settings of the logical devices of every controller."""
    devices: dict[tuple[int, int], dict[str, str]] = {}
    for controller, lines in arcconf(machine.system, "LD"):
        number = 0
        for key, value in lines:
            if key.lower().startswith("logical device number"):
                number = whole(key.rpartition(" ")[2]) or 0
                devices.setdefault((controller, number), {})
            elif key in _CACHES:
                devices.setdefault((controller, number), {})[key] = value
    if not any(devices.values()):
        return None
    return [
        finding
        for (controller, number), told in devices.items()
        for key in _CACHES
        for finding in _setting(controller, number, key, told.get(key, ""))
    ]


def _setting(controller: int, number: int, key: str, value: str) -> Iterator[Finding]:
    where = f"controller {controller}, logical device {number}"
    command = f"arcconf SETCACHE {controller} LOGICALDRIVE {number}"
    # Older programs say "Enabled (write-back)", newer ones "On when protected by battery".
    is_on = re.match(r"(On|Enabled)\b", value) is not None
    if not is_on and not re.match(r"(Off|Disabled)\b", value):
        yield _not_understood(key, value, where)
    if key == "Write-cache setting" and is_on:
        does = "writes through the controller's cache to the drives"
        remedy = Remedy(does, f"none to data; {_WAITS}", f"{command} wb", (f"{command} wt",))
        what = "write-back cache before SSDs"
        why = "the controller becomes the bottleneck of random writes"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)
    if key == "Read-cache setting" and is_on:
        does, risk = "turns the controller's read cache off", "none to data"
        remedy = Remedy(does, risk, f"{command} ron", (f"{command} roff",))
        what = "read-ahead before SSDs"
        why = "random reads fetch what nobody asked for"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)


def _smart_array(machine: Machine) -> list[Finding] | None:
    program, lines = ssacli(machine.system)
    if not lines:
        return None
    return [
        each for line in lines if not line[1].startswith(PHYSICAL) for each in _line(program, *line)
    ]


def _line(program: str, slot: str, place: str, key: str, value: str) -> Iterator[Finding]:
    """Judge one line of ssacli's answer."""
    where = f"slot {slot}" + (f", {place}" if place else "")
    command = f"{program} ctrl slot={slot} modify"
    known = _HPE_WORDS.get(key)
    if known is not None and not known.match(value):
        yield _not_understood(key, value, where)
    if key == "No-Battery Write Cache" and value == "Enabled":
        remedy = Remedy(
            "lets the controller cache writes only while its battery is good",
            f"none to data; {_WAITS} until the battery is replaced",
            f"{command} nbwc=enable",
            (f"{command} nbwc=disable",),
        )
        what, why = "write cache even without a battery", "a power cut loses what was acknowledged"
        yield Finding("RAID controller", Severity.RED, what, where, why, remedy, _HPE_SOURCE)
    elif key in _DRIVE_CACHES and value == "Enabled":
        usage = _DRIVE_CACHES[key]
        remedy = Remedy(
            "turns the drives' own write caches off",
            f"none to data; {_WAITS}",
            f"{command} drivewritecache=enable{usage}",
            (f"{command} drivewritecache=disable{usage}",),
        )
        what = "the drives' own write caches are on, behind the controller"
        why = "a power cut loses what drives without power-loss protection had acknowledged"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _HPE_SOURCE)
    elif key == "Battery/Capacitor Status" and value.startswith("Failed"):
        what, why = f"the cache's battery: {value}", "without it the controller writes through"
        remedy = refused("the battery has to be replaced")
        yield Finding("RAID controller", Severity.RED, what, where, why, remedy, _HPE_SOURCE)


def _not_understood(key: str, value: str, where: str) -> Finding:
    because = f"its {key} is “{value}”, which is not understood"
    return not_looked_at("RAID controller", because, where)


def _silent(machine: Machine) -> list[Finding] | None:
    """Ask nothing: the tools of other makers are not known here."""
    return None


_DRIVE_CACHES = {
    "Drive Write Cache": "",
    "Configured Drive Write Cache Policy": " usage=configured",
}
_SWITCH = re.compile(r"(Enabled?|Disabled?|Default)\b")
_HPE_WORDS = {
    "No-Battery Write Cache": _SWITCH,
    **dict.fromkeys(_DRIVE_CACHES, _SWITCH),
    "Battery/Capacitor Status": re.compile(r"(OK|Failed|Recharging|Not Configured)\b"),
}
"""What ssacli says of what is judged here."""
_SETTINGS = {
    MEGARAID: _megaraid,
    SMART_ARRAY: _smart_array,
    ADAPTEC: _adaptec,
    OTHER: _silent,
}
