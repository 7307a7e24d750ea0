"""A test as data: what is asked of a drive, in which order, and when it ends.

    Plan ─ Test ─ Part ─ purge, conditioning, rounds of cells until the stop rule holds, afterwards

A part is what follows one purge. A round is one pass over the cells, in their order, without idle
time between them. A step is what a target performs: a load with its end and its seed. Nothing here
knows a drive: bytes that depend on the capacity are given as passes over it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Pattern = Literal["random", "sequential"]
FigureName = Literal["iops", "mb_per_s", "mean_ns"]


@dataclass(frozen=True)
class Workload:
    """Requests of one kind.

    Attributes
    ----------
    pattern
        Where they go: anywhere in the active range, or one after the other.
    read_percent
        Share of reads, 0 to 100.
    block_bytes
        Size of a request.
    threads
        Workers; each of a sequential load has its own share of the active range.
    depth
        Requests that each of them keeps outstanding.
    """

    pattern: Pattern
    read_percent: int
    block_bytes: int
    threads: int
    depth: int

    @property
    def writes(self) -> bool:
        """Whether it changes the drive."""
        return self.read_percent < 100


@dataclass(frozen=True)
class MixedLoad(Workload):
    """Random requests of several sizes, more of them in some parts of the drive than in others.

    Attributes
    ----------
    sizes
        Bytes of a request, and the percentage of requests that have it; `block_bytes` is the most
        frequent size.
    zones
        From the beginning of the drive on: the percentage of requests, and the percentage of the
        drive into which they fall.
    """

    sizes: tuple[tuple[int, int], ...]
    zones: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Precision:
    """When a step may end before its time: fio's own rule for that (`steadystate=iops:…`).

    It ends once each of the last n one-second rates lies within d of their mean. Their standard
    deviation is then at most d · √(n / (n − 1)), and the half width of the 95 % confidence interval
    of the mean at most t(0.975, n − 1) · d / √(n − 1): with 1.3 % and 10, it is 0.98 %.

    Attributes
    ----------
    deviation_percent
        The d of the rule.
    seconds
        The n of the rule.
    """

    deviation_percent: float = 1.3
    seconds: int = 10


@dataclass(frozen=True)
class Pauses:
    """Work and idle time that take turns within a step (host idle recovery)."""

    work_s: float
    idle_s: float


@dataclass(frozen=True)
class Step:
    """What a target performs in one go.

    Attributes
    ----------
    name
        The cell's, or what it is for.
    load
        Its requests.
    seed
        Chooses the offsets; no two steps of a run have the same.
    seconds
        It lasts so long; None where `passes` ends it.
    passes
        It transfers so many times the active range.
    offset_bytes
        Where a sequential load begins in its active range (of several threads each in its share).
    precision
        It may end sooner; None where it must not.
    pauses
        Idle time within it.
    """

    name: str
    load: Workload
    seed: int
    seconds: float | None = None
    passes: float | None = None
    offset_bytes: int = 0
    precision: Precision | None = None
    pauses: Pauses | None = None


@dataclass(frozen=True)
class Cell:
    """One load of a round, and how long it lasts.

    Attributes
    ----------
    name
        Unique in its part: pattern, share of reads, block size (``random 65/35 4 KiB``).
    load
        Its requests.
    seconds
        By the book 60.
    precision
        It may end sooner (`--quick`).
    passes
        It lasts until it has transferred so many times the active range; None where `seconds`
        ends it.
    """

    name: str
    load: Workload
    seconds: float = 60.0
    precision: Precision | None = None
    passes: float | None = None


@dataclass(frozen=True)
class Conditioning:
    """Workload-independent preconditioning (WIPC): the active range is written so many times."""

    load: Workload
    passes: float


@dataclass(frozen=True)
class Tracking:
    """The tracking variable: which figure of which cell has to be steady."""

    cell: str
    figure: FigureName


@dataclass(frozen=True)
class StopRule:
    """When rounds end.

    Attributes
    ----------
    window
        Rounds of the measurement window.
    stride
        The window takes every so manyth round (WSAT: one minute after each thirty).
    range_share
        Allowed maximum less minimum in the window, as a share of the average.
    excursion_share
        Allowed rise or fall of the least-squares line over the window, as a share of the average.
    most_rounds
        The part ends there, steady or not; None where another limit ends it.
    most_passes
        It ends when so many times the capacity has been written.
    most_seconds
        It ends after so much time of the target.
    until_steady
        It ends once it is steady; else by its limits alone.
    """

    window: int = 5
    stride: int = 1
    range_share: float = 0.20
    excursion_share: float = 0.10
    most_rounds: int | None = 25
    most_passes: float | None = None
    most_seconds: float | None = None
    until_steady: bool = True


@dataclass(frozen=True)
class Part:
    """What follows one purge.

    Attributes
    ----------
    name
        Names its folder, such as ``iops`` or ``tp-128k``.
    conditioning
        None where the test has none (WSAT, HIR).
    cells
        A round, in order; without cells, the part ends with its conditioning.
    tracking
        The tracking variable.
    stop
        When rounds end.
    checkpoint
        The drive's state is kept at the end of every so manyth round.
    afterwards
        Steps that follow steady state once, as cells (host idle recovery).
    without_cache
        The volatile write cache is switched off.
    """

    name: str
    conditioning: Conditioning | None
    cells: tuple[Cell, ...]
    tracking: Tracking
    stop: StopRule
    checkpoint: int = 1
    afterwards: tuple[Afterwards, ...] = ()
    without_cache: bool = True


@dataclass(frozen=True)
class Afterwards:
    """A step after steady state: a cell, with idle time in it or without."""

    cell: Cell
    pauses: Pauses | None = None


@dataclass(frozen=True)
class Test:
    """One test of the standard.

    Attributes
    ----------
    name
        As `--tests` takes it.
    title
        As the standard calls it.
    parts
        In order.
    """

    name: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Deviation:
    """Where a plan, or what a target could do, differs from the standard.

    Attributes
    ----------
    clause
        What the standard asks for, and where.
    instead
        What is done here, and why.
    """

    clause: str
    instead: str


@dataclass(frozen=True)
class Plan:
    """All that is asked of a target; deviations are numbered from 1 in their order."""

    standard: str
    tests: tuple[Test, ...]
    threads: int
    depth: int
    seed: int
    quick: bool
    deviations: tuple[Deviation, ...]

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON has it; numbers of deviations are written out."""
        data = asdict(self)
        numbered = enumerate(data["deviations"], start=1)
        data["deviations"] = [{"number": number, **each} for number, each in numbered]
        return data

    def with_deviations(self, more: tuple[Deviation, ...]) -> Plan:
        """Return the same with further deviations, which get the next numbers."""
        return replace(self, deviations=self.deviations + more)
