"""Scheduler and queue: an SSD needs no ordering by place, and does better with many requests.

``none`` and ``mq-deadline`` (``noop`` and ``deadline`` of old) hand requests on; bfq, cfq and kyber
hold them back to share out a disk's head or to steer latency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.audit.device import Device, whole
from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.remedy import drive_rule, setting

_GOOD = {"none", "noop", "mq-deadline", "deadline"}
_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (deadline); Linux Documentation/block (none for NVMe)"
_FEWEST_REQUESTS = 32


def check(machine: Machine) -> Iterator[Finding]:
    """Check the queue of every SSD."""
    good = []
    for name in machine.ssds():
        drive = machine.topology.devices[name]
        found = [*_scheduler(drive), *_requests(drive), *_native_queue(drive)]
        yield from found
        if not found and "scheduler" in drive.queue:
            good.append(drive.label)
    if good:
        yield Finding("scheduler", Severity.GREEN, "scheduler and queue suit SSDs", ", ".join(good))


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
    active = active_scheduler(drive.queue.get("scheduler", ""))
    if not active or active in _GOOD:
        return
    yield Finding(
        "scheduler",
        Severity.YELLOW,
        f"the scheduler is {active}",
        drive.label,
        "it spends CPU time and delays requests to save seeks, which an SSD does not have",
        setting(
            "hands requests to the drive as they come",
            f"/sys/block/{drive.name}/queue/scheduler",
            "none",
            active,
            drive_rule("60-ssd-scheduler", drive, "queue/scheduler", "none"),
        ),
        _SOURCE,
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
