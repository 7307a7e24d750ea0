"""Outputs are safe: whole or absent, and what is no regular file is refused and left as it is."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from process import HANG_S, RUN, WRITERS
from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile, remove_abandoned

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def guard() -> Iterator[None]:
    """End a test that waits for a pipe."""

    def hangs(_number: int, _frame: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANG_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device_node(path: Path) -> None:
    try:
        # The numbers of a null device: should it be written to after all, nothing happens.
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device node needs root")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def folder(path: Path) -> None:
    path.mkdir()


OBSTACLES = {
    "a named pipe": pipe,
    "a device node": device_node,
    "a socket": a_socket,
    "a folder": folder,
}


def parts(where: Path) -> list[str]:
    return [entry.name for entry in where.rglob("*.part")]


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_regular_file_is_refused(
    command: Command, inputs: Path, writer: str, obstacle: str
) -> None:
    """Neither replaced nor opened, directly or through a link; the error names it."""
    OBSTACLES[obstacle](inputs / "place")
    (inputs / "link").symlink_to("place")
    before = os.lstat("place")
    for place in ("place", "link"):
        code, out, err = command(*WRITERS[writer](place))
        assert code == 2, err
        assert f"{place}: is {obstacle}" in err or obstacle == "a folder", err
        assert place in err and len(err.splitlines()) <= 2
        assert out == ""
    after = os.lstat("place")
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert (inputs / "link").is_symlink() and parts(inputs) == []


@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_is_followed(command: Command, inputs: Path, writer: str) -> None:
    """The file that it leads to is replaced or made, keeps its mode, and the link stays."""
    (inputs / "there").mkdir()
    target = inputs / "there" / "file"
    (inputs / "link").symlink_to("there/file")
    code, _, err = command(*WRITERS[writer]("link"))
    # How well the drive is decides health's own exit code, and whether one meets it sizing's.
    assert code in (0, 1) or writer.startswith(("health", "sizing", "lifetime")), err
    assert (inputs / "link").is_symlink()
    made = target.stat()
    assert made.st_size > 0
    target.chmod(0o600)
    goes_on = writer in ("health --history", "health --baseline")
    if not goes_on:
        target.write_text("")
    command(*WRITERS[writer]("link"))
    assert (inputs / "link").is_symlink()
    # What a capture reads of the machine may be a byte shorter the next moment.
    assert target.stat().st_size >= (made.st_size if goes_on else 1)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert parts(inputs) == []


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Mount a small file system in memory."""
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("mounting a file system needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_file_system_keeps_the_old_file(command: Command, inputs: Path, writer: str) -> None:
    """What does not fit leaves what was there, and nothing unfinished; the error says why."""
    with mounted(inputs / "small", "size=8k"):
        # What is written over is an empty file of its kind: no other is.
        old = "\n" if writer == "health --history" else "{}"
        (inputs / "small" / "file").write_text(old)
        (inputs / "small" / "other").write_bytes(b"x" * 4096)
        code, _, err = command(*WRITERS[writer]("small/file"))
        assert (code, "No space left on device" in err) == (2, True), err
        # Sizing has told by then what it found.
        assert len(err.splitlines()) <= 2 or writer.startswith("sizing")
        assert (inputs / "small" / "file").read_text() == old
        assert sorted(each.name for each in (inputs / "small").iterdir()) == ["file", "other"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_is_read_only_is_refused(command: Command, inputs: Path, writer: str) -> None:
    """Even to root, whom modes do not hold back."""
    with mounted(inputs / "still", "ro"):
        code, _, err = command(*WRITERS[writer]("still/file"))
        assert (code, "Read-only file system" in err) == (2, True), err


@pytest.mark.parametrize("verb", ["demo", "reproduce"])
@pytest.mark.parametrize("place", ["file", "-", "pipe"])
def test_verbs_that_write_several_files_need_a_folder(
    command: Command, inputs: Path, verb: str, place: str
) -> None:
    """A file or a pipe in the place of the folder is refused before anything is run."""
    (inputs / "file").write_text("kept")
    os.mkfifo(inputs / "pipe")
    code, out, err = command(verb, "-o", place)
    assert (code, out) == (2, "")
    assert f"-o {place}: " in err and "name a folder" in err
    assert (inputs / "file").read_text() == "kept"


def test_who_comes_second_is_refused(tmp_path: Path) -> None:
    """A file that appears while a drive is seasoned is not replaced."""
    place = tmp_path / "drive.ssd"

    def appear(_phase: str, _share: float) -> bool:
        place.write_text("another's")
        return True

    small = (("capacity_bytes", "1GiB"),)
    filled = RunRequest("theory", small, condition="filled", save=str(place), must_be_new=True)
    with pytest.raises(SsdlabError, match="another file has appeared"):
        engine.season(filled, appear)
    assert place.read_text() == "another's"
    assert [each.name for each in tmp_path.iterdir()] == ["drive.ssd"]


def start(*arguments: str, **streams: object) -> subprocess.Popen[str]:
    words = (sys.executable, "-m", "ssdlab", *arguments)
    return subprocess.Popen(words, text=True, **streams)  # type: ignore[call-overload,no-any-return]


def test_two_that_season_at_once(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two commands for one place, begun before it was there, one is refused with 2."""
    monkeypatch.chdir(inputs)
    words = ("season", "intel-dc-s3500-80gb", "--to", "filled", "-o", "drive.ssd")
    both = [start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    answers = [each.communicate() for each in both]
    codes = sorted(each.returncode for each in both)
    assert codes == [0, 2], answers
    assert sum("another file has appeared" in err for _, err in answers) == 1
    assert ssdlab.drive("drive.ssd").show()["condition"] == "filled"
    assert parts(inputs) == []


def test_two_that_write_one_result_at_once(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later one's result is there, whole; nothing else is left."""
    monkeypatch.chdir(inputs)
    begun = set(os.listdir())
    both = [start(*RUN, "--seed", seed, "--output-format=json", "-o", "new.json") for seed in "12"]
    assert [each.wait() for each in both] == [0, 0]
    assert json.loads((inputs / "new.json").read_text())["jobs"][0]["ssdlab"]["seed"] in (1, 2)
    assert set(os.listdir()) - begun == {"new.json"}


def test_file_then_rename_then_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was renamed without a sync of both could be empty, or gone, after a power cut."""
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("folder" if is_folder else "file")
        fsync(descriptor)

    def renamed(before: Path, after: Path) -> None:
        steps.append("rename")
        replace(before, after)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    PendingFile(tmp_path / "file").write("whole")
    assert steps == ["file", "rename", "folder"]


def test_a_signal_in_the_middle_of_a_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its handler discards the file while the buffer is at work, which refuses to be closed."""
    pending = PendingFile(tmp_path / "file")

    class Interrupted(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, piece: Any, /) -> int:
            pending.discard()
            return len(piece)

    monkeypatch.setattr(os, "fdopen", lambda *_: io.BufferedWriter(Interrupted()))
    pending.add(b"x" * 1_000_000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("writer", ["run --save", "run --write_iolog", "season -o"])
def test_the_engine_syncs_too(inputs: Path, monkeypatch: pytest.MonkeyPatch, writer: str) -> None:
    """As above, of what the engine writes, seen from outside."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not here: scripts/install-tools.sh")
    monkeypatch.chdir(inputs)
    watched = "trace=fsync,rename,link,linkat"
    words = ("strace", "-f", "-o", "calls", "-e", watched, sys.executable, "-m", "ssdlab")
    done = subprocess.run([*words, *WRITERS[writer]("file")], capture_output=True, text=True)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not look at processes here")
    assert done.returncode == 0, done.stderr
    lines = Path("calls").read_text().splitlines()
    calls = [line.split(None, 1)[1].split("(")[0] for line in lines]
    kept = [call for call in calls if call in ("fsync", "rename", "link", "linkat")]
    placed = ["rename" if call.startswith("link") else call for call in kept]
    assert placed == ["fsync", "rename", "fsync"]


def test_starting_over_does_not_lose_layers() -> None:
    """A drive with layers is refused, as by `season`, in place of one without."""
    stack = ssdlab.drive("theory", layers=["partition:start_sector=63"])
    with pytest.raises(SsdlabError, match="without layers"):
        stack.start_over("secure-erase")


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """A part of a process that is gone goes; that of a living one, and what is not ours, stay."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    inner = tmp_path / "inner"
    inner.mkdir()
    names = [f".ssdlab-{os.getpid()}-12ab34cd.part", "other.part", ".ssdlab-x-12ab34cd.part"]
    for name in (*names, f".ssdlab-{gone.pid}-12ab34cd.part"):
        (inner / name).touch()
    remove_abandoned(tmp_path)
    assert sorted(each.name for each in inner.iterdir()) == sorted(names)
