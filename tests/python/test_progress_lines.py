"""Progress without a terminal: a line a step on stderr, of what takes more than seconds."""

from __future__ import annotations

import sys

import pytest

from ssdlab.cli.progress_lines import ProgressLines
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_a_step() -> None:
    """Quiet for two seconds; then a step's line, not again in ten seconds, each end of a task."""
    clock, told = Clock(), list[str]()
    lines = ProgressLines(["steady", "fresh"], told.append, clock)
    lines.report(0, "fill", 0.1)
    assert told == []
    clock.now = 103
    lines.report(0, "fill", 0.2)
    lines.report(1, "write", 0.3)
    assert told == ["ssdlab: 3 s: steady: fill, 20% (0 of 2 done)"]
    clock.now = 113
    lines.report(0, "fill", 0.9)
    lines.report(1, "write", 0.5)
    assert told[1:] == ["ssdlab: 13 s: fresh: write, 50% (0 of 2 done)"]
    clock.now = 160
    lines.report(1, "write", 0.6)
    lines.finish(1)
    assert told[2:] == [
        "ssdlab: 1 min 0 s: fresh: write, 60% (0 of 2 done)",
        "ssdlab: 1 min 0 s: fresh: done (1 of 2 done)",
    ]


def test_what_is_quick_says_nothing() -> None:
    """Tasks that end in the first two seconds leave stderr empty."""
    told = list[str]()
    lines = ProgressLines(["only"], told.append, Clock())
    lines.report(0, "fill", 1.0)
    lines.finish(0)
    assert told == []


def test_lines_go_to_stderr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any verb's work; stdout has the result alone, and SSDLAB_PROGRESS=none is silence."""
    monkeypatch.setattr("ssdlab.cli.progress_lines._QUIET_S", 0.0)

    def task(progress: Progress) -> int:
        progress("fill", 0.5)
        return 1

    carry_out(["steady"], [task])
    assert capsys.readouterr() == ("", "")
    monkeypatch.delenv("SSDLAB_PROGRESS")
    carry_out(["steady"], [task])
    sys.stderr.flush()
    out, err = capsys.readouterr()
    assert out == "" and "ssdlab: 0 s: steady: fill, 50%" in err and "steady: done" in err
