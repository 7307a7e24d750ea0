"""The three verdicts: how they are counted and put into words."""

from __future__ import annotations

import pytest

from ssdlab.machine.verdict import Verdict, count, not_looked_at, summary

RIGHT, WRONG, UNSEEN = Verdict.RIGHT, Verdict.WRONG, Verdict.NOT_LOOKED_AT


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([], "0 look right, 0 look wrong, 0 not looked at"),
        ([RIGHT], "1 looks right, 0 look wrong, 0 not looked at"),
        ([UNSEEN, WRONG], "0 look right, 1 looks wrong, 1 not looked at"),
        (
            [RIGHT] * 12 + [WRONG] * 2 + [UNSEEN] * 3,
            "12 look right, 2 look wrong, 3 not looked at",
        ),
    ],
)
def test_the_summary_counts_all_three(verdicts: list[Verdict], words: str) -> None:
    """None of the three is left out, were it 0, and one of a kind is singular."""
    assert summary(verdicts) == words


def test_counts_hold_every_verdict() -> None:
    """The count has an entry for each verdict, under a key that JSON and labels can use."""
    counts = count([WRONG, WRONG])
    assert {verdict.key: number for verdict, number in counts.items()} == {
        "right": 0,
        "wrong": 2,
        "not_looked_at": 0,
    }


def test_what_was_not_looked_at_says_why() -> None:
    """The reason belongs to the words."""
    assert not_looked_at("it sleeps") == "not looked at, because it sleeps"
