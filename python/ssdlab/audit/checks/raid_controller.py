"""RAID controllers: the cache settings that slow SSDs down, and caches without a battery.

Seen through ``storcli`` (MegaRAID, PERC) or ``arcconf`` (Adaptec) where they are installed. With
SSDs write-through without read-ahead is what was measured best; TRIM passes through neither.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import Device, whole

STORCLI = ("storcli64", "storcli", "perccli64")
"""MegaRAID's program by the names under which it is installed."""
_CONTROLLER = re.compile(r"LSI|MegaRAID|PERC|AVAGO|MR9|Adaptec|LogicalDrv|ServeRAID|SmartIOC", re.I)
_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 3 (RAID 5 of SSDs: write-back took four fifths of the random "
    "writes, read-ahead a fifth of the random reads)"
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check the virtual drives of every controller."""
    devices = behind_controllers(machine)
    behind = [device.label for device in devices]
    if not behind:
        return
    drives, settings = list(_megaraid(machine)), list(_adaptec(machine))
    found = [each for drive in drives for each in _cache(drive)]
    found += [each for setting in settings for each in _setting(*setting)]
    if only_disks(devices):
        # Before hard disks both caches help, as long as a battery keeps them.
        found = [each for each in found if each.severity is Severity.RED]
    yield from found or [_summary(bool(drives or settings), ", ".join(behind))]


def behind_controllers(machine: Machine) -> list[Device]:
    """Give the virtual drives of RAID controllers among the devices in question."""
    chosen = (machine.topology.devices[name] for name in sorted(machine.chosen))
    return [
        device
        for device in chosen
        if device.kind == "drive"
        and _CONTROLLER.search(f"{device.details.get('vendor')} {device.details.get('model')}")
    ]


def only_disks(devices: list[Device]) -> bool:
    """Say whether the kernel takes all of these for hard disks."""
    return all(device.queue.get("rotational") == "1" for device in devices)


def _summary(seen: bool, behind: str) -> Finding:
    if seen:
        what = "no cache setting that slows SSDs down or loses data"
        return Finding("RAID controller", Severity.GREEN, what, behind)
    return Finding(
        "RAID controller",
        Severity.YELLOW,
        "a virtual drive of a RAID controller, whose settings could not be seen",
        behind,
        "write-back and read-ahead slow SSDs down, and TRIM does not pass",
        "# install storcli (MegaRAID, PERC) or arcconf (Adaptec), then audit again as root",
        _SOURCE,
    )


def _megaraid(machine: Machine) -> Iterator[dict[str, Any]]:
    """Give the virtual drives, each with its controller's number and the program that told."""
    for program in STORCLI:
        answer = machine.system.run(program, "/cALL/vALL", "show", "J")
        if answer is not None:
            for drive in _virtual_drives(answer):
                yield {**drive, "program": program}
            return


def _virtual_drives(answer: str) -> Iterator[dict[str, Any]]:
    try:
        controllers = json.loads(answer)["Controllers"]
        for number, controller in enumerate(controllers):
            for drive in controller["Response Data"]["Virtual Drives"]:
                yield {**drive, "controller": number}
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def _cache(drive: dict[str, Any]) -> Iterator[Finding]:
    cache, place = str(drive.get("Cache", "")), str(drive.get("DG/VD", "0/0"))
    number = place.rpartition("/")[2]
    program = drive["program"]
    target = f"/c{drive['controller']}/v{number if number.isdecimal() else 'ALL'}"
    where = f"{target} ({drive.get('TYPE', '?')}, cache {cache})"
    # NR or R (read-ahead), WT or WB or AWB (always, even without battery), then D or C.
    if "AWB" in cache:
        yield Finding(
            "RAID controller",
            Severity.RED,
            "write-back even without a battery",
            where,
            "a power cut loses what was acknowledged",
            f"{program} {target} set wrcache=wt",
            _SOURCE,
        )
    elif "WB" in cache:
        yield Finding(
            "RAID controller",
            Severity.YELLOW,
            "write-back cache before SSDs",
            where,
            "the controller becomes the bottleneck of random writes",
            f"{program} {target} set wrcache=wt",
            _SOURCE,
        )
    if cache.startswith("R"):
        yield Finding(
            "RAID controller",
            Severity.YELLOW,
            "read-ahead before SSDs",
            where,
            "random reads fetch what nobody asked for",
            f"{program} {target} set rdcache=nora",
            _SOURCE,
        )


def _adaptec(machine: Machine) -> Iterator[tuple[int, str, str]]:
    """Give the settings of logical drives: number, name and value."""
    answer = machine.system.run("arcconf", "GETCONFIG", "1", "LD")
    number = 0
    for line in (answer or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key.startswith("Logical Device number"):
            number = whole(key.rpartition(" ")[2]) or 0
        elif key in ("Write-cache setting", "Read-cache setting"):
            yield number, key, value


def _setting(number: int, key: str, value: str) -> Iterator[Finding]:
    where = f"logical device {number}"
    if key == "Write-cache setting" and value.startswith("On"):
        remedy = f"arcconf SETCACHE 1 LOGICALDRIVE {number} wt"
        what = "write-back cache before SSDs"
        why = "the controller becomes the bottleneck of random writes"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)
    if key == "Read-cache setting" and value.startswith("Enabled"):
        remedy = f"arcconf SETCACHE 1 LOGICALDRIVE {number} roff"
        what = "read-ahead before SSDs"
        why = "random reads fetch what nobody asked for"
        yield Finding("RAID controller", Severity.YELLOW, what, where, why, remedy, _SOURCE)
