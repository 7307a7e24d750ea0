"""Devices, images and sizes where something else is needed: what they are, and the way on."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
PRO = "samsung-990-pro-1tb"
TAKERS = {
    "pts": ("pts", "disk.img"),
    "season": ("season", "disk.img", "--to", "fresh", "-o", "x.ssd"),
    "run": ("run", "--rw=read", "--drive", "disk.img"),
}


@pytest.mark.parametrize("verb", TAKERS)
@pytest.mark.parametrize(
    ("content", "said"),
    [(bytes(1 << 16), "empty disk"), (bytes(512) + b"EFI PART" + bytes(4096), "with a GPT")],
    ids=["zeroes", "GPT"],
)
def test_an_image_of_a_disk(
    command: Command, tmp_path: Path, verb: str, content: bytes, said: str
) -> None:
    """It is told as an image, with what makes a device of it and the verbs that take one."""
    (tmp_path / "disk.img").write_bytes(content)
    code, out, error = command(*TAKERS[verb])
    assert (code, out) == (2, "")
    assert "disk.img: not a drive file" in error and said in error
    assert "losetup --find --show disk.img" in error and "ssdlab pts and season" in error
    assert [each.name for each in tmp_path.iterdir()] == ["disk.img"]


def test_a_real_drive_for_a_simulated_one(command: Command) -> None:
    """A block device given to `run` is called a real drive, and what takes one is named."""
    blocks = [each for each in Path("/dev").iterdir() if stat.S_ISBLK(each.lstat().st_mode)]
    if not blocks:
        pytest.skip("this machine has no block device")
    device = str(min(blocks))
    code, out, error = command("run", "--rw=read", "--drive", device)
    assert (code, out) == (2, "")
    assert f"{device}: is a real drive" in error and f"ssdlab pts {device}" in error


def test_no_block_device_for_a_real_drive(command: Command) -> None:
    """A name below /dev is one of a real drive only where a block device is there."""
    code, out, error = command("season", "/dev/null", "--to", "steady")
    assert (code, out) == (2, "")
    assert "/dev/null: not a block device" in error


def test_a_question_that_nobody_answers(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal nothing is done, and the option that agrees is named."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    monkeypatch.setattr("ssdlab.experiment.cache.entries", lambda: [_Kept()])
    code, out, error = command("cache", "clear")
    assert (code, out) == (2, "")
    assert "\nssdlab: " in error and "nothing was done\ngive --yes to agree" in error


class _Kept:
    size_bytes = 1


def test_a_demo_that_is_too_small(command: Command, tmp_path: Path) -> None:
    """The size is refused in the words of the demo's own option, and no folder is left."""
    code, out, error = command("demo", "--drive", PRO, "--capacity", "8GB", "-o", "new")
    assert (code, out) == (2, "")
    assert "--capacity 8GB: leaves each die" in error and "give at least --capacity 4" in error
    assert "--set" not in error and not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("--drive", "none"), ("--capacity", "much")])
def test_a_demo_of_nothing(command: Command, tmp_path: Path, words: tuple[str, str]) -> None:
    """A drive and a size that are none leave no folder, either."""
    code, out, error = command("demo", *words, "-o", "new")
    assert (code, out) == (2, "") and words[1] in error and "--set" not in error
    assert not list(tmp_path.iterdir())
