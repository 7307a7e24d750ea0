"""Losses that users of released programs have reported, seen again: no drive is to blame for them.

Beside each stands what keeps the same data through the same cut.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cut_drive import Drive, LostError, drive, folder, serve
from databases import Sqlite, live
from test_attach import missing, run

pytestmark = pytest.mark.end_to_end

__all__ = ["drive", "folder"]

VOLATILE = "false"


def sync_another(drive: Drive) -> None:
    """Have the file system write its journal, as it does by itself every some seconds."""
    run("dd", "if=/dev/zero", f"of={drive.mount / 'other'}", "bs=4k", "count=1", "conv=fsync")


def cut(drive: Drive) -> None:
    drive.cut(seed=1)
    drive.come_back()


def test_a_journal_needs_its_folder_synced(drive: Drive) -> None:
    """SQLite's synchronous=FULL does not sync the folder from which it takes the journal away.

    Its documentation (pragma.html#pragma_synchronous) says so of EXTRA, which does: with FULL the
    last transaction may be rolled back. EXTRA keeps all in test_databases.py.
    """
    serve(drive, VOLATILE)
    with pytest.raises(LostError, match="committed rows"):
        live(drive, Sqlite("DELETE", "FULL"), 20, seed=7)


@pytest.mark.parametrize("hardened", [False, True])
def test_a_commit_of_git_is_empty(drive: Drive, hardened: bool) -> None:
    """Git leaves loose objects to the page cache, and they are empty after a cut.

    Reported since 2012 (lighthouseinthesky.blogspot.com/2012/12/git-tear-hair.html), by GitLab
    (gitaly, issue 1727); since Git 2.36 core.fsync=all syncs them.
    """
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    serve(drive, VOLATILE)
    repository = drive.mount / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    git += ["-c", "core.fsync=all"] if hardened else []
    run("git", "init", "-q", str(repository))
    for number in range(4):
        (repository / "file").write_text(f"{number}\n")
        run(*git, "add", "file")
        run(*git, "commit", "-qm", f"{number}")
        if number == 0:
            run("sync")
    sync_another(drive)
    cut(drive)
    found = subprocess.run([*git, "fsck"], capture_output=True, text=True)
    log = subprocess.run([*git, "log", "--oneline"], capture_output=True, text=True)
    if hardened:
        assert (found.returncode, len(log.stdout.splitlines())) == (0, 4), found.stderr
    else:
        assert "is empty" in found.stderr and "is empty" in log.stderr


@pytest.mark.parametrize("synced", [False, True])
def test_a_file_replaced_without_a_sync_is_empty(drive: Drive, synced: bool) -> None:
    """On XFS `sed -i` leaves an empty file: its new file is renamed before its bytes are written.

    Kernel bug 15910 and zeek's pull request 1817 tell of other programs that do so.
    """
    if (lacks := missing("mkfs.xfs")) is not None:
        pytest.skip(lacks)
    serve(drive, VOLATILE, system="xfs")
    file = drive.mount / "settings"
    old = "".join(f"{number}\n" for number in range(2000))
    file.write_text(old)
    run("sync")
    if synced:
        new = Path(f"{file}.new")
        new.write_text(old.replace("1000", "x"))
        run("sync", str(new))
        new.rename(file)
    else:
        run("sed", "-i", "s/1000/x/", str(file))
    sync_another(drive)
    cut(drive)
    assert file.read_text() == (old.replace("1000", "x") if synced else "")
