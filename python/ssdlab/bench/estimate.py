"""How long a plan takes and what it writes, before it is done.

Of each cell the expected rates follow from four speeds of the drive,

    1 / rate = share of reads / read rate + share of writes / write rate
    read rate  = min(reads a second, read bytes a second / block)
    write rate = write bytes a second / block     (random: divided by the write amplification)

Rounds are not known before: the least is a window, the most a limit of the stop rule.
Left out: caches that make a drive faster for a while, and how throughput depends on depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ssdlab.bench.plan import Cell, Part, Plan, Workload

UNIT_BYTES = 4096
"""What most drives map; a smaller write costs as much."""


@dataclass(frozen=True)
class Speeds:
    """What is expected of a target.

    Attributes
    ----------
    read_iops
        Random reads of 4 KiB a second.
    read_bytes_per_s, write_bytes_per_s
        In sequence.
    write_amplification
        Of random writes in steady state.
    requests_per_s, written_bytes_per_s
        What this machine simulates in a second of its own; None where a second takes a second.
    """

    read_iops: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    write_amplification: float
    requests_per_s: float | None = None
    written_bytes_per_s: float | None = None


@dataclass(frozen=True)
class Effort:
    """What a part takes.

    Attributes
    ----------
    target_s
        Time of the target.
    machine_s
        Time of this machine; the same for a real drive.
    written_bytes, programmed_bytes
        By the host, and in the flash for it.
    """

    target_s: float
    machine_s: float
    written_bytes: float
    programmed_bytes: float

    def __add__(self, other: Effort) -> Effort:
        """Add up what is done one after the other."""
        return Effort(
            self.target_s + other.target_s,
            self.machine_s + other.machine_s,
            self.written_bytes + other.written_bytes,
            self.programmed_bytes + other.programmed_bytes,
        )

    def times(self, factor: float) -> Effort:
        """Return so many of it."""
        return Effort(
            self.target_s * factor,
            self.machine_s * factor,
            self.written_bytes * factor,
            self.programmed_bytes * factor,
        )


NOTHING = Effort(0.0, 0.0, 0.0, 0.0)


def part_effort(part: Part, capacity_bytes: int, speeds: Speeds) -> tuple[Effort, Effort]:
    """Return what a part takes at least and at most."""
    fixed = NOTHING
    if part.conditioning is not None:
        passes = part.conditioning.passes
        fixed += _writing(part.conditioning.load, passes * capacity_bytes, speeds)
    for each in part.afterwards:
        fixed += _lasting(each.cell.load, each.cell.seconds, speeds)
    if not part.cells:
        return fixed, fixed
    one = sum((_of_cell(cell, capacity_bytes, speeds) for cell in part.cells), NOTHING)
    least, most = _rounds(part, one, capacity_bytes)
    return fixed + one.times(least), fixed + one.times(most)


def plan_effort(plan: Plan, capacity_bytes: int, speeds: Speeds) -> tuple[Effort, Effort]:
    """Return what all parts take, one after the other, at least and at most."""
    least, most = NOTHING, NOTHING
    for part in parts_of(plan):
        one = part_effort(part, capacity_bytes, speeds)
        least, most = least + one[0], most + one[1]
    return least, most


def parts_of(plan: Plan) -> Iterator[Part]:
    """Give all parts of a plan in order."""
    for test in plan.tests:
        yield from test.parts


def _rounds(part: Part, one: Effort, capacity_bytes: int) -> tuple[float, float]:
    stop = part.stop
    limits: list[float] = []
    if stop.most_rounds is not None:
        limits.append(stop.most_rounds)
    if stop.most_seconds is not None:
        limits.append(stop.most_seconds / one.target_s)
    if stop.most_passes is not None and one.written_bytes:
        limits.append(stop.most_passes * capacity_bytes / one.written_bytes)
    most = min(limits)
    least = float(stop.window * stop.stride) if stop.until_steady else most
    return min(least, most), most


def _of_cell(cell: Cell, capacity_bytes: int, speeds: Speeds) -> Effort:
    if cell.passes is None:
        return _lasting(cell.load, cell.seconds, speeds)
    size = cell.passes * capacity_bytes
    return _lasting(cell.load, size / cell.load.block_bytes * _request_s(cell.load, speeds), speeds)


def _lasting(load: Workload, seconds: float, speeds: Speeds) -> Effort:
    """Return the effort of a load for some time."""
    rate = 1 / _request_s(load, speeds)
    written = rate * seconds * (1 - load.read_percent / 100) * load.block_bytes
    return _effort(seconds, rate * seconds, written, load, speeds)


def _writing(load: Workload, size: float, speeds: Speeds) -> Effort:
    """Return the effort of writing so many bytes."""
    requests = size / load.block_bytes
    return _effort(requests * _request_s(load, speeds), requests, size, load, speeds)


def _effort(
    seconds: float, requests: float, written: float, load: Workload, speeds: Speeds
) -> Effort:
    # A write of less than a mapping unit programs one.
    units = max(load.block_bytes, UNIT_BYTES) / load.block_bytes
    programmed = written * units * _amplification(load, speeds)
    machine = seconds
    if speeds.requests_per_s is not None and speeds.written_bytes_per_s is not None:
        machine = requests / speeds.requests_per_s + programmed / speeds.written_bytes_per_s
    return Effort(seconds, machine, written, programmed)


def _amplification(load: Workload, speeds: Speeds) -> float:
    return speeds.write_amplification if load.pattern == "random" else 1.0


def _request_s(load: Workload, speeds: Speeds) -> float:
    """Return the seconds a request takes when it follows others."""
    reads = load.read_percent / 100
    read_s = max(1 / speeds.read_iops, load.block_bytes / speeds.read_bytes_per_s)
    size = max(load.block_bytes, UNIT_BYTES) * _amplification(load, speeds)
    return reads * read_s + (1 - reads) * size / speeds.write_bytes_per_s
