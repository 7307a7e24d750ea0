"""`ssdlab drives` on a terminal and in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from ssdlab import engine

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("columns", [80, 120])
def test_one_line_a_drive_on_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Each drive has one line that fits, with its whole name and its capacity."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = command("drives")
    assert code == 0
    _heading, rule, *lines = out.splitlines()
    assert set(rule.strip()) == {"─"}
    names = [str(profile["name"]) for profile in engine.profiles()]
    assert [line.split()[0] for line in lines] == names
    assert max(map(len, lines)) <= columns
    assert all("GB " in line or "TB " in line for line in lines)


def test_pipe_gets_the_whole_lines(command: Command) -> None:
    """In a pipe nothing is cut."""
    _, out, _ = command("drives")
    lines = out.splitlines()[1:]
    for profile, line in zip(engine.profiles(), lines, strict=True):
        assert line.endswith(str(profile["summary"]))
