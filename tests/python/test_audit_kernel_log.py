"""The audit reads the kernel's log: lines as kernels write them, and whose they are."""

from __future__ import annotations

import pytest

from builders import logged, plain
from machine import MadeMachine
from ssdlab.machine.audit.checks.kernel_log import DMESG, JOURNAL, interesting
from ssdlab.machine.audit.finding import Finding
from ssdlab.machine.audit.walk import audit
from ssdlab.machine.verdict import Verdict


def found(made: MadeMachine) -> list[Finding]:
    return [each for each in audit(made.system()).findings if each.check == "kernel_log"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            "I/O error, dev sda, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
            "1 failed requests",
        ),
        ("blk_update_request: I/O error, dev sda1, sector 0 op 0x1:(WRITE)", "1 failed requests"),
        ("critical medium error, dev sda, sector 12345 op 0x0:(READ)", "1 failed requests"),
        ("critical target error, dev sda, sector 0 op 0x3:(DISCARD)", "1 failed requests"),
        ("ata3.00: failed command: WRITE FPDMA QUEUED", "1 failed commands"),
        ("ata3.00: exception Emask 0x10 SAct 0x4 SErr 0x400100 action 0x6", "1 link errors"),
        ("ata3: limiting SATA link speed to 3.0 Gbps", "1 link errors"),
        ("ata3: hard resetting link", "1 link resets"),
    ],
)
def test_lines_of_kernels(line: str, what: str) -> None:
    """Each is counted, and quoted."""
    (one,) = found(logged(line))
    assert one.verdict is Verdict.WRONG
    assert one.what.startswith(what) and line[:40] in one.what


def test_nvme_is_told_by_its_controller() -> None:
    """Time-outs and resets name nvme0, the drive is nvme0n1."""
    made = logged(
        "nvme nvme0: I/O 512 QID 3 timeout, aborting",
        "nvme nvme0: I/O tag 5 (1005) opcode 0x2 (Read) QID 2 timeout, reset controller",
        "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
    )
    made.drive("nvme0n1").partition("nvme0n1p1", "nvme0n1", start=2048).mount("nvme0n1p1", "/srv")
    (one,) = found(made)
    assert one.where == "/dev/nvme0n1"
    assert "2 time-outs, 1 controller resets" in one.what


def test_others_drives_are_others_matter() -> None:
    """A line about a drive that nobody asked about, or that is no drive here, is not counted."""
    made = logged("I/O error, dev sdz, sector 1", "I/O error, dev loop7, sector 1")
    assert [each.verdict for each in found(made)] == [Verdict.RIGHT]
    made = logged("sda: sda1", "ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)")
    assert [each.verdict for each in found(made)] == [Verdict.RIGHT]


def test_a_log_that_cannot_be_read_is_not_looked_at() -> None:
    """Nothing is claimed; dmesg stands in for the journal."""
    made = plain().mount("sda1", "/")
    made.commands[" ".join(JOURNAL)] = None
    (one,) = found(made)
    assert one.verdict is Verdict.NOT_LOOKED_AT and "root may see it" in one.what
    made.commands[" ".join(DMESG)] = "[    1.0] I/O error, dev sda, sector 2048"
    (one,) = found(made)
    assert one.verdict is Verdict.WRONG and one.where == "/dev/sda"


def test_a_capture_keeps_what_the_check_counts() -> None:
    """And no other line of the log."""
    line = "ata3: hard resetting link"
    assert interesting(f"usb 1-1: SerialNumber: 123\n{line}") == f"the kernel's log\n{line}"
    assert interesting("Linux version 6.1") == "the kernel's log"
