"""A simulated drive's counters as smartctl's own JSON, so that whatever reads that can be tried.

Life used is mean erases / rated cycles, in whole percent as drives tell it; spare left is what may
still be lost of the blocks that could be lost, never below 0; a drive that has lost more, or that
has no free block left, is read-only and says that it has failed; flash bytes are host bytes times
the counters' write amplification (units programmed / units written).
An NVMe drive gets the health log (02h), a SATA drive its vendor's attributes (``data/smart.toml``
says which, ``data/wear`` what they mean), one without a vendor the ATA Device Statistics.

Left out, because the model has none: temperature, hours of power, serial number, self-tests.
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
_SPARE_THRESHOLD = 10
_LARGEST_PERCENTAGE = 255
_BEST_VALUE = 100
_READ_ONLY_BIT = 3
_RAW_BITS = 48
_SECTOR_BYTES = 512

Figures = Mapping[str, float | None]


def smart_json(shown: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Write what ``engine.show`` tells as smartctl 7.5 would.

    Parameters
    ----------
    shown
        A drive as ``engine.show`` gives it.
    device
        What to call it.

    Raises
    ------
    SsdlabError
        The drive does not wear.
    """
    if not shown.get("wear"):
        raise SsdlabError(f"--smart-json: {device} is not an SSD, so it reports no wear")
    figures = _figures(shown)
    nvme = _parameter(shown, "link.protocol") == "nvme"
    report = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 5], "build_info": "(ssdlab, simulated)", "exit_status": 0},
        "device": {
            "name": device,
            "info_name": device,
            "type": "nvme" if nvme else "sat",
            "protocol": "NVMe" if nvme else "ATA",
        },
        "model_name": _model(shown)[0],
        "serial_number": SERIAL,
        "user_capacity": {"bytes": shown["wear"]["exported_bytes"]},
    }
    return report | (_nvme(shown, figures) if nvme else _ata(shown, figures))


def _is_read_only(shown: Mapping[str, Any]) -> bool:
    """Whether the engine writes no more: good blocks ran out, or free ones."""
    return bool(shown["read_only"] or shown["wear"]["spare_blocks"] < 0)


def _figures(shown: Mapping[str, Any]) -> Figures:
    """Give each meaning of the database its number."""
    wear, counters = shown["wear"], shown["counters"]
    mean, rated = wear["erase_counts"]["mean"], wear.get("rated_cycles")
    used = int(100 * mean / rated) if rated else None
    host = counters["host_bytes_written"]
    lost, left = counters["grown_bad_blocks"], max(wear["spare_blocks"], 0)
    programmed, asked = counters["nand_pages_written"], counters["host_pages_written"]
    return {
        "life used": used,
        "life left": None if used is None else max(100 - used, 0),
        "spare left": 100 * left // (left + lost) if left + lost else 0,
        "host written": host,
        "host read": counters["host_bytes_read"],
        "flash written": counters["nand_bytes_written"],
        "host pages": asked,
        "other pages": max(programmed - asked, 0),
        "average erases": round(mean),
        "rated erases": rated,
        "power-loss protection": 100,
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


def _nvme(shown: Mapping[str, Any], figures: Figures) -> dict[str, Any]:
    counters = shown["counters"]
    spare, used = int(figures["spare left"] or 0), figures["life used"]
    warning = int(spare < _SPARE_THRESHOLD) | int(_is_read_only(shown)) << _READ_ONLY_BIT
    told = {} if used is None else {"percentage_used": min(int(used), _LARGEST_PERCENTAGE)}
    log = {
        "critical_warning": warning,
        "available_spare": spare,
        "available_spare_threshold": _SPARE_THRESHOLD,
        **told,
        "data_units_read": -(-counters["host_bytes_read"] // NVME_UNIT_BYTES),
        "data_units_written": -(-counters["host_bytes_written"] // NVME_UNIT_BYTES),
        "host_reads": counters["host_reads"],
        "host_writes": counters["host_writes"],
        "unsafe_shutdowns": counters["unsafe_shutdowns"],
        "media_errors": counters["uncorrectable_reads"],
        "num_err_log_entries": counters["uncorrectable_reads"],
    }
    # As smartctl has it: any warning is a failure.
    status = {"passed": not warning, "nvme": {"value": warning}}
    return {"smart_status": status, "nvme_smart_health_information_log": log}


def _ata(shown: Mapping[str, Any], figures: Figures) -> dict[str, Any]:
    model, row = _model(shown)
    family = family_of(DriveReport(device="", model=model)) if row else None
    status = {"smart_status": {"passed": not _is_read_only(shown)}}
    if family is None:
        return status | {"ata_device_statistics": {"pages": _statistics(figures)}}
    counts = {int(key): shown["counters"][name] for key, name in row.get("errors", {}).items()}
    table = [_attribute(key, family, figures, counts) for key in row["attributes"]]
    return status | {"ata_smart_attributes": {"revision": 1, "table": table}}


def _statistics(figures: Figures) -> list[dict[str, Any]]:
    sectors = int(figures["host written"] or 0) // _SECTOR_BYTES
    general = [{"name": "Logical Sectors Written", "value": sectors, "flags": {"valid": True}}]
    used = figures["life used"]
    indicator = {
        "name": "Percentage Used Endurance Indicator",
        "value": min(used or 0, _LARGEST_PERCENTAGE),
        "flags": {"valid": used is not None},
    }
    return [
        {"number": 1, "name": "General Statistics", "table": general},
        {"number": 7, "name": "Solid State Device Statistics", "table": [indicator]},
    ]


def _attribute(
    key: int, family: Family, figures: Figures, counts: Mapping[int, int]
) -> dict[str, Any]:
    value, raw, name = 100, 0, ""
    for meaning in family.meanings:
        if meaning.id != key:
            continue
        name = meaning.name
        number = int(
            (counts.get(key) if meaning.means == "errors" else figures[meaning.means]) or 0
        )
        if meaning.read == "value":
            value = min(max(number, 0), _BEST_VALUE)
        else:
            raw = number // meaning.unit_bytes << (meaning.bits or (0, 0))[0]
    return {
        "id": key,
        "name": name,
        "value": value,
        "worst": value,
        "thresh": 0,
        "raw": {"value": raw & (1 << _RAW_BITS) - 1, "string": str(raw)},
    }
