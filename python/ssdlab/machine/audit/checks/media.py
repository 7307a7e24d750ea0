"""What a drive is made of: whether what calls itself a disk is one, and what cannot be known.

The kernel believes bridges and controllers that call an SSD rotating, and then treats it so. A
virtual machine's drives may lie on anything, whatever they say of themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.audit.checks.raid_controller import is_behind_controller
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import drive_rule, setting
from ssdlab.real.device import Device

_SOURCE = "Linux sysfs-block: rotational"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every drive."""
    known, virtual, unsure = [], [], []
    for drive in machine.drives:
        rotates = drive.queue.get("rotational") == "1"
        if drive.is_virtual:
            virtual.append(drive.label)
        elif is_behind_controller(drive):
            continue
        elif rotates and machine.identity(drive).is_ssd:
            yield _calls_itself_a_disk(machine, drive)
        elif rotates and not machine.identity(drive).is_asked:
            unsure.append(drive.label)
        elif "rotational" in drive.queue:
            known.append(drive.label)
    if known:
        yield Finding(
            "media",
            Severity.GREEN,
            "the kernel takes SSDs for SSDs and disks for disks",
            ", ".join(known),
        )
    if virtual:
        because = "this is a virtual machine, which cannot see what its drives are"
        yield not_looked_at("media", because, ", ".join(virtual))
    if unsure:
        because = (
            "they report themselves as hard disks, as some SSDs do, and smartctl did not answer"
        )
        yield not_looked_at("media", because, ", ".join(unsure))


def _calls_itself_a_disk(machine: Machine, drive: Device) -> Finding:
    return Finding(
        "media",
        Severity.YELLOW,
        f"{machine.identity(drive).model} is an SSD and calls itself a rotating disk",
        drive.label,
        "the kernel reads ahead and orders requests as for a disk, and tools leave it out",
        setting(
            "tells the kernel that it does not rotate",
            f"/sys/block/{drive.name}/queue/rotational",
            "0",
            "1",
            # Before the rules for SSDs, which may ask for it.
            drive_rule("59-ssd-rotational", drive, "queue/rotational", "0"),
        ),
        _SOURCE,
    )
