"""The audit reads the kernel's log: lines as kernels write them, and whose they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import logged, plain
from machine import MadeMachine
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.checks.kernel_log import DMESG, JOURNAL, interesting
from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.audit.walk import audit
from ssdlab.machine.verdict import Verdict
from ssdlab.real.system import open_root

RED, YELLOW = Severity.RED, Severity.YELLOW
PLACES = {
    "sda": "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
    "nvme0n1": "/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0/nvme/nvme0/nvme0n1",
}
"""Where drives stand in sysfs, as it says itself."""


def in_slots(*lines: str) -> MadeMachine:
    """Make a SATA and an NVMe drive whose places are known, and a log."""
    made = logged(*lines).drive("nvme0n1").partition("nvme0n1p1", "nvme0n1", start=2048)
    for name, place in PLACES.items():
        made.link(f"/sys/block/{name}", place)
    return made.mount("nvme0n1p1", "/srv")


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
    made = logged("I/O error, dev sr0, sector 1", "I/O error, dev loop7, sector 1")
    assert [each.verdict for each in found(made)] == [Verdict.RIGHT]
    made = logged("sda: sda1", "ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)")
    assert [each.verdict for each in found(made)] == [Verdict.RIGHT]


SENSE = "sd 0:0:0:0: [sda] tag#0"
BTRFS = "BTRFS error (device sda1): bdev"


@pytest.mark.parametrize(
    ("line", "severity", "what"),
    [
        ("protection error, dev sda, sector 1234 op 0x0:(READ)", RED, "failed requests"),
        ("critical space allocation error, dev sda, sector 12", RED, "failed requests"),
        ("device offline error, dev sda, sector 8 op 0x1:(WRITE)", RED, "failed requests"),
        ("Buffer I/O error on dev sda1, logical block 0, lost", RED, "failed requests"),
        ("Buffer I/O error on device sda1, logical block 0", RED, "failed requests"),
        (f"{SENSE} FAILED Result: hostbyte=DID_BAD_TARGET", RED, "failed commands"),
        (f"{SENSE} Synchronize Cache(10) failed: Result: x", RED, "failed commands"),
        (f"{SENSE} Sense Key : Medium Error [current]", RED, "errors that the drive told"),
        (f"{SENSE} Add. Sense: Unrecovered read error", RED, "errors that the drive told"),
        ("ata1.00: error: { UNC }", RED, "errors that the drive told"),
        ("sd 0:0:0:0: rejecting I/O to offline device", RED, "losses of the drive"),
        ("sd 0:0:0:0: Device offlined - not ready after", RED, "losses of the drive"),
        ("ata1.00: disabled", RED, "losses of the drive"),
        ("ata1.00: disable device", RED, "losses of the drive"),
        ("ata1: reset failed, giving up", RED, "losses of the drive"),
        ("md/raid1:md0: Disk failure on sda1, disabling device.", RED, "losses of the drive"),
        ("md/raid1:md0: sda1: unrecoverable I/O read error", RED, "failed requests"),
        ("ata1: COMRESET failed (errno=-16)", YELLOW, "link resets"),
        ("ata1: softreset failed (device not ready)", YELLOW, "link resets"),
        ("ata1.00: NCQ disabled due to excessive errors", YELLOW, "link errors"),
        (f"{BTRFS} /dev/sda1 errs: wr 0, rd 5, flush 0", RED, "errors of file systems"),
        ("BTRFS warning (device sda1): csum failed root 5", RED, "errors of file systems"),
        ("BTRFS error (device sda1: state EA): parent", RED, "errors of file systems"),
        ("EXT4-fs error (device sda1) in ext4_reserve_inode", RED, "errors of file systems"),
        ("EXT4-fs (sda1): Remounting filesystem read-only", RED, "errors of file systems"),
        ("EXT4-fs warning (device sda1): I/O error 10 writing", RED, "errors of file systems"),
        ('XFS (sda1): metadata I/O error in "xfs_da_read_buf"', RED, "errors of file systems"),
        ("XFS (sda1): Filesystem has been shut down due to log", RED, "errors of file systems"),
        ("JBD2: Detected IO errors while flushing on sda1-8", RED, "errors of file systems"),
        ("Aborting journal on device sda1-8.", RED, "errors of file systems"),
    ],
)
def test_lines_that_tell_of_a_sata_drive(
    line: str, severity: Severity, what: str, tmp_path: Path
) -> None:
    """Of a partition, a link or an address the drive is told; a capture says the same."""
    made = in_slots(line)
    (one,) = found(made)
    assert (one.severity, one.where) == (severity, "/dev/sda"), one.what
    assert one.what.startswith(f"1 {what} since the boot; the last: {line}")
    kept = tmp_path / "machine.json"
    kept.write_text(capture(made.system()), encoding="utf-8")
    assert one in audit(open_root(str(kept))).findings


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("nvme0n1: I/O Cmd(0x2) @ LBA 1234, 8 blocks, I/O Error (sct 0x2 / sc 0x81) MORE DNR", RED),
        ("nvme0c0n1: Read(0x2) @ LBA 12, 8 blocks, Data Transfer Error (sct 0x0 / sc 0x4)", RED),
        ("nvme nvme0: Disabling device after reset failure: -19", RED),
        ("nvme nvme0: Removing after probe failure status: -19", RED),
        ("nvme nvme0: frozen state error detected, reset controller", RED),
        ("nvme 0000:01:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=X", RED),
        ("pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:01:00.0", RED),
        ("pcieport 0000:00:1c.0: AER: Corrected error message received: 0000:01:00.0", YELLOW),
        ("nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer", YELLOW),
    ],
)
def test_lines_that_tell_of_an_nvme_drive(line: str, severity: Severity) -> None:
    """By its controller, its path, or its place on the bus."""
    (one,) = found(in_slots(line))
    assert (one.severity, one.where) == (severity, "/dev/nvme0n1"), one.what


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("I/O error, dev sdb, sector 1234 op 0x0:(READ) flags 0x0", "/dev/sdb"),
        ("Buffer I/O error on dev sdb2, logical block 0, lost async page write", "/dev/sdb"),
        ("I/O error, dev nvme1n1, sector 1234 op 0x0:(READ) flags 0x0", "/dev/nvme1n1"),
        ("nvme nvme1: I/O 12 QID 3 timeout, aborting", "nvme1"),
        ("nvme nvme1: Removing after probe failure status: -19", "nvme1"),
    ],
)
def test_a_drive_that_dropped_out(line: str, where: str) -> None:
    """It is the worst case, and is told under the name that it had."""
    (one,) = found(in_slots(line))
    assert (one.severity, one.where) == (RED, where)
    assert "no longer among the drives here" in one.what


def test_an_address_that_is_gone_names_itself() -> None:
    """The kernel says no other name in that line."""
    (one,) = found(in_slots("sd 7:0:0:0: rejecting I/O to offline device"))
    assert (one.severity, one.where) == (RED, "7:0:0:0")


def test_a_card_reader_without_a_card_is_no_lost_drive() -> None:
    """It is there, has no size, and fails every request."""
    made = in_slots("I/O error, dev sdc, sector 0").file("/sys/block/sdc/removable", "1")
    made.folders["/sys/block"].append("sdc")
    assert [each.verdict for each in found(made)] == [Verdict.RIGHT]


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("sd 0:0:0:0: [sda] Read Capacity(16) went wrong, error 5", "/dev/sda"),
        ("ata1.00: revalidation failed (errno=-5)", "/dev/sda"),
        ("ata1.00: qc timeout (cmd 0xec)", "/dev/sda"),
        ("operation not supported error, dev sda, sector 0 op 0x9:(WRITE_ZEROES)", "/dev/sda"),
        ("FAT-fs (sda1): error, fat_get_cluster: invalid cluster chain", "/dev/sda"),
        ("INFO: task jbd2/sda1-8:321 blocked for more than 120 seconds.", "/dev/sda"),
        ("nvme nvme0: failed to set APST feature (-19)", "/dev/nvme0n1"),
        ("nvme 0000:01:00.0: Unable to change power state, device inaccessible", "/dev/nvme0n1"),
        ("ahci 0000:00:1f.2: controller reset failed (0xffffffff)", "/dev/sda"),
        ("sdb: rescan failed", "/dev/sdb"),
        ("loop7: I/O error on loop7, which is a file on sda1", "/dev/sda"),
        ("mpt3sas_cm0: SAS host is non-operational !!!!", "mpt3sas_cm0"),
        ("device-mapper: thin: 8:1: metadata operation failed: error = -5", "/dev/sda1"),
        ("mpt2sas_cm1: fault_state(0x2100)!", "mpt2sas_cm1"),
        ("nvme nvme0: Shutdown timeout set to 8 seconds, reset failed", "/dev/nvme0n1"),
    ],
)
def test_other_errors_that_name_a_drive_are_quoted(line: str, where: str) -> None:
    """What is not understood is never fine; a capture keeps it."""
    made = in_slots(line)
    (one,) = found(made)
    assert (one.verdict, one.where) == (Verdict.NOT_LOOKED_AT, where)
    assert line in one.what
    assert line in interesting(f"usb 1-1: new device\n{line}")


def test_what_is_not_understood_is_told_beside_what_is() -> None:
    """One finding for the lines that are known, and one for all others."""
    odd = "ata1.00: revalidation failed (errno=-5)"
    one, other = found(in_slots("ata1.00: disabled", odd, odd))
    assert (one.severity, other.severity) == (RED, Severity.UNSEEN)
    assert other.what.endswith(f"{odd} and 1 more")


def test_a_controller_of_several_drives_is_named_itself() -> None:
    """Which of its drives it means is not said."""
    made = in_slots("megaraid_sas 0000:00:1f.2: 123 - Unrecoverable medium error on PD 05")
    made.drive("sdb").partition("sdb1", "sdb", start=2048).mount("sdb1", "/b")
    made.link("/sys/block/sdb", PLACES["sda"].replace("0:0:0", "0:1:0").replace("sda", "sdb"))
    (one,) = found(made)
    assert (one.verdict, one.where) == (Verdict.NOT_LOOKED_AT, "0000:00:1f.2")


HEALTHY = """
Command line: BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro libata.force=disabled panic=timeout
ACPI: PCI interrupt for device 0000:01:00.0 disabled
ahci 0000:00:1f.2: AHCI 0001.0301 32 slots 4 ports 6 Gbps 0xf impl SATA mode
ahci 0000:00:1f.2: flags: 64bit ncq sntf pm clo only pio slum part deso sadm sds
mpt3sas 0000:01:00.0: BAR 7: failed to assign [io size 0x1000]
mpt3sas_cm0: High IOPs queues : disabled
mpt3sas_cm0: sending message unit reset !!
megaraid_sas 0000:00:1f.2: JBOD sequence map is disabled megasas_setup_jbod_map 5707
megaraid_sas 0000:00:1f.2: pci id : (0x1000)/(0x005d)/(0x1028)/(0x1f49)
megaraid_sas 0000:00:1f.2: jbod sync map : disabled
ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)
ata2: SATA link down (SStatus 0 SControl 300)
ata6: port disabled. ignoring.
ata1.00: ACPI cmd f5/00:00:00:00:00:a0(SECURITY FREEZE LOCK) filtered out
ata1.00: ACPI cmd ef/10:06:00:00:00:00(SET FEATURES) failed (Emask=0x1 Stat=0x51 Err=0x04)
ata1.00: supports DRM functions and may not be fully accessible
ata1.00: READ LOG DMA EXT failed, trying PIO
ata1.00: Security Log not supported
ata1.00: disabling queued TRIM support
ata1.00: 937703088 sectors, multi 1: LBA48 NCQ (depth 32)
ata1.00: configured for UDMA/133
scsi 0:0:0:0: Direct-Access     ATA      INTEL SSDSC2KG48 0120 PQ: 0 ANSI: 5
sd 0:0:0:0: [sda] 937703088 512-byte logical blocks: (480 GB/447 GiB)
sd 0:0:0:0: [sda] Write Protect is off
sd 0:0:0:0: [sda] Mode Sense: 00 3a 00 00
sd 0:0:0:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA
sd 0:0:0:0: [sda] Write cache: disabled, read cache: disabled, supports DPO and FUA
sd 0:0:0:0: [sda] Asking for cache data failed
sd 0:0:0:0: [sda] Assuming drive cache: write through
sd 0:0:0:0: [sda] Attached SCSI disk
sd 0:0:0:0: Power-on or device reset occurred
 sda: sda1 sda2
nvme nvme0: pci function 0000:01:00.0
nvme nvme0: missing or invalid SUBNQN field.
nvme nvme0: Shutdown timeout set to 8 seconds
nvme nvme0: D3 entry latency set to 10 seconds
nvme nvme0: 8/0/0 default/read/poll queues
nvme nvme0: Ignoring bogus Namespace Identifiers
 nvme0n1: p1
EXT4-fs (sda1): mounted filesystem with ordered data mode. Quota mode: disabled.
EXT4-fs (sda1): re-mounted. Opts: errors=remount-ro
EXT4-fs (sda1): recovery complete
XFS (sda1): Ending clean mount
BTRFS info (device sda1): disk space caching is disabled
BTRFS info (device sda1): bdev /dev/sda1 errs: wr 0, rd 0, flush 0, corrupt 0, gen 0
BTRFS info (device sda1): enabling ssd optimizations
md/raid1:md0: active with 2 out of 2 mirrors
md: data-check of RAID array md0
md: md0: data-check done.
Adding 976552k swap on /dev/sda2.  Priority:-2 extents:1 across:976552k SSFS
audit: type=1400 audit(1.1:2): apparmor="DENIED" info="Failed name lookup" name="/dev/sda" error=-2
i915 0000:00:02.0: Direct firmware load for i915/tgl_dmc_ver2_12.bin failed with error -2
floppy: error 10 while reading block 0
buffer_io_error: 3 callbacks suppressed
"""
"""What sound machines print while they start, as kernels 2.6 to 6.12 do."""


@pytest.mark.parametrize("line", HEALTHY.strip().splitlines())
def test_lines_of_sound_machines_are_fine(line: str) -> None:
    """None is an alarm, in the forms of journalctl and dmesg."""
    assert [each.verdict for each in found(in_slots(line))] == [Verdict.RIGHT]
    assert [each.verdict for each in found(in_slots(f"[    1.202562] {line}"))] == [Verdict.RIGHT]


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
