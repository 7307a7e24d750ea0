"""Scheduler and queue: an SSD needs no ordering by place, and does better with many requests.

``none`` and ``mq-deadline`` (``noop`` and ``deadline`` of old) hand requests on; bfq, cfq and kyber
hold them back to share out a disk's head or to steer latency. The remedy is one that the kernel
has: it lists them for each drive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, drive_rule, refused, setting
from ssdlab.real.device import Device, whole

_GOOD = ("none", "noop", "mq-deadline", "deadline")
"""Those that hand requests on, the plainest first: ``noop`` and ``deadline`` before Linux 5.0."""
_HOLDING = {"bfq", "cfq", "kyber", "anticipatory", "adios", "bfq-mq"}
_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (deadline); Linux Documentation/block (none for NVMe)"
_FEWEST_REQUESTS = 32


def check(machine: Machine) -> Iterator[Finding]:
    """Check the queue of every SSD."""
    good, unseen = [], []
    for name in machine.ssds():
        drive = machine.topology.devices[name]
        found = [*_scheduler(drive), *_requests(drive), *_native_queue(drive)]
        yield from found
        if not found and drive.queue.get("scheduler"):
            good.append(drive.label)
        elif not found:
            unseen.append(drive.label)
    if good:
        yield Finding("scheduler", Severity.GREEN, "scheduler and queue suit SSDs", ", ".join(good))
    if unseen:
        because = "the kernel does not show which scheduler they have"
        yield not_looked_at("scheduler", because, ", ".join(unseen))


def active_scheduler(text: str) -> str:
    """Give the scheduler in use: the one in brackets.

    Examples
    --------
    >>> active_scheduler("none [mq-deadline] bfq"), active_scheduler("none")
    ('mq-deadline', 'none')
    """
    found = re.search(r"\[(.+?)\]", text)
    return found[1] if found else text


def _scheduler(drive: Device) -> Iterator[Finding]:
    told = drive.queue.get("scheduler", "")
    active = active_scheduler(told)
    if not active or active in _GOOD:
        return
    if active not in _HOLDING:
        because = f"what the scheduler {active} does is not known here (the kernel lists: {told})"
        yield not_looked_at("scheduler", because, drive.label)
        return
    yield Finding(
        "scheduler",
        Severity.YELLOW,
        f"the scheduler is {active}",
        drive.label,
        "it spends CPU time and delays requests to save seeks, which an SSD does not have",
        _choose(drive, told, active),
        _SOURCE,
    )


def _choose(drive: Device, told: str, active: str) -> Remedy:
    """Choose among the schedulers that this kernel has for the drive."""
    listed = [name.strip("[]") for name in told.split()]
    wanted = next((name for name in _GOOD if name in listed), "")
    if not wanted:
        return refused(
            f"this kernel has no scheduler for {drive.label} that only hands requests on "
            f"(it lists: {told}); a kernel with mq-deadline or none does"
        )
    return setting(
        "hands requests to the drive as they come",
        f"/sys/block/{drive.name}/queue/scheduler",
        wanted,
        active,
        drive_rule("60-ssd-scheduler", drive, "queue/scheduler", wanted),
    )


def _requests(drive: Device) -> Iterator[Finding]:
    requests = drive.number("nr_requests")
    if requests is not None and 0 < requests < _FEWEST_REQUESTS:
        yield Finding(
            "scheduler",
            Severity.YELLOW,
            f"only {requests} requests can queue",
            drive.label,
            "depth is what keeps a drive's dies busy",
            setting(
                "lets 64 requests wait",
                f"/sys/block/{drive.name}/queue/nr_requests",
                "64",
                str(requests),
                # After the scheduler's: a new scheduler sets the number anew.
                drive_rule("61-ssd-nr-requests", drive, "queue/nr_requests", "64"),
            ),
            _SOURCE,
        )


def _native_queue(drive: Device) -> Iterator[Finding]:
    depth = whole(drive.details.get("queue_depth"))
    if drive.name.startswith("sd") and depth == 1:
        yield Finding(
            "scheduler",
            Severity.YELLOW,
            "one command at a time: NCQ is off",
            drive.label,
            "at depth 1 one die works and the others wait; random reads lose most",
            setting(
                "gives the drive up to 31 commands at a time; if it stays at 1, the controller is "
                "in IDE mode (firmware setup), or the kernel knows that the drive fails with NCQ",
                f"/sys/block/{drive.name}/device/queue_depth",
                "31",
                "1",
                drive_rule("60-ssd-queue-depth", drive, "device/queue_depth", "31"),
            ),
            "Thomas-Krenn SSD e-book, ch. 2 (AHCI and NCQ)",
        )
