"""What a power cut took, in words: of a served drive, and of a log that was played again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab.cli.console import print_table, print_text
from ssdlab.ground import text

_MOST_ROWS = 20


def cut_in_words(told: Mapping[str, Any]) -> str:
    """Return a sentence on a cut."""
    lost, dropped = told.get("lost", []), told.get("dropped", [])
    acknowledged = sum(bool(each.get("was_acknowledged")) for each in lost)
    return (
        f"power cut at {text.duration(told.get('at_ns'))} of its clock, seed {told.get('seed')}: "
        f"{_many(len(lost), 'sector')} lost, {acknowledged:,} acknowledged; "
        f"{_many(len(dropped), 'request')} dropped"
    )


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def print_lost(cut: Mapping[str, Any]) -> None:
    """Print the sectors that were lost and the requests that were dropped, if there are any."""
    sectors, dropped = cut.get("lost", []), cut.get("dropped", [])
    if sectors:
        rows = [
            (
                str(each.get("offset", text.NOTHING)),
                str(each.get("write", text.NOTHING)),
                "yes" if each.get("was_acknowledged") else "no",
                str(each.get("what", text.NOTHING)),
                "the drive broke its word" if each.get("breaks_promise") else "nobody promised it",
            )
            for each in sectors[:_MOST_ROWS]
        ]
        print_text("")
        print_table(
            ("lost at byte", "by write", "acknowledged", "what", "whose fault"), rows, right=(0, 1)
        )
        _print_more(len(sectors))
    if dropped:
        requests = [
            (
                str(each.get("operation", text.NOTHING)),
                str(each.get("offset", text.NOTHING)),
                str(each.get("length", text.NOTHING)),
            )
            for each in dropped[:_MOST_ROWS]
        ]
        print_text("")
        print_table(("dropped", "at byte", "bytes"), requests, right=(1, 2))
        _print_more(len(dropped))


def _print_more(number: int) -> None:
    if number > _MOST_ROWS:
        print_text(f"and {number - _MOST_ROWS:,} more: --json has all")
