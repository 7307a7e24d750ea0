"""Victim policy and cost of a move, from steady uniform writes and one pattern.

Under each policy uniform writes are given their rate, by what a moved unit costs besides reading
and programming; where moves are quicker than the read's time allows, by a shorter tR, with the rest
of the read in the controller, which moves do not pass. Then the policy is taken that writes the
choosing pattern nearest to what was measured, the simplest where it does not tell them apart.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters
from ssdlab.experiment.parallel import Task
from ssdlab.study.twin.goals import Goal, Goals
from ssdlab.study.twin.runs import SliceRuns
from ssdlab.study.twin.solve import NEAR, OutOfReach, after, check_reached, solved
from ssdlab.study.twin.twin import Twin, written

POLICIES = ("greedy", "cost-benefit", "d-choices:4")
"""Those that are tried, the simplest first."""
_MOST_MOVE_US = 400.0
_LEAST_OF_THE_READ = 0.2
"""tR is no less than this share of a read's time without controller and link."""


@dataclass(frozen=True)
class Tried:
    """A policy: what is set for it, and the rates of both goals."""

    policy: str
    settings: Settings
    uniform: float
    pattern: float | None


def tasks(goals: Goals, twin: Twin, runs: SliceRuns) -> list[tuple[str, Task[Tried | OutOfReach]]]:
    """Return the work of each policy; of the base's alone where nothing chooses."""
    base = parameters(engine.show(twin.base))["ftl.gc"]
    tried = POLICIES if goals.policy is not None else (str(base),)
    return [(f"moves, {each}", functools.partial(_try, goals, twin, runs, each)) for each in tried]


def choose(goals: Goals, twin: Twin, tried: list[Tried | OutOfReach]) -> None:
    """Take a policy and its cost of a move.

    Raises
    ------
    OutOfReach
        Uniform writes do not have their rate under any.
    """
    reached = [each for each in tried if isinstance(each, Tried)]
    if not reached:
        raise next(each for each in tried if isinstance(each, OutOfReach))
    goal = goals.policy
    chosen = reached[0] if goal is None else _nearest(goal, reached)
    if goal is not None:
        rates = {each.policy: each.pattern for each in reached}
        twin.evidence = {policy: rates.get(policy) for policy in POLICIES}
        told = ", ".join(_told(policy, rate) for policy, rate in twin.evidence.items())
        twin.fit("ftl.gc", chosen.policy, f"{goal.source}: {told}")
    for key, value in chosen.settings:
        what = "what a moved unit costs besides reading and programming"
        twin.fit(key, value, f"{goals.uniform.source}: {what}")
    twin.compare(goals.uniform, chosen.uniform, "fitted")
    if goal is not None and chosen.pattern is not None:
        twin.compare(goal, chosen.pattern, "chose")


def _nearest(goal: Goal, reached: list[Tried]) -> Tried:
    off = {each.policy: abs((each.pattern or 0.0) / goal.value - 1) for each in reached}
    least = min(off.values())
    return next(each for each in reached if off[each.policy] <= least + NEAR)


def _told(policy: str, rate: float | None) -> str:
    found = "uniform writes out of reach" if rate is None else f"{rate:.4g} MiB/s"
    return f"{policy} {found}"


def _try(
    goals: Goals, twin: Twin, runs: SliceRuns, policy: str, progress: Progress
) -> Tried | OutOfReach:
    try:
        settings, uniform = _moves(goals.uniform, twin, runs, policy, progress)
    except OutOfReach as error:
        return error
    pattern = None
    if goals.policy is not None:
        set_here = tuple(dict((*twin.settings(ftl__gc=policy), *settings)).items())
        pattern = runs.pattern(goals.policy, set_here, after(progress, 6))
    return Tried(policy, settings, uniform, pattern)


def _moves(
    goal: Goal, twin: Twin, runs: SliceRuns, policy: str, progress: Progress
) -> tuple[Settings, float]:
    """Return what gives uniform writes their rate under a policy, and the rate."""
    done = 0

    def rate(**more: float) -> float:
        nonlocal done
        done += 1
        return runs.steady(twin.settings(ftl__gc=policy, **more), after(progress, done - 1))

    free = rate(ftl__move_unit_us=0)
    if free >= goal.value:
        micro, reached = solved(
            goal,
            "ftl.move_unit_us",
            lambda value: rate(ftl__move_unit_us=value),
            0.0,
            _MOST_MOVE_US,
        )
        return (("ftl.move_unit_us", written(micro)),), reached
    values = parameters(engine.show(twin.base, twin.settings()))
    whole = float(values["nand.read_us"])
    before = float(values["controller.read_latency_us"])
    least = whole * _LEAST_OF_THE_READ
    micro, reached = solved(
        goal,
        "the time of a move",
        lambda value: rate(ftl__move_unit_us=0, nand__read_us=value),
        least,
        whole,
    )
    check_reached(goal, "the time of a move", reached, most=True)
    return (
        ("ftl.move_unit_us", "0"),
        ("nand.read_us", written(micro)),
        ("controller.read_latency_us", written(before + whole - micro)),
    ), reached
