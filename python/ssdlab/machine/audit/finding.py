"""One thing the audit says: how bad, what, where, why it matters, what mends it, who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

from ssdlab.machine.audit.identity import Identity, identity_of
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.verdict import Verdict
from ssdlab.machine.verdict import not_looked_at as because_of
from ssdlab.real.device import Device
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

T = TypeVar("T")


class Severity(IntEnum):
    """How bad a finding is; what was not looked at is never green."""

    GREEN = 0
    UNSEEN = 1
    YELLOW = 2
    RED = 3

    def __str__(self) -> str:
        """Give the word in small letters."""
        return self.name.lower()

    @property
    def verdict(self) -> Verdict:
        """Give the word of the three that people read."""
        if self is Severity.UNSEEN:
            return Verdict.NOT_LOOKED_AT
        return Verdict.RIGHT if self is Severity.GREEN else Verdict.WRONG


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    check
        The check that made it, such as ``discard``.
    severity
        Red: it costs speed, life or data now. Yellow: it may. Unseen: not looked at. Green: looked
        at, and good.
    what
        In one sentence.
    where
        The device or place.
    why
        What it costs, and by which mechanism.
    remedy
        What mends it; None where nothing is to be done.
    source
        Who says so.
    """

    check: str
    severity: Severity
    what: str
    where: str
    why: str = ""
    remedy: Remedy | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Take away a remedy whose names could not be typed as they are."""
        if self.remedy is not None and not self.remedy.is_printable:
            reason = "a name in it contains characters that are unsafe to type"
            object.__setattr__(self, "remedy", refused(reason))

    @property
    def verdict(self) -> Verdict:
        """Whether it looks right or wrong, or was not looked at."""
        return self.severity.verdict

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "check": self.check,
            "verdict": str(self.verdict),
            "severity": str(self.severity),
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "remedy": None if self.remedy is None else self.remedy.to_dict(),
            "source": self.source,
        }


def not_looked_at(check: str, because: str, where: str) -> Finding:
    """Say that a check was not carried out, and why."""
    return Finding(check, Severity.UNSEEN, because_of(because), where)


@dataclass(frozen=True)
class Machine:
    """What a check looks at.

    Attributes
    ----------
    system
        The machine's files and tools.
    topology
        What stands on what.
    chosen
        Kernel names of the devices that are asked about: those of the user, or all in use.
    """

    system: System
    topology: Topology
    chosen: frozenset[str]
    _identities: dict[str, Identity] = field(default_factory=dict, compare=False)
    _answers: dict[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def devices(self) -> list[Device]:
        """The devices that are asked about, by name."""
        return [self.topology.devices[name] for name in sorted(self.chosen)]

    @property
    def drives(self) -> list[Device]:
        """The drives that are asked about."""
        return [device for device in self.devices if device.kind == "drive"]

    def identity(self, drive: Device) -> Identity:
        """Say which drive it is, as far as it tells."""
        if drive.name not in self._identities:
            self._identities[drive.name] = identity_of(self.system, drive)
        return self._identities[drive.name]

    def once(self, name: str, ask: Callable[[], T]) -> T:
        """Ask something that is the same for the whole machine, and keep the answer."""
        if name not in self._answers:
            self._answers[name] = ask()
        answer: T = self._answers[name]
        return answer

    def is_ssd(self, drive: Device) -> bool:
        """Whether it is an SSD, by its own word or by its model's name."""
        return drive.queue.get("rotational") == "0" or self.identity(drive).is_ssd

    def is_disk(self, drive: Device) -> bool:
        """Whether it is a hard disk: it rotates, and nothing says that it does not.

        A virtual drive that rotates may lie on anything.
        """
        rotates = drive.queue.get("rotational") == "1" and not drive.is_virtual
        return rotates and not self.identity(drive).is_ssd

    def ssds(self) -> list[str]:
        """Name the drives that are asked about and are SSDs."""
        return [drive.name for drive in self.drives if self.is_ssd(drive)]


Check = Callable[[Machine], Iterable[Finding]]
