"""Encryption: whether the CPU has instructions for it, without which it is the slowest layer.

Only AES is asked about. Which cipher a device has tells dmsetup's table, to root; cryptsetup's own
choice is AES. What CPUs other than x86 and ARM call theirs is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import advice

_SOURCE = (
    "test of SSDs under LVM and dm-crypt (AES instructions); "
    "Linux /proc/cpuinfo: flags (x86), Features (ARM); cryptsetup-benchmark(8)"
)

_AES = re.compile(r"aes\b|capi:.*\(aes\)")
"""dm-crypt's two notations; ``xchacha12,aes-adiantum`` is meant for CPUs without them."""


def check(machine: Machine) -> Iterator[Finding]:
    """Check every encrypted device that is in use."""
    crypts = [
        device
        for device in machine.devices
        if device.kind == "crypt" and _AES.match(device.details.get("cipher", "aes"))
    ]
    if not crypts:
        return
    where = ", ".join(device.label for device in crypts)
    told = machine.system.read("/proc/cpuinfo") or ""
    lists = re.findall(r"^(?:flags|Features)\s*:(.*)$", told, re.MULTILINE)
    if not lists:
        because = "the kernel does not list the CPU's instructions"
        yield not_looked_at("encryption", because, where)
    elif all("aes" in each.split() for each in lists):
        what = "the CPU has AES instructions"
        yield Finding("encryption", Severity.GREEN, what, where)
    elif any("cipher" not in device.details for device in crypts):
        because = "the CPU has no AES instructions, and only root can see which cipher is used"
        yield not_looked_at("encryption", because, where)
    else:
        yield _without(where)


def _without(where: str) -> Finding:
    return Finding(
        "encryption",
        Severity.YELLOW,
        "AES on a CPU without AES instructions",
        where,
        "every byte is encrypted in software: the CPU is busy, and a fast SSD waits for it",
        advice(
            "look whether the firmware setup, or the host of a virtual machine, keeps the "
            "instructions from this system; cryptsetup benchmark shows what encryption reaches",
            "none",
            "set it back",
        ),
        _SOURCE,
    )
