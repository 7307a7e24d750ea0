"""nvme-cli's health log: ``nvme smart-log``, as JSON, as verbose JSON (``-v``) and as text.

Text and JSON differ in names: ``available_spare`` is ``avail_spare`` in JSON. JSON has Kelvin and
some numbers as text; verbose JSON has the critical warning as an object with a field for each bit.
Text has thousands in groups, as the machine's language writes them, and units behind the numbers.
Names are those of nvme-cli 1.0 to 2.16 and of its source in August 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ssdlab.ground.unread import Unread
from ssdlab.real.smart.report import DriveReport, NvmeHealth
from ssdlab.real.smart.told import Told

COMMAND = "nvme smart-log -o json /dev/nvme0"
_KELVIN = 273
_COLDEST, _HOTTEST = -60.0, 250.0
_WARNING_BITS = (
    "available_spare",
    "temp_threshold",
    "reliability_degraded",
    "ro",
    "vmbu_failed",
    "pmr_ro",
)
_JSON = frozenset(
    (
        "critical_warning temperature avail_spare spare_thresh percent_used "
        "endurance_grp_critical_warning_summary data_units_read data_units_written "
        "host_read_commands host_write_commands controller_busy_time power_cycles power_on_hours "
        "unsafe_shutdowns media_errors num_err_log_entries warning_temp_time critical_comp_time "
        "thm_temp1_trans_count thm_temp2_trans_count thm_temp1_total_time thm_temp2_total_time "
        "op_lifetime_energy_consumed interval_power_measurement"
    ).split()
)
_SENSOR = re.compile(r"temperature_sensor_[1-8]")
_HEADING = re.compile(r"Smart Log for NVME device: ?(?P<device>\S+) namespace-id: ?(?P<id>\w+)")
_ROW = re.compile(r"\s*(?P<name>[^:]+?)\s*: (?P<value>.*\S)\s*")
_TEXT_NAMES = {
    "critical_warning": "critical_warning",
    "available_spare": "avail_spare",
    "available_spare_threshold": "spare_thresh",
    "percentage_used": "percent_used",
    "endurance group critical warning summary": "endurance_grp_critical_warning_summary",
    "data_units_read": "data_units_read",
    "data units read": "data_units_read",
    "data_units_written": "data_units_written",
    "data units written": "data_units_written",
    "host_read_commands": "host_read_commands",
    "host_write_commands": "host_write_commands",
    "controller_busy_time": "controller_busy_time",
    "power_cycles": "power_cycles",
    "power_on_hours": "power_on_hours",
    "unsafe_shutdowns": "unsafe_shutdowns",
    "media_errors": "media_errors",
    "num_err_log_entries": "num_err_log_entries",
}
_TEXT_UNUSED = re.compile(
    r"(Warning Temperature Time|Critical Composite Temperature Time|Temperature Sensor \d"
    r"|Thermal (Management|Temp\.) ?T?[12].*|Operational Lifetime Energy Consumed"
    r"|Interval Power Measurement.*)",
    re.IGNORECASE,
)
_BIT = re.compile(r"(?P<what>.+)\[(?P<bit>[0-7])\]")
_CELSIUS = re.compile(r"(?P<degrees>-?\d+) ?°? ?(C|Celsius)\b.*", re.IGNORECASE)
_FAHRENHEIT = re.compile(
    r"-?\d+ ?°? ?(?:F|Fahrenheit) \((?P<kelvin>\d+) ?K(?:elvin)?\)", re.IGNORECASE
)
"""As in locales of the United States; what the drive says is the temperature in Kelvin."""
_PERCENT = frozenset(("avail_spare", "spare_thresh", "percent_used"))
_BRACKETS = re.compile(r"\s*\([^()]*\)$")


def is_json(content: Mapping[str, Any]) -> bool:
    """Whether it is nvme-cli's health log; smartctl's stands inside an object of its own."""
    return len(content.keys() & {"avail_spare", "spare_thresh", "percent_used"}) > 0


def is_text(content: str) -> bool:
    """Whether it is what ``nvme smart-log`` prints."""
    return bool(re.search(r"^Smart Log for NVME device", content, re.MULTILINE | re.IGNORECASE))


def from_json(content: Mapping[str, Any], source: str) -> DriveReport:
    """Read nvme-cli's JSON, plain or verbose."""
    unread: list[Unread] = []
    plain = {key: value for key, value in content.items() if not _SENSOR.fullmatch(key)}
    log = Told(plain, "", unread).only(_JSON)
    is_verbose = isinstance(content.get("critical_warning"), Mapping)
    warning = _verbose_warning(log) if is_verbose else log.number("critical_warning", 255)
    kelvin = log.real("temperature", _COLDEST + _KELVIN, _HOTTEST + _KELVIN)
    celsius = None if kelvin is None else kelvin - _KELVIN
    form = "nvme-cli verbose JSON" if is_verbose else "nvme-cli JSON"
    return _report(log, warning, celsius, source, form, unread)


def _verbose_warning(log: Told) -> int | None:
    """Read the warning of which each bit has a name; a bit that either says is set."""
    told = log.part("critical_warning").only(("value", *_WARNING_BITS))
    bits = [told.number(name, 1) for name in _WARNING_BITS]
    named = sum((value or 0) << bit for bit, value in enumerate(bits))
    value = told.number("value", 255)
    if value is None and all(bit is None for bit in bits):
        return None
    return (value or 0) | named


def from_text(content: str, source: str) -> DriveReport:
    """Read what ``nvme smart-log`` prints."""
    unread: list[Unread] = []
    found: dict[str, object] = {}
    celsius, bits, device = None, 0, source
    for number, line in enumerate(content.splitlines(), 1):
        heading, row = _HEADING.match(line.strip()), _ROW.fullmatch(line)
        if not line.strip():
            continue
        if heading:
            device = heading["device"] if not found else device
        name = row["name"] if row else ""
        value = _BRACKETS.sub("", row["value"]).strip() if row else ""
        key = _TEXT_NAMES.get(name.lower())
        bit, degrees = _BIT.fullmatch(name), _degrees(row["value"]) if row else None
        if heading or _TEXT_UNUSED.fullmatch(name):
            continue
        if key and key not in found:
            found[key] = value.removesuffix("%") if key in _PERCENT else value
        elif name.lower() == "temperature" and degrees is not None:
            celsius = degrees
        elif bit and value in ("0", "1"):
            bits |= int(value) << int(bit["bit"])
        else:
            why = "it is there twice" if key else "no row of nvme smart-log like this is known here"
            unread.append(Unread(f"line {number}", line, why))
    log = Told(found, "", unread)
    warning = log.number("critical_warning", 255)
    warning = None if warning is None and not bits else (warning or 0) | bits
    if device != source and not device.startswith("/"):
        device = f"/dev/{device}"
    return _report(log, warning, celsius, device, "nvme-cli text", unread)


def _degrees(written: str) -> float | None:
    """Read a temperature in degrees Celsius."""
    if celsius := _CELSIUS.fullmatch(written):
        return float(celsius["degrees"])
    kelvin = _FAHRENHEIT.fullmatch(written)
    return float(kelvin["kelvin"]) - _KELVIN if kelvin else None


def _report(
    log: Told,
    warning: int | None,
    celsius: float | None,
    source: str,
    form: str,
    unread: list[Unread],
) -> DriveReport:
    health = NvmeHealth(
        critical_warning=warning,
        temperature_celsius=celsius,
        available_spare=log.number("avail_spare", 100),
        available_spare_threshold=log.number("spare_thresh", 100),
        percentage_used=log.number("percent_used", 255),
        data_units_read=log.number("data_units_read"),
        data_units_written=log.number("data_units_written"),
        media_errors=log.number("media_errors"),
        unsafe_shutdowns=log.number("unsafe_shutdowns"),
        power_on_hours=log.number("power_on_hours"),
        error_log_entries=log.number("num_err_log_entries"),
        endurance_group_warning=log.number("endurance_grp_critical_warning_summary", 255),
    )
    return DriveReport(
        device=source,
        protocol="NVMe",
        power_on_hours=health.power_on_hours,
        temperature_celsius=celsius,
        nvme=health,
        form=form,
        unread=tuple(unread),
    )
