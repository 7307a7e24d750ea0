"""What `ssdlab fit --plan` and `compare` of PTS results print is readable at 80 columns."""

from __future__ import annotations

import pytest

from ssdlab.cli.compare import _print_conditions
from ssdlab.cli.fit_plan import print_plan
from ssdlab.study.fitting.plan import CANDIDATES, Ranked

_OF = {"ftl.parity_stripe_pages": 0.68, "nand.pages_per_block": 0.38, "buffer.bytes": 0.21}


def test_a_plan_is_readable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every candidate is told with its figures and unknowns, in lines of at most 80 signs."""
    monkeypatch.setenv("COLUMNS", "80")
    print_plan([Ranked(each, 0.08, _OF) for each in CANDIDATES])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("8 %  rw=") == len(CANDIDATES)
    assert " ".join(out.split()).count("tells of ftl.parity_stripe_pages 68%") == len(CANDIDATES)
    for each in CANDIDATES:
        assert ", ".join(each.metrics) in " ".join(out.split())


def test_long_conditions_are_readable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions of hundreds of signs stand below each other; short ones in a table."""
    monkeypatch.setenv("COLUMNS", "80")
    words = "write cache on, queue scheduler none, " * 10
    _print_conditions(("1", "2"), [("surroundings", words, ""), ("firmware", "A", "B")])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert " ".join(words.split()) in " ".join(out.split())
    assert "  2  –\n" in out
    _print_conditions(("one", "two"), [("firmware", "A", "B")])
    assert capsys.readouterr().out.splitlines()[1].split() == ["firmware", "A", "B"]
