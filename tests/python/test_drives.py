"""`ssdlab drives` on a terminal and in a pipe, and drives that are named wrongly."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.experiment.drives import Drive, drive
from ssdlab.ground.errors import SsdlabError

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("columns", [80, 120])
def test_nothing_is_cut_on_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Every line fits, and what a drive is stands there whole, folded where it has to be."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = command("drives")
    assert code == 0
    _heading, rule, *lines = out.splitlines()
    assert set(rule.strip()) == {"─"}
    assert max(map(len, lines)) <= columns
    assert "…" not in out
    words = " ".join(out.split())
    for profile in engine.profiles():
        assert any(line.split()[:1] == [profile["name"]] for line in lines)
        last = str(profile["summary"]).split()[-1]
        assert last in words, "the end of the sentence"


def test_pipe_gets_the_whole_lines(command: Command) -> None:
    """In a pipe nothing is cut."""
    _, out, _ = command("drives")
    lines = out.splitlines()[1:]
    for profile, line in zip(engine.profiles(), lines, strict=True):
        assert line.endswith(str(profile["summary"]))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: drive("theoryy"), "there is no drive theoryy\ndid you mean theory?"),
        (lambda: drive("theory", over_provisionin=0.1), "there is no parameter"),
        (lambda: drive("theory", {"nand.planes": 0}), "--set nand.planes=0: must be 1 to 8"),
        (lambda: drive("theory", layers=["partitoin"]), "partitoin"),
        (lambda: drive("gone.ssd"), "gone.ssd: cannot be read"),
        (lambda: drive("/dev/nvme0n1"), "measure it with `ssdlab pts /dev/nvme0n1`"),
    ],
)
def test_a_wrong_drive_is_told_at_once(wrong: Callable[[], Drive], named: str) -> None:
    """A drive that is named wrongly is refused where it is named, not at its first run."""
    with pytest.raises(SsdlabError, match=re.escape(named)):
        wrong()


def test_no_drive_file_is_called_like_a_profile(command: Command, tmp_path: Path) -> None:
    """`--drive theory` would never open it, so neither `season` nor `run` nor Python keeps one."""
    small = ("--set", "capacity_bytes=64MiB")
    seasoned = command("season", "theory", *small, "--to", "fresh", "-o", "theory")
    job = ("--rw=write", "--number_ios=1")
    ran = command("run", *job, "--drive", "theory", *small, "--save", "theory")
    for code, _, err in (seasoned, ran):
        assert code == 2
        assert "theory: is the name of a profile" in err and "name it theory.ssd" in err
    with pytest.raises(SsdlabError, match="is the name of a profile"):
        drive("theory", capacity_bytes="64MiB").season("fresh", save="theory")
    assert not (tmp_path / "theory").exists()
