"""A simulated drive's health as smartctl's own JSON, so that whatever reads that can be tried.

The figures are the engine's (``health`` of ``engine.show`` and of a served drive): life used is
mean erases / rated cycles, in whole percent as drives tell it; spare left is what may still be
lost of the blocks that could be lost; flash bytes are the drive's own count.
An NVMe drive gets the health log (02h), a SATA drive its maker's attributes (``data/smart.toml``
says which, ``data/wear`` what they mean), one without a maker the ATA Device Statistics.

The model has no temperature, hours or power cycles: they are told where ``ssdlab ctl FOLDER age``
has said them, and left out otherwise. Left out, too: self-tests, of which the log is empty.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.engine.shown import parameters
from ssdlab.ground.errors import SsdlabError
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

Figures = Mapping[str, float | None]


def smart_json(
    shown: Mapping[str, Any], device: str, serial: str = SERIAL, firmware: str = ""
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
        "user_capacity": {"bytes": shown["wear"]["exported_bytes"]},
        "logical_block_size": _parameter(shown, "sector_bytes") or _SECTOR_BYTES,
        "smart_support": {"available": True, "enabled": True},
        **_signs(shown["health"]),
    }
    return report | (_nvme(shown) if nvme else _ata(shown))


def _signs(health: Mapping[str, Any]) -> dict[str, Any]:
    """Write what somebody has said of the drive's life."""
    celsius, hours, cycles = (health[key] for key in ("celsius", "power_on_hours", "power_cycles"))
    return {
        **({} if celsius is None else {"temperature": {"current": celsius}}),
        **({} if hours is None else {"power_on_time": {"hours": hours}}),
        **({} if cycles is None else {"power_cycle_count": cycles}),
    }


def _figures(health: Mapping[str, Any]) -> Figures:
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


def _nvme(shown: Mapping[str, Any]) -> dict[str, Any]:
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
        "num_err_log_entries": counters["uncorrectable_reads"],
        **{key: health[sign] for key, sign in told.items() if health[sign] is not None},
    }
    bits = {name: bool(warning >> bit & 1) for bit, name in enumerate(WARNINGS)}
    # As smartctl has it: any warning is a failure.
    status = {"passed": not warning, "nvme": {"value": warning, **bits}}
    return {"smart_status": status, "nvme_smart_health_information_log": log}


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
