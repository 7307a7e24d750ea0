"""A plan with shorter cells, to try things out: its first deviation says so."""

from __future__ import annotations

from dataclasses import replace

from ssdlab.pts.plan import Deviation, Part, Plan, Test

BOOK_S = 60.0
"""What a cell lasts by the book."""


def with_cells_of(plan: Plan, seconds: float) -> Plan:
    """Return a plan of which each cell lasts so many seconds, and steps afterwards in proportion.

    Examples
    --------
    >>> from ssdlab.pts import book
    >>> made = with_cells_of(book.plan(["lat"], 1, 1, 1, False, 512), 2.0)
    >>> made.tests[0].parts[0].cells[0].seconds, len(made.deviations)
    (2.0, 1)
    """
    if seconds == BOOK_S:
        return plan
    short = Deviation(
        "each cell lasts one minute (PTS-E 1.1, 7.2)",
        f"SHORTENED: {seconds:g} s, so figures may differ from those of the full test",
    )
    tests = tuple(_shorter(test, seconds) for test in plan.tests)
    return replace(plan, tests=tests, deviations=(short, *plan.deviations))


def _shorter(test: Test, seconds: float) -> Test:
    return replace(test, parts=tuple(shorter_part(part, seconds) for part in test.parts))


def shorter_part(part: Part, seconds: float) -> Part:
    """Return a part of which each cell lasts so many seconds."""
    share = seconds / BOOK_S
    afterwards = tuple(
        replace(each, cell=replace(each.cell, seconds=each.cell.seconds * share))
        for each in part.afterwards
    )
    cells = tuple(replace(cell, seconds=seconds) for cell in part.cells)
    return replace(part, cells=cells, afterwards=afterwards)
