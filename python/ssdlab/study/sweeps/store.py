"""The folder of a study: what has ended, readable at any time.

    study.toml                the study as it was last begun
    rows/part-*.parquet       what has ended, some seconds' worth each; never changed again
    table.parquet, table.csv  all rows of the study in its order, when all its points have ended
    status.json               how far it is, for ``--watch``
    fio/KEY.json              fio's JSON of a point, where it was wanted

Each file appears whole or not at all, so a reader meets no half row, and what was killed goes on.
Rows are known by their point's key: several studies may share a folder, and points with it.
"""

from __future__ import annotations

import io
import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import RESULT_BYTES, InputError, read_bytes, read_text
from ssdlab.ground.output import PendingFile, remove_abandoned
from ssdlab.study.sweeps.row import COLUMNS, Row
from ssdlab.study.sweeps.table import write_table

if TYPE_CHECKING:
    import pyarrow

LOST = "lost: "
"""How the error of a point begins whose worker ended: the next sweep runs it again."""


class SweepStore:
    """The folder.

    Parameters
    ----------
    folder
        Exists.
    factors
        The columns of the factors, with their types as pyarrow names them.
    """

    def __init__(self, folder: Path, factors: Mapping[str, str]) -> None:
        self.folder = folder
        self._columns = {"point": "int64", **factors, **COLUMNS}
        self._waiting: list[Row] = []
        self._rows = folder / "rows"
        try:
            self._rows.mkdir(exist_ok=True)
        except OSError as error:
            raise SsdlabError(f"-o {self._rows}: {error.strerror}") from None
        remove_abandoned(folder)

    def finished(self) -> dict[str, bool]:
        """Return the keys of points that need not be run again, each with whether it failed."""
        return finished_in(self.folder)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows; they are kept by the next `flush`."""
        self._waiting.extend(rows)

    @property
    def waiting(self) -> int:
        """How many rows are not kept yet."""
        return len(self._waiting)

    def flush(self) -> None:
        """Keep the rows that were taken.

        Raises
        ------
        SsdlabError
            The disk is full, or the folder has gone; what was kept before stays.
        """
        if not self._waiting:
            return
        import pyarrow

        name = f"part-{time.time_ns():020}-{secrets.token_hex(3)}.parquet"
        self._write(self._rows / name, _parquet(self._table(self._waiting)))
        self._waiting = []
        pyarrow.default_memory_pool().release_unused()

    def write_fio(self, key: str, document: str) -> None:
        """Keep fio's JSON of a point."""
        (self.folder / "fio").mkdir(exist_ok=True)
        self._write(self.folder / "fio" / f"{key}.json", document.encode())

    def write_study(self, source: str) -> None:
        """Keep the study."""
        self._write(self.folder / "study.toml", source.encode())

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Tell how far it is."""
        self._write(self.folder / "status.json", json.dumps(status, indent=1).encode())

    def write_table(self, points: Iterable[tuple[int, str, Mapping[str, Any]]]) -> int:
        """Write the table of a study; return how many rows it has.

        Parameters
        ----------
        points
            Number, key and factors of each point, in the study's order.
        """
        return write_table(self.folder, self._schema(), self._parts(), _read, points)

    def _parts(self) -> list[Path]:
        return parts(self.folder)

    def _schema(self) -> pyarrow.Schema:
        import pyarrow

        return pyarrow.schema([(name, kind) for name, kind in self._columns.items()])

    def _table(self, rows: Sequence[Row]) -> pyarrow.Table:
        import pyarrow

        return pyarrow.Table.from_pylist(list(rows), schema=self._schema())

    def _write(self, path: Path, content: bytes) -> None:
        with PendingFile(path, "-o") as pending:
            pending.add(content)
            pending.finish()


def parts(folder: Path) -> list[Path]:
    """Return the files of rows, the oldest first."""
    return sorted((folder / "rows").glob("part-*.parquet"))


def rows_in(folder: Path, columns: Sequence[str]) -> list[Row]:
    """Return the rows that are there; of a point that was run again those of the last time.

    Parameters
    ----------
    folder
        The sweep's.
    columns
        Those that are wanted; what an older study in the folder did not have is None.
    """
    found: dict[str, list[Row]] = {}
    for part in parts(folder):
        of_part: dict[str, list[Row]] = {}
        for row in _read(part, columns).to_pylist():
            of_part.setdefault(row["key"], []).append({name: row.get(name) for name in columns})
        found |= of_part
    return [row for rows in found.values() for row in rows]


def finished_in(folder: Path) -> dict[str, bool]:
    """Return the keys of the points that have ended there, each with whether it failed."""
    found: dict[str, bool] = {}
    for part in parts(folder):
        table = _read(part, ["key", "error"])
        pairs = zip(table["key"].to_pylist(), table["error"].to_pylist(), strict=True)
        found |= {key: error is not None for key, error in pairs if not _is_lost(error)}
    return found


def status(folder: Path) -> dict[str, Any]:
    """Read how far a sweep is.

    Raises
    ------
    SsdlabError
        There is no sweep in the folder.
    """
    path = folder / "status.json"
    try:
        found = json.loads(read_text(path))
    except (FileNotFoundError, InputError, ValueError) as error:
        raise SsdlabError(
            f"{path}: cannot be read: {error}\nname the folder of a sweep that has begun"
        ) from None
    return dict(found)


def _is_lost(error: str | None) -> bool:
    return error is not None and error.startswith(LOST)


def _parquet(table: pyarrow.Table) -> bytes:
    from pyarrow import parquet

    written = io.BytesIO()
    parquet.write_table(table, written)
    return written.getvalue()


def _read(part: Path, columns: Sequence[str]) -> pyarrow.Table:
    import pyarrow
    from pyarrow import parquet

    try:
        content = io.BytesIO(read_bytes(part, RESULT_BYTES))
        # Not `read_table`: it loads what reads whole folders, 60 MB of it.
        with parquet.ParquetFile(content) as file:
            return file.read(columns=list(columns))
    except (FileNotFoundError, InputError, pyarrow.ArrowException) as error:
        raise SsdlabError(
            f"{part}: cannot be read: {error}\nremove it; its points are then run again"
        ) from None
