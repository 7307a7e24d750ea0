"""``ssdlab fit --plan``: which measurement would tell most of a drive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.cli.console import note, print_filled, print_text
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress

if TYPE_CHECKING:
    from ssdlab.experiment.ensemble.runs import RunOrReason
    from ssdlab.study.fitting.measurement import Measurement
    from ssdlab.study.fitting.plan import Ranked
    from ssdlab.study.fitting.unknowns import Space


def perform(
    names: Sequence[str], tasks: Sequence[Callable[[Progress], RunOrReason]]
) -> list[RunOrReason | None]:
    """Run the drives of a wave, with progress."""
    return carry_out(names, tasks)[0]


def ranked_plan(
    space: Space, measured: Sequence[Measurement], draws: int, seed: int
) -> list[Ranked]:
    """Rank the candidates, the most informative first.

    Parameters
    ----------
    space
        Of the unknowns.
    measured
        What was measured already.
    draws
        Drives that are run.
    seed
        The one source of chance.
    """
    from ssdlab.study.fitting.measurement import loads
    from ssdlab.study.fitting.plan import CANDIDATES, rank
    from ssdlab.study.fitting.waves import emulators_of, run_wave

    wanted = [each for candidate in CANDIDATES for each in candidate.measurements()]
    asked = [*measured, *wanted]
    places = space.sobol(draws, seed)
    figures = run_wave(space, places, asked, "plan", seed, perform)
    fitted = emulators_of(space, places, figures)
    known = list(zip(measured, fitted, strict=False))
    rest = iter(fitted[len(measured) :])
    candidates = [(each, [next(rest) for _ in each.metrics]) for each in CANDIDATES]
    ranked = rank(space, candidates, known, seed)
    note(
        f"ssdlab: explained is of the spread of {len(space.unknowns)} numbers that "
        f"{len(measured)} measurements leave; {len(loads(asked)) * draws} runs"
    )
    return list(ranked)


def as_data(ranked: Ranked) -> dict[str, Any]:
    """Return a candidate for programs."""
    load = ranked.candidate.load
    return {
        "job": list(load.flags),
        "condition": load.condition or "fresh",
        "span": load.span,
        "metrics": list(ranked.candidate.metrics),
        "explained": ranked.explained,
        "of": ranked.of,
    }


def print_plan(ranked: Sequence[Ranked]) -> None:
    """Write two entries a measurement, which stay readable on a terminal of 80 columns."""
    print_text("explains  measurement, condition: figures")
    for each in ranked:
        share = f"{each.explained:.0%}".replace("%", " %")
        job = " ".join(flag.removeprefix("--") for flag in each.candidate.load.flags)
        figures = ", ".join(each.candidate.metrics)
        print_filled(f"{job}, {_condition(each)}: {figures}", f"{share:>8}  ")
        told = ", ".join(f"{name} {part:.0%}" for name, part in each.tells_of().items())
        if told:
            print_filled(f"tells of {told}", " " * 10)


def _condition(ranked: Ranked) -> str:
    load = ranked.candidate.load
    span = "" if load.span == 1 else f", span {load.span:.0%}"
    return (load.condition or "fresh") + span
