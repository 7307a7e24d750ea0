"""smartctl's JSON (``smartctl -j -x``, 7.0 and later) of ATA, NVMe and SCSI drives.

Names of fields are those of smartctl 7.0 to 7.5 and of its source in August 2026; its format is
1.x. A name that none of them has, a value of another kind or out of its range is kept as unread.
In objects that no verdict hangs on (capacities, temperatures' histories, logs of single errors)
nothing is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ssdlab.ground.unread import Unread
from ssdlab.ground.untrusted import whole
from ssdlab.real.smart.report import Attribute, DriveReport, NvmeHealth
from ssdlab.real.smart.self_tests import failed_self_tests
from ssdlab.real.smart.told import Told

FORMAT = 1
"""The first number of smartctl's ``json_format_version``: with another its fields may mean else."""
COMMAND = "smartctl -x -j"
_LARGEST_BYTE = 255
_LARGEST_PERCENT = 100
_COLDEST, _HOTTEST = -60.0, 250.0
_OPEN_FAILED, _COMMAND_FAILED, _IS_FAILING, _PREFAIL, _TESTS_FAILED = 1, 2, 3, 4, 7
"""Bits of smartctl's exit status."""
_ASLEEP = re.compile(r"in (STANDBY|SLEEP)\b.* mode", re.IGNORECASE)

_TOP = frozenset(
    (
        "json_format_version smartctl local_time device model_name model_family serial_number "
        "firmware_version wwn user_capacity logical_block_size physical_block_size rotation_rate "
        "form_factor trim in_smartctl_database interface_speed power_mode smart_support "
        "smart_status temperature power_cycle_count power_on_time device_type devices output "
        "endurance_used spare_available host_reads host_writes read_lookahead write_cache "
        "product revision vendor logical_unit_id tapealert temperature_warning zoned_device "
        "sata_version sata_phy_event_counters seagate_farm_log format_status pending_defects "
        "ata_aam ata_apm ata_dsn ata_additional_product_id ata_device_statistics "
        "ata_log_directory ata_pending_defects_log ata_sct_capabilities ata_sct_erc "
        "ata_sct_status ata_sct_temperature_history ata_security ata_smart_attributes "
        "ata_smart_data ata_smart_error_log ata_smart_selective_self_test_log "
        "ata_smart_self_test_log ata_version "
        "nvme_composite_temperature_threshold nvme_controller_id nvme_error_information_log "
        "nvme_firmware_update_capabilities nvme_ieee_oui_identifier nvme_log_page_attributes "
        "nvme_maximum_data_transfer_pages nvme_namespaces nvme_number_of_namespaces "
        "nvme_optional_admin_commands nvme_optional_nvm_commands nvme_pci_vendor "
        "nvme_power_states nvme_self_test_log nvme_smart_health_information_log "
        "nvme_total_capacity nvme_unallocated_capacity nvme_version "
        "scsi_background_scan scsi_device_statistics scsi_environmental_reports "
        "scsi_error_counter_log scsi_extended_self_test_seconds scsi_format_status "
        "scsi_general_statistics_and_performance_log scsi_grown_defect_list "
        "scsi_lb_provisioning scsi_model_name scsi_pending_defects "
        "scsi_percentage_used_endurance_indicator scsi_product "
        "scsi_protection_interval_bytes_per_lb scsi_protection_intervals_per_lb "
        "scsi_protection_type scsi_revision scsi_self_test_status scsi_start_stop_cycle_counter "
        "scsi_tapealert scsi_temperature scsi_transport_protocol scsi_vendor scsi_version "
        "scsi_zoned_block_device_statistics"
    ).split()
)
_NUMBERED = re.compile(r"(scsi_self_test|nvme_namespace|seagate_farm_page)_\d+")
"""Fields of which smartctl writes one for each entry of a log."""
_STATUS = frozenset(("passed", "nvme", "scsi", "reserved_value"))
_NVME_STATUS = frozenset(
    (
        "value spare_below_threshold temperature_above_or_below_threshold reliability_degraded "
        "media_read_only volatile_memory_backup_failed persistent_memory_region_unreliable other"
    ).split()
)
_NVME_LOG = frozenset(
    (
        "nsid critical_warning temperature available_spare available_spare_threshold "
        "percentage_used data_units_read data_units_written host_reads host_writes "
        "controller_busy_time power_cycles power_on_hours unsafe_shutdowns media_errors "
        "num_err_log_entries warning_temp_time critical_comp_time temperature_sensors "
        "thermal_mgmt_temperature_1_transition_count thermal_mgmt_temperature_1_total_time "
        "thermal_mgmt_temperature_2_transition_count thermal_mgmt_temperature_2_total_time"
    ).split()
)
_ATTRIBUTE = frozenset(("id", "name", "value", "worst", "thresh", "when_failed", "flags", "raw"))
_STATISTIC = frozenset(("offset", "name", "size", "value", "flags"))
_COUNTED_ERRORS = frozenset(
    (
        "errors_corrected_by_eccfast errors_corrected_by_eccdelayed "
        "errors_corrected_by_rereads_rewrites total_errors_corrected "
        "correction_algorithm_invocations gigabytes_processed total_uncorrected_errors"
    ).split()
)


def from_smartctl(content: Mapping[str, Any], source: str, form: str = "JSON") -> DriveReport:
    """Read smartctl's JSON.

    Parameters
    ----------
    content
        Parsed.
    source
        The file or device it came from.
    form
        What it was read from, ``JSON`` or ``text``.
    """
    unread: list[Unread] = []
    known = {key: value for key, value in content.items() if not _NUMBERED.fullmatch(key)}
    told = Told(known, "", unread).only(_TOP)
    device, program = told.part("device"), told.part("smartctl")
    _check_format(content, unread)
    nvme, support = told.part("nvme_smart_health_information_log"), told.part("smart_support")
    status = program.number("exit_status") or 0
    messages = _messages(program)
    passed, warning = _status(told)
    return DriveReport(
        device=device.text("name") or source,
        kind=device.text("type"),
        protocol=device.text("protocol") or ("NVMe" if nvme else ""),
        model=told.text("model_name") or told.text("scsi_model_name"),
        family=told.text("model_family"),
        firmware=told.text("firmware_version")
        or told.text("scsi_revision")
        or told.text("revision"),
        serial=told.text("serial_number"),
        product=told.text("ata_additional_product_id"),
        capacity_bytes=told.part("user_capacity").number("bytes")
        or told.number("nvme_total_capacity"),
        rotation_rpm=told.number("rotation_rate"),
        has_smart=support.truth("available"),
        smart_is_on=support.truth("enabled"),
        passed=passed,
        power_on_hours=told.part("power_on_time").number("hours"),
        temperature_celsius=told.part("temperature").real("current", _COLDEST, _HOTTEST)
        if told.has("temperature")
        else nvme.real("temperature", _COLDEST, _HOTTEST),
        attributes=_attributes(told, is_text=form == "text"),
        statistics=_statistics(told),
        failed_self_tests=failed_self_tests(told, Told(content, "", unread)),
        nvme=_nvme(nvme, warning) if nvme else None,
        scsi_endurance_used=told.number("scsi_percentage_used_endurance_indicator", _LARGEST_BYTE),
        scsi_grown_defects=told.number("scsi_grown_defect_list"),
        scsi_pending_defects=told.part("scsi_pending_defects").number("count"),
        scsi_uncorrected=_uncorrected(told),
        ata_pending_defects=_pending_defects(told),
        endurance_used=told.part("endurance_used").number("current_percent", _LARGEST_BYTE),
        not_opened=bool(status >> _OPEN_FAILED & 1),
        failed_commands=bool(status >> _COMMAND_FAILED & 1),
        exit_says=tuple(bit for bit in (_IS_FAILING, _PREFAIL, _TESTS_FAILED) if status >> bit & 1),
        messages=messages,
        asleep=any(_ASLEEP.search(message) for message in messages),
        form=_form(content, form),
        asked=_asked(content),
        unread=tuple(unread),
    )


def _form(content: Mapping[str, Any], form: str) -> str:
    program = content.get("smartctl")
    parts = program.get("version") if isinstance(program, Mapping) else None
    version = parts if isinstance(parts, list) and all(map(_is_part, parts)) else []
    return " ".join(["smartctl", ".".join(map(str, version)), form]).replace("  ", " ")


def _is_part(part: object) -> bool:
    return whole(part) is not None


def _asked(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the words with which smartctl was called."""
    program = content.get("smartctl")
    words = program.get("argv") if isinstance(program, Mapping) else None
    return tuple(
        filter(lambda word: isinstance(word, str), words if isinstance(words, list) else ())
    )


def _check_format(content: Mapping[str, Any], unread: list[Unread]) -> None:
    version = content.get("json_format_version", [FORMAT])
    if not isinstance(version, list) or not version or whole(version[0]) != FORMAT:
        Told(content, "", unread).note("json_format_version", f"format {FORMAT} is known here")


def _messages(program: Told) -> tuple[str, ...]:
    return tuple(message for entry in program.rows("messages") if (message := entry.text("string")))


def _status(told: Told) -> tuple[bool | None, int | None]:
    """Read the drive's own verdict, and NVMe's critical warning as it is repeated there."""
    status = told.part("smart_status").only(_STATUS)
    nvme = status.part("nvme").only(_NVME_STATUS)
    return status.truth("passed"), nvme.number("value", _LARGEST_BYTE)


def _nvme(log: Told, repeated: int | None) -> NvmeHealth:
    log.only(_NVME_LOG)
    warning = log.number("critical_warning", _LARGEST_BYTE)
    return NvmeHealth(
        critical_warning=repeated if warning is None else warning | (repeated or 0),
        temperature_celsius=log.real("temperature", _COLDEST, _HOTTEST),
        available_spare=log.number("available_spare", _LARGEST_PERCENT),
        available_spare_threshold=log.number("available_spare_threshold", _LARGEST_PERCENT),
        percentage_used=log.number("percentage_used", _LARGEST_BYTE),
        data_units_read=log.number("data_units_read"),
        data_units_written=log.number("data_units_written"),
        media_errors=log.number("media_errors"),
        unsafe_shutdowns=log.number("unsafe_shutdowns"),
        power_on_hours=log.number("power_on_hours"),
        error_log_entries=log.number("num_err_log_entries"),
    )


def _attributes(told: Told, is_text: bool) -> dict[int, Attribute]:
    found = {}
    for entry in told.part("ata_smart_attributes").only(("revision", "table")).rows("table"):
        key = entry.only(_ATTRIBUTE).number("id", _LARGEST_BYTE)
        if key is None:
            if not entry.has("id"):
                entry.note("id", "an attribute has a number")
            continue
        raw = entry.part("raw").only(("value", "string"))
        found[key] = Attribute(
            id=key,
            name=entry.text("name"),
            value=entry.number("value", _LARGEST_BYTE),
            worst=entry.number("worst", _LARGEST_BYTE),
            threshold=entry.number("thresh", _LARGEST_BYTE),
            raw=raw.number("value"),
            count=_leading(raw.text("string")),
            prefailure=entry.part("flags").truth("prefailure"),
            when_failed=entry.text("when_failed"),
            is_cut=is_text and " " in raw.text("string"),
        )
    return found


def _leading(written: str) -> int | None:
    """Read the count that smartctl writes first, as in ``8 (0 65535)``."""
    return whole(written.partition(" ")[0])


def _statistics(told: Told) -> dict[str, int]:
    found = {}
    for page in told.part("ata_device_statistics").rows("pages"):
        for entry in page.rows("table"):
            entry.only(_STATISTIC)
            flags = entry.part("flags")
            is_valid = not flags.has("valid") or flags.truth("valid")
            # A statistic that is negative, as some temperatures are, is none that is read here.
            value = entry.number("value") if is_valid and not _is_temperature(entry) else None
            if value is not None:
                found[entry.text("name")] = value
    return found


def _is_temperature(entry: Told) -> bool:
    return "Temperature" in entry.text("name")


def _pending_defects(told: Told) -> int | None:
    log = told.part("ata_pending_defects_log").only(("size", "count", "table"))
    if log and not log.has("count"):
        log.note("count", "the number of defects was expected")
    return log.number("count")


def _uncorrected(told: Told) -> int | None:
    log = told.part("scsi_error_counter_log").only(("read", "write", "verify"))
    known = []
    for kind in ("read", "write", "verify"):
        errors = log.part(kind).only(_COUNTED_ERRORS)
        count = errors.number("total_uncorrected_errors")
        if count is not None:
            known.append(count)
        elif log.has(kind) and not errors.has("total_uncorrected_errors"):
            errors.note("total_uncorrected_errors", "a whole number was expected")
    return sum(known) if known else None
