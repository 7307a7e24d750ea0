"""Bytes by the drive's own log, before and after each step: write amplification measured.

    write amplification = bytes programmed / bytes that the host wrote

Where a drive's log does not count what is programmed, or only the kernel counts, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.bench.report.reading import PartRead
from ssdlab.ground import text

MOST_ROWS = 30
"""Rows of a table of steps; of more rounds, as many at equal distances are shown."""
HEADINGS = ("step", "host, by the record", "host, by the log", "flash, by the log", "WA")


@dataclass(frozen=True)
class WrittenByStep:
    """A step: bytes by the record of what was asked, and by the log, where there is one."""

    step: str
    asked_bytes: int
    host_bytes: int | None
    nand_bytes: int | None

    @property
    def factor(self) -> float | None:
        """The write amplification."""
        known = self.host_bytes and self.nand_bytes is not None
        return self.nand_bytes / self.host_bytes if known else None  # type: ignore[operator]


def steps_of(part: PartRead) -> list[WrittenByStep]:
    """Return preconditioning, where there is one, and every round."""
    beginning = part.beginning
    if beginning is None or any(each["written_bytes"] is None for each in part.rounds):
        return []
    found, before = [], beginning["counters_after"]
    if beginning["conditioning"] is not None:
        asked = beginning["conditioning"]["write"]["total_bytes"]
        found.append(_step("preconditioning", asked, beginning["counters_before"], before))
    sum_before = 0
    for each in part.rounds:
        after, total = each["cells"][-1]["counters"], each["written_bytes"]
        found.append(_step(f"round {each['round']}", total - sum_before, before, after))
        before, sum_before = after, total
    return found


def factors_of(part: PartRead) -> list[float | None]:
    """Return the write amplification of every round."""
    return [each.factor for each in steps_of(part) if each.step.startswith("round ")]


def _step(
    name: str, asked: int, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> WrittenByStep:
    if before is None or after is None:
        return WrittenByStep(name, asked, None, None)
    programmed = [log["nand_bytes_written"] for log in (before, after)]
    return WrittenByStep(
        name,
        asked,
        after["host_bytes_written"] - before["host_bytes_written"],
        None if None in programmed else programmed[1] - programmed[0],
    )


def rows_of(steps: Sequence[WrittenByStep]) -> list[tuple[str, ...]]:
    """Return the rows of a table, at most `MOST_ROWS` of them."""
    last = len(steps) - 1
    most = min(MOST_ROWS, len(steps))
    places = sorted({round(number * last / max(1, most - 1)) for number in range(most)})
    return [
        (
            steps[place].step,
            text.size(steps[place].asked_bytes),
            text.size(steps[place].host_bytes),
            text.size(steps[place].nand_bytes),
            text.ratio(steps[place].factor),
        )
        for place in places
    ]
