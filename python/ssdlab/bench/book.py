"""The tests as SNIA has them (enterprise class), and what differs where a plan asks for it.

    IOPS  WIPC 2 × 128 KiB sequential; mixes outside, block sizes inside, 56 cells of a minute
    TP    each block size by itself: purge, WIPC 2 × of that size, reads, writes
    LAT   one request at a time; WIPC as IOPS; 9 cells
    WSAT  no WIPC; 4 KiB random writes, a round a minute; the window takes a minute after each 30
    HIR   as WSAT until steady (every 30th minute); then 5 s of writes and idle time in turn, 360
          times for each of five idle times, and 30 minutes of writes after each

Sources: the pseudo code of the IOPS test (SNIA PTS-E 1.1, 7.2); SNIA's summaries of IOPS, TP and
LAT; for WSAT and HIR the open tools that state to follow PTS-E 1.1, where they agree. Left out: XSR
(cross stimulus recovery), ECW (enterprise composite workload) and DIRTH (demand intensity), for
which no definition could be read; the client class, whose active ranges could not be read either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ssdlab.bench.plan import (
    Afterwards,
    Cell,
    Conditioning,
    Deviation,
    Part,
    Pattern,
    Pauses,
    Plan,
    Precision,
    StopRule,
    Test,
    Tracking,
    Workload,
)
from ssdlab.ground.errors import SsdlabError

STANDARD = "SNIA Solid State Storage Performance Test Specification 2.0.2, enterprise class"
TESTS = ("iops", "tp", "lat", "wsat", "hir")
DEFAULT_TESTS = TESTS[:4]

IOPS_MIXES = (100, 95, 65, 50, 35, 5, 0)
IOPS_SIZES = tuple(kib * 1024 for kib in (1024, 128, 64, 32, 16, 8, 4)) + (512,)
TP_SIZES = (1024 * 1024, 128 * 1024)
LAT_MIXES = (100, 65, 0)
LAT_SIZES = (8192, 4096, 512)
IDLE_TIMES_S = (5.0, 10.0, 15.0, 25.0, 50.0)

_MINUTE = 60.0
_HIR_CYCLES = 360
_HIR_WORK_S = 5.0
_CONDITIONING_SIZE = 128 * 1024
_TRACKED_SIZE = 4096
_QUICK = Precision()


def plan(
    tests: Sequence[str], threads: int, depth: int, seed: int, quick: bool, sector_bytes: int
) -> Plan:
    """Return the plan for a target.

    Parameters
    ----------
    tests
        Names out of `TESTS`.
    threads, depth
        Workers, and requests that each keeps outstanding, of all tests but LAT.
    seed
        The one source of chance.
    quick
        Cells end once their mean is known.
    sector_bytes
        Smaller blocks are left out.
    """
    for name in tests:
        if name not in TESTS:
            raise SsdlabError(
                f"--tests {name}: there is no such test\n"
                f"tests: {', '.join(TESTS)}; XSR, ECW and DIRTH are not included"
            )
    builders = {"iops": _iops, "tp": _tp, "lat": _lat, "wsat": _wsat, "hir": _hir}
    # As asked, and each once.
    made = [builders[name](threads, depth) for name in dict.fromkeys(tests)]
    deviations: list[Deviation] = []
    if sector_bytes > min(IOPS_SIZES):
        made = [_without_small(test, sector_bytes) for test in made]
        deviations.append(_no_small_blocks(sector_bytes))
    if quick:
        made = [_hurried(test) for test in made]
        deviations.append(_quick_cells())
    return Plan(STANDARD, tuple(made), threads, depth, seed, quick, tuple(deviations))


def cell(
    pattern: Pattern, reads: int, size: int, threads: int, depth: int, seconds: float = _MINUTE
) -> Cell:
    """Return a cell with its name.

    Examples
    --------
    >>> cell("random", 65, 512, 1, 1).name
    'random 65/35 0.5 KiB'
    """
    name = f"{pattern} {reads}/{100 - reads} {size / 1024:g} KiB"
    return Cell(name, Workload(pattern, reads, size, threads, depth), seconds)


def _sequential_fill(size: int, threads: int, depth: int) -> Conditioning:
    return Conditioning(Workload("sequential", 0, size, threads, depth), passes=2.0)


def _iops(threads: int, depth: int) -> Test:
    cells = [
        cell("random", reads, size, threads, depth) for reads in IOPS_MIXES for size in IOPS_SIZES
    ]
    tracked = cell("random", 0, _TRACKED_SIZE, threads, depth).name
    part = Part(
        "iops",
        _sequential_fill(_CONDITIONING_SIZE, threads, depth),
        tuple(cells),
        Tracking(tracked, "iops"),
        StopRule(),
    )
    return Test("iops", "IOPS", (part,))


def _tp(threads: int, depth: int) -> Test:
    return throughput(TP_SIZES, threads, depth)


def throughput(sizes: Sequence[int], threads: int, depth: int) -> Test:
    """Return the throughput test of some block sizes, a part each."""
    parts = []
    for size in sizes:
        cells = [cell("sequential", reads, size, threads, depth) for reads in (100, 0)]
        fill = _sequential_fill(size, threads, depth)
        tracking = Tracking(cells[1].name, "mb_per_s")
        parts.append(Part(f"tp-{size / 1024:g}k", fill, tuple(cells), tracking, StopRule()))
    return Test("tp", "throughput", tuple(parts))


def _lat(_threads: int, _depth: int) -> Test:
    cells = [cell("random", reads, size, 1, 1) for reads in LAT_MIXES for size in LAT_SIZES]
    part = Part(
        "lat",
        _sequential_fill(_CONDITIONING_SIZE, 1, 1),
        tuple(cells),
        Tracking(cell("random", 0, _TRACKED_SIZE, 1, 1).name, "mean_ns"),
        StopRule(),
    )
    return Test("lat", "latency", (part,))


def _saturation(name: str, threads: int, depth: int, stop: StopRule) -> Part:
    minute = cell("random", 0, _TRACKED_SIZE, threads, depth)
    tracking = Tracking(minute.name, "iops")
    return Part(name, None, (minute,), tracking, stop, checkpoint=30)


def _wsat(threads: int, depth: int) -> Test:
    stop = StopRule(stride=31, most_rounds=None, most_passes=4.0, most_seconds=24 * 3600.0)
    return Test("wsat", "write saturation", (_saturation("wsat", threads, depth, stop),))


def _hir(threads: int, depth: int) -> Test:
    stop = StopRule(stride=30, most_rounds=None, most_seconds=24 * 3600.0)
    part = _saturation("hir", threads, depth, stop)
    steps: list[Afterwards] = []
    for idle_s in IDLE_TIMES_S:
        seconds = _HIR_CYCLES * (_HIR_WORK_S + idle_s)
        turns = cell("random", 0, _TRACKED_SIZE, threads, depth, seconds)
        turns = replace(turns, name=f"{turns.name}, 5 s and {idle_s:g} s idle")
        between = cell("random", 0, _TRACKED_SIZE, threads, depth, _HIR_CYCLES * _HIR_WORK_S)
        between = replace(between, name=f"{between.name}, after {idle_s:g} s idle")
        steps += [Afterwards(turns, Pauses(_HIR_WORK_S, idle_s)), Afterwards(between)]
    return Test("hir", "host idle recovery", (replace(part, afterwards=tuple(steps)),))


def _with_cells(test: Test, change: Callable[[Sequence[Cell]], list[Cell]]) -> Test:
    parts = tuple(replace(part, cells=tuple(change(part.cells))) for part in test.parts)
    return replace(test, parts=parts)


def _without_small(test: Test, sector_bytes: int) -> Test:
    """Leave out what the drive cannot address; the tracked cell is known by name, so it stays."""
    return _with_cells(
        test, lambda cells: [each for each in cells if each.load.block_bytes >= sector_bytes]
    )


def _hurried(test: Test) -> Test:
    """Let cells with reads end early; pure writes change the drive, and last as long as ever."""
    return _with_cells(
        test,
        lambda cells: [
            replace(each, precision=_QUICK) if each.load.read_percent > 0 else each
            for each in cells
        ],
    )


def _no_small_blocks(sector_bytes: int) -> Deviation:
    return Deviation(
        "IOPS and LAT have cells of 0.5 KiB (PTS-E 1.1, 7.2)",
        f"left out: the smallest block of this drive is {sector_bytes} bytes",
    )


def _quick_cells() -> Deviation:
    return Deviation(
        "each cell lasts one minute (PTS-E 1.1, 7.2)",
        "--quick: a cell with reads ends once its mean rate is known to 1 % (95 % confidence, by "
        f"fio's rule steadystate=iops:{_QUICK.deviation_percent}% over {_QUICK.seconds} s); the "
        "writes of the rest of its minute follow without reads and are not counted, so that the "
        "drive receives as many writes as in a full minute",
    )
