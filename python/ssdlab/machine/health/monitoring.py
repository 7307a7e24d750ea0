"""What monitors read: a Nagios plug-in's line, and Prometheus' text format.

Names in Prometheus' text, of metrics and of labels, are smartctl_exporter's where it has them, so
that dashboards and alerts go on working; what it lacks begins with ``ssdlab_``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ssdlab.machine.health.examination import Examination
from ssdlab.machine.health.finding import HealthLimits, HealthSeverity, worst
from ssdlab.machine.verdict import Verdict, count, summary
from ssdlab.real.smart.life import LifeFigure


def overall(examined: Sequence[Examination]) -> HealthSeverity:
    """Give the plug-in's state: the worst of all drives, critical before unknown.

    Drives that there was nothing to check of do not count, unless there are no others.
    """
    state = worst(each.severity for each in examined if not each.nothing_to_check)
    return HealthSeverity.UNKNOWN if state is None else state


def summary_of(examined: Sequence[Examination]) -> str:
    """Count drives and verdicts: ``2 drives: 12 look right, 0 look wrong, 3 not looked at``."""
    drives = f"{len(examined)} drive{'' if len(examined) == 1 else 's'}"
    return f"{drives}: " + summary(found.verdict for each in examined for found in each.findings)


def nagios(examined: Sequence[Examination], limits: HealthLimits) -> str:
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
        f"{each.drive}: {finding.headline}"
        for each in examined
        for finding in each.findings
        if (finding.severity == state and state != HealthSeverity.OK) or each.nothing_to_check
    ]
    line = f"{state} - " + "; ".join([*said, summary_of(examined) + _highest(examined)])
    named = zip(_names(examined), examined, strict=True)
    data = " ".join(datum for name, each in named for datum in _performance(name, each, limits))
    line = " ".join(line.replace("|", "/").split())
    return f"{line} | {data}" if data else line


def _highest(examined: Sequence[Examination]) -> str:
    used = [
        each.life.used_percent.number for each in examined if each.life and each.life.used_percent
    ]
    return f", at most {max(used):.0f} % of life used" if used else ""


def _names(examined: Sequence[Examination]) -> list[str]:
    """Name each drive's performance data: by serial, else address; by both where one is taken."""
    serials = Counter(each.report.serial for each in examined if each.report)
    names = []
    for each in examined:
        serial, address = each.report.serial if each.report else "", each.drive
        known = serial and serials[serial] == 1
        name = serial if known else f"{address.removeprefix('/dev/')} {serial}".strip()
        names.append(re.sub(r"['=|\s]+", "_", name.replace(" -d ", " ")))
    return _all_different(names, "_{}")


def _all_different(names: Sequence[str], form: str) -> list[str]:
    """Put a number behind what is there twice, so that no two are alike."""
    taken: set[str] = set()
    different = []
    for name in names:
        free, number = name, 1
        while free in taken:
            number += 1
            free = name + form.format(number)
        taken.add(free)
        different.append(free)
    return different


def _performance(name: str, each: Examination, limits: HealthLimits) -> Iterator[str]:
    life, report = each.life, each.report
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
_CHECKS = "ssdlab_device_checks"


def prometheus(examined: Sequence[Examination]) -> str:
    """Write Prometheus' text format, for the textfile collector."""
    labels = _all_different([_labels(each) for each in examined], ',report="{}"')
    values = [(own, dict(_values(each))) for own, each in zip(labels, examined, strict=True)]
    lines = []
    for name, kind, meaning in _METRICS:
        samples = [
            f"{name}{{{own}{_extra(name)}}} {found[name]:.17g}"
            for own, found in values
            if name in found
        ]
        if samples:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}", *samples]
    lines += [f"# HELP {_CHECKS} Checks of each verdict", f"# TYPE {_CHECKS} gauge"]
    for own, each in zip(labels, examined, strict=True):
        lines += [
            f'{_CHECKS}{{{own},verdict="{verdict.key}"}} {number}'
            for verdict, number in _counts(each).items()
        ]
    return "\n".join(lines) + "\n"


def _counts(each: Examination) -> dict[Verdict, int]:
    return count(found.verdict for found in each.findings)


def _extra(name: str) -> str:
    return ',temperature_type="current"' if name == "smartctl_device_temperature" else ""


def _labels(each: Examination) -> str:
    """Tell a drive from all others; an empty value is as if the label were not there."""
    report = each.report
    labels = {"device": (report.device if report else each.drive).removeprefix("/dev/")}
    if report:
        labels["interface"] = report.kind
        labels["model_name"] = report.model
        labels["serial_number"] = report.serial
    labels["file"] = each.file
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items() if value)


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", " ")


def _values(each: Examination) -> Iterator[tuple[str, float]]:
    if not each.nothing_to_check:
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


def _number(figure: LifeFigure | None) -> float | None:
    return figure.number if figure else None


def _seconds(hours: int | None) -> float | None:
    return None if hours is None else hours * 3600
