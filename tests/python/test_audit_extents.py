"""The audit counts extents: which files it looks at, what it judges, what it does not claim."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import in_pieces
from machine import MadeMachine
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.finding import Finding
from ssdlab.machine.audit.walk import audit
from ssdlab.machine.verdict import Verdict
from ssdlab.real.sampled_files import FileSample, SampledFile, sample
from ssdlab.real.system import LiveSystem, open_root

MIB = 1 << 20


def found(made: MadeMachine) -> list[Finding]:
    return [each for each in audit(made.system()).findings if each.check == "extents"]


@pytest.mark.parametrize(
    ("kib", "on_disk", "verdict"),
    [
        (64, False, Verdict.WRONG),
        (128, False, Verdict.RIGHT),
        (512, True, Verdict.WRONG),
        (1024, True, Verdict.RIGHT),
    ],
)
def test_the_mean_extent_is_judged(kib: int, on_disk: bool, verdict: Verdict) -> None:
    """Against what is read ahead on an SSD, against a seek on a disk."""
    (one,) = found(in_pieces(kib, on_disk=on_disk))
    assert one.verdict is verdict
    assert ("vm.img" in one.what) == (verdict is Verdict.WRONG)


def test_a_copy_of_what_snapshots_share_is_told_first() -> None:
    """Btrfs parts what snapshots share."""
    (one,) = found(in_pieces(64, "btrfs"))
    assert one.remedy is not None and "snapshots" in one.remedy.costs
    assert one.remedy.steps == ("btrfs filesystem defragment -r /srv",)


def test_what_was_not_looked_at_is_not_claimed() -> None:
    """No filefrag, no file that it tells of, no file at all."""
    made = in_pieces(64)
    for samples, because in (
        ({}, "filefrag (e2fsprogs) was not run"),
        ({"/srv": FileSample((), 3, True)}, "of 3 files"),
        ({"/srv": FileSample((), 0, True)}, "no file of a mebibyte"),
    ):
        made.samples = samples
        (one,) = found(made)
        assert one.verdict is Verdict.NOT_LOOKED_AT and because in one.what


def test_a_part_of_the_files_is_told_as_such() -> None:
    """Where the walk's time was up, or a folder could not be read."""
    made = in_pieces(64)
    made.samples["/srv"] = FileSample((SampledFile("/srv/a", MIB, 1),), 7, is_whole=False)
    assert "of the 7 files that were reached" in found(made)[0].what


def test_a_damaged_folder_hides_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ends with an error of the drive is left there; the other files are seen."""
    for folder in ("damaged", "sound"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_bytes(bytes(MIB))
    scandir = os.scandir

    class Damaged:
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            with scandir(self.folder) as entries:
                yield from entries
            if self.folder.endswith("damaged"):
                raise OSError(errno.EIO, os.strerror(errno.EIO), self.folder)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Damaged)
    seen = sample(str(tmp_path), lambda *_: None)
    assert (seen.seen, seen.is_whole) == (2, False)


def test_a_capture_has_no_names_of_files(tmp_path: Path) -> None:
    """And gives the same verdict; one that was tampered with is not looked at."""
    text = capture(in_pieces(64).system())
    assert "vm.img" not in text
    kept = tmp_path / "server.json"
    kept.write_text(text)
    (one,) = (each for each in audit(open_root(str(kept))).findings if each.check == "extents")
    assert one.verdict is Verdict.WRONG and "a file of 1.07 GB lies in 16384" in one.what
    content = json.loads(text)
    for broken in (
        5,
        {"files": [[1]], "seen": 1, "is_whole": True},
        {"files": [[1, -1]], "seen": 1},
    ):
        content["samples"] = {"/srv": broken}
        kept.write_text(json.dumps(content))
        (one,) = (each for each in audit(open_root(str(kept))).findings if each.check == "extents")
        assert one.verdict is Verdict.NOT_LOOKED_AT


def test_the_largest_and_the_oldest_are_asked_about(tmp_path: Path) -> None:
    """Eight of each, none below a mebibyte, none behind a link, whatever their names."""
    (tmp_path / "deep").mkdir()
    for number in range(20):
        path = tmp_path / "deep" / f"new line\n{number}"
        path.write_bytes(bytes(MIB * (number + 1)))
        os.utime(path, (number, 1000 + number))
    (tmp_path / "small").write_bytes(bytes(10))
    (tmp_path / "hole").write_bytes(b"")
    os.truncate(tmp_path / "hole", 100 * MIB)
    (tmp_path / "link").symlink_to(tmp_path / "deep")
    asked: list[str] = []

    def run(program: str, path: str) -> str | None:
        assert program == "filefrag"
        asked.append(path)
        return None if path.endswith("19") else f"{path}: 2 extents found"

    seen = sample(str(tmp_path), run)
    numbers = [int(path.rpartition("\n")[2]) for path in asked]
    assert numbers == [*range(19, 11, -1), *range(7, -1, -1)]
    assert seen.seen == 20 and seen.is_whole
    assert len(seen.files) == 15 and {each.extents for each in seen.files} == {2}


def test_the_walk_ends_when_its_time_is_up(tmp_path: Path) -> None:
    """By the clock that it is given; folders without a file take their time as well."""
    for number in range(5):
        (tmp_path / str(number)).write_bytes(bytes(MIB))
    clock = itertools.count()
    seen = sample(str(tmp_path), lambda *_: "x: 1 extent found", 3, lambda: next(clock))
    assert (seen.seen, seen.is_whole) == (3, False)
    for number in range(5):
        (tmp_path / str(number)).unlink()
        (tmp_path / f"folder {number}").mkdir()
    clock = itertools.count()
    assert not sample(str(tmp_path), lambda *_: None, 3, lambda: next(clock)).is_whole


def test_a_drive_that_hangs_is_not_asked_about_every_file(tmp_path: Path) -> None:
    """Once filefrag has taken the time that there was, no more files are asked about."""
    for number in range(9):
        (tmp_path / str(number)).write_bytes(bytes(MIB))
    clock, asked = [0.0], []

    def hangs(_program: str, path: str) -> None:
        asked.append(path)
        clock[0] += 20

    assert sample(str(tmp_path), hangs, 3, lambda: clock[0]).files == ()
    assert len(asked) == 1


@pytest.mark.skipif(shutil.which("filefrag") is None, reason="needs filefrag (e2fsprogs)")
def test_filefrag_itself(tmp_path: Path) -> None:
    """Each file's count is what filefrag prints; the guest has one in many pieces."""
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(os.urandom(MIB))
    seen = LiveSystem().files_of(str(tmp_path))
    assert seen is not None and seen.seen == 2
    if len(seen.files) < 2:
        pytest.skip("the file system of the tests' folder does not tell of extents")
    for each in seen.files:
        done = subprocess.run(["filefrag", each.path], capture_output=True, text=True, check=True)
        assert f": {each.extents} extent" in done.stdout
