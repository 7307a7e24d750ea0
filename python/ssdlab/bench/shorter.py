"""A plan with shorter cells or fewer rounds, to try things out: a deviation says so."""

from __future__ import annotations

from dataclasses import replace

from ssdlab.bench.plan import Deviation, Part, Plan, Test

BOOK_S = 60.0
"""What a cell lasts by the book."""


def with_cells_of(plan: Plan, seconds: float) -> Plan:
    """Return a plan of which each cell lasts so many seconds, and steps afterwards in proportion.

    Examples
    --------
    >>> from ssdlab.bench import book
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


def with_rounds_of(plan: Plan, most: int | None) -> Plan:
    """Return a plan whose parts end after so many rounds at most; None leaves it as it is.

    Examples
    --------
    >>> from ssdlab.bench import book
    >>> made = with_rounds_of(book.plan(["lat"], 1, 1, 1, False, 512), 2)
    >>> made.tests[0].parts[0].stop.most_rounds, len(made.deviations)
    (2, 1)
    """
    if most is None:
        return plan
    fewer = Deviation(
        "rounds go on until the drive is steady, to a limit of 25 (PTS-E 1.1, 7.2)",
        f"SHORTENED: rounds end after {most}, steady or not",
    )
    tests = tuple(
        replace(test, parts=tuple(_with_rounds(part, most) for part in test.parts))
        for test in plan.tests
    )
    return replace(plan, tests=tests, deviations=(fewer, *plan.deviations))


def _with_rounds(part: Part, most: int) -> Part:
    return replace(part, stop=replace(part.stop, most_rounds=most))


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
