"""What `lsblk -J -b` lists, with the column START (util-linux 2.38 and later).

START is sysfs's ``start``, which counts sectors of 512 bytes on every drive. What lies in a
partition (LUKS, LVM, md) is listed without where it begins, so partitions are judged only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread
from ssdlab.machine.align.listings.lsblk_table import COLUMNS, LSBLK_WHOLE, layers_note
from ssdlab.machine.align.listings.model import (
    ListedDisk,
    ListedPartition,
    Listing,
    Start,
    idle_reason,
    may_hold,
)

_SYSFS_SECTOR_BYTES = 512
_ASK = "lsblk -J -b -o NAME,TYPE,START,SIZE,LOG-SEC,PHY-SEC,OPT-IO,PARTTYPE"
_KNOWN = frozenset({"children", *(each.lower() for each in COLUMNS)})
_Device = Mapping[str, Any]


def read_lsblk(root: Mapping[str, Any], name: str) -> Listing:
    """Read the tree that lsblk printed.

    Raises
    ------
    SsdlabError
        It is not of lsblk's form.
    """
    devices = root["blockdevices"]
    if not isinstance(devices, list) or not all(isinstance(each, dict) for each in devices):
        raise SsdlabError(
            f"listing {name}: blockdevices: expected a list of devices, as {_ASK} prints"
        )
    unread = [
        Unread(key, str(value), "not a part that lsblk -J is known to print")
        for key, value in root.items()
        if key != "blockdevices"
    ]
    placed = list(_all(devices, "blockdevices", unread))
    parts = [(place, each, above) for place, each, above in placed if _kind(each) == "part"]
    disks: list[ListedDisk] = []
    used: set[str] = set()
    for place, device, above in placed:
        if _kind(device) == "part":
            continue
        if _kind(device) not in LSBLK_WHOLE:
            unread.append(Unread(f"{place}.type", _kind(device), "a type that is not known here"))
        if device.get("start") not in (None, "", 0, "0"):
            why = f"{device.get('name')} is no partition, and has a start"
            unread.append(Unread(f"{place}.start", str(device["start"]), why))
        mine = [each for each in parts if each[0] not in used and _is_of(each, device)]
        used.update(place for place, _, _ in mine)
        if mine or above is None:
            disks.append(_disk(device, mine, unread))
    for place, each, _ in parts:
        if place not in used:
            why = f"its drive is not listed; list both: {_ASK}"
            unread.append(Unread(place, str(dict(each)), why))
    listed = tuple(disk for disk in disks if disk.partitions or disk.capacity is not None)
    return Listing(("lsblk -J",), listed, tuple(unread))


def _all(
    devices: list[Any], place: str, unread: list[Unread], above: _Device | None = None
) -> Iterator[tuple[str, _Device, _Device | None]]:
    """Give every device of the tree once, with its place and what it hangs from."""
    for number, device in enumerate(devices):
        here = f"{place}[{number}]"
        if not isinstance(device, dict):
            unread.append(Unread(here, str(device), "not a device as lsblk -J prints it"))
            continue
        unread.extend(
            Unread(f"{here}.{key}", str(value), "not a column that lsblk is known to have")
            for key, value in device.items()
            if key not in _KNOWN
        )
        yield here, device, above
        children = device.get("children", [])
        if isinstance(children, list):
            yield from _all(children, f"{here}.children", unread, device)
        else:
            unread.append(Unread(f"{here}.children", str(children), "not a list of devices"))


def _kind(device: _Device) -> str:
    return str(device.get("type", "disk"))


def _is_of(part: tuple[str, _Device, _Device | None], device: _Device) -> bool:
    """Whether a partition is a device's; in a list without a tree sda1 is of sda, not of sd."""
    _, each, above = part
    if above is not None:
        return above is device
    named = re.compile(re.escape(str(device.get("name"))) + r"(?:p|-part)?\d+")
    return bool(named.fullmatch(str(each.get("name"))))


def _disk(
    device: _Device, parts: list[tuple[str, _Device, _Device | None]], unread: list[Unread]
) -> ListedDisk:
    capacity = _number(device, "size")
    listed = []
    for place, each, _ in parts:
        found = _partition(each)
        if found is None:
            why = f"expected a start in sectors; list it with: {_ASK}"
            unread.append(Unread(f"{place}.start", str(each.get("start")), why))
        elif capacity and found.start.low >= capacity:
            why = f"it begins beyond the device of {capacity} bytes"
            unread.append(Unread(f"{place}.start", str(each.get("start")), why))
        else:
            listed.append(found)
    layers = list(_layers(device))
    return ListedDisk(
        str(device.get("name")),
        tuple(listed),
        _number(device, "log-sec"),
        _number(device, "phy-sec"),
        _number(device, "opt-io"),
        capacity,
        (layers_note(layers),) if layers else (),
    )


def _layers(device: _Device) -> Iterator[str]:
    """Name what lies on a device or in its partitions, all the way up."""
    children = device.get("children")
    for each in children if isinstance(children, list) else ():
        if isinstance(each, dict):
            if _kind(each) != "part":
                yield str(each.get("name"))
            yield from _layers(each)


def _partition(device: _Device) -> ListedPartition | None:
    name = str(device.get("name"))
    types = [str(device.get(key) or "") for key in ("parttype", "parttypename")]
    size, idle, holds = _number(device, "size"), idle_reason(*types), may_hold(*types)
    if "start" not in device:
        return ListedPartition(name, Start.anywhere(), size, idle)
    start = _number(device, "start")
    if start is None:
        return None
    return ListedPartition(name, Start.at(start * _SYSFS_SECTOR_BYTES), size, idle, may_hold=holds)


def _number(device: _Device, key: str) -> int | None:
    """Take a number, which old versions print as text; a size such as 1.8T is none."""
    text = str(device.get(key))
    return int(text) if text.isdecimal() and len(text) < 25 else None
