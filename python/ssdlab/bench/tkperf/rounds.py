"""TKperf's matrices as rounds of cells, with the names and units of `ssdlab pts`.

    iops       [round][mix][block size]                      requests a second
    lat        [round][mix][block size][min, max, mean]      µs
    tp         [block size][reads, writes][round]            KiB/s
    writesat   [requests a second, [min, max, mean]][round]

Mixes and block sizes are in the order of the standard; on a drive without blocks of 512 bytes the
last block size is absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ssdlab.bench import book
from ssdlab.bench.plan import Cell, Part, Test
from ssdlab.bench.shorter import shorter_part, with_cells_of
from ssdlab.bench.tkperf.document import MOST_ROUNDS, TestRead, figure, listed, refused

_TP_SIZES = (1024 * 1024, 64 * 1024, 8192, 4096, 512)
_NAMES = {"iops": "iops", "tp": "tp", "lat": "lat", "writesat": "wsat"}
_NOT_RECORDED = dict.fromkeys(
    ("requests", "total_bytes", "iops", "mb_per_s", "mean_ns", "min_ns", "max_ns")
)
_SMALL, _LARGE = 512, 4096
_NS_PER_US = 1e3

CellFigures = dict[str, Any]
Rounds = list[dict[str, Any]]


def measured_test(path: Path, read: TestRead) -> tuple[Test, list[Rounds]]:
    """Return a test as `ssdlab pts` would plan it, and the rounds of each of its parts.

    Raises
    ------
    SsdlabError
        A matrix has another shape than TKperf's.
    """
    where = f"{read.name}/roundmat"
    test, matrices = _READERS[read.name](path, where, read)
    rounds = [
        [_round(number, part, row) for number, row in enumerate(matrix, start=1)]
        for part, matrix in zip(test.parts, matrices, strict=True)
    ]
    return test, rounds


def _planned(read: TestRead, sector_bytes: int) -> Test:
    """Plan a test with the load and the time of each cell that TKperf had."""
    plan = book.plan([_NAMES[read.name]], read.jobs, read.depth, 1, False, sector_bytes)
    return with_cells_of(plan, read.runtime_s).tests[0]


def _iops(path: Path, where: str, read: TestRead) -> tuple[Test, list[list[list[CellFigures]]]]:
    rounds = _rounds(path, where, read.matrix)
    test = _planned(read, _sector_bytes(path, where, rounds, len(book.IOPS_SIZES)))
    grid = _grid(path, where, rounds, test.parts[0])
    return test, [[[{"iops": figure(path, at, value)} for at, value in row] for row in grid]]


def _lat(path: Path, where: str, read: TestRead) -> tuple[Test, list[list[list[CellFigures]]]]:
    rounds = _rounds(path, where, read.matrix)
    test = _planned(read, _sector_bytes(path, where, rounds, len(book.LAT_SIZES)))
    part = test.parts[0]
    pure = [cell.load.read_percent in (0, 100) for cell in part.cells]
    return test, [
        [
            [_times(path, *each, extremes=known) for each, known in zip(row, pure, strict=True)]
            for row in _grid(path, where, rounds, part)
        ]
    ]


def _tp(path: Path, where: str, read: TestRead) -> tuple[Test, list[list[list[CellFigures]]]]:
    most = len(_TP_SIZES)
    sizes = listed(path, where, read.matrix, counts=(most, most - 1))
    # A drive without blocks of 512 bytes has no last size.
    test = book.throughput(_TP_SIZES[: len(sizes)], read.jobs, read.depth)
    parts = (shorter_part(part, read.runtime_s) for part in test.parts)
    test = replace(test, parts=tuple(replace(part, conditioning=None) for part in parts))
    return test, [
        _rates(path, f"{where}, {part.name}", both)
        for part, both in zip(test.parts, sizes, strict=True)
    ]


def _writesat(path: Path, where: str, read: TestRead) -> tuple[Test, list[list[list[CellFigures]]]]:
    iops, times = _columns(path, where, read.matrix)
    matrix = [
        [
            {
                "iops": figure(path, f"{where}, round {number}", rate),
                **_times(path, f"{where}, round {number}", three, extremes=True),
            }
        ]
        for number, (rate, three) in enumerate(zip(iops, times, strict=True), start=1)
    ]
    return _planned(read, _SMALL), [matrix]


_READERS = {"iops": _iops, "tp": _tp, "lat": _lat, "writesat": _writesat}


def _rounds(path: Path, where: str, value: object) -> list[Any]:
    rounds = listed(path, where, value, most=MOST_ROUNDS)
    if not rounds:
        raise refused(path, f"{where}: there is no round in it")
    return rounds


def _sector_bytes(path: Path, where: str, rounds: Sequence[Any], sizes: int) -> int:
    """Tell the smallest block from the first row: the last block size is absent, or it is not."""
    first = rounds[0][0] if isinstance(rounds[0], list) and rounds[0] else None
    row = listed(path, f"{where}, round 1", first, counts=(sizes, sizes - 1))
    return _SMALL if len(row) == sizes else _LARGE


def _grid(
    path: Path, where: str, rounds: Sequence[Any], part: Part
) -> Iterator[list[tuple[str, Any]]]:
    """Give each round as a row of places and values, in the order of the part's cells."""
    mixes = len({cell.load.read_percent for cell in part.cells})
    sizes = len(part.cells) // mixes
    for number, value in enumerate(rounds, start=1):
        at = f"{where}, round {number}"
        rows = [
            listed(path, at, row, counts=(sizes,))
            for row in listed(path, at, value, counts=(mixes,))
        ]
        flat = [each for row in rows for each in row]
        yield [(f"{at}, {cell.name}", each) for cell, each in zip(part.cells, flat, strict=True)]


def _columns(path: Path, where: str, value: object) -> tuple[list[Any], list[Any]]:
    """Return two lists of as many rounds."""
    first, second = listed(path, where, value, counts=(2,))
    rounds = _rounds(path, where, first)
    return rounds, listed(path, where, second, counts=(len(rounds),))


def _times(path: Path, where: str, value: object, extremes: bool) -> CellFigures:
    """Return response times; of a mix, TKperf averages the extremes of reads and writes."""
    three = [figure(path, where, each) for each in listed(path, where, value, counts=(3,))]
    least, most, mean = (each * _NS_PER_US for each in three)
    if not extremes:
        return {"mean_ns": mean}
    return {"mean_ns": mean, "min_ns": least, "max_ns": most}


def _rates(path: Path, where: str, value: object) -> list[list[CellFigures]]:
    columns = _columns(path, where, value)
    rows = enumerate(zip(*columns, strict=True), start=1)
    return [[_rate(path, f"{where}, round {number}", each) for each in row] for number, row in rows]


def _rate(path: Path, where: str, kib_per_s: object) -> CellFigures:
    return {"mb_per_s": figure(path, where, kib_per_s) * 1024 / 1e6}


def _round(number: int, part: Part, row: Sequence[CellFigures]) -> dict[str, Any]:
    """Return a round as `ssdlab pts` keeps it; what TKperf does not record is None."""
    cells = [_cell(cell, figures) for cell, figures in zip(part.cells, row, strict=True)]
    seconds = sum(cell.seconds for cell in part.cells)
    return {
        "round": number,
        "elapsed_s": number * seconds,
        "written_bytes": None,
        "cells": cells,
    }


def _cell(cell: Cell, figures: CellFigures) -> dict[str, Any]:
    both = {**_NOT_RECORDED, "percentiles_ns": {}, **figures}
    step = {"load": asdict(cell.load), "seconds": cell.seconds}
    return {"name": cell.name, "step": step, "both": both, "counters": None}
