"""Committed rows outlive cuts of a drive that keeps its word, and not of one that breaks it."""

from __future__ import annotations

import os

import pytest

from cut_drive import Drive, LostError, drive, folder, serve
from databases import Database, Postgres, Sqlite, live

pytestmark = pytest.mark.end_to_end

__all__ = ["drive", "folder"]

CUTS = int(os.environ.get("SSDLAB_DATABASE_CUTS", "12"))
"""Of all databases and drives that keep their word."""
DATABASES = (Sqlite("DELETE", "EXTRA"), Sqlite("WAL", "FULL"), Postgres())
TIMES_TO_BREAK = 20


@pytest.mark.parametrize("protected", ["false", "true"], ids=["volatile", "protected"])
@pytest.mark.parametrize("database", DATABASES, ids=lambda each: each.name)
def test_no_committed_row_is_lost(drive: Drive, database: Database, protected: str) -> None:
    """The power is cut while rows are committed; what was told is there, and nothing between."""
    if database.lacks is not None:
        pytest.skip(database.lacks)
    serve(drive, protected)
    cuts = -(-CUTS // (2 * len(DATABASES)))
    assert live(drive, database, cuts, seed=7) >= cuts


@pytest.mark.parametrize(
    ("database", "fault", "protected"),
    [
        (DATABASES[0], "lying", "false"),
        (DATABASES[1], "capacitor", "true"),
        (DATABASES[2], "lying", "false"),
    ],
    ids=["sqlite-DELETE-EXTRA", "sqlite-WAL-FULL", "postgresql"],
)
def test_a_drive_that_breaks_its_word_is_seen(
    drive: Drive, database: Database, fault: str, protected: str
) -> None:
    """The same cuts take rows, or all of the database, where flushes or capacitors fail."""
    if database.lacks is not None:
        pytest.skip(database.lacks)
    serve(drive, protected, "--fault", fault)
    with pytest.raises(LostError):
        live(drive, database, TIMES_TO_BREAK, seed=7)
