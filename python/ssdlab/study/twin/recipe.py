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
from ssdlab.study.twin.runs import Runs
from ssdlab.study.twin.targets import LATENCIES, Target, Targets
from ssdlab.study.twin.twin import Twin

Perform = Callable[[Sequence[str], Sequence[Task[Any]]], list[Any]]
"""Carries out tasks by their labels and returns what they gave; raises where it is stopped."""


def derive(targets: Targets, twin: Twin, runs: Runs, perform: Perform) -> None:
    """Go through the recipe.

    Raises
    ------
    OutOfReach
        A figure that is fitted to is met by no value of its number; the message says what would be.
    """

    def one(label: str, work: Callable[[Progress], None]) -> None:
        perform([label], [work])

    fresh.data_sheet(targets, twin)
    one("fresh rate", functools.partial(fresh.program_time, targets, twin, runs))
    settle = functools.partial(probe.settle, targets.latencies)
    one("latencies", functools.partial(settle, probe.LOW, twin, runs))
    work = moves.tasks(targets, twin, runs)
    tried = perform([label for label, _ in work], [each for _, each in work])
    moves.choose(targets, twin, tried)
    if targets.join is not None:
        one(targets.join.name, functools.partial(join.settle, targets.join, twin, runs))
    one("tail of reads", functools.partial(settle, probe.TAIL, twin, runs))


def predict(
    targets: Targets, asked: Sequence[Target], twin: Twin, runs: Runs, perform: Perform
) -> dict[str, float]:
    """Predict what was measured and not fitted to, and return MiB/s of patterns asked besides."""
    latencies = [each for each in targets.predicted if each.name in LATENCIES]
    measured = [each for each in targets.predicted if each.name not in LATENCIES]
    if latencies:
        perform(["latencies"], [functools.partial(probe.compared, latencies, twin, runs)])
    every = [*measured, *asked]
    settings = twin.settings()
    rates = perform(
        [each.name for each in every],
        [functools.partial(runs.pattern, each, settings) for each in every],
    )
    for each, rate in zip(measured, rates, strict=False):
        twin.compare(each, rate, "predicted")
    return {each.name: rate for each, rate in zip(asked, rates[len(measured) :], strict=True)}
