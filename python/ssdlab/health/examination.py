"""One drive examined: what it told, what follows, what is to be said, and when it wears out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from ssdlab.health.findings import DEFAULT_LIMITS, Finding, Limits, Severity, findings_of, worst
from ssdlab.health.history import Reading, WearOut, wear_out
from ssdlab.health.life import Figure, Life, life_of
from ssdlab.health.meanings import Family
from ssdlab.health.report import DriveReport


@dataclass(frozen=True)
class Examination:
    """What is known and to be said about one drive.

    Attributes
    ----------
    drive
        What it is called in output: the device, or the file that was read.
    report, life
        What it told, and what follows; None of a drive that did not answer.
    findings
        The worst first.
    wear_out
        From its history.
    """

    drive: str
    report: DriveReport | None
    life: Life | None
    findings: Sequence[Finding]
    wear_out: WearOut | None = None

    @property
    def severity(self) -> Severity:
        """How bad the worst finding is."""
        return worst(list(self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON."""
        report, life = self.report, self.life
        return {
            "drive": self.drive,
            "severity": str(self.severity),
            "model": report.model if report else None,
            "family": life.family.name if life and life.family else None,
            "serial": report.serial if report else None,
            "power_on_hours": report.power_on_hours if report else None,
            "temperature_celsius": report.temperature_celsius if report else None,
            **{name: _figure(life, name) for name in _FIGURES},
            "wear_out": _dates(self.wear_out),
            "findings": [finding.to_dict() for finding in self.findings],
        }


_FIGURES = (
    "used_percent",
    "spare_percent",
    "host_written_bytes",
    "flash_written_bytes",
    "write_amplification",
    "mean_erases",
)


def _figure(life: Life | None, name: str) -> dict[str, Any] | None:
    figure: Figure | None = getattr(life, name) if life else None
    return asdict(figure) if figure else None


def _dates(end: WearOut | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {
        "date": date_of(end.time_s),
        "earliest": date_of(end.earliest_s),
        "latest": date_of(end.latest_s),
        "percent_per_year": end.percent_per_year,
        "readings": end.readings,
    }


def date_of(time_s: float | None) -> str | None:
    """Write a time as a date; None beyond the calendar."""
    if time_s is None or not 0 <= time_s < 2e11:
        return None
    return datetime.fromtimestamp(time_s, timezone.utc).date().isoformat()


def examine(
    report: DriveReport,
    *,
    overrides: Iterable[Family] = (),
    limits: Limits = DEFAULT_LIMITS,
    acknowledged: Mapping[str, int] | None = None,
    history: Iterable[Reading] = (),
) -> Examination:
    """Examine one drive.

    Parameters
    ----------
    report
        What it told.
    overrides
        Families of the user's own, which come before those that are built in.
    limits
        For life and spare.
    acknowledged
        Counts of errors that are known, by name.
    history
        Earlier readings of this drive, and the present one.
    """
    life = life_of(report, overrides)
    findings = findings_of(report, life, limits, acknowledged or {})
    return Examination(report.device, report, life, findings, wear_out(history))


def unanswered(drive: str, reason: str) -> Examination:
    """Make the finding of a drive that did not answer or is gone."""
    what, _, why = reason.partition("\n")
    return Examination(drive, None, None, [Finding(Severity.CRITICAL, what, why)])
