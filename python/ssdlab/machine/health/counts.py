"""Counts of errors: what the family's attributes tell, sectors of disks, SCSI's and NVMe's own.

Sectors, from the raw numbers of attributes 5 (reallocated), 197 (pending) and 198 (offline
uncorrectable): limits that users of check_smart_attributes publish for some forty hard disks. After
the first of any of the three a disk is 14, 16 and 21 times as likely to fail within 60 days as one
without (Pinheiro, Weber and Barroso, FAST 2007). An SSD is judged by them only where smartctl gives
the attribute its usual name and the family has no other meaning for it.

Counts that are known and acknowledged alarm only when they grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ssdlab.machine.health.finding import (
    HealthFinding,
    HealthSeverity,
    at_least,
    below,
    open_question,
)
from ssdlab.real.smart.meanings import Family, Meaning
from ssdlab.real.smart.report import Attribute, DriveReport

Acknowledged = Mapping[str, int]


@dataclass(frozen=True)
class _Sectors:
    """Limits of one of the attributes that count sectors."""

    id: int
    what: str
    warning: int
    critical: int
    usual_name: re.Pattern[str]


_SECTORS = (
    _Sectors(5, "reallocated sectors", 20, 40, re.compile("Reallocated_Sector|Retired_Block")),
    _Sectors(197, "pending sectors", 1, 10, re.compile("Current_Pending_Sector|Pending_Sector")),
    _Sectors(198, "offline uncorrectable sectors", 1, 10, re.compile("Offline_Uncorrectable")),
)


@dataclass(frozen=True)
class _Statistic:
    """Limits of one of ATA's device statistics, where no attribute counts as many."""

    name: str
    what: str
    attribute: int
    warning: int
    critical: int
    of_disks_alone: bool = False


_STATISTICS = (
    _Statistic(
        "Number of Reallocated Logical Sectors",
        "reallocated sectors",
        5,
        20,
        40,
        of_disks_alone=True,
    ),
    _Statistic("Number of Realloc. Candidate Logical Sectors", "pending sectors", 197, 1, 10),
    _Statistic(
        "Number of Reported Uncorrectable Errors", "uncorrectable errors reported", 187, 1, 1 << 32
    ),
)


def counted(
    report: DriveReport, family: Family | None, acknowledged: Acknowledged
) -> Iterator[HealthFinding]:
    """Judge every count of errors that a drive tells.

    Parameters
    ----------
    report
        What the drive told.
    family
        Whose meanings its attributes have.
    acknowledged
        Counts that are known, by name.
    """
    told = [*_of_family(report, family), *_sectors(report, family), *_standard(report)]
    told += _of_statistics(report)
    for name, number, severity, rule in told:
        yield count(name, number, severity, acknowledged, rule)
    names = {name for name, *_ in told}
    for name, number in acknowledged.items():
        if name not in names:
            because = f"the baseline has {number} of them, and the drive tells none of that name"
            yield open_question(name, because)


_Told = tuple[str, int, HealthSeverity, str]
"""A count: its name, how many, what that means, and by which rule."""


def _of_family(report: DriveReport, family: Family | None) -> Iterator[_Told]:
    for meaning in family.of("errors") if family else ():
        number = meaning.number(report)
        if number is not None and (meaning.warning, meaning.critical) != (None, None):
            yield meaning.name, number, judge(meaning, report), f"attribute {meaning.id}"


def _sectors(report: DriveReport, family: Family | None) -> Iterator[_Told]:
    taken = {meaning.id for meaning in family.meanings} if family else set()
    for sectors in _SECTORS:
        attribute = report.attributes.get(sectors.id)
        if attribute is None or sectors.id in taken:
            continue
        if not report.rotates and not sectors.usual_name.search(attribute.name):
            continue
        number = _sectors_of(attribute)
        if number is not None:
            severity = at_least(number, sectors.warning, sectors.critical)
            yield sectors.what, number, severity, f"attribute {sectors.id}"


def _sectors_of(attribute: Attribute) -> int | None:
    return attribute.raw if attribute.count is None else attribute.count


def _of_statistics(report: DriveReport) -> Iterator[_Told]:
    for each in _STATISTICS:
        number = report.statistics.get(each.name)
        attribute = report.attributes.get(each.attribute)
        is_told = attribute is not None and number is not None and (attribute.raw or 0) >= number
        applies = report.rotates or not each.of_disks_alone
        if number is not None and applies and not is_told:
            severity = at_least(number, each.warning, each.critical)
            yield each.what, number, severity, "device statistics"


def _standard(report: DriveReport) -> Iterator[_Told]:
    """Give the counts of the standards, by the numbers from which they warn and are critical."""
    counts = (
        ("NVMe media errors", report.nvme.media_errors if report.nvme else None, 1, 10),
        ("ATA pending defects", report.ata_pending_defects, 1, 10),
        ("SCSI grown defects", report.scsi_grown_defects, 20, 40),
        ("SCSI pending defects", report.scsi_pending_defects, 1, 10),
        ("SCSI uncorrected errors", report.scsi_uncorrected, 1, 1),
        ("failed self-tests", report.failed_self_tests, 1, 1 << 32),
    )
    for name, number, warning, critical in counts:
        if number is not None:
            yield name, number, at_least(number, warning, critical), ""


def count(
    name: str, number: int, severity: HealthSeverity, acknowledged: Acknowledged, rule: str
) -> HealthFinding:
    """Make the finding of a count, in the light of what is known of it."""
    known = acknowledged.get(name)
    if known is not None and number <= known:
        return HealthFinding(
            HealthSeverity.OK, f"{name}: {number}, known", f"acknowledged at {known}"
        )
    if known is not None:
        grown = f"{name}: grown from {known} to {number}"
        why = f"{rule}, acknowledged at {known}".removeprefix(", ")
        return HealthFinding(max(severity, HealthSeverity.WARNING), grown, why, (name, number))
    known_later = (name, number) if severity else None
    return HealthFinding(severity, f"{name}: {number}", rule, known_later)


def judge(meaning: Meaning, report: DriveReport) -> HealthSeverity:
    """Judge an attribute by the limits that its family has for it."""
    number = meaning.number(report)
    if number is None:
        return HealthSeverity.OK
    critical = meaning.critical
    if meaning.means == "power-loss protection" and critical is None:
        critical = 100
    return (below if meaning.alarms_below else at_least)(number, meaning.warning, critical)
