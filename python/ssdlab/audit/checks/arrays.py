"""Linux software RAID: whether it holds together, is checked, and tells when it fails.

``mismatch_cnt`` counts 512-byte sectors that differed in the last check. On RAID 4, 5 and 6 any is
a sign of trouble. On RAID 1 and 10 a page that was changed while it was written (swap,
memory-mapped files) leaves a harmless one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import PARITY, REDUNDANT, Device, whole

_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (checkarray, mismatch_cnt, MAILADDR); md(4)"
_TIMERS = (
    "/etc/systemd/system/mdmonitor.service.wants/mdcheck_start.timer",
    "/usr/lib/systemd/system/mdmonitor.service.wants/mdcheck_start.timer",
    "/lib/systemd/system/mdmonitor.service.wants/mdcheck_start.timer",
    "/etc/systemd/system/timers.target.wants/mdcheck_start.timer",
    "/etc/cron.d/mdadm",
    "/etc/cron.d/raid-check",
)
_CONFIGURATIONS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")


def check(machine: Machine) -> Iterator[Finding]:
    """Check every array that is asked about."""
    arrays = [
        machine.topology.devices[name]
        for name in sorted(machine.chosen)
        if machine.topology.devices[name].kind == "md"
    ]
    redundant = [array for array in arrays if array.details.get("level") in REDUNDANT]
    good = True
    for finding in (each for array in redundant for each in _array(machine, array)):
        good = False
        yield finding
    if redundant:
        house = [*_schedule(machine), *_mail(machine)]
        yield from house
        if good and not house:
            labels = ", ".join(array.label for array in redundant)
            yield Finding("arrays", Severity.GREEN, "complete, consistent and checked", labels)


def _array(machine: Machine, array: Device) -> Iterator[Finding]:
    missing = whole(array.details.get("degraded")) or 0
    if missing > 0:
        yield Finding(
            "arrays",
            Severity.RED,
            f"{missing} of its drives missing",
            array.label,
            "the next failure may take the data",
            f"mdadm --detail {array.word}\nmdadm --manage {array.word} --add /dev/NEW",
            _SOURCE,
        )
    mismatches = whole(array.details.get("mismatch_cnt")) or 0
    if mismatches > 0:
        yield _mismatch(machine, array, mismatches)


def _mismatch(machine: Machine, array: Device, sectors: int) -> Finding:
    swap = any(use.kind == "swap" for use in machine.topology.users(array.name))
    if array.details.get("level") in PARITY:
        severity, why = (
            Severity.RED,
            "data and parity differ: a drive, cable or controller is in trouble",
        )
    elif swap:
        severity, why = Severity.YELLOW, "on a mirror with swap this is usually harmless"
    else:
        severity, why = (
            Severity.YELLOW,
            "the halves differ; harmless only where memory-mapped files were written",
        )
    return Finding(
        "arrays",
        severity,
        f"{sectors} sectors did not match in the last check",
        array.label,
        why,
        f"echo repair > /sys/block/{array.name}/md/sync_action\n"
        "# when it is done, check again:\n"
        f"echo check > /sys/block/{array.name}/md/sync_action",
        _SOURCE,
    )


def _schedule(machine: Machine) -> Iterator[Finding]:
    if any(machine.system.read(path) is not None for path in _TIMERS):
        return
    yield Finding(
        "arrays",
        Severity.YELLOW,
        "no regular check of the arrays is scheduled",
        "mdcheck_start.timer, /etc/cron.d/mdadm",
        "errors in what is never read are found when a drive fails and it is too late",
        "systemctl enable --now mdcheck_start.timer mdcheck_continue.timer",
        _SOURCE,
    )


def _mail(machine: Machine) -> Iterator[Finding]:
    texts = [machine.system.read(path) for path in _CONFIGURATIONS]
    if any(
        text and re.search(r"^\s*(MAILADDR|PROGRAM)\s+\S", text, re.MULTILINE) for text in texts
    ):
        return
    yield Finding(
        "arrays",
        Severity.YELLOW,
        "nobody is told when a drive of an array fails: MAILADDR is not set",
        "/etc/mdadm/mdadm.conf",
        "a degraded array goes on working, until the next drive",
        "echo 'MAILADDR root' >> /etc/mdadm/mdadm.conf\nsystemctl restart mdmonitor",
        _SOURCE,
    )
