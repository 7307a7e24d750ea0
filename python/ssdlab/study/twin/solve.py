"""Finds the value of a number at which a rate is the measured one.

The inverse of a rate, the time of a write, is nearly linear in a time of the flash: between two
ends a root of 1/rate(x) - 1/goal is found in three or four runs. Left out: numbers that come in
steps, of which the nearest is taken.
"""

from __future__ import annotations

from collections.abc import Callable

from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.twin.goals import Goal

WITHIN = 0.002
"""A number is found when its rate is met so closely, as a share."""
NEAR = 0.01
"""A goal counts as met by the end of its reach within this share."""
_LEFT = 0.6
"""Of what a progress bar has left, after each run of unknown many."""


class OutOfReach(SsdlabError):
    """No value of a number gives what was measured."""


def after(progress: Progress, runs: int) -> Progress:
    """Return the progress of a run behind so many of the same task."""
    begun, end = 1 - _LEFT**runs, 1 - _LEFT ** (runs + 1)
    return lambda phase, share: progress(phase, begun + (end - begun) * share)


def solved(
    goal: Goal, what: str, rate: Callable[[float], float], low: float, high: float
) -> tuple[float, float]:
    """Return the value between two ends, and the rate that it gives.

    Parameters
    ----------
    what
        The number's key, for messages.
    rate
        MiB/s at a value; it falls with it.

    Raises
    ------
    OutOfReach
        The goal lies above the rate at `low`, or below that at `high`.
    """
    from scipy.optimize import brentq

    rates: dict[float, float] = {}

    def error(value: float) -> float:
        rates[value] = rates.get(value) or rate(value)
        off = 1 / rates[value] - 1 / goal.value
        return 0.0 if abs(off * goal.value) < WITHIN else off

    at_ends = error(low), error(high)
    if at_ends[0] >= 0:
        check_reached(goal, what, rates[low], most=True)
        return low, rates[low]
    if at_ends[1] <= 0:
        check_reached(goal, what, rates[high], most=False)
        return high, rates[high]
    value = float(brentq(error, low, high, rtol=1e-4))
    return value, rates[value]


def check_reached(goal: Goal, what: str, reached: float, *, most: bool) -> None:
    """Refuse a goal that the end of its reach does not come near to.

    Raises
    ------
    OutOfReach
        It names what would be reached.
    """
    if abs(reached / goal.value - 1) > NEAR:
        bound = "most" if most else "least"
        raise OutOfReach(
            f"{goal.place}: {goal.label} {goal.value:g}: out of reach: whatever {what} is, "
            f"this base writes {reached:.4g} MiB/s at {bound}\n"
            "check the figure and its condition, or begin with a base of another make"
        )
