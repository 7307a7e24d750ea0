"""RAID controllers by family: how their virtual drives are known, and which tool asks them.

A virtual drive is known by vendor and model, which differ by who sells the controller (Lenovo,
Fujitsu, Dell, Intel, Cisco and HPE sell Broadcom's MegaRAID under names of their own), or by its
driver: megaraid_sas puts virtual drives on SCSI channels 2 and up, drives passed through below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ssdlab.real.device import Device, whole
from ssdlab.real.system import System

MEGARAID, SMART_ARRAY, ADAPTEC, OTHER = "MegaRAID", "Smart Array", "Adaptec", "other"
STORCLI = ("storcli64", "storcli", "perccli64", "perccli")
"""MegaRAID's program by the names under which it is installed."""
PHYSICAL = "physicaldrive"
"""What ssacli calls a drive behind the controller."""
SSACLI = ("ssacli", "hpssacli", "hpacucli")
TOOLS = {
    MEGARAID: "storcli (perccli for Dell)",
    SMART_ARRAY: "ssacli",
    ADAPTEC: "arcconf",
    OTHER: "its maker's tool, which is not known here,",
}
_FIRST_VIRTUAL_CHANNEL = 2
_MOST_CONTROLLERS = 16
_FOUND = "Controllers found"
_DISKS = ("HDD", "SAS", "SATA", "Parallel SCSI")
"""What storcli (Med) and ssacli (Interface Type) call hard disks."""
_NAMES = (
    (SMART_ARRAY, re.compile(r"^(HP|HPE|COMPAQ)\s+LOGICAL VOLUME", re.I)),
    (OTHER, re.compile(r"DELLBOSS|^LSILOGIC|Areca|RocketRAID|^AMCC|3ware|MARVELL Raid", re.I)),
    (
        MEGARAID,
        re.compile(
            r"\bLSI\b|MegaRAID|\bPERC|AVAGO|BROADCOM|\bMR\d|ServeRAID|PRAID|MRAID|MRSAS|"
            r"^Lenovo\s+(RAID|ThinkSystem)|^Intel\s+R(MS|S)\d|\bSMC\d{4}|\bRAID \d{3,4}-\d+i",
            re.I,
        ),
    ),
    (ADAPTEC, re.compile(r"Adaptec|LogicalDrv|SmartIOC|SmartRAID|LOGICAL VOLUME", re.I)),
)


def family_of(drive: Device) -> str | None:
    """Name the family of the controller that a virtual drive belongs to; None for other drives."""
    if drive.kind != "drive":
        return None
    vendor = drive.details.get("vendor", "").strip()
    told = f"{vendor} {drive.details.get('model', '').strip()}"
    for family, pattern in _NAMES:
        # Dell's BOSS calls itself an ATA drive; any other of these is one passed through.
        if pattern.search(told) and (vendor != "ATA" or family == OTHER):
            return family
    is_megaraid = drive.details.get("driver") == "megaraid_sas"
    return MEGARAID if is_megaraid and _channel(drive) >= _FIRST_VIRTUAL_CHANNEL else None


def _channel(drive: Device) -> int:
    """Give the second part of its address, host:channel:target:lun."""
    parts = drive.details.get("address", "").split(":")
    return (whole(parts[1]) or 0) if len(parts) == 4 else 0


def storcli(system: System, *words: str) -> tuple[str, list[dict[str, Any]]]:
    """Ask MegaRAID's program; gives its name and what each controller answered."""
    for program in STORCLI:
        answer = system.run(program, *words, "J")
        if answer is None:
            continue
        try:
            controllers = json.loads(answer)["Controllers"]
            return program, [_response(controller) for controller in controllers]
        except (ValueError, KeyError, TypeError, RecursionError):
            return program, []
    return "", []


def _response(controller: Any) -> dict[str, Any]:
    data = controller.get("Response Data") if isinstance(controller, dict) else None
    return data if isinstance(data, dict) else {}


def rows(response: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a table in storcli's answer; one in another form has nothing in it."""
    table = response.get(name)
    for row in table if isinstance(table, list) else []:
        yield row if isinstance(row, dict) else {}


def ssacli(system: System) -> tuple[str, list[tuple[str, str, str, str]]]:
    """Ask HPE's program; gives its name, and of every line slot, place in it, key and value.

    The place is empty for the controller itself, or ``array A``, ``logical drive 1`` or
    ``physicaldrive 1I:1:1``.
    """
    for program in SSACLI:
        answer = system.run(program, "ctrl", "all", "show", "config", "detail")
        if answer is not None:
            return program, list(_ssacli_lines(answer))
    return "", []


def _ssacli_lines(answer: str) -> Iterator[tuple[str, str, str, str]]:
    slot, place, is_other = "", "", False
    for line in answer.splitlines():
        header = re.match(r"\S.* in Slot (\w+)", line)
        key, _, value = (each.strip() for each in line.partition(":"))
        drive = re.match(rf"\s*({PHYSICAL} [\w:]+)", line, re.I)
        if header or drive or key in ("Array", "Logical Drive"):
            is_other = False
        if header:
            slot, place = header[1], ""
        elif drive:
            place = drive[1]
        elif re.match(r"\s*(enclosure|expander|SEP|Port Name)\b", line, re.I):
            is_other = True
        elif key in ("Array", "Logical Drive"):
            place = f"{key.lower()} {value}"
        elif slot and value and not is_other:
            yield slot, place, key, value


def arcconf(system: System, part: str) -> list[tuple[int, list[tuple[str, str]]]]:
    """Ask Adaptec's program of every controller; gives its number, and key and value of each line.

    Parameters
    ----------
    system
        The machine.
    part
        ``AD`` for the controller, ``LD`` for its logical devices.
    """
    answers = []
    number, last = 1, 1
    while number <= min(last, _MOST_CONTROLLERS):
        lines = (system.run("arcconf", "GETCONFIG", str(number), part) or "").splitlines()
        pairs = [tuple(each.strip() for each in line.partition(":")) for line in lines]
        told = [(key, value) for key, _, value in pairs]
        if told:
            answers.append((number, told))
        # The first answer says how many there are.
        last = max([last, *(whole(value) or 0 for key, value in told if key == _FOUND)])
        number += 1
    return answers


def media(system: System, family: str, devices: list[Device]) -> str | None:
    """Say what is behind a controller: ``ssd`` (some at least), ``disk``, or None if unknown."""
    if any(device.queue.get("rotational") == "0" for device in devices):
        return "ssd"
    told: list[str] = []
    if family == MEGARAID:
        _, answers = storcli(system, "/cALL/eALL/sALL", "show")
        told = [str(row.get("Med")) for each in answers for row in rows(each, "Drive Information")]
    elif family == SMART_ARRAY:
        _, lines = ssacli(system)
        told = [
            value
            for _, place, key, value in lines
            if key == "Interface Type" and not place.startswith(PHYSICAL)
        ]
    if any("SSD" in each or "Solid State" in each for each in told):
        return "ssd"
    return "disk" if told and all(each in _DISKS for each in told) else None
