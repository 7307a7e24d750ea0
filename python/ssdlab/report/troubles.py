"""What a page says before anything else: jobs that failed, and what was not understood."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.engine.result import Result


def troubles_of(results: Sequence[Result]) -> list[str]:
    """Return sentences about results, each with the result's name: the worst first."""
    failures = [f"{each.name}: {failure}" for each in results for failure in each.failures]
    said = [f"{each.name}: fio said: {line}" for each in results for line in each.said]
    unread = [
        f"not judged: {each.name}: {unread.told()}" for each in results for unread in each.unread
    ]
    return [*failures, *said, *unread]
