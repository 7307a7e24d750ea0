"""A simulated drive's health as smartctl's own JSON, so that whatever reads that can be tried.

The figures are the engine's (``health`` of ``engine.show`` and of a served drive): life used is
mean erases / rated cycles, in whole percent as drives tell it; spare left is what may still be
lost of the blocks that could be lost; flash bytes are the drive's own count.
An NVMe drive gets the health log (02h), a SATA drive its maker's attributes (``data/smart.toml``
says which, ``data/wear`` what they mean), one without a maker the ATA Device Statistics.

The model has no temperature, hours or power cycles: they are told where ``ssdlab ctl FOLDER age``
has said them, and left out otherwise. Failed commands and self-tests are those of NVMe hosts; a
SATA drive has none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.engine.shown import parameters
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health.past import NvmePast
from ssdlab.real.smart.life import NVME_UNIT_BYTES
from ssdlab.real.smart.meanings import Family, family_of
from ssdlab.real.smart.report import DriveReport

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERIAL = "SIMULATED"
VERSION = (7, 5)
"""Of smartctl, as whose JSON the document is written."""
_LARGEST_PERCENTAGE = 255
_IN_100_UW, _IN_10_MW = 1, 2
"""NVMe's scales of power: steps of 0.1 mW and of 10 mW."""
_RELATIVE = ("read_latency", "read_throughput", "write_latency", "write_throughput")
_BEST_VALUE, _FAILED_VALUE = 100, 1
_RAW_BITS = 48
_SECTOR_BYTES = 512
WARNINGS = {
    "spare_below_threshold": "available spare has fallen below threshold",
    "temperature_above_or_below_threshold": "temperature is above or below threshold",
    "reliability_degraded": "NVM subsystem reliability has been degraded",
    "media_read_only": "media has been placed in read only mode",
    "volatile_memory_backup_failed": "volatile memory backup device has failed",
}
"""Bits of NVMe's critical warning, from bit 0 on: smartctl's key and its sentence."""

NOTHING = NvmePast()
ERRORS_KEPT, ERRORS_READ = 64, 16
"""Entries of the drive's error log, and how many of them smartctl reads."""
_STATUS = {
    0x001: "Invalid Command Opcode",
    0x002: "Invalid Field in Command",
    0x006: "Internal Error",
    0x007: "Command Abort Requested",
    0x00B: "Invalid Namespace or Format",
    0x00C: "Command Sequence Error",
    0x00F: "Data SGL Length Invalid",
    0x011: "SGL Descriptor Type Invalid",
    0x01D: "Sanitize In Progress",
    0x020: "Namespace is Write Protected",
    0x022: "Transient Transport Error",
    0x080: "LBA Out of Range",
    0x082: "Namespace Not Ready",
    0x105: "Asynchronous Event Request Limit Exceeded",
    0x109: "Invalid Log Page",
    0x10A: "Invalid Format",
    0x10D: "Feature Identifier Not Saveable",
    0x10E: "Feature Not Changeable",
    0x180: "Connect Incompatible Format",
    0x181: "Connect Controller Busy",
    0x182: "Connect Invalid Parameters",
    0x280: "Write Fault",
    0x281: "Unrecovered Read Error",
    0x285: "Compare Failure",
}
"""Status code type and code as the NVMe Base Specification 2.0 names them (figures 94 to 98), those
with which a served drive ends a command."""
_TESTS = {1: "Short", 2: "Extended", 14: "Vendor specific"}
_PASSED, _FAILED_SEGMENTS = 0, 7
_RESULTS = {_PASSED: "Completed without error", _FAILED_SEGMENTS: "Completed: failed segments"}

HealthFigures = Mapping[str, float | None]


def smart_json(
    shown: Mapping[str, Any],
    device: str,
    serial: str = SERIAL,
    firmware: str = "",
    past: NvmePast = NOTHING,
) -> dict[str, Any]:
    """Write what ``engine.show`` tells as smartctl 7.5 would, all sections together.

    Parameters
    ----------
    shown
        A drive as ``engine.show`` gives it.
    device
        What to call it.
    serial, firmware
        What else it calls itself.
    past
        What NVMe hosts did to it.

    Raises
    ------
    SsdlabError
        The drive does not wear.
    """
    if not shown.get("health"):
        raise SsdlabError(
            f"{device}: is not an SSD, so it reports no wear\nname a drive with flash"
        )
    nvme = _parameter(shown, "link.protocol") == "nvme"
    report = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [*VERSION], "build_info": "(ssdlab, simulated)", "exit_status": 0},
        "device": {
            "name": device,
            "info_name": device,
            "type": "nvme" if nvme else "sat",
            "protocol": "NVMe" if nvme else "ATA",
        },
        "model_name": _model(shown)[0],
        "serial_number": serial,
        **({"firmware_version": firmware} if firmware else {}),
        "user_capacity": _capacity(shown),
        "logical_block_size": _sector_bytes(shown),
        "smart_support": {"available": True, "enabled": True},
        **_signs(shown["health"]),
    }
    return report | (_nvme(shown, past) if nvme else _ata(shown))


def _sector_bytes(shown: Mapping[str, Any]) -> int:
    return int(_parameter(shown, "sector_bytes") or _SECTOR_BYTES)


def _capacity(shown: Mapping[str, Any]) -> dict[str, int]:
    size = int(shown["wear"]["exported_bytes"])
    return {"blocks": size // _sector_bytes(shown), "bytes": size}


def _signs(health: Mapping[str, Any]) -> dict[str, Any]:
    """Write what somebody has said of the drive's life."""
    celsius, hours, cycles = (health[key] for key in ("celsius", "power_on_hours", "power_cycles"))
    return {
        **({} if celsius is None else {"temperature": {"current": celsius}}),
        **({} if hours is None else {"power_on_time": {"hours": hours}}),
        **({} if cycles is None else {"power_cycle_count": cycles}),
    }


def _figures(health: Mapping[str, Any]) -> HealthFigures:
    """Give each meaning of the database its number."""
    counters, used = health["counters"], health["used_percent"]
    programmed, asked = counters["nand_pages_written"], counters["host_pages_written"]
    return {
        "life used": used,
        "life left": max(100 - used, 0),
        "spare left": health["spare_percent"],
        "host written": counters["host_bytes_written"],
        "host read": counters["host_bytes_read"],
        "flash written": counters["nand_bytes_written"],
        "host pages": asked,
        "other pages": max(programmed - asked, 0),
        "average erases": health["average_erases"],
        "rated erases": health["rated_erases"],
        "power-loss protection": _FAILED_VALUE if health["capacitor_failed"] else _BEST_VALUE,
    }


def _parameter(shown: Mapping[str, Any], key: str) -> Any:
    return parameters(shown).get(key)


@cache
def _table() -> list[dict[str, Any]]:
    content = files("ssdlab.data").joinpath("smart.toml").read_text(encoding="utf-8")
    families = tomllib.loads(content)["family"]
    assert isinstance(families, list)
    return families


def _model(shown: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Give what the drive calls itself, and its row of the table; its title without one."""
    for row in _table():
        if shown["name"] in row["models"]:
            return row["models"][shown["name"]], row
    return str(shown.get("title") or shown["name"]), {}


def model_name(shown: Mapping[str, Any]) -> str:
    """Return what a drive calls itself."""
    return _model(shown)[0]


def _nvme(shown: Mapping[str, Any], past: NvmePast) -> dict[str, Any]:
    health = shown["health"]
    counters, warning = health["counters"], health["critical_warning"]
    told = {"temperature": "celsius", "power_cycles": "power_cycles"}
    told |= {"power_on_hours": "power_on_hours"}
    log = {
        "critical_warning": warning,
        "available_spare": health["spare_percent"],
        "available_spare_threshold": health["spare_threshold_percent"],
        "percentage_used": min(health["used_percent"], _LARGEST_PERCENTAGE),
        "data_units_read": -(-counters["host_bytes_read"] // NVME_UNIT_BYTES),
        "data_units_written": -(-counters["host_bytes_written"] // NVME_UNIT_BYTES),
        "host_reads": counters["host_reads"],
        "host_writes": counters["host_writes"],
        "unsafe_shutdowns": counters["unsafe_shutdowns"],
        "media_errors": counters["uncorrectable_reads"],
        "num_err_log_entries": past.errors,
        **{key: health[sign] for key, sign in told.items() if health[sign] is not None},
    }
    bits = {name: bool(warning >> bit & 1) for bit, name in enumerate(WARNINGS)}
    # As smartctl has it: any warning is a failure.
    status = {"passed": not warning, "nvme": {"value": warning, **bits}}
    capacity, sector = _capacity(shown), _sector_bytes(shown)
    size = {"size": capacity, "capacity": capacity, "formatted_lba_size": sector}
    form = {"formatted": True, "data_bytes": sector, "metadata_bytes": 0, "relative_performance": 0}
    return {
        "nvme_total_capacity": capacity["bytes"],
        "nvme_number_of_namespaces": 1,
        "nvme_namespaces": [{"id": 1, **size, "lba_formats": [form]}],
        **_power_states(shown),
        "smart_status": status,
        "nvme_smart_health_information_log": log,
        "nvme_error_information_log": _error_log(past),
        "nvme_self_test_log": _self_test_log(past),
    }


def _power_states(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the power states as the served drive does (crates/serve/src/nvme/power.rs).

    Power at rest is left out: smartctl looks for its scale in the wrong bits and prints a dash.
    """
    names = ("active", "slumber", "sleep")
    milliwatts = {name: _parameter(shown, f"power.{name}_mw") for name in names}
    if milliwatts["active"] in (None, "none"):
        return {}
    low = [name for name in ("slumber", "sleep") if milliwatts[name] not in (None, "none")]
    states = []
    for number, name in enumerate(("active", *low)):
        wakes_us = 0 if number == 0 else int(_parameter(shown, f"power.{name}_wake_us") or 0)
        latency = {"entry_latency_us": 0, "exit_latency_us": wakes_us}
        relative = {f"relative_{what}": number for what in _RELATIVE}
        power = _power(milliwatts[name], _IN_10_MW if number == 0 else _IN_100_UW)
        states.append(
            {"non_operational_state": number > 0, **relative, **latency, "max_power": power}
        )
    return {"nvme_power_states": states}


def _power(milliwatts: float, scale: int) -> dict[str, int]:
    units_per_watt = {_IN_100_UW: 10_000, _IN_10_MW: 100}[scale]
    value = round(milliwatts * units_per_watt / 1000)
    return {"value": value, "scale": scale, "units_per_watt": units_per_watt}


def _error_log(past: NvmePast) -> dict[str, Any]:
    read = past.failed[:ERRORS_READ]
    table = [
        {
            "error_count": each.number,
            "submission_queue_id": each.queue,
            "command_id": each.command,
            "status_field": _status(each.status >> 1),
            "phase_tag": bool(each.status & 1),
            "lba": {"value": each.sector},
            "nsid": 1,
        }
        for each in read
    ]
    # As smartctl has it: where what it read is full, there may be more.
    unread = ERRORS_KEPT - ERRORS_READ if len(read) == ERRORS_READ else 0
    told = {"size": ERRORS_KEPT, "read": ERRORS_READ, "unread": unread}
    return {**told, "table": table} if table else told


def _status(status: int) -> dict[str, Any]:
    kind, code = status >> 8 & 7, status & 0xFF
    return {
        "value": status,
        "do_not_retry": bool(status >> 14 & 1),
        "status_code_type": kind,
        "status_code": code,
        "string": _STATUS.get(kind << 8 | code, f"Unknown Status {kind}/0x{code:02x}"),
    }


def _self_test_log(past: NvmePast) -> dict[str, Any]:
    now = {"value": 0, "string": "No self-test in progress"}
    table = []
    for code, passed in past.self_tests:
        result = _PASSED if passed else _FAILED_SEGMENTS
        table.append(
            {
                "self_test_code": {
                    "value": code,
                    "string": _TESTS.get(code, f"Unknown (0x{code:x})"),
                },
                "self_test_result": {"value": result, "string": _RESULTS[result]},
                # The drive does not keep the hour, nor which segment failed.
                "power_on_hours": 0,
                **({} if passed else {"segment": 0}),
            }
        )
    told: dict[str, Any] = {"nsid": -1, "current_self_test_operation": now}
    return {**told, "table": table} if table else told


def _ata(shown: Mapping[str, Any]) -> dict[str, Any]:
    health, (model, row) = shown["health"], _model(shown)
    family = family_of(DriveReport(device="", model=model)) if row else None
    report: dict[str, Any] = {"rotation_rate": 0, "ata_smart_error_log": _NO_ERRORS}
    report["physical_block_size"] = _parameter(shown, "sector_bytes") or _SECTOR_BYTES
    report["ata_smart_self_test_log"] = _NO_TESTS
    if family is None:
        report["smart_status"] = {"passed": not health["read_only"]}
        return report | {"ata_device_statistics": {"pages": _statistics(health)}}
    table = [*_makers(row, family, health), *_others(row, health)]
    table.sort(key=lambda attribute: attribute["id"])
    fails = any(each["when_failed"] and each["flags"]["prefailure"] for each in table)
    return report | {
        "model_family": family.name,
        "smart_status": {"passed": not (health["read_only"] or fails)},
        "ata_smart_attributes": {"revision": 1, "table": table},
    }


_NO_ERRORS = {"summary": {"revision": 1, "count": 0}}
_NO_TESTS = {"standard": {"revision": 1, "count": 0}}


def _statistics(health: Mapping[str, Any]) -> list[dict[str, Any]]:
    def row(offset: int, name: str, size: int, value: int | None) -> dict[str, Any]:
        told = {} if value is None else {"value": value}
        flags = {"valid": value is not None}
        return {"offset": offset, "name": name, "size": size, **told, "flags": flags}

    counters, celsius = health["counters"], health["celsius"]
    general = [
        row(0x08, "Lifetime Power-On Resets", 4, health["power_cycles"]),
        row(0x10, "Power-on Hours", 4, health["power_on_hours"]),
        row(0x18, "Logical Sectors Written", 6, counters["host_bytes_written"] // _SECTOR_BYTES),
        row(0x20, "Number of Write Commands", 6, counters["host_writes"]),
        row(0x28, "Logical Sectors Read", 6, counters["host_bytes_read"] // _SECTOR_BYTES),
        row(0x30, "Number of Read Commands", 6, counters["host_reads"]),
    ]
    errors = [
        row(0x08, "Number of Reported Uncorrectable Errors", 4, counters["uncorrectable_reads"])
    ]
    life = min(health["used_percent"], _LARGEST_PERCENTAGE)
    return [
        {"number": 1, "name": "General Statistics", "table": general},
        {"number": 4, "name": "General Errors Statistics", "table": errors},
        {
            "number": 5,
            "name": "Temperature Statistics",
            "table": [row(0x08, "Current Temperature", 1, celsius)],
        },
        {
            "number": 7,
            "name": "Solid State Device Statistics",
            "table": [row(0x08, "Percentage Used Endurance Indicator", 1, life)],
        },
    ]


def _makers(
    row: Mapping[str, Any], family: Family, health: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Write the attributes whose meaning is in the database."""
    counters = {**health["counters"], "grown_bad_blocks": health["blocks_lost"]}
    counts = {int(key): counters[name] for key, name in row.get("errors", {}).items()}
    figures = _figures(health)
    found = []
    for key in row["attributes"]:
        value, raw, name = _BEST_VALUE, 0, ""
        for meaning in family.meanings:
            if meaning.id != key:
                continue
            name = meaning.name
            told = counts.get(key) if meaning.means == "errors" else figures[meaning.means]
            number = int(told or 0)
            if meaning.read == "value":
                value = min(max(number, 0), _BEST_VALUE)
            else:
                raw = number // meaning.unit_bytes << (meaning.bits or (0, 0))[0]
        found.append(_attribute(row, key, name, value, raw))
    return found


def _others(row: Mapping[str, Any], health: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Write the attributes that tell how the drive was used, as far as somebody has said it."""
    told = {**health, "unsafe_shutdowns": health["counters"]["unsafe_shutdowns"]}
    found = []
    for key, (name, what) in row.get("others", {}).items():
        number = told[what]
        if number is not None:
            found.append(_attribute(row, int(key), name, _BEST_VALUE, number))
    return found


def _attribute(row: Mapping[str, Any], key: int, name: str, value: int, raw: int) -> dict[str, Any]:
    threshold = row.get("thresholds", {}).get(str(key), 0)
    has_threshold = threshold > 0
    return {
        "id": key,
        "name": name,
        "value": value,
        "worst": value,
        "thresh": threshold,
        "when_failed": "now" if has_threshold and value <= threshold else "",
        "flags": {
            "value": 0x33 if has_threshold else 0x32,
            "string": "PO--CK " if has_threshold else "-O--CK ",
            "prefailure": has_threshold,
            "updated_online": True,
            "performance": False,
            "error_rate": False,
            "event_count": True,
            "auto_keep": True,
        },
        "raw": {"value": raw & (1 << _RAW_BITS) - 1, "string": str(raw)},
    }
