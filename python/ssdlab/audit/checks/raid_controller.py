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

_CONTROLLER = re.compile(r"LSI|MegaRAID|PERC|AVAGO|MR9|Adaptec|LogicalDrv|ServeRAID|SmartIOC", re.I)
_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 3 (RAID 5 of SSDs: write-back took four fifths of the random "
    "writes, read-ahead a fifth of the random reads)"
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check the virtual drives of every controller."""
    behind = [
        device.label
        for name in sorted(machine.chosen)
        if (device := machine.topology.devices[name]).kind == "drive"
        and _CONTROLLER.search(f"{device.details.get('vendor')} {device.details.get('model')}")
    ]
    if not behind:
        return
    found = [*_megaraid(machine), *_adaptec(machine)]
    yield from found
    if not found:
        yield Finding(
            "RAID controller",
            Severity.YELLOW,
            "a virtual drive of a RAID controller, whose settings could not be seen",
            ", ".join(behind),
            "write-back and read-ahead slow SSDs down, and TRIM does not pass",
            "# install storcli (MegaRAID, PERC) or arcconf (Adaptec), then audit again as root",
            _SOURCE,
        )


def _megaraid(machine: Machine) -> Iterator[Finding]:
    for program in ("storcli64", "storcli", "perccli64"):
        answer = machine.system.run(program, "/cALL/vALL", "show", "J")
        if answer is not None:
            for drive in _virtual_drives(answer):
                yield from _cache(program, drive)
            return


def _virtual_drives(answer: str) -> Iterator[dict[str, Any]]:
    try:
        controllers = json.loads(answer)["Controllers"]
        for number, controller in enumerate(controllers):
            for drive in controller["Response Data"]["Virtual Drives"]:
                yield {"controller": number, **drive}
    except (ValueError, KeyError, TypeError):
        return


def _cache(program: str, drive: dict[str, Any]) -> Iterator[Finding]:
    cache, place = str(drive.get("Cache", "")), str(drive.get("DG/VD", "0/0"))
    target = f"/c{drive['controller']}/v{place.rpartition('/')[2]}"
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


def _adaptec(machine: Machine) -> Iterator[Finding]:
    answer = machine.system.run("arcconf", "GETCONFIG", "1", "LD")
    number = "0"
    for line in (answer or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        number = key.rpartition(" ")[2] if key.startswith("Logical Device number") else number
        if key == "Write-cache setting" and value.startswith("On"):
            remedy = f"arcconf SETCACHE 1 LOGICALDRIVE {number} wt"
            what = "write-back cache before SSDs"
            why = "the controller becomes the bottleneck of random writes"
            yield Finding("RAID controller", Severity.YELLOW, what, number, why, remedy, _SOURCE)
        if key == "Read-cache setting" and value.startswith("Enabled"):
            remedy = f"arcconf SETCACHE 1 LOGICALDRIVE {number} roff"
            what = "read-ahead before SSDs"
            why = "random reads fetch what nobody asked for"
            yield Finding("RAID controller", Severity.YELLOW, what, number, why, remedy, _SOURCE)
