"""Databases on an attached drive whose power is cut while they commit, and what they still know.

A database is filled by a process of its own: it commits row after row, and tells each once its
commit has returned. After the cut the drive is attached anew, the database recovers by itself, and
the rows that it has must be 1, 2, 3 … at least up to the last that was told.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from cut_drive import Drive, LostError
from test_attach import run

POSTGRES = Path("/usr/lib/postgresql")
_PATIENCE_S = 60


@dataclass(frozen=True)
class Sqlite:
    """SQLite with a journal mode and a level of ``synchronous``."""

    journal: str
    synchronous: str

    @property
    def name(self) -> str:
        return f"sqlite-{self.journal}-{self.synchronous}"

    @property
    def lacks(self) -> str | None:
        return None

    def make(self, mount: Path) -> None:
        self._do(mount, "CREATE TABLE t (n INTEGER PRIMARY KEY, what BLOB)")

    def fill(self, mount: Path, first: int) -> subprocess.Popen[str]:
        script = (
            "import sqlite3, sys, itertools\n"
            "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            f"database.execute('PRAGMA journal_mode={self.journal}')\n"
            f"database.execute('PRAGMA synchronous={self.synchronous}')\n"
            "for n in itertools.count(int(sys.argv[2])):\n"
            "    database.execute('INSERT INTO t VALUES (?, randomblob(300))', (n,))\n"
            "    print(n, flush=True)\n"
        )
        words = [sys.executable, "-c", script, str(mount / "t.db"), str(first)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def rows(self, mount: Path) -> list[int]:
        if self._do(mount, "PRAGMA integrity_check") != ["ok"]:
            raise LostError("the database is damaged")
        return [int(each) for each in self._do(mount, "SELECT n FROM t ORDER BY n")]

    def stop(self) -> None:
        """Nothing goes on but the process that fills."""

    def _do(self, mount: Path, statement: str) -> list[str]:
        script = (
            "import sqlite3, sys\n"
            "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            f"database.execute('PRAGMA journal_mode={self.journal}')\n"
            "print(*(row[0] for row in database.execute(sys.argv[2])), sep='\\n')\n"
        )
        words = [sys.executable, "-c", script, str(mount / "t.db"), statement]
        done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE_S)
        if done.returncode != 0:
            raise LostError(done.stderr.splitlines()[-1])
        return done.stdout.split()


class Postgres:
    """PostgreSQL as Debian installs it, under its own user; its clients come by a socket."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    name = "postgresql"

    @property
    def lacks(self) -> str | None:
        if not list(POSTGRES.glob("*/bin/postgres")):
            return "postgresql is not here"
        return None

    def _words(self, tool: str, *words: str) -> list[str]:
        (binary, *_) = sorted(POSTGRES.glob(f"*/bin/{tool}"), reverse=True)
        return ["runuser", "-u", "postgres", "--", str(binary), *words]

    def make(self, mount: Path) -> None:
        shutil.chown(mount, "postgres")
        run(*self._words("initdb", "-D", str(mount / "pg"), "--wal-segsize=1", "-A", "trust"))
        self._start(mount)
        self._do(mount, "CREATE TABLE t (n integer PRIMARY KEY, what text)")

    def _start(self, mount: Path) -> None:
        settings = (
            "listen_addresses=",
            "shared_buffers=8MB",
            "max_wal_size=4MB",
            "min_wal_size=2MB",
        )
        words = ["-D", str(mount / "pg"), "-k", str(mount)]
        words += [word for each in settings for word in ("-c", each)]
        self._server = subprocess.Popen(
            self._words("postgres", *words),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(_PATIENCE_S * 5):
            ready = self._words("pg_isready", "-q", "-h", str(mount), "-t", "1")
            if subprocess.run(ready, timeout=_PATIENCE_S).returncode == 0:
                return
            if self._server.poll() is not None:
                raise LostError("the database does not come back")
        raise LostError("the database does not come back in time")

    def fill(self, mount: Path, first: int) -> subprocess.Popen[str]:
        # psql tells a row only when the statement before has succeeded.
        script = (
            f'n={first}; while :; do echo "INSERT INTO t VALUES ($n, repeat(md5($n::text), 9));";'
            ' echo "\\\\echo $n"; n=$((n + 1)); done | "$@"'
        )
        psql = self._words("psql", "-qX", "-h", str(mount), "-v", "ON_ERROR_STOP=1", "postgres")
        return subprocess.Popen(
            ["bash", "-c", script, "fill", *psql],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def rows(self, mount: Path) -> list[int]:
        self._start(mount)
        self._do(mount, "REINDEX TABLE t")
        return [int(each) for each in self._do(mount, "SELECT n FROM t ORDER BY n")]

    def stop(self) -> None:
        if self._server is not None:
            _kill(self._server)
            self._server = None

    def _do(self, mount: Path, statement: str) -> list[str]:
        words = self._words("psql", "-qXAt", "-h", str(mount), "-c", statement, "postgres")
        done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE_S)
        if done.returncode != 0:
            raise LostError(done.stderr)
        return done.stdout.split()


Database = Sqlite | Postgres


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it has begun, and wait until they are gone."""
    if process.poll() is not None:
        return
    all_of_it = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for each in all_of_it:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(all_of_it, timeout=_PATIENCE_S)


def live(drive: Drive, database: Database, cuts: int, seed: int) -> int:
    """Commit under cuts; return how many rows stand in the end.

    Raises
    ------
    LostError
        A committed row is gone, or the database does not come back.
    """
    draws = random.Random(seed)
    database.make(drive.mount)
    told = 0
    try:
        for number in range(cuts):
            filling = database.fill(drive.mount, told + 1)
            told = _wait(filling, told + draws.randint(1, 60))
            drive.cut(draws.getrandbits(32))
            told = _end(filling, told)
            database.stop()
            drive.come_back()
            rows = database.rows(drive.mount)
            if rows[:told] != list(range(1, told + 1)):
                raise LostError(f"cut {number}: of {told} committed rows {len(rows)} are there")
            assert rows == list(range(1, len(rows) + 1)), "what was not told may be there"
            told = len(rows)
    finally:
        database.stop()
    return told


def _wait(filling: subprocess.Popen[str], until: int) -> int:
    """Wait until so many rows were told."""
    assert filling.stdout is not None
    for line in filling.stdout:
        if int(line) >= until:
            return int(line)
    raise AssertionError("it ended before its time")


def _end(filling: subprocess.Popen[str], told: int) -> int:
    """End the process that fills; return the last row that it told."""
    _kill(filling)
    rest, _ = filling.communicate()
    whole = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    return max([told, *(int(line) for line in whole)])
