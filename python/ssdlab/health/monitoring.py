"""What monitors read: a Nagios plug-in's line, and Prometheus' text format.

Names in Prometheus' text are smartctl_exporter's where it has them, so that dashboards and alerts
go on working; what it lacks begins with ``ssdlab_``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ssdlab.errors import SsdlabError
from ssdlab.health.examination import Examination
from ssdlab.health.findings import Limits, Severity
from ssdlab.health.life import Figure

_ORDER = (Severity.CRITICAL, Severity.WARNING, Severity.UNKNOWN, Severity.OK)


def overall(examined: Sequence[Examination]) -> Severity:
    """Give the plug-in's state: the worst of all drives, critical before unknown."""
    states = {each.severity for each in examined}
    return next((state for state in _ORDER if state in states), Severity.UNKNOWN)


def nagios(examined: Sequence[Examination], limits: Limits) -> str:
    """Write the plug-in's line with performance data; its exit code is `overall`.

    Parameters
    ----------
    examined
        At least one drive.
    limits
        Given in the performance data.
    """
    state = overall(examined)
    said = [
        f"{each.drive}: {finding.what}"
        for each in examined
        for finding in each.findings
        if finding.severity == state and state != Severity.OK
    ]
    summary = "; ".join(said) or f"{len(examined)} drives" + _highest(examined)
    data = " ".join(datum for each in examined for datum in _performance(each, limits))
    line = f"{state} - {summary}".replace("|", "/")
    return f"{line} | {data}" if data else line


def failure(error: Exception) -> str:
    """Write the plug-in's line where nothing could be examined; its state is unknown."""
    said = str(error) if isinstance(error, SsdlabError) else repr(error)
    return f"{Severity.UNKNOWN} - " + "; ".join(said.splitlines()).replace("|", "/")


def _highest(examined: Sequence[Examination]) -> str:
    used = [
        each.life.used_percent.number for each in examined if each.life and each.life.used_percent
    ]
    return f", at most {max(used):.0f} % of life used" if used else ""


def _performance(each: Examination, limits: Limits) -> Iterator[str]:
    life, report = each.life, each.report
    name = re.sub(r"['=|\s]", "_", each.drive.removeprefix("/dev/"))
    if life and life.used_percent:
        used = life.used_percent.number
        yield f"'{name}_life_used'={used:g}%;{limits.used_warning:g};{limits.used_critical:g};0"
    if life and life.spare_percent:
        spare = life.spare_percent.number
        lowest = f"{limits.spare_warning:g}:;{limits.spare_critical:g}:;0;100"
        yield f"'{name}_spare_left'={spare:g}%;{lowest}"
    if life and life.host_written_bytes:
        yield f"'{name}_host_written'={life.host_written_bytes.number:.0f}B;;;0"
    if report and report.temperature_celsius is not None:
        yield f"'{name}_temperature'={report.temperature_celsius:g}"


_METRICS = (
    ("smartctl_device_smart_status", "gauge", "The drive's own verdict, 1 is good"),
    ("smartctl_device_percentage_used", "gauge", "Percent of the rated life that is used"),
    ("smartctl_device_available_spare", "gauge", "Percent of the spare that is left"),
    ("smartctl_device_bytes_written", "counter", "Bytes written by the host"),
    ("smartctl_device_media_errors", "counter", "NVMe media errors"),
    ("smartctl_device_critical_warning", "gauge", "NVMe critical warning bits"),
    ("smartctl_device_power_on_seconds", "counter", "Seconds powered on"),
    ("smartctl_device_temperature", "gauge", "Degrees Celsius"),
    ("ssdlab_device_flash_bytes_written", "counter", "Bytes programmed into flash"),
    ("ssdlab_device_write_amplification", "gauge", "Flash bytes over host bytes"),
    ("ssdlab_device_severity", "gauge", "0 ok, 1 warning, 2 critical, 3 unknown"),
    ("ssdlab_device_wear_out_timestamp_seconds", "gauge", "When the rated life will be used up"),
)


def prometheus(examined: Sequence[Examination]) -> str:
    """Write Prometheus' text format, for the textfile collector."""
    values = [(_labels(each), dict(_values(each))) for each in examined]
    lines = []
    for name, kind, meaning in _METRICS:
        samples = [
            f"{name}{{{labels}{_extra(name)}}} {found[name]:.17g}"
            for labels, found in values
            if name in found
        ]
        if samples:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}", *samples]
    return "\n".join(lines) + "\n"


def _extra(name: str) -> str:
    return ',temperature_type="current"' if name == "smartctl_device_temperature" else ""


def _labels(each: Examination) -> str:
    device = each.drive.removeprefix("/dev/")
    return 'device="' + device.replace("\\", r"\\").replace('"', r"\"").replace("\n", " ") + '"'


def _values(each: Examination) -> Iterator[tuple[str, float]]:
    yield "ssdlab_device_severity", float(each.severity)
    report, life = each.report, each.life
    if report is None or life is None:
        return
    nvme = report.nvme
    told: dict[str, float | None] = {
        "smartctl_device_smart_status": None if report.passed is None else float(report.passed),
        "smartctl_device_percentage_used": _number(life.used_percent),
        "smartctl_device_available_spare": _number(life.spare_percent),
        "smartctl_device_bytes_written": _number(life.host_written_bytes),
        "smartctl_device_media_errors": nvme.media_errors if nvme else None,
        "smartctl_device_critical_warning": nvme.critical_warning if nvme else None,
        "smartctl_device_power_on_seconds": _seconds(report.power_on_hours),
        "smartctl_device_temperature": report.temperature_celsius,
        "ssdlab_device_flash_bytes_written": _number(life.flash_written_bytes),
        "ssdlab_device_write_amplification": _number(life.write_amplification),
        "ssdlab_device_wear_out_timestamp_seconds": each.wear_out.time_s if each.wear_out else None,
    }
    yield from ((name, value) for name, value in told.items() if value is not None)


def _number(figure: Figure | None) -> float | None:
    return figure.number if figure else None


def _seconds(hours: int | None) -> float | None:
    return None if hours is None else hours * 3600
