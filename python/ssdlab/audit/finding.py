"""One thing the audit says: how bad, what, where, why it matters, what mends it, who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import IntEnum

from ssdlab.audit.system import System
from ssdlab.audit.topology import Topology


class Severity(IntEnum):
    """How bad a finding is."""

    GREEN = 0
    YELLOW = 1
    RED = 2

    def __str__(self) -> str:
        """Give the word in small letters."""
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    check
        The check that made it, such as ``discard``.
    severity
        Red: it costs speed, life or data now. Yellow: it may. Green: looked at, and good.
    what
        In one sentence.
    where
        The device or place.
    why
        What it costs, and by which mechanism.
    remedy
        Commands as they are typed, a line each; empty where nothing is to be done.
    source
        Who says so.
    """

    check: str
    severity: Severity
    what: str
    where: str
    why: str = ""
    remedy: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, str]:
        """Give it as JSON."""
        return {**asdict(self), "severity": str(self.severity)}


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

    def ssds(self) -> list[str]:
        """Name the drives that are asked about and do not rotate."""
        drives = [self.topology.devices[name] for name in sorted(self.chosen)]
        return [
            drive.name
            for drive in drives
            if drive.kind == "drive" and drive.queue.get("rotational") == "0"
        ]


Check = Callable[[Machine], Iterable[Finding]]
