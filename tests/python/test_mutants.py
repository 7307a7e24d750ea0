"""Rows that hold turn red on drives and hosts made wrong."""

from __future__ import annotations

import os

import pytest

from mutants import MUTANTS, UNTURNED, Mutant, rows, turned
from ssdlab.referee.reproduce.judging import HOLDS, INSIDE

pytestmark = pytest.mark.end_to_end

_QUICK = ("compression", "start-over", "commit")
"""Questions that take a second or two: all mutants are a part of `make test-long`."""
_ASKED = [
    question
    for question in dict.fromkeys(each.question for each in MUTANTS)
    if question in _QUICK or os.environ.get("SSDLAB_MUTANTS") == "all"
]


@pytest.mark.parametrize(
    "mutant",
    [each for each in MUTANTS if each.question in _ASKED],
    ids=lambda each: f"{each.question}: {each.what}",
)
def test_a_wrong_drive_turns_rows_red(mutant: Mutant) -> None:
    """Each row is green on the drive as it is, and red on the wrong one."""
    red = turned(mutant)
    stay = [row for row in mutant.rows if not any(name.startswith(row) for name in red)]
    assert stay == [], f"red are {red}"


@pytest.mark.parametrize("question", _ASKED)
def test_every_green_row_can_turn(question: str) -> None:
    """A mutant turns it, or a reason says why none was found; no reason is left over."""
    turn = [row for each in MUTANTS if each.question == question for row in each.rows]
    reasons = UNTURNED.get(question, {})
    green = [name for name, row in rows(question).items() if row.verdict in (HOLDS, INSIDE)]
    named = (*turn, *reasons)
    assert [name for name in green if not name.startswith(named)] == []
    assert [row for row in named if not any(name.startswith(row) for name in green)] == []
