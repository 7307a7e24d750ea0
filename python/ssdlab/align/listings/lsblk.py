"""What `lsblk -J -b` lists, with the column START (util-linux 2.38 and later).

START is sysfs's ``start``, which counts sectors of 512 bytes on every drive. What lies in a
partition (LUKS, LVM, md) is listed without where it begins, so partitions are judged only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.align.listings.model import ListedDisk, ListedPartition, Start, idle_reason
from ssdlab.errors import SsdlabError

_SYSFS_SECTOR_BYTES = 512
_ASK = "lsblk -J -b -o NAME,TYPE,START,SIZE,LOG-SEC,PHY-SEC,OPT-IO,PARTTYPE"
_ABOVE = "lsblk does not say where the layers in a partition begin; they are not judged"


def read_lsblk(root: Mapping[str, Any], name: str) -> list[ListedDisk]:
    """Read the tree that lsblk printed.

    Raises
    ------
    SsdlabError
        It is not of lsblk's form, or START is missing.
    """
    devices = root["blockdevices"]
    place = f"listing {name}: blockdevices"
    if not isinstance(devices, list) or not all(isinstance(each, dict) for each in devices):
        raise SsdlabError(f"{place}: expected a list of devices, as {_ASK} prints")
    flat = [each for each in devices if each.get("type") == "part"]
    found = [
        _disk(each, [*_partitions(each), *_of(each, flat)], place)
        for each in devices
        if each.get("type") != "part"
    ]
    listed = [disk for disk in found if disk.partitions or disk.capacity is not None]
    if not any(disk.partitions for disk in listed) and flat:
        raise SsdlabError(f"{place}: partitions without their drives; list both: {_ASK}")
    return listed


def _partitions(device: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    children = device.get("children", [])
    for child in children if isinstance(children, list) else []:
        if isinstance(child, dict) and child.get("type") == "part":
            yield child


def _of(device: Mapping[str, Any], flat: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the partitions of a device in a list without a tree: sda1 is of sda, not of sd or s."""
    named = re.compile(re.escape(str(device.get("name"))) + r"(?:p|-part)?\d+")
    return [each for each in flat if named.fullmatch(str(each.get("name")))]


def _disk(device: Mapping[str, Any], partitions: list[Mapping[str, Any]], place: str) -> ListedDisk:
    listed = tuple(_partition(each, place) for each in partitions)
    above = any(each.get("children") for each in partitions)
    return ListedDisk(
        str(device.get("name")),
        listed,
        _number(device, "log-sec"),
        _number(device, "phy-sec"),
        _number(device, "opt-io"),
        _number(device, "size"),
        (_ABOVE,) if above else (),
    )


def _partition(device: Mapping[str, Any], place: str) -> ListedPartition:
    start = _number(device, "start")
    if start is None:
        raise SsdlabError(f"{place}: {device.get('name')} has no start; list it with: {_ASK}")
    types = (str(device.get(key) or "") for key in ("parttype", "parttypename"))
    return ListedPartition(
        str(device.get("name")),
        Start.at(start * _SYSFS_SECTOR_BYTES),
        _number(device, "size"),
        idle_reason(*types),
    )


def _number(device: Mapping[str, Any], key: str) -> int | None:
    """Take a number, which old versions print as text; a size such as 1.8T is none."""
    text = str(device.get(key))
    return int(text) if text.isdecimal() and len(text) < 25 else None
