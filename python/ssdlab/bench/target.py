"""What a test asks of a drive, simulated or real.

A target is one drive (or what is measured as one). Its state goes on from step to step; the
procedure lets no time pass between two calls of `perform`. Bytes are bytes, rates are decimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from ssdlab.bench.estimate import Speeds
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Deviation, Step
from ssdlab.engine import Progress

Resumption = Literal["state", "rerun", "as it is"]
"""How a part goes on after an interruption: from a state that was kept; by performing all steps
since the purge again, which give the same; or with the drive as it is by now."""


@dataclass(frozen=True)
class Description:
    """What the header of a report needs.

    Attributes
    ----------
    kind
        ``simulated``, ``block device`` or ``nbd``.
    name
        What the user called it.
    model, serial, firmware
        As the drive tells them; an empty text where it tells none.
    capacity_bytes
        What the host can address: the user capacity, which passes count.
    sector_bytes
        Logical block size.
    rated_bytes
        Bytes that may be programmed in its rated life; None where unknown.
    surroundings
        Everything else that a reader needs: link, kernel, versions, parameters, layers.
    """

    kind: str
    name: str
    model: str
    serial: str
    firmware: str
    capacity_bytes: int
    sector_bytes: int
    rated_bytes: int | None = None
    surroundings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Purged:
    """How the drive was purged, and why one should believe it.

    Attributes
    ----------
    asked
        The command.
    answered
        What the drive said to it.
    checked
        What was looked at afterwards, and what was seen.
    proved
        Whether that shows an empty drive; if not, the title says "not purged". None where nothing
        was looked at, as in results of other programs.
    """

    asked: str
    answered: str
    checked: str
    proved: bool | None


@dataclass(frozen=True)
class Counters:
    """Bytes by a log.

    Attributes
    ----------
    host_bytes_written
        What hosts wrote.
    nand_bytes_written
        What was programmed for it; None where the log has none.
    source
        Which log: ``drive`` (its own), ``kernel`` (sectors of the block device).
    """

    host_bytes_written: int
    nand_bytes_written: int | None
    source: str


@dataclass(frozen=True)
class WriteCache:
    """The volatile write cache, as found and during the test: ``on``, ``off`` or ``none``."""

    found: str
    during: str


class Target(Protocol):
    """A drive to be measured."""

    resumption: Resumption

    def describe(self) -> Description:
        """Say what it is."""

    def deviations(self) -> tuple[Deviation, ...]:
        """Say where it cannot do what the standard asks for."""

    def speeds(self) -> Speeds | None:
        """Say what is expected of it, for estimates; None where nothing is known."""

    def purge(self) -> Purged:
        """Bring it into the state it left the factory in, wear aside."""

    def perform(self, step: Step, progress: Progress) -> StepMeasurement:
        """Carry out a step.

        Raises
        ------
        SsdlabError
            The drive, or the tool, failed; in its own words.
        Stopped
            `progress` returned False.
        """

    def counters(self) -> Counters | None:
        """Read the log; None where there is none."""

    def write_cache_off(self) -> WriteCache:
        """Switch the volatile write cache off."""

    def restore_write_cache(self) -> None:
        """Leave the write cache as it was found."""

    def keep(self, place: Path) -> None:
        """Keep the state in a file, where `resumption` is ``state``; the drive goes on from it."""

    def go_on_from(self, place: Path) -> None:
        """Take up a state that was kept."""

    def close(self) -> None:
        """Let go of the drive."""
