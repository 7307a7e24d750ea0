"""What a drive tells about itself, in one form, whatever program said it (``reading`` reads it).

What was not told is None or empty; what was told and is not understood stands under ``unread``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ssdlab.ground.unread import Unread

_ENDURANCE_STATISTIC = "Percentage Used Endurance Indicator"
_SECTORS_STATISTIC = "Logical Sectors Written"
_SOLID_STATE_FAMILY = re.compile(r"SSD|Flash|Card|DOM|Nytro", re.IGNORECASE)
"""A word of it is in the name of every solid-state family of smartmontools' drive database."""
_MOVING_PARTS = (3, 4, 7, 10)
"""Spin-up time, starts and stops, seek errors, spin retries: no recorded SSD counts all four."""


@dataclass(frozen=True)
class Attribute:
    """One ATA SMART attribute.

    Attributes
    ----------
    id
        Its number; what it means is the vendor's affair.
    name
        What smartctl calls it.
    value, worst, threshold
        The normalised value, the worst so far, and where it counts as failed.
    raw
        48 bits as one number.
    count
        What smartctl reads out of the raw number: the count alone where other words are packed
        beside it.
    prefailure
        Whether its threshold foretells a failure; else it only tells that the usual life is over.
    when_failed
        When smartctl saw it at its threshold: ``now``, ``past``, or empty.
    is_cut
        Whether the raw number is the first of several words, because a text has no more.
    """

    id: int
    name: str
    value: int | None
    worst: int | None
    threshold: int | None
    raw: int | None
    count: int | None = None
    prefailure: bool | None = None
    when_failed: str = ""
    is_cut: bool = False


@dataclass(frozen=True)
class NvmeHealth:
    """NVMe's SMART / Health Information log (02h); None where it was not told."""

    critical_warning: int | None
    temperature_celsius: float | None
    available_spare: int | None
    available_spare_threshold: int | None
    percentage_used: int | None
    data_units_read: int | None
    data_units_written: int | None
    media_errors: int | None
    unsafe_shutdowns: int | None
    power_on_hours: int | None
    error_log_entries: int | None
    endurance_group_warning: int | None = None


@dataclass(frozen=True)
class DriveReport:
    """What one drive told.

    Attributes
    ----------
    device
        Where it was asked, such as ``/dev/sda``, or the file that was read.
    kind
        smartctl's device type, such as ``sat`` or ``megaraid,6``.
    protocol
        ``ATA``, ``NVMe``, ``SCSI``, or what the report says.
    model, family, firmware, serial
        As the drive and smartctl's database name it; empty where unknown.
    product
        Whose firmware it has besides its maker's, such as ``DELL(tm)``.
    capacity_bytes
        What it exports.
    rotation_rpm
        0 of a solid-state drive; None where it was not told.
    has_smart, smart_is_on
        Whether it has SMART at all, and whether that is switched on; None where it was not told.
    passed
        The drive's own verdict; None where it gave none.
    power_on_hours
        How long it has been on.
    temperature_celsius
        Now.
    attributes
        ATA attributes by number.
    statistics
        ATA Device Statistics by name.
    failed_self_tests
        Self-tests in its logs that failed; of ATA's those that no later one took back.
    nvme
        NVMe's health log.
    scsi_endurance_used
        SCSI's percentage used endurance indicator.
    scsi_grown_defects, scsi_pending_defects, scsi_uncorrected
        SCSI's error counts, the last one of reads, writes and verifications.
    ata_pending_defects
        Entries of ATA's log of pending defects.
    endurance_used
        What smartctl 7.5 and later make of it themselves, in percent.
    not_opened, failed_commands
        Bits 1 and 2 of smartctl's exit status: the drive was not opened or not identified; a SMART
        command failed, or the checksum of its answer was wrong.
    exit_says
        Bits 3, 4 and 7 of smartctl's exit status that are set: the drive is failing; an attribute
        that foretells failure is at its threshold; self-tests failed.
    messages
        What smartctl said besides.
    warnings
        What smartctl's drive database warns of.
    asleep
        It is in standby and was left there.
    form
        Program, version and form that it was read from, such as ``smartctl 7.4 JSON``.
    asked
        The words with which the program was called, where it says so.
    unread
        What was not understood.
    """

    device: str
    kind: str = ""
    protocol: str = ""
    model: str = ""
    family: str = ""
    firmware: str = ""
    serial: str = ""
    product: str = ""
    capacity_bytes: int | None = None
    rotation_rpm: int | None = None
    has_smart: bool | None = None
    smart_is_on: bool | None = None
    passed: bool | None = None
    power_on_hours: int | None = None
    temperature_celsius: float | None = None
    attributes: Mapping[int, Attribute] = field(default_factory=dict)
    statistics: Mapping[str, int] = field(default_factory=dict)
    failed_self_tests: int | None = None
    nvme: NvmeHealth | None = None
    scsi_endurance_used: int | None = None
    scsi_grown_defects: int | None = None
    scsi_pending_defects: int | None = None
    scsi_uncorrected: int | None = None
    ata_pending_defects: int | None = None
    endurance_used: int | None = None
    not_opened: bool = False
    failed_commands: bool = False
    exit_says: tuple[int, ...] = ()
    messages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    asleep: bool = False
    form: str = ""
    asked: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def address(self) -> str:
        """Say how smartctl reaches it: the device, and its slot where several share one."""
        return address_of(self.device, self.kind)

    @property
    def identity(self) -> str:
        """What the drive is kept under in history and baselines: model and serial, else address."""
        return f"{self.model} {self.serial}".strip() if self.serial else self.address

    @property
    def tells_health(self) -> bool:
        """Whether it tells anything about its health at all."""
        scsi = (self.scsi_endurance_used, self.scsi_grown_defects, self.scsi_uncorrected)
        told = (self.passed, self.nvme, self.endurance_used, *scsi)
        return bool(self.attributes or self.statistics) or any(each is not None for each in told)

    @property
    def rotates(self) -> bool | None:
        """Whether it is a hard disk; None where neither it nor smartctl's database says so."""
        if self.nvme is not None or self.protocol == "NVMe":
            return False
        if self.rotation_rpm is not None:
            return self.rotation_rpm > 0
        if self.family:
            return not _SOLID_STATE_FAMILY.search(self.family)
        starts = self.attributes.get(4)
        if all(key in self.attributes for key in _MOVING_PARTS) and starts and starts.raw:
            return True
        return None


def address_of(device: str, kind: str) -> str:
    """Say how smartctl reaches a drive, in the words of its command line.

    Of ``sat+megaraid,6`` only ``megaraid,6`` is the slot; ``sat,12`` is none at all.
    """
    slot = kind.rpartition("+")[2]
    return f"{device} -d {slot}" if "," in slot and not slot.startswith("sat,") else device


def endurance_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' percentage used (ACS-3, page 07h), if it was told."""
    return report.statistics.get(_ENDURANCE_STATISTIC)


def sectors_written_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' logical sectors written (ACS-3, page 01h), if it was told."""
    return report.statistics.get(_SECTORS_STATISTIC)
