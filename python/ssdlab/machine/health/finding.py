"""One thing to say about a drive, and how bad it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import IntEnum

from ssdlab.machine.verdict import Verdict, not_looked_at


class HealthSeverity(IntEnum):
    """How bad a finding is; also the exit code of a monitoring plug-in."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    def __str__(self) -> str:
        """Give the word that monitors use."""
        return self.name


@dataclass(frozen=True)
class HealthLimits:
    """From where on a figure is a warning, and critical."""

    used_warning: float = 85
    used_critical: float = 95
    spare_warning: float = 16
    spare_critical: float = 11


DEFAULT_LIMITS = HealthLimits()
WHOLE_DRIVE = "the drive"
"""What was not looked at where nothing was."""


@dataclass(frozen=True)
class HealthFinding:
    """One thing to say about a drive.

    Attributes
    ----------
    severity
        How bad it is. What was not looked at is `HealthSeverity.UNKNOWN` where that leaves the
        drive's health open, and `HealthSeverity.OK` where the drive has no such thing or other
        checks answer it.
    what
        In a few words; of what was not looked at, its name alone.
    why
        The rule and the figure behind it, or why it was not looked at.
    count
        Of an error that can be acknowledged: its name and how many.
    looked_at
        Whether the check was carried out.
    """

    severity: HealthSeverity
    what: str
    why: str
    count: tuple[str, int] | None = None
    looked_at: bool = True

    @property
    def verdict(self) -> Verdict:
        """Which of the three it is."""
        if not self.looked_at:
            return Verdict.NOT_LOOKED_AT
        return Verdict.WRONG if self.severity else Verdict.RIGHT

    @property
    def sentence(self) -> str:
        """Say it with its reason."""
        if not self.looked_at:
            subject = "" if self.what == WHOLE_DRIVE else f"{self.what}: "
            return subject + not_looked_at(self.why)
        return f"{self.what} ({self.why})" if self.why else self.what

    @property
    def headline(self) -> str:
        """Say it in short; what was not looked at with its reason."""
        return self.what if self.looked_at else self.sentence

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        entry = asdict(self)
        del entry["looked_at"]
        return {**entry, "severity": str(self.severity), "verdict": str(self.verdict)}


def open_question(what: str, because: str) -> HealthFinding:
    """Make the finding of a check that could not be carried out and leaves health open."""
    return HealthFinding(HealthSeverity.UNKNOWN, what, because, looked_at=False)


def left_out(what: str, because: str) -> HealthFinding:
    """Make the finding of a check that there was nothing, or no need, to carry out for."""
    return HealthFinding(HealthSeverity.OK, what, because, looked_at=False)


_WORST_FIRST = (
    HealthSeverity.CRITICAL,
    HealthSeverity.WARNING,
    HealthSeverity.UNKNOWN,
    HealthSeverity.OK,
)


def worst_first(found: Iterable[HealthFinding]) -> list[HealthFinding]:
    """Sort findings, bad ones before those that leave health open."""
    return sorted(found, key=lambda finding: _WORST_FIRST.index(finding.severity))


def worst(severities: Iterable[HealthSeverity]) -> HealthSeverity | None:
    """Give the worst, a bad one before one that is unknown; None of none."""
    return min(severities, key=_WORST_FIRST.index, default=None)


def at_least(number: float, warning: float | None, critical: float | None) -> HealthSeverity:
    """Judge what is worse the more there is of it."""
    if critical is not None and number >= critical:
        return HealthSeverity.CRITICAL
    return (
        HealthSeverity.WARNING if warning is not None and number >= warning else HealthSeverity.OK
    )


def below(number: float, warning: float | None, critical: float | None) -> HealthSeverity:
    """Judge what is worse the less there is of it."""
    if critical is not None and number < critical:
        return HealthSeverity.CRITICAL
    return HealthSeverity.WARNING if warning is not None and number < warning else HealthSeverity.OK
