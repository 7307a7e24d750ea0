"""The three words in which ``ssdlab health`` and ``ssdlab audit`` answer, and how they are counted.

A check *looks right* or *looks wrong* only if it was carried out; any other is *not looked at*, and
says why. A summary always counts all three, so that nobody takes silence for an all-clear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """What one check found; the value is what people read."""

    RIGHT = "looks right"
    WRONG = "looks wrong"
    NOT_LOOKED_AT = "not looked at"

    def __str__(self) -> str:
        """Give the words that people read."""
        return self.value

    @property
    def key(self) -> str:
        """Give one word for JSON keys and labels, such as ``not_looked_at``."""
        return self.name.lower()


def not_looked_at(because: str) -> str:
    """Say why a check was not carried out: ``not looked at, because …``."""
    return f"{Verdict.NOT_LOOKED_AT}, because {because}"


def count(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """Count verdicts; all three are in the answer, also those that never occurred."""
    counted = Counter(verdicts)
    return {verdict: counted[verdict] for verdict in Verdict}


def summary(verdicts: Iterable[Verdict]) -> str:
    """Phrase the count: ``12 look right, 1 looks wrong, 3 not looked at``."""
    return ", ".join(_phrase(verdict, number) for verdict, number in count(verdicts).items())


def _phrase(verdict: Verdict, number: int) -> str:
    words = str(verdict) if number == 1 else str(verdict).replace("looks", "look")
    return f"{number} {words}"
