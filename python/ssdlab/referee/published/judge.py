"""Judges what was run: the geometric mean of predicted to published, and the table.

    mean = exp(mean of ln(predicted / published))    over the figures that count

Rates lie over decades, so a factor of two too fast weighs as much as a factor of two too slow.
Left out: single drives, of which nothing is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from ssdlab.ground import text
from ssdlab.referee.published.rows import BURST, COUNTED, FOUND, MEMORY, UNSURE, PublishedRate

LOW, HIGH = 0.85, 1.15
"""Where the mean has to lie."""
_KINDS = {FOUND: "found", MEMORY: "from memory"}


@dataclass(frozen=True)
class JudgedRate:
    """A figure beside what the model predicts.

    Attributes
    ----------
    row
        What is published.
    iops
        What the model writes a second; None where it was not run.
    write_amplification
        Of the same run.
    """

    row: PublishedRate
    iops: float | None
    write_amplification: float | None

    @property
    def ratio(self) -> float | None:
        """Predicted / published."""
        return None if self.iops is None else self.iops / self.row.iops


def mean(judged: Sequence[JudgedRate], uses: Sequence[str] = (COUNTED,)) -> float | None:
    """Return the geometric mean of those that count, or are of these uses; None where none is.

    Examples
    --------
    >>> row = PublishedRate("d", 100.0, "4k", 32, "", "found", "counted", "", "")
    >>> round(mean([JudgedRate(row, 200.0, 2.0), JudgedRate(row, 50.0, 5.0)]), 9)
    1.0
    """
    ratios = [each.ratio for each in judged if each.row.use in uses and each.ratio is not None]
    return geometric_mean(ratios) if ratios else None


def document(judged: Sequence[JudgedRate]) -> str:
    """Return the table in Markdown and the means below it."""
    headings = ("drive", "predicted", "published", "ratio", "WA", "source", "counted")
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(_cells(each))} |" for each in judged]
    found = [each for each in judged if each.row.kind == FOUND]
    lines += ["", _mean_of("all that count", judged), _mean_of("found that count", found)]
    if any(each.row.use == UNSURE for each in judged):
        lines.append(_mean_of("with those that are unsure", judged, (COUNTED, UNSURE)))
    return "\n".join(lines) + "\n"


def _cells(each: JudgedRate) -> tuple[str, ...]:
    row = each.row
    whole_or_part = f", of {row.span.removesuffix('g')} GB" if row.span else ""
    return (
        row.drive,
        "" if each.iops is None else text.count(each.iops),
        text.count(row.iops) + whole_or_part,
        "" if each.ratio is None else f"{each.ratio:.2f}",
        text.ratio(each.write_amplification),
        f"{_KINDS[row.kind]}: {row.source}",
        "yes" if row.counts else f"{row.use}: {row.why}".removesuffix(": "),
    )


def _mean_of(which: str, judged: Sequence[JudgedRate], uses: Sequence[str] = (COUNTED,)) -> str:
    number = sum(each.row.use in uses and each.iops is not None for each in judged)
    value = mean(judged, uses)
    said = "none" if value is None else f"{value:.3f}"
    return f"geometric mean of predicted to published, {which} ({number}): {said}"


def failures(judged: Sequence[JudgedRate]) -> list[str]:
    """Say what is not met; empty where the mean lies where it has to."""
    value = mean(judged)
    if value is None:
        return ["no figure counts"]
    if LOW <= value <= HIGH:
        return []
    return [f"the mean of {value:.3f} lies outside {LOW} to {HIGH}"]


def is_run(row: PublishedRate) -> bool:
    """Tell whether a steady drive can be held against a figure; not against that of a cache."""
    return row.use != BURST
