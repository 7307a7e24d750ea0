"""One drive examined: what it told, what follows, what is to be said, and when it wears out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from ssdlab.machine.health.finding import (
    DEFAULT_LIMITS,
    WHOLE_DRIVE,
    HealthFinding,
    HealthLimits,
    HealthSeverity,
    open_question,
    worst,
)
from ssdlab.machine.health.findings import findings_of, silence
from ssdlab.machine.health.history import Reading, WearOut, wear_out
from ssdlab.machine.verdict import Verdict, count
from ssdlab.real.smart.life import Life, LifeFigure, life_of
from ssdlab.real.smart.meanings import Family
from ssdlab.real.smart.report import DriveReport


@dataclass(frozen=True)
class Examination:
    """What is known and to be said about one drive.

    Attributes
    ----------
    drive
        What it is called in output: the device with its slot, or the file that was read.
    report
        What it told; None of a drive that is gone.
    life
        What follows; None of a drive that told nothing.
    findings
        The worst first.
    wear_out
        From its history.
    file
        The file that its report was read from; empty of a drive of this machine.
    """

    drive: str
    report: DriveReport | None
    life: Life | None
    findings: Sequence[HealthFinding]
    wear_out: WearOut | None = None
    file: str = ""

    @property
    def nothing_to_check(self) -> bool:
        """Whether it was left out for a good reason: it sleeps, is virtual, or a RAID volume."""
        left_out = all(not each.looked_at and not each.severity for each in self.findings)
        return self.life is None and left_out

    @property
    def severity(self) -> HealthSeverity:
        """How bad the worst finding is; unknown where nothing was looked at."""
        if not any(finding.looked_at for finding in self.findings):
            return HealthSeverity.UNKNOWN
        return worst(finding.severity for finding in self.findings) or HealthSeverity.OK

    @property
    def state(self) -> str:
        """Say in a word or three how it is."""
        return str(Verdict.NOT_LOOKED_AT if self.nothing_to_check else self.severity)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON."""
        report, life = self.report, self.life
        return {
            "drive": self.drive,
            "severity": str(self.severity),
            "checks": {
                verdict.key: number
                for verdict, number in count(each.verdict for each in self.findings).items()
            },
            "nothing_to_check": self.nothing_to_check,
            "model": (report.model or None) if report else None,
            "family": life.family.name if life and life.family else None,
            "serial": report.serial if report else None,
            "device": report.device if report else None,
            "device_type": report.kind if report else None,
            "rotates": report.rotates if report else None,
            "power_on_hours": report.power_on_hours if report else None,
            "temperature_celsius": report.temperature_celsius if report else None,
            **{name: _figure(life, name) for name in _FIGURES},
            "wear_out": _dates(self.wear_out),
            "read": (report.form or None) if report else None,
            "unread": [each.to_json() for each in report.unread] if report else [],
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
    figure: LifeFigure | None = getattr(life, name) if life else None
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
    limits: HealthLimits = DEFAULT_LIMITS,
    acknowledged: Mapping[str, int] | None = None,
    history: Iterable[Reading] = (),
    file: str = "",
    by_slot: bool = False,
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
    file
        The file that the report was read from.
    by_slot
        Whether disks behind a controller are examined besides.
    """
    silent = silence(report, by_slot)
    if silent is not None:
        return Examination(report.address, report, None, [silent], None, file)
    life = life_of(report, overrides)
    findings = findings_of(report, life, limits, acknowledged or {})
    return Examination(report.address, report, life, findings, wear_out(history), file)


def unanswered(device: str, kind: str, reason: str) -> Examination:
    """Make the examination of a drive that did not answer, reached by smartctl's ``-d`` kind."""
    report = DriveReport(device=device, kind=kind)
    because = "; ".join(reason.splitlines()).removeprefix(f"{device}: ")
    return Examination(report.address, report, None, [open_question(WHOLE_DRIVE, because)])


def gone(drive: str) -> Examination:
    """Make the examination of a drive that its history knows and that is not there any more."""
    what = "the drive was there before and is not now"
    found = HealthFinding(
        HealthSeverity.CRITICAL, what, "take its lines out of the history file if it is out"
    )
    return Examination(drive, None, None, [found])
