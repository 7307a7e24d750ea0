"""Notation: what people type, and what they are shown."""

from __future__ import annotations

import pytest

from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999.96, "1000"), (13308, "13,308"), (133081, "133,081"), (75.26, "75.26")],
)
def test_counts(number: float, shown: str) -> None:
    """Counts have four significant digits or their units."""
    assert text.count(number) == shown


@pytest.mark.parametrize(
    ("given", "nanoseconds"),
    [("10ms", 10_000_000), ("1.5us", 1500), ("2 s", 2_000_000_000), ("7ns", 7)],
)
def test_times(given: str, nanoseconds: int) -> None:
    """A time is a number with its unit."""
    assert text.parse_time(given, "--timeline") == nanoseconds


@pytest.mark.parametrize("given", ["10", "ms", "-1ms", "1h", ""])
def test_times_without_a_unit(given: str) -> None:
    """A bare number is refused: it might be anything."""
    with pytest.raises(SsdlabError, match="is not a time"):
        text.parse_time(given, "--timeline")


def test_timeline_needs_a_length() -> None:
    """A stretch of no length would record nothing."""
    with pytest.raises(SsdlabError, match="length is 0"):
        text.parse_timeline("1ms,0ms")
    with pytest.raises(SsdlabError, match="expected START,LENGTH"):
        text.parse_timeline("1ms")


def test_seeds() -> None:
    """Seeds are listed or given as a range, each once."""
    assert text.parse_seeds("7") == [7]
    assert text.parse_seeds("1-3,9") == [1, 2, 3, 9]
    for wrong in ("", "3-1", "a", "1-", "-1"):
        with pytest.raises(SsdlabError, match="expected seeds"):
            text.parse_seeds(wrong)
    with pytest.raises(SsdlabError, match="given twice"):
        text.parse_seeds("1-3,2")
