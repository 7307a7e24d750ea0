"""What three collectors read of smartctl's answer, and when they sound an alarm.

These are facts about them, read in their sources: check_smart_attributes e7cd93d (its script, and
``check_smartdb.json``), smartctl_exporter c0fe431 (``readjson.go``, ``smartctl.go``), scrutiny
89588a4 (``collector/pkg/config/config.go``, ``webapp/backend/pkg/models/measurements``,
``webapp/backend/pkg/thresholds/nvme_attribute_metadata.go``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

CHECK_ASKS = ("-a",)
EXPORTER_ASKS = (
    *("--json", "--info", "--health", "--attributes", "--tolerance=verypermissive"),
    *("--nocheck=standby", "--format=brief", "--log=error"),
)
SCRUTINY_ASKS = ("--xall", "--json")
_LOG = "nvme_smart_health_information_log"

_EXPORTED = {
    "smartctl_device_smartctl_exit_status": "smartctl.exit_status",
    "smartctl_device_smart_status": "smart_status.passed",
    "smartctl_device_percentage_used": f"{_LOG}.percentage_used",
    "smartctl_device_available_spare": f"{_LOG}.available_spare",
    "smartctl_device_available_spare_threshold": f"{_LOG}.available_spare_threshold",
    "smartctl_device_critical_warning": f"{_LOG}.critical_warning",
    "smartctl_device_media_errors": f"{_LOG}.media_errors",
    "smartctl_device_num_err_log_entries": f"{_LOG}.num_err_log_entries",
}
"""What the exporter tells of an NVMe drive's health, by metric. A field that is not there it tells
as 0, so all have to be."""
_NAMES = ("device.name", "device.type", "device.protocol", "serial_number", "model_name")


def exported(document: Mapping[str, Any]) -> dict[str, float]:
    """Return what smartctl_exporter makes of an NVMe drive's document.

    Raises
    ------
    KeyError
        A field that it reads is not there.
    """
    for name in _NAMES:
        assert str(_at(document, name)), name
    return {metric: float(_at(document, path)) for metric, path in _EXPORTED.items()}


def _at(document: Mapping[str, Any], path: str) -> Any:
    found: Any = document
    for key in path.split("."):
        found = found[key]
    return found


def failing_for_scrutiny(document: Mapping[str, Any]) -> set[str]:
    """Return what of an NVMe drive's document scrutiny calls failed: fields, and the verdict."""
    log = document[_LOG]
    failing = {
        "smart_status": not document["smart_status"]["passed"],
        "critical_warning": log["critical_warning"] > 0,
        "available_spare": log["available_spare"] < log["available_spare_threshold"],
        "percentage_used": log["percentage_used"] > 100,
        "media_errors": log["media_errors"] > 0,
    }
    return {name for name, fails in failing.items() if fails}


@dataclass
class Scrutiny:
    """What scrutiny's collector sends to its server.

    Attributes
    ----------
    place
        Where the server listens.
    devices, documents
        What was registered, and what smartctl's stand-in said of each.
    """

    place: str = ""
    devices: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)

    def take(self, path: str, sent: dict[str, Any]) -> dict[str, Any]:
        """Take what was posted; gives the answer."""
        if path.endswith("/register"):
            self.devices += sent["data"]
        else:
            self.documents.append(sent)
        return {"success": True, "data": self.devices}


@contextmanager
def scrutiny() -> Iterator[Scrutiny]:
    """Stand for scrutiny's server: its collector registers devices, then posts a document each."""
    taken = Scrutiny()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(taken.take(self.path, sent)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        taken.place = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield taken
        server.shutdown()


_NVME_LIMITS = {
    "Critical Warning": ("0", "0"),
    "Temperature": ("50", "60"),
    "Available Spare": ("16:", "11:"),
    "Percentage Used": ("85", "90"),
    "Media and Data Integrity Errors": ("0", "10"),
    "Error Information Log Entries": ("0", "10"),
}
"""By the name of a line: above this (below it, with a colon) it is warning, and critical."""
_INTEL_LIMITS = {
    5: ("RAW_VALUE", "20", "40"),
    175: ("VALUE", "100:", "100:"),
    187: ("RAW_VALUE", "0", "10"),
    194: ("RAW_VALUE", "50", "60"),
    232: ("VALUE", "16:", "11:"),
    233: ("VALUE", "16:", "6:"),
}
"""Of a DC S3500, by attribute; those that our drive does not have are left out."""
_NVME_LINE = re.compile(r"([A-Za-z\s]+):\s+(.+)$")
_VERDICT = re.compile(r"SMART overall-health self-assessment test result: (\w+)")
_COLUMNS = "ID# NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW_VALUE".split()


def checked(printed: str, protocol: str) -> tuple[str, set[str]]:
    """Return what check_smart_attributes says of smartctl's text, and what it blames.

    Parameters
    ----------
    printed
        What ``smartctl -a`` printed.
    protocol
        ``nvme`` or ``sata``.
    """
    read = _of_nvme(printed) if protocol == "nvme" else _of_intel(printed)
    verdict = _VERDICT.search(printed)
    assert verdict is not None, "it reads the drive's own verdict"
    states = {name: _state(value, *limits) for name, value, limits in read}
    states["verdict"] = "ok" if verdict[1] == "PASSED" else "critical"
    blamed = {name for name, state in states.items() if state != "ok"}
    worst = next(state for state in ("critical", "warning", "ok") if state in states.values())
    return worst.replace("ok", "OK"), blamed


def _of_nvme(printed: str) -> Iterator[tuple[str, float, tuple[str, str]]]:
    found = {
        each[1]: each[2]
        for each in map(_NVME_LINE.search, printed.splitlines())
        if each is not None
    }
    for name, limits in _NVME_LIMITS.items():
        # A temperature that nobody has told is a dash, which is no number to it.
        text = re.sub(r"[\s%,.]|Celsius", "", found[name]).replace("-", "0")
        yield name, int(text, 16 if text.startswith("0x") else 10), limits


def _of_intel(printed: str) -> Iterator[tuple[str, float, tuple[str, str]]]:
    for line in printed.splitlines():
        cells = dict(zip(_COLUMNS, line.split(), strict=False))
        number = cells.get("ID#", "")
        if len(cells) == len(_COLUMNS) and number.isdigit() and int(number) in _INTEL_LIMITS:
            column, *limits = _INTEL_LIMITS[int(number)]
            yield cells["NAME"], int(cells[column]), (limits[0], limits[1])


def _state(value: float, warning: str, critical: str) -> str:
    def is_beyond(limit: str) -> bool:
        least = limit.endswith(":")
        return value < int(limit[:-1]) if least else value > int(limit)

    if is_beyond(critical):
        return "critical"
    return "warning" if is_beyond(warning) else "ok"
