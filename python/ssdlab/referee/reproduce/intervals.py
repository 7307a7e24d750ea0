"""What an ensemble of drives says of each row: a ratio with its interval, how often a shape holds.

A ratio was measured, too: with a clock of whole seconds, say, and three runs of one command differ
by 1 to 11 % in the documents. And a model misses, whatever its numbers are. So each draw stands
for its figure times a normal factor, whose standard deviation has three parts, as squares:

    the document's last digits,   3 % of measuring (a judgement),   the model's own error

The last is what the model missed on drives that were measured by others than the documents
(`ssdlab.experiment.ensemble.model_error`): other patterns on the same drive, and so ratios, as most
rows are. The interval of a level are the quantiles of that mixture.
Left out: that a mechanism that is missing makes errors which are not normal, nor alike in all rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ssdlab.experiment.ensemble.model_error import MODEL_ERROR, quantiles
from ssdlab.referee.reproduce.judging import HOLDS, SHOWN, JudgedRow

LEVEL = 0.9
"""The interval that is shown."""
MEASURED_WITHIN = 0.03
_KEPT = "data/reproduce_intervals.json"

RowFigure = float | bool
"""Our ratio in a row, or whether its statement holds."""

DrawnRows = dict[str, dict[str, RowFigure]]
"""Figures of one draw, by question and condition."""


@dataclass(frozen=True)
class Spread:
    """What the draws say of one row.

    Attributes
    ----------
    figures
        One a draw.
    """

    figures: tuple[RowFigure, ...]

    @property
    def is_ratio(self) -> bool:
        """Whether it is a ratio, not a statement."""
        return not isinstance(self.figures[0], bool)

    @property
    def holding(self) -> int:
        """Return in how many draws a statement holds."""
        return sum(bool(each) for each in self.figures)

    def interval(self, rounding: float = 0.0, level: float = LEVEL) -> tuple[float, float]:
        """Return both ends of the interval that holds so much.

        Parameters
        ----------
        rounding
            Relative standard deviation that the digits of the document's figures leave.
        """
        figures = [float(figure) for figure in self.figures]
        scatter = math.hypot(MEASURED_WITHIN, rounding, MODEL_ERROR)
        low, high = quantiles(figures, [scatter] * len(figures), [(1 - level) / 2, (1 + level) / 2])
        return low, high

    def contains(self, row: JudgedRow, level: float = LEVEL) -> bool:
        """Tell whether a document's ratio lies in the interval."""
        assert row.their_ratio is not None, "a statement has no interval"
        low, high = self.interval(row.their_rounding, level)
        return low <= row.their_ratio <= high

    def to_dict(self, row: JudgedRow) -> dict[str, Any]:
        """Return what it says of its row as plain data."""
        found: dict[str, Any] = {"draws": len(self.figures)}
        if not self.is_ratio or row.their_ratio is None:
            return {**found, "holding": self.holding}
        low, high = self.interval(row.their_rounding)
        return {**found, "low": low, "high": high, "inside": self.contains(row)}


Spreads = Mapping[tuple[str, str], Spread]
"""By question and condition."""


def figures(rows: Sequence[JudgedRow]) -> dict[str, RowFigure]:
    """Return what one draw says of the rows of a question."""
    found: dict[str, RowFigure] = {}
    for row in rows:
        if row.our_ratio is not None:
            found[row.condition] = float(f"{row.our_ratio:.5g}")
        elif row.verdict != SHOWN:
            found[row.condition] = row.verdict == HOLDS
    return found


def spreads(draws: Sequence[DrawnRows]) -> dict[tuple[str, str], Spread]:
    """Gather draws; a question that a draw could not answer is left out of that draw."""
    found: dict[tuple[str, str], list[RowFigure]] = {}
    for drawn in draws:
        for question, of_rows in drawn.items():
            for condition, figure in of_rows.items():
                found.setdefault((question, condition), []).append(figure)
    return {key: Spread(tuple(each)) for key, each in found.items()}


def written(draws: Sequence[DrawnRows], command: str, version: str, seed: int) -> str:
    """Return all draws as JSON, a line a row: what is kept, and shown without running them again.

    A row has a figure of each draw that could answer its question, in their order.
    """
    said = {"command": command, "version": version, "seed": seed, "draws": len(draws)}
    rows = [
        json.dumps([*key, spread.figures], ensure_ascii=False)
        for key, spread in spreads(draws).items()
    ]
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in said.items())
    return "{" + head + '"rows": [\n' + ",\n".join(rows) + "\n]}\n"


@dataclass(frozen=True)
class KeptDraws:
    """Draws that were run before.

    Attributes
    ----------
    command
        What ran them.
    draws
        How many.
    spreads
        What they say.
    """

    command: str
    draws: int
    spreads: Spreads


def of_data(data: Mapping[str, Any]) -> KeptDraws:
    """Read what was `written`."""
    rows = {(question, row): Spread(tuple(figures)) for question, row, figures in data["rows"]}
    return KeptDraws(data["command"], data["draws"], rows)


def kept() -> KeptDraws:
    """Return the draws that come with the program."""
    text = resources.files("ssdlab").joinpath(_KEPT).read_text("utf-8")
    return of_data(json.loads(text))
