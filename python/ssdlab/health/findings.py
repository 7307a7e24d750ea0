"""What is to be said about a drive: good, worth a look, or bad, with the rule that says so.

Limits, unless the family or the user has others: life used 85 % and 95 %; spare left below 16 %
and 11 %; NVMe's own spare threshold and critical warning; uncorrectable errors from 1. Counts that
are known and acknowledged alarm only when they grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum

from ssdlab.health.life import Life, erases_used_percent, vendor_used_percent
from ssdlab.health.meanings import Meaning
from ssdlab.health.report import DriveReport


class Severity(IntEnum):
    """How bad a finding is; also the exit code of a monitoring plug-in."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    def __str__(self) -> str:
        """Give the word that monitors use."""
        return self.name


@dataclass(frozen=True)
class Limits:
    """From where on a figure is a warning, and critical."""

    used_warning: float = 85
    used_critical: float = 95
    spare_warning: float = 16
    spare_critical: float = 11


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Finding:
    """One thing to say about a drive.

    Attributes
    ----------
    severity
        How bad it is.
    what
        In a few words.
    why
        The rule and the figure behind it.
    count
        Of an error that can be acknowledged: its name and how many.
    """

    severity: Severity
    what: str
    why: str
    count: tuple[str, int] | None = None

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {**asdict(self), "severity": str(self.severity)}


_NVME_WARNINGS = (
    (Severity.CRITICAL, "spare is below its threshold"),
    (Severity.WARNING, "temperature is beyond its threshold"),
    (Severity.CRITICAL, "reliability is degraded by media or internal errors"),
    (Severity.CRITICAL, "media is read-only"),
    (Severity.CRITICAL, "backup of volatile memory has failed (power-loss protection)"),
    (Severity.CRITICAL, "persistent memory region is read-only or unreliable"),
)
_DISAGREEMENT = 10


def findings_of(
    report: DriveReport,
    life: Life,
    limits: Limits,
    acknowledged: Mapping[str, int],
) -> list[Finding]:
    """Tell everything that is to be said about a drive, the worst first.

    Parameters
    ----------
    report
        What the drive told.
    life
        What follows from it.
    limits
        For life and spare.
    acknowledged
        Counts of errors that are known, by name.
    """
    found = [
        *_verdict(report),
        *_life(report, life, limits),
        *_spare(report, life, limits),
        *_nvme(report),
        *_attributes(report, life, acknowledged),
        *_errors(report, acknowledged),
    ]
    return sorted(found, key=lambda finding: -finding.severity)


def worst(found: list[Finding]) -> Severity:
    """Give the severity of the worst finding."""
    known = [finding.severity for finding in found if finding.severity != Severity.UNKNOWN]
    unknown = len(known) < len(found)
    top = max(known, default=Severity.OK)
    return Severity.UNKNOWN if unknown and top == Severity.OK else top


def _verdict(report: DriveReport) -> Iterator[Finding]:
    if report.passed is False:
        yield Finding(Severity.CRITICAL, "the drive says that it fails", "SMART status: not passed")
    if report.failed_commands:
        reason = "smartctl exit status, bit 1 or 2"
        yield Finding(Severity.WARNING, "the drive did not answer every question", reason)


def _life(report: DriveReport, life: Life, limits: Limits) -> Iterator[Finding]:
    used = life.used_percent
    if used is None:
        reason = "no standard indicator, and the model is not in the database"
        if life.family:
            reason = f"its family ({life.family.name}) tells none that was reported"
        yield Finding(Severity.UNKNOWN, "life used is not known", reason)
        return
    severity = _from(used.number, limits.used_warning, limits.used_critical)
    vendor_limit = _vendor_severity(report, life)
    yield Finding(
        max(severity, vendor_limit), f"{used.number:.0f} % of the rated life is used", used.rule
    )
    for derive in (vendor_used_percent, erases_used_percent):
        other = derive(report, life.family)
        if other and abs(other.number - used.number) > _DISAGREEMENT:
            reason = f"{used.rule} says {used.number:.0f} %, {other.rule} says {other.number:.0f} %"
            yield Finding(Severity.WARNING, "two figures of its life disagree", reason)


def _vendor_severity(report: DriveReport, life: Life) -> Severity:
    """Judge the figure that was used by the vendor's own limits, where it is the vendor's."""
    vendor = vendor_used_percent(report, life.family)
    if vendor is None or vendor != life.used_percent or life.family is None:
        return Severity.OK
    for meaning in life.family.meanings:
        if meaning.means in ("life left", "life used") and meaning.number(report) is not None:
            return _judge(meaning, report)
    return Severity.OK


def _spare(report: DriveReport, life: Life, limits: Limits) -> Iterator[Finding]:
    spare = life.spare_percent
    if spare is None:
        return
    severity = _below(spare.number, limits.spare_warning, limits.spare_critical)
    threshold = report.nvme.available_spare_threshold if report.nvme else None
    if threshold is not None and spare.number <= threshold:
        severity = Severity.CRITICAL
    if severity:
        yield Finding(severity, f"{spare.number:.0f} % of the spare blocks are left", spare.rule)


def _nvme(report: DriveReport) -> Iterator[Finding]:
    warning = report.nvme.critical_warning if report.nvme else None
    for bit, (severity, what) in enumerate(_NVME_WARNINGS):
        if warning and warning >> bit & 1:
            yield Finding(severity, what, f"NVMe critical warning, bit {bit}")


def _attributes(
    report: DriveReport, life: Life, acknowledged: Mapping[str, int]
) -> Iterator[Finding]:
    for meaning in life.family.meanings if life.family else ():
        number = meaning.number(report)
        if number is None:
            continue
        if meaning.means == "power-loss protection":
            yield from _power_loss(meaning, report, number)
        elif meaning.means == "errors":
            yield from _count(meaning.name, number, _judge(meaning, report), acknowledged, meaning)
    for attribute in report.attributes.values():
        if attribute.threshold and attribute.value is not None:
            if attribute.value <= attribute.threshold:
                reason = f"value {attribute.value}, threshold {attribute.threshold}"
                what = f"attribute {attribute.id} {attribute.name} is at its threshold"
                yield Finding(Severity.CRITICAL, what, reason)


def _power_loss(meaning: Meaning, report: DriveReport, number: int) -> Iterator[Finding]:
    if _judge(meaning, report):
        reason = f"attribute {meaning.id} {meaning.name}: {number}, 100 is good"
        yield Finding(Severity.CRITICAL, "power-loss protection has failed its test", reason)


def _errors(report: DriveReport, acknowledged: Mapping[str, int]) -> Iterator[Finding]:
    if report.nvme is not None and report.nvme.media_errors is not None:
        yield from _count(
            "NVMe media errors",
            report.nvme.media_errors,
            _from(report.nvme.media_errors, 1, 10),
            acknowledged,
        )
    if report.scsi_grown_defects is not None:
        severity = _from(report.scsi_grown_defects, 20, 40)
        yield from _count("SCSI grown defects", report.scsi_grown_defects, severity, acknowledged)
    if report.scsi_uncorrected is not None:
        severity = _from(report.scsi_uncorrected, 1, 1)
        yield from _count(
            "SCSI uncorrected errors", report.scsi_uncorrected, severity, acknowledged
        )


def _count(
    name: str,
    number: int,
    severity: Severity,
    acknowledged: Mapping[str, int],
    meaning: Meaning | None = None,
) -> Iterator[Finding]:
    rule = f"attribute {meaning.id}" if meaning else name
    known = acknowledged.get(name)
    if known is not None and number <= known:
        if number:
            yield Finding(Severity.OK, f"{name}: {number}, known", f"acknowledged at {known}")
        return
    if known is not None:
        yield Finding(
            max(severity, Severity.WARNING),
            f"{name}: grown from {known} to {number}",
            f"{rule}, acknowledged at {known}",
            (name, number),
        )
    elif severity:
        yield Finding(severity, f"{name}: {number}", rule, (name, number))


def _judge(meaning: Meaning, report: DriveReport) -> Severity:
    number = meaning.number(report)
    if number is None:
        return Severity.OK
    judge = _below if meaning.alarms_below else _from
    warning = meaning.warning
    critical = meaning.critical
    if meaning.means == "errors" and warning is None and critical is None:
        return Severity.OK
    if meaning.means == "power-loss protection" and critical is None:
        critical = 100
    return judge(number, warning, critical)


def _from(number: float, warning: float | None, critical: float | None) -> Severity:
    if critical is not None and number >= critical:
        return Severity.CRITICAL
    return Severity.WARNING if warning is not None and number >= warning else Severity.OK


def _below(number: float, warning: float | None, critical: float | None) -> Severity:
    if critical is not None and number < critical:
        return Severity.CRITICAL
    return Severity.WARNING if warning is not None and number < warning else Severity.OK
