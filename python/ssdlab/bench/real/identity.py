"""Which drive it is: model, serial number, firmware, size, and the protocol it speaks.

smartctl is believed where it answers, then sysfs (SCSI's fields are cut, ``audit.identity`` says
how). The user sees this before anything is destroyed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.bench.real.node import Node
from ssdlab.ground.untrusted import text
from ssdlab.real.device import whole
from ssdlab.real.system import System

BLANKED = "(left out)"


@dataclass(frozen=True)
class DeviceIdentity:
    """What is known of a drive.

    Attributes
    ----------
    path
        Its node.
    model, serial, firmware
        As it tells them; empty where it does not.
    kind
        ``nvme``, ``sata``, ``scsi``, ``virtual``, ``loop``, ``md``, ``mapped`` or ``other``.
    size_bytes
        What it exports.
    logical_block_bytes, physical_block_bytes
        The smallest request, and what the drive says that it writes at least.
    is_partition
        Whether it is a part of a drive.
    """

    path: str
    model: str
    serial: str
    firmware: str
    kind: str
    size_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int
    is_partition: bool = False

    def lines(self) -> list[str]:
        """Say which drive it is, for people to compare with the label on it."""
        return [
            f"{self.path}: {self.model or 'model unknown'}",
            f"  serial number  {self.serial or 'unknown'}",
            f"  firmware       {self.firmware or 'unknown'}",
            f"  capacity       {self.size_bytes / 1e9:.6g} GB ({self.size_bytes} bytes), "
            f"{self.kind}, sectors of {self.logical_block_bytes} bytes"
            + (", a partition" if self.is_partition else ""),
        ]

    def blanked(self) -> DeviceIdentity:
        """Leave the serial number out."""
        return replace(self, serial=BLANKED if self.serial else "")

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON."""
        return dict(vars(self))


def identify(node: Node, system: System) -> DeviceIdentity:
    """Ask a drive who it is."""
    told = _asked(node, system)
    folder = f"{node.drive_folder}/device"
    vendor = text(system.read(f"{folder}/vendor") or "")
    names = (vendor, text(system.read(f"{folder}/model") or ""))
    # A virtual drive shows the number of its bus's vendor there.
    shown = " ".join(each for each in names if each and not each.startswith("0x"))
    firmware = system.read(f"{folder}/firmware_rev") or system.read(f"{folder}/rev") or ""
    return DeviceIdentity(
        path=node.path,
        model=text(told.get("model_name")) or _made_of(node, system) or shown,
        serial=text(told.get("serial_number")) or _serial(node, system),
        firmware=text(told.get("firmware_version")) or text(firmware),
        kind=_kind(node, vendor, told),
        size_bytes=node.size_bytes,
        logical_block_bytes=whole(node.queue(system, "logical_block_size")) or 512,
        physical_block_bytes=whole(node.queue(system, "physical_block_size")) or 512,
        is_partition=node.is_partition,
    )


def _asked(node: Node, system: System) -> Mapping[str, Any]:
    if not (node.is_nvme or node.is_scsi):
        return {}
    answer = system.run("smartctl", "--json", "--info", f"/dev/{node.drive}")
    try:
        content = json.loads(answer or "{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, Mapping) else {}


def _serial(node: Node, system: System) -> str:
    for place in ("serial", "device/serial", "dm/uuid", "md/uuid"):
        found = text(system.read(f"{node.drive_folder}/{place}") or "")
        if found:
            return found
    # SCSI's page 80h: four bytes, then the number itself.
    page = system.read(f"{node.drive_folder}/device/vpd_pg80") or ""
    return text("".join(re.findall(r"[\w-]+", page, re.ASCII)))


def _made_of(node: Node, system: System) -> str:
    """Say what a layer stands on, which is all the model that it has."""
    backing = system.read(f"{node.drive_folder}/loop/backing_file")
    if backing:
        return f"loop device over {backing}"
    level = system.read(f"{node.drive_folder}/md/level")
    slaves = ", ".join(system.entries(f"{node.drive_folder}/slaves"))
    if level:
        return f"md {level} of {slaves}"
    name = system.read(f"{node.drive_folder}/dm/name")
    return f"{name} on {slaves}" if name else ""


def _kind(node: Node, vendor: str, told: Mapping[str, Any]) -> str:
    protocol = told.get("device")
    spoken = text(protocol.get("protocol")) if isinstance(protocol, Mapping) else ""
    if node.is_nvme:
        return "nvme"
    if node.is_scsi:
        return "sata" if vendor == "ATA" or spoken == "ATA" else "scsi"
    for prefix, kind in (("loop", "loop"), ("md", "md"), ("dm-", "mapped")):
        if node.drive.startswith(prefix):
            return kind
    return "virtual" if re.match(r"x?vd[a-z]", node.drive) else "other"
