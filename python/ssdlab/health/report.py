"""What a drive tells about itself, in one form: smartctl's and nvme-cli's JSON are read into it.

Read: smartctl 7.0 and later (``smartctl -j -x``) of ATA, NVMe and SCSI drives, also behind RAID
controllers, and ``nvme smart-log -o json``. The two spell NVMe's health log differently, and
nvme-cli gives Kelvin and numbers as text. Counters beyond 2^53 stand beside the number as text
(``_s``); the text is taken. Nothing is trusted: what is not a number is as if it were not there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdlab.errors import SsdlabError

_KELVIN = 273
_ENDURANCE_STATISTIC = "Percentage Used Endurance Indicator"
_SECTORS_STATISTIC = "Logical Sectors Written"
_NVME_CLI_MARK = "percent_used"


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
    """

    id: int
    name: str
    value: int | None
    worst: int | None
    threshold: int | None
    raw: int | None


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
    protocol
        ``ATA``, ``NVMe``, ``SCSI``, or what the report says.
    model, family, firmware, serial
        As the drive and smartctl's database name it; empty where unknown.
    capacity_bytes
        What it exports.
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
    nvme
        NVMe's health log.
    scsi_endurance_used
        SCSI's percentage used endurance indicator.
    scsi_grown_defects, scsi_uncorrected
        SCSI's error counts.
    endurance_used
        What smartctl 7.5 and later make of it themselves, in percent.
    failed_commands
        The drive or the way to it did not answer fully (bits 1 and 2 of smartctl's exit status).
    """

    device: str
    protocol: str = ""
    model: str = ""
    family: str = ""
    firmware: str = ""
    serial: str = ""
    capacity_bytes: int | None = None
    passed: bool | None = None
    power_on_hours: int | None = None
    temperature_celsius: float | None = None
    attributes: Mapping[int, Attribute] = field(default_factory=dict)
    statistics: Mapping[str, int] = field(default_factory=dict)
    nvme: NvmeHealth | None = None
    scsi_endurance_used: int | None = None
    scsi_grown_defects: int | None = None
    scsi_uncorrected: int | None = None
    endurance_used: int | None = None
    failed_commands: bool = False

    @property
    def identity(self) -> str:
        """What the drive is kept under in history and baselines: model and serial, else device."""
        return f"{self.model} {self.serial}".strip() if self.serial else self.device


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
    if _NVME_CLI_MARK in content or "avail_spare" in content:
        return _from_nvme_cli(content, source)
    if "smartctl" not in content and "device" not in content:
        raise _no_report(source)
    return _from_smartctl(content, source)


def _no_report(source: str) -> SsdlabError:
    return SsdlabError(
        f"{source}: no report about a drive\n"
        "make one with: smartctl -j -x /dev/sda > drive.json, "
        "or nvme smart-log -o json /dev/nvme0 > drive.json"
    )


def _from_smartctl(content: Mapping[str, Any], source: str) -> DriveReport:
    device = _mapping(content, "device")
    passed = _mapping(content, "smart_status").get("passed")
    nvme = _mapping(content, "nvme_smart_health_information_log")
    status = _whole(_mapping(content, "smartctl").get("exit_status")) or 0
    return DriveReport(
        device=_text(device.get("name")) or source,
        protocol=_text(device.get("protocol")) or ("NVMe" if nvme else ""),
        model=_text(content.get("model_name")) or _text(content.get("scsi_model_name")),
        family=_text(content.get("model_family")),
        firmware=_text(content.get("firmware_version")) or _text(content.get("scsi_revision")),
        serial=_text(content.get("serial_number")),
        capacity_bytes=_number(_mapping(content, "user_capacity"), "bytes")
        or _number(content, "nvme_total_capacity"),
        passed=passed if isinstance(passed, bool) else None,
        power_on_hours=_number(_mapping(content, "power_on_time"), "hours"),
        temperature_celsius=_real(
            _mapping(content, "temperature").get("current", nvme.get("temperature"))
        ),
        attributes=_attributes(content),
        statistics=_statistics(content),
        nvme=_nvme_of_smartctl(nvme) if nvme else None,
        scsi_endurance_used=_number(content, "scsi_percentage_used_endurance_indicator"),
        scsi_grown_defects=_number(content, "scsi_grown_defect_list"),
        scsi_uncorrected=_uncorrected(content),
        endurance_used=_number(_mapping(content, "endurance_used"), "current_percent"),
        failed_commands=bool(status & 0b110),
    )


def _nvme_of_smartctl(log: Mapping[str, Any]) -> NvmeHealth:
    return NvmeHealth(
        critical_warning=_number(log, "critical_warning"),
        temperature_celsius=_real(log.get("temperature")),
        available_spare=_number(log, "available_spare"),
        available_spare_threshold=_number(log, "available_spare_threshold"),
        percentage_used=_number(log, "percentage_used"),
        data_units_read=_number(log, "data_units_read"),
        data_units_written=_number(log, "data_units_written"),
        media_errors=_number(log, "media_errors"),
        unsafe_shutdowns=_number(log, "unsafe_shutdowns"),
        power_on_hours=_number(log, "power_on_hours"),
        error_log_entries=_number(log, "num_err_log_entries"),
    )


def _from_nvme_cli(log: Mapping[str, Any], source: str) -> DriveReport:
    kelvin = _real(log.get("temperature"))
    celsius = None if kelvin is None else kelvin - _KELVIN
    health = NvmeHealth(
        critical_warning=_number(log, "critical_warning"),
        temperature_celsius=celsius,
        available_spare=_number(log, "avail_spare"),
        available_spare_threshold=_number(log, "spare_thresh"),
        percentage_used=_number(log, "percent_used"),
        data_units_read=_number(log, "data_units_read"),
        data_units_written=_number(log, "data_units_written"),
        media_errors=_number(log, "media_errors"),
        unsafe_shutdowns=_number(log, "unsafe_shutdowns"),
        power_on_hours=_number(log, "power_on_hours"),
        error_log_entries=_number(log, "num_err_log_entries"),
    )
    return DriveReport(
        device=source,
        protocol="NVMe",
        power_on_hours=health.power_on_hours,
        temperature_celsius=celsius,
        nvme=health,
    )


def _attributes(content: Mapping[str, Any]) -> dict[int, Attribute]:
    found = {}
    for entry in _entries(_mapping(content, "ata_smart_attributes").get("table")):
        number = _whole(entry.get("id"))
        if number is None:
            continue
        found[number] = Attribute(
            id=number,
            name=_text(entry.get("name")),
            value=_whole(entry.get("value")),
            worst=_whole(entry.get("worst")),
            threshold=_whole(entry.get("thresh")),
            raw=_number(_mapping(entry, "raw"), "value"),
        )
    return found


def _statistics(content: Mapping[str, Any]) -> dict[str, int]:
    found = {}
    for page in _entries(_mapping(content, "ata_device_statistics").get("pages")):
        for entry in _entries(page.get("table")):
            value = _number(entry, "value")
            valid = _mapping(entry, "flags").get("valid", True)
            if value is not None and valid:
                found[_text(entry.get("name"))] = value
    return found


def _uncorrected(content: Mapping[str, Any]) -> int | None:
    log = _mapping(content, "scsi_error_counter_log")
    counts = [
        _number(_mapping(log, kind), "total_uncorrected_errors") for kind in ("read", "write")
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def endurance_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' percentage used (ACS-3, page 07h), if it was told."""
    return report.statistics.get(_ENDURANCE_STATISTIC)


def sectors_written_statistic(report: DriveReport) -> int | None:
    """Give ATA Device Statistics' logical sectors written (ACS-3, page 01h), if it was told."""
    return report.statistics.get(_SECTORS_STATISTIC)


def _mapping(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = content.get(key)
    return value if isinstance(value, Mapping) else {}


def _entries(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _number(content: Mapping[str, Any], key: str) -> int | None:
    """Read a counter: the exact text beside it before the number itself."""
    exact = _whole(content.get(f"{key}_s"))
    return exact if exact is not None else _whole(content.get(key))


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**128 else None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and 0 <= value < 2**128 else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 40:
        return int(value)
    return None


def _real(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if -1e6 < value < 1e6 else None
