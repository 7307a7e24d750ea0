"""What a drive tells about itself, in one form: smartctl's and nvme-cli's JSON are read into it.

Read: smartctl 7.0 and later (``smartctl -j -x``) of ATA, NVMe and SCSI drives, also behind RAID
controllers, and ``nvme smart-log -o json``. The two spell NVMe's health log differently, and
nvme-cli gives Kelvin and numbers as text. Counters beyond 2^53 stand beside the number as text
(``_s``); the text is taken. Nothing is trusted: what is not a number is as if it were not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdlab.errors import SsdlabError
from ssdlab.health.untrusted import entries, mapping, number, real, text, truth, whole

_KELVIN = 273
_ENDURANCE_STATISTIC = "Percentage Used Endurance Indicator"
_SECTORS_STATISTIC = "Logical Sectors Written"
_NVME_CLI_SPELLING = {
    "available_spare": "avail_spare",
    "available_spare_threshold": "spare_thresh",
    "percentage_used": "percent_used",
}
_EXIT_OPEN_FAILED, _EXIT_COMMAND_FAILED = 1 << 1, 1 << 2
_ASLEEP = re.compile(r"in (STANDBY|SLEEP)\b.* mode", re.IGNORECASE)
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
    """

    id: int
    name: str
    value: int | None
    worst: int | None
    threshold: int | None
    raw: int | None
    count: int | None = None
    prefailure: bool | None = None


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
        ATA self-tests in its log that failed and that no later one took back.
    nvme
        NVMe's health log.
    scsi_endurance_used
        SCSI's percentage used endurance indicator.
    scsi_grown_defects, scsi_pending_defects, scsi_uncorrected
        SCSI's error counts.
    endurance_used
        What smartctl 7.5 and later make of it themselves, in percent.
    not_opened, failed_commands
        Bits 1 and 2 of smartctl's exit status: the drive was not opened or not identified; a SMART
        command failed, or the checksum of its answer was wrong.
    messages
        What smartctl said besides.
    asleep
        It is in standby and was left there.
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
    endurance_used: int | None = None
    not_opened: bool = False
    failed_commands: bool = False
    messages: tuple[str, ...] = ()
    asleep: bool = False

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


def read_report(content: object, source: str) -> DriveReport:
    """Read one report.

    Parameters
    ----------
    content
        Parsed JSON.
    source
        The file or device it came from, for messages.

    Raises
    ------
    SsdlabError
        It is no report of smartctl or nvme-cli about one drive.
    """
    if not isinstance(content, Mapping):
        raise _no_report(source)
    if "percent_used" in content or "avail_spare" in content:
        return _from_nvme_cli(content, source)
    if "smartctl" not in content and "device" not in content:
        raise _no_report(source)
    return _from_smartctl(content, source)


def _no_report(source: str) -> SsdlabError:
    return SsdlabError(
        f"{source}: not a drive report\n"
        "create one with: smartctl -j -x /dev/sda > drive.json, "
        "or nvme smart-log -o json /dev/nvme0 > drive.json"
    )


def _from_smartctl(content: Mapping[str, Any], source: str) -> DriveReport:
    device = mapping(content, "device")
    nvme = mapping(content, "nvme_smart_health_information_log")
    status = whole(mapping(content, "smartctl").get("exit_status")) or 0
    support, messages = mapping(content, "smart_support"), _messages(content)
    return DriveReport(
        device=text(device.get("name")) or source,
        kind=text(device.get("type")),
        protocol=text(device.get("protocol")) or ("NVMe" if nvme else ""),
        model=text(content.get("model_name")) or text(content.get("scsi_model_name")),
        family=text(content.get("model_family")),
        firmware=text(content.get("firmware_version")) or text(content.get("scsi_revision")),
        serial=text(content.get("serial_number")),
        product=text(content.get("ata_additional_product_id")),
        capacity_bytes=number(mapping(content, "user_capacity"), "bytes")
        or number(content, "nvme_total_capacity"),
        rotation_rpm=number(content, "rotation_rate"),
        has_smart=truth(support.get("available")),
        smart_is_on=truth(support.get("enabled")),
        passed=truth(mapping(content, "smart_status").get("passed")),
        power_on_hours=number(mapping(content, "power_on_time"), "hours"),
        temperature_celsius=real(
            mapping(content, "temperature").get("current", nvme.get("temperature"))
        ),
        attributes=_attributes(content),
        statistics=_statistics(content),
        failed_self_tests=_failed_self_tests(content),
        nvme=_nvme_health(nvme, real(nvme.get("temperature")), {}) if nvme else None,
        scsi_endurance_used=number(content, "scsi_percentage_used_endurance_indicator"),
        scsi_grown_defects=number(content, "scsi_grown_defect_list"),
        scsi_pending_defects=number(mapping(content, "scsi_pending_defects"), "count"),
        scsi_uncorrected=_uncorrected(content),
        endurance_used=number(mapping(content, "endurance_used"), "current_percent"),
        not_opened=bool(status & _EXIT_OPEN_FAILED),
        failed_commands=bool(status & _EXIT_COMMAND_FAILED),
        messages=messages,
        asleep=any(_ASLEEP.search(message) for message in messages),
    )


def _messages(content: Mapping[str, Any]) -> tuple[str, ...]:
    told = entries(mapping(content, "smartctl").get("messages"))
    return tuple(message for entry in told if (message := text(entry.get("string"))))


def _failed_self_tests(content: Mapping[str, Any]) -> int | None:
    logs = mapping(content, "ata_smart_self_test_log")
    log = mapping(logs, "extended") or mapping(logs, "standard")
    failed = number(log, "error_count_total")
    return None if failed is None else max(failed - (number(log, "error_count_outdated") or 0), 0)


def _from_nvme_cli(log: Mapping[str, Any], source: str) -> DriveReport:
    kelvin = real(log.get("temperature"))
    celsius = None if kelvin is None else kelvin - _KELVIN
    health = _nvme_health(log, celsius, _NVME_CLI_SPELLING)
    return DriveReport(
        device=source,
        protocol="NVMe",
        power_on_hours=health.power_on_hours,
        temperature_celsius=celsius,
        nvme=health,
    )


def _nvme_health(
    log: Mapping[str, Any], celsius: float | None, spelling: Mapping[str, str]
) -> NvmeHealth:
    """Read the health log in smartctl's words, or in those that a spelling has for them."""

    def told(name: str) -> int | None:
        return number(log, spelling.get(name, name))

    return NvmeHealth(
        critical_warning=told("critical_warning"),
        temperature_celsius=celsius,
        available_spare=told("available_spare"),
        available_spare_threshold=told("available_spare_threshold"),
        percentage_used=told("percentage_used"),
        data_units_read=told("data_units_read"),
        data_units_written=told("data_units_written"),
        media_errors=told("media_errors"),
        unsafe_shutdowns=told("unsafe_shutdowns"),
        power_on_hours=told("power_on_hours"),
        error_log_entries=told("num_err_log_entries"),
    )


def _attributes(content: Mapping[str, Any]) -> dict[int, Attribute]:
    found = {}
    for entry in entries(mapping(content, "ata_smart_attributes").get("table")):
        key = whole(entry.get("id"))
        if key is None:
            continue
        raw = mapping(entry, "raw")
        found[key] = Attribute(
            id=key,
            name=text(entry.get("name")),
            value=whole(entry.get("value")),
            worst=whole(entry.get("worst")),
            threshold=whole(entry.get("thresh")),
            raw=number(raw, "value"),
            count=_leading(text(raw.get("string"))),
            prefailure=truth(mapping(entry, "flags").get("prefailure")),
        )
    return found


def _leading(written: str) -> int | None:
    """Read the count that smartctl writes first, as in ``8 (0 65535)``."""
    return whole(written.partition(" ")[0])


def _statistics(content: Mapping[str, Any]) -> dict[str, int]:
    found = {}
    for page in entries(mapping(content, "ata_device_statistics").get("pages")):
        for entry in entries(page.get("table")):
            value = number(entry, "value")
            valid = mapping(entry, "flags").get("valid", True)
            if value is not None and valid:
                found[text(entry.get("name"))] = value
    return found


def _uncorrected(content: Mapping[str, Any]) -> int | None:
    log = mapping(content, "scsi_error_counter_log")
    counts = [number(mapping(log, kind), "total_uncorrected_errors") for kind in ("read", "write")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def endurance_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' percentage used (ACS-3, page 07h), if it was told."""
    return report.statistics.get(_ENDURANCE_STATISTIC)


def sectors_written_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' logical sectors written (ACS-3, page 01h), if it was told."""
    return report.statistics.get(_SECTORS_STATISTIC)
