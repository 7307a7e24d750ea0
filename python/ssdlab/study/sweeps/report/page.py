"""The page of a sweep: rows in, one self-contained HTML document out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.ground import pages
from ssdlab.study.sweeps.report import charts
from ssdlab.study.sweeps.report.command import packed, words
from ssdlab.study.sweeps.report.reading import FIGURES, Sweep, read

_MOST_ROWS = 20_000
_MOST_DRAWN = 4
"""Figures with charts of their own; the script draws any."""


def build_html(folder: str | Path, title: str | None = None) -> str:
    """Return the page as text.

    Parameters
    ----------
    folder
        The sweep's.
    title
        The heading; by default the study's name.

    Raises
    ------
    SsdlabError
        Nothing has ended in the folder yet.
    """
    sweep = read(folder)
    step = -(-len(sweep.rows) // _MOST_ROWS)
    shown = sweep.rows[::step]
    return pages.render(
        "ssdlab.study.sweeps.report",
        css=pages.embedded("ssdlab.report", "page.css"),
        own_css=pages.embedded("ssdlab.study.sweeps.report", "page.css"),
        script=pages.embedded("ssdlab.study.sweeps.report", "page.js"),
        hover=pages.embedded("ssdlab.report", "hover.js"),
        title=title or f"Sweep {Path(sweep.study.name).stem}",
        sweep=sweep,
        shown=len(shown),
        charts=_charts(sweep),
        data=pages.embedded_json(_data(sweep, shown)),
    )


def _charts(sweep: Sweep) -> list[tuple[str, str, str]]:
    found = [
        (figure, charts.main_effects(sweep, figure), charts.small_multiples(sweep, figure))
        for figure in sweep.figures[:_MOST_DRAWN]
    ]
    return [each for each in found if each[1]]


def _data(sweep: Sweep, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the script draws: columns, figures rounded to what can be seen."""
    dictionary, commands = packed(words(sweep.request(row)) for row in rows)
    return {
        "factors": list(sweep.factors),
        "figures": [[figure, FIGURES[figure]] for figure in sweep.figures],
        "columns": {
            **{key: [row[key] for row in rows] for key in sweep.factors},
            **{key: [_rounded(row[key]) for row in rows] for key in sweep.figures},
            "seed": [row["seed"] for row in rows],
        },
        "words": dictionary,
        "commands": commands,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")
