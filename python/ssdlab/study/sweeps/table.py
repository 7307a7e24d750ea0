"""The table of a study: the rows that its parts have, in the study's order, a batch at a time.

    index = (key, part, row) of every row that is kept, by key; of a point run again the last part's

Only the index is in memory as a whole, about 50 bytes a row; batches of points take their rows from
the parts that have them. Where rows came in an order far from the study's, each batch reads many
parts again: that costs time, no memory. Left out: other orders than the study's.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssdlab.ground.output import PendingFile
from ssdlab.study.sweeps.row import COLUMNS

if TYPE_CHECKING:
    import pyarrow

Numbers = NDArray[np.int64]
Read = Callable[[Path, Sequence[str]], "pyarrow.Table"]
"""Reads columns of a part."""
NamedPoint = tuple[int, str, Mapping[str, Any]]
"""Number, key and factors of a point."""

_AT_ONCE = 5_000
"""Points, and rows, that are in memory together: some 3 MB."""


class Index:
    """Where the rows of each key lie.

    Parameters
    ----------
    parts
        The oldest first.
    read
        Reads one.
    """

    def __init__(self, parts: Sequence[Path], read: Read) -> None:
        found = [np.array(read(part, ["key"])["key"].to_pylist(), "S") for part in parts]
        counts = [len(keys) for keys in found]
        keys = np.concatenate([np.empty(0, "S1"), *found])
        del found
        # They are in order of part and row by now, in which a stable sort leaves each key's.
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        del keys
        self._part = np.repeat(np.arange(len(parts)), counts)[order]
        self._row = np.concatenate([np.empty(0, np.int64), *map(np.arange, counts)])[order]
        last = self._part[np.searchsorted(self._keys, self._keys, "right") - 1]
        if (of_before := self._part != last).any():
            self._keys, self._part, self._row = (
                each[~of_before] for each in (self._keys, self._part, self._row)
            )

    def places(self, keys: Sequence[str]) -> tuple[Numbers, Numbers, Numbers]:
        """Return the rows of keys, in their order: which of the keys, which part, which row."""
        wanted = np.array(keys, "S")
        first = np.searchsorted(self._keys, wanted, "left")
        counts = np.searchsorted(self._keys, wanted, "right") - first
        which = np.repeat(np.arange(len(keys)), counts)
        within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        at = first[which] + within
        return which, self._part[at], self._row[at]


def write_table(
    folder: Path,
    schema: pyarrow.Schema,
    parts: Sequence[Path],
    read: Read,
    points: Iterable[NamedPoint],
) -> int:
    """Write ``table.parquet`` and ``table.csv``; return how many rows they have.

    Parameters
    ----------
    folder
        Where they are written.
    schema
        The table's columns.
    parts, read
        As for `Index`.
    points
        In the study's order.

    Raises
    ------
    SsdlabError
        A part cannot be read, or the disk is full; no half file is there.
    """
    import pyarrow
    from pyarrow import csv, parquet

    rows = 0
    with ExitStack() as stack:
        files = [
            stack.enter_context(PendingFile(folder / name, "-o"))
            for name in ("table.parquet", "table.csv")
        ]
        with (
            parquet.ParquetWriter(_Sink(files[0]), schema) as as_parquet,
            csv.CSVWriter(_Sink(files[1]), schema) as as_csv,
        ):
            for batch in _batches(schema, parts, read, points):
                as_parquet.write_table(batch)
                as_csv.write_table(batch)
                rows += batch.num_rows
                # Else its pool keeps what several batches have left behind, 30 MB.
                pyarrow.default_memory_pool().release_unused()
        for file in files:
            file.finish()
    return rows


def _batches(
    schema: pyarrow.Schema, parts: Sequence[Path], read: Read, points: Iterable[NamedPoint]
) -> Iterator[pyarrow.Table]:
    index, left = Index(parts, read), iter(points)
    while some := list(itertools.islice(left, _AT_ONCE)):
        which, part, row = index.places([key for _, key, _ in some])
        for first in range(0, len(which), _AT_ONCE):
            cut = slice(first, first + _AT_ONCE)
            rows = _taken(parts, read, part[cut], row[cut])
            yield _with_points(schema, [some[at] for at in which[cut]], rows)


def _taken(parts: Sequence[Path], read: Read, part: Numbers, row: Numbers) -> pyarrow.Table:
    """Take rows from their parts, each of which is read once."""
    import pyarrow

    order = np.argsort(part, kind="stable")
    numbers, starts = np.unique(part[order], return_index=True)
    by_part = zip(numbers, np.split(order, starts[1:]), strict=True)
    taken = [read(parts[number], list(COLUMNS)).take(row[of]) for number, of in by_part]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return pyarrow.concat_tables(taken).take(back)


def _with_points(
    schema: pyarrow.Schema, points: Sequence[NamedPoint], rows: pyarrow.Table
) -> pyarrow.Table:
    """Put what tells each row's point from others before its figures."""
    import pyarrow

    def own(name: str) -> list[Any]:
        return [number if name == "point" else of.get(name) for number, _, of in points]

    columns = [
        rows[field.name] if field.name in COLUMNS else pyarrow.array(own(field.name), field.type)
        for field in schema
    ]
    return pyarrow.Table.from_arrays(columns, schema=schema)


class _Sink(io.RawIOBase):
    """A pending file as pyarrow's writers want one."""

    def __init__(self, pending: PendingFile) -> None:
        self._pending = pending
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pending.add(bytes(piece))
        self._written += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._written
