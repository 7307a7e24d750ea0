"""The replay as tables in Markdown: what was predicted, and apart from it what was fitted."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.referee.measured.judge import NEEDED, JudgedFigure, counted, share_within


def document(
    rates: Sequence[JudgedFigure], dips: Sequence[JudgedFigure], latencies: Sequence[JudgedFigure]
) -> str:
    """Return all tables, predicted before fitted."""
    every = [*rates, *dips, *latencies]
    fitted = [each for each in every if each.fitted]
    parts = [
        "Predicted: rates, MiB/s",
        _table(counted(rates)),
        _shares(rates),
        "Predicted: the transient behind the knee, MiB/s",
        _table(counted(dips)),
        "Predicted: latency, µs",
        _table(counted(latencies)),
        "Fitted, not counted",
        _table(fitted),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(judged: Sequence[JudgedFigure]) -> str:
    if not judged:
        return "(none)"
    heading = "| drive | what | measured | model | difference |\n|---|---|---|---|---|"
    return "\n".join([heading, *(_line(each) for each in judged)])


def _line(each: JudgedFigure) -> str:
    measured = f"{each.measured:.4g}"
    if each.band is not None:
        measured += f" (drifts: {each.band[0]:.4g} to {each.band[1]:.4g})"
    cells = (each.drive, each.what, measured, f"{each.model:.4g}", f"{each.difference:+.1%}")
    return f"| {' | '.join(cells)} |"


def _shares(rates: Sequence[JudgedFigure]) -> str:
    rows = len(counted(rates))
    return "; ".join(
        f"within {limit:.0%}: {share_within(rates, limit):.0%} of {rows} rows ({needed:.0%} needed)"
        for limit, needed in NEEDED
    )
