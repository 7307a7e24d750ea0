"""What a report says about a drive's life: one number, and what it follows from.

The share of the rated life that is used is taken from the first of these that the drive tells:

1. NVMe's percentage used, SCSI's percentage used endurance indicator: standard, may exceed 100;
2. ATA Device Statistics, percentage used endurance indicator (ACS-3): standard;
3. the vendor's attribute, where the database knows the family;
4. mean erases / rated erases, where the drive tells both;
5. what smartctl 7.5 and later make of the attribute's name.

Write amplification = flash bytes written / host bytes written, or 1 + other pages / host pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ssdlab.real.smart.meanings import Family, Meaning, family_of
from ssdlab.real.smart.report import DriveReport, endurance_statistic, sectors_written_statistic

NVME_UNIT_BYTES = 512_000
"""An NVMe data unit: 1000 blocks of 512 bytes, whatever the format."""
_STATISTIC_SECTOR_BYTES = 512


_MOST = {"life left": 100, "life used": 255, "spare left": 100}
"""What the percentages can be at most; what is left is never more than all."""


@dataclass(frozen=True)
class LifeFigure:
    """A number and the rule that produced it."""

    number: float
    rule: str


@dataclass(frozen=True)
class Life:
    """What is known of a drive's life; None where the drive does not tell.

    Attributes
    ----------
    used_percent
        Of the rated life; above 100 it is outlived.
    spare_percent
        Spare blocks that are left.
    host_written_bytes, flash_written_bytes
        Since the drive was new.
    write_amplification
        Of all that time.
    mean_erases
        Of a block.
    family
        The family whose meanings were used; None where the model is unknown.
    """

    used_percent: LifeFigure | None
    spare_percent: LifeFigure | None
    host_written_bytes: LifeFigure | None
    flash_written_bytes: LifeFigure | None
    write_amplification: LifeFigure | None
    mean_erases: LifeFigure | None
    family: Family | None


def life_of(report: DriveReport, overrides: Iterable[Family] = ()) -> Life:
    """Tell what a report says about the drive's life."""
    family = family_of(report, overrides)
    host, flash = _host_written(report, family), _sum(report, family, "flash written")
    return Life(
        used_percent=used_percent(report, family),
        spare_percent=_spare(report, family),
        host_written_bytes=host,
        flash_written_bytes=flash,
        write_amplification=_amplification(report, family, host, flash),
        mean_erases=_sum(report, family, "average erases"),
        family=family,
    )


def used_percent(report: DriveReport, family: Family | None) -> LifeFigure | None:
    """Give the share of the rated life that is used, by the first rule that applies."""
    if report.nvme is not None and report.nvme.percentage_used is not None:
        return LifeFigure(report.nvme.percentage_used, "NVMe percentage used")
    if report.scsi_endurance_used is not None:
        return LifeFigure(report.scsi_endurance_used, "SCSI percentage used endurance indicator")
    statistic = endurance_statistic(report)
    if statistic is not None:
        return LifeFigure(statistic, "ATA device statistics, percentage used endurance indicator")
    return (
        vendor_used_percent(report, family)
        or erases_used_percent(report, family)
        or _smartctl_used(report)
    )


def vendor_used_percent(report: DriveReport, family: Family | None) -> LifeFigure | None:
    """Give the share of the rated life that is used, by the vendor's attribute."""
    for meaning in family.meanings if family else ():
        number = meaning.number(report)
        if number is None or meaning.means not in ("life left", "life used"):
            continue
        if number <= _MOST[meaning.means]:
            used = 100 - number if meaning.means == "life left" else number
            return LifeFigure(max(used, 0), _rule(meaning))
    return None


def unlikely(report: DriveReport, family: Family | None, *means: str) -> str:
    """Name the vendor's attribute that is beyond every percentage; empty without one."""
    for meaning in family.meanings if family else ():
        number = meaning.number(report)
        if meaning.means in means and number is not None and number > _MOST[meaning.means]:
            return f"{_rule(meaning)} says {number}, which is no percentage"
    return ""


def erases_used_percent(report: DriveReport, family: Family | None) -> LifeFigure | None:
    """Give the share of the rated erases that is used, where the drive tells both."""
    mean, rated = _first(report, family, "average erases"), _first(report, family, "rated erases")
    if mean is None or rated is None or not rated.number:
        return None
    return LifeFigure(100 * mean.number / rated.number, f"{mean.rule} / {rated.rule}")


def _smartctl_used(report: DriveReport) -> LifeFigure | None:
    if report.endurance_used is None:
        return None
    return LifeFigure(report.endurance_used, "smartctl's own reading (endurance_used)")


def _rule(meaning: Meaning) -> str:
    read = meaning.read
    if meaning.bits:
        read += f" bits {meaning.bits[0]} to {meaning.bits[1] - 1}"
    return f"attribute {meaning.id} {meaning.name}, {read}: {meaning.means}"


def _spare(report: DriveReport, family: Family | None) -> LifeFigure | None:
    nvme = report.nvme
    if nvme is None or nvme.available_spare is None:
        told = _first(report, family, "spare left")
        return told if told and told.number <= _MOST["spare left"] else None
    if nvme.available_spare == 0 and not nvme.available_spare_threshold:
        # A drive with nothing left has a threshold to compare it with: this one reports neither.
        return None
    return LifeFigure(nvme.available_spare, "NVMe available spare")


def _host_written(report: DriveReport, family: Family | None) -> LifeFigure | None:
    if report.nvme is not None and report.nvme.data_units_written is not None:
        return LifeFigure(
            report.nvme.data_units_written * NVME_UNIT_BYTES, "NVMe data units written"
        )
    vendor = _first(report, family, "host written")
    sectors = sectors_written_statistic(report)
    if vendor is None and sectors is not None:
        rule = "ATA device statistics, logical sectors written"
        return LifeFigure(sectors * _STATISTIC_SECTOR_BYTES, rule)
    return vendor


def _amplification(
    report: DriveReport, family: Family | None, host: LifeFigure | None, flash: LifeFigure | None
) -> LifeFigure | None:
    if host and flash and host.number > 0:
        return LifeFigure(flash.number / host.number, f"{flash.rule} / {host.rule}")
    pages, others = _first(report, family, "host pages"), _first(report, family, "other pages")
    if pages and others and pages.number > 0:
        return LifeFigure(1 + others.number / pages.number, f"1 + {others.rule} / {pages.rule}")
    return None


def _first(report: DriveReport, family: Family | None, means: str) -> LifeFigure | None:
    for meaning in family.of(means) if family else ():
        number = meaning.number(report)
        if number is not None:
            return LifeFigure(number, _rule(meaning))
    return None


def _sum(report: DriveReport, family: Family | None, means: str) -> LifeFigure | None:
    told = [(meaning, meaning.number(report)) for meaning in (family.of(means) if family else ())]
    known = [(meaning, number) for meaning, number in told if number is not None]
    if not known:
        return None
    return LifeFigure(
        sum(number for _, number in known), " + ".join(_rule(each) for each, _ in known)
    )
