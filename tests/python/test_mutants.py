"""Rows that hold turn red on drives and hosts made wrong."""

from __future__ import annotations

import os

import pytest

from mutants import MUTANTS, Mutant, turned

_QUICK = ("compression", "start-over", "commit")
"""Questions that take a second or two: all mutants are a part of `make test-long`."""
_ALL = os.environ.get("SSDLAB_MUTANTS") == "all"


@pytest.mark.parametrize(
    "mutant",
    [each for each in MUTANTS if _ALL or each.question in _QUICK],
    ids=lambda each: f"{each.question}: {each.what}",
)
def test_a_wrong_drive_turns_a_row_red(mutant: Mutant) -> None:
    """The row is green on the drive as it is, and red on the wrong one."""
    assert any(name.startswith(mutant.row) for name in turned(mutant)), turned(mutant)
