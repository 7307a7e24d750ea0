"""Layouts in which the host around the drives is right or wrong."""

from __future__ import annotations

import json

from builders import host
from layout import Layout
from machine import GIB, MadeMachine


def hanging(policy: str) -> MadeMachine:
    """Make the drive that hangs while its link may sleep, on a host of that policy."""
    machine = MadeMachine().drive(
        "sda", device_vendor="ATA", device_model="STT_FTM56GX25H", device_rev="1819"
    )
    machine.partition("sda1", "sda", start=2048, size=40 * GIB).mount("sda1", "/")
    return host(machine, policy)


def nameless_family() -> MadeMachine:
    """Make an SSD that tells its health by attributes that nobody documented."""
    attribute = {"id": 173, "name": "Unknown_Attribute", "value": 50, "worst": 50, "thresh": 0}
    report = {
        "model_name": "OBSCURE SSD",
        "firmware_version": "1",
        "rotation_rate": 0,
        "smart_status": {"passed": True},
        "ata_smart_attributes": {"table": [{**attribute, "raw": {"value": 12, "string": "12"}}]},
    }
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=2048).mount("sda1", "/")
    return machine.command("smartctl --json -x --nocheck=standby /dev/sda", json.dumps(report))


HOST = (
    Layout(
        "drive that hangs if its link sleeps, and it does",
        lambda: hanging("min_power"),
        (("known faults", "red"), ("link", "yellow")),
        "/dev/sda",
        "leave link power management at the kernel's default",
    ),
    Layout(
        "drive that hangs if its link sleeps, and it does not", lambda: hanging("max_performance")
    ),
    Layout("SSD of a family that is not known", nameless_family, unseen=("wear",)),
)
