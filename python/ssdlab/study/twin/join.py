"""How far back the write buffer joins, from a strongly skewed pattern.

The further, the more rewrites of hot units are never programmed, and the higher the rate: of
reaches that double, halving finds the one whose rate is nearest. Left out: its dependence on the
buffer's size, which stays the base's.
"""

from __future__ import annotations

from ssdlab.engine import Progress
from ssdlab.study.twin.goals import Goal
from ssdlab.study.twin.runs import SliceRuns
from ssdlab.study.twin.solve import after, check_reached
from ssdlab.study.twin.twin import Twin

REACHES = ("0", *(f"{1 << power} KiB" for power in range(6, 14)), "64 GiB")
"""None; 64 KiB to 8 MiB; all that waits."""
_JOIN = "buffer.join_bytes"


def settle(goal: Goal, twin: Twin, runs: SliceRuns, progress: Progress) -> None:
    """Fit the reach.

    Raises
    ------
    OutOfReach
        The drive writes faster than with all joined, or slower than with none.
    """
    rates: dict[int, float] = {}

    def rate(place: int) -> float:
        if place not in rates:
            settings = twin.settings(buffer__join_bytes=REACHES[place])
            rates[place] = runs.pattern(goal, settings, after(progress, len(rates)))
        return rates[place]

    low, high = 0, len(REACHES) - 1
    if rate(low) >= goal.value:
        check_reached(goal, _JOIN, rate(low), most=False)
        high = low
    elif rate(high) <= goal.value:
        check_reached(goal, _JOIN, rate(high), most=True)
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rate(middle) < goal.value else (low, middle)
    place = min((low, high), key=lambda each: abs(rate(each) - goal.value))
    twin.fit(_JOIN, REACHES[place], goal.source)
    twin.compare(goal, rate(place), "fitted")
