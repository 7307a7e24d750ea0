"""The recipe: each number of the profile from the figure that tells of it, step by step.

1. `fresh`: data sheet and pool by arithmetic, tPROG from the fill.
2. `probe`: tR and a write's times from latencies at low rates.
3. `moves`: victim policy and cost of a move, from steady uniform writes and one pattern.
4. `join`: how far back the write buffer joins, from a strongly skewed pattern.
5. `probe`: suspension, from the tail of reads.
6. All other figures are predicted.

A figure that was not measured leaves its number as the base has it. Left out: intervals, for a
recipe has one answer; `ssdlab fit` has them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ssdlab.engine import Progress
from ssdlab.experiment.parallel import Task
from ssdlab.study.twin import fresh, join, moves, probe
from ssdlab.study.twin.goals import LATENCIES, Goal, Goals
from ssdlab.study.twin.runs import SliceRuns
from ssdlab.study.twin.twin import Twin

CarryOut = Callable[[Sequence[str], Sequence[Task[Any]]], list[Any]]
"""Carries out tasks by their labels and returns what they gave; raises where it is stopped."""


def derive(goals: Goals, twin: Twin, runs: SliceRuns, carry_out: CarryOut) -> None:
    """Go through the recipe.

    Raises
    ------
    OutOfReach
        A figure that is fitted to is met by no value of its number; the message says what would be.
    """

    def one(label: str, work: Callable[[Progress], None]) -> None:
        carry_out([label], [work])

    fresh.data_sheet(goals, twin)
    one("fresh rate", functools.partial(fresh.program_time, goals, twin, runs))
    settle = functools.partial(probe.settle, goals.latencies)
    one("latencies", functools.partial(settle, probe.LOW, twin, runs))
    work = moves.tasks(goals, twin, runs)
    tried = carry_out([label for label, _ in work], [each for _, each in work])
    moves.choose(goals, twin, tried)
    if goals.join is not None:
        one(goals.join.name, functools.partial(join.settle, goals.join, twin, runs))
    one("tail of reads", functools.partial(settle, probe.TAIL, twin, runs))


def predict(
    goals: Goals, asked: Sequence[Goal], twin: Twin, runs: SliceRuns, carry_out: CarryOut
) -> dict[str, float]:
    """Predict what was measured and not fitted to, and return MiB/s of patterns asked besides."""
    latencies = [each for each in goals.predicted if each.name in LATENCIES]
    measured = [each for each in goals.predicted if each.name not in LATENCIES]
    if latencies:
        carry_out(["latencies"], [functools.partial(probe.compared, latencies, twin, runs)])
    every = [*measured, *asked]
    settings = twin.settings()
    rates = carry_out(
        [each.name for each in every],
        [functools.partial(runs.pattern, each, settings) for each in every],
    )
    for each, rate in zip(measured, rates, strict=False):
        twin.compare(each, rate, "predicted")
    return {each.name: rate for each, rate in zip(asked, rates[len(measured) :], strict=True)}
