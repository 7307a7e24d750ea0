"""Several drives laid over one another: what differs in their conditions first, then figures.

A part is compared where two drives have it. The first drive is the one that others are compared
with; a ratio is that of the figures in the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.ticker import MaxNLocator

from ssdlab.bench.report.charts import (
    FIVE_NINES,
    IOPS,
    MAXIMUM,
    MEAN,
    QUANTITIES,
    RATE,
    SIZE,
    Quantity,
    begun,
    block_size,
    drawing,
    finish,
    known,
    rounds_of,
)
from ssdlab.bench.report.conditions import differing
from ssdlab.bench.report.reading import Measured, PartRead, blaming
from ssdlab.ground import text
from ssdlab.report import theme
from ssdlab.report.hover import Marks

MOST_DRIVES = len(theme.SERIES)
_COMPARED = {
    "iops": (("IOPS", IOPS),),
    "tp": (("MB/s", RATE),),
    "lat": (("mean", MEAN), ("99.999 %", FIVE_NINES), ("maximum", MAXIMUM)),
    "wsat": (("IOPS", IOPS),),
    "hir": (("IOPS", IOPS),),
}
_DRAWN_MIXES = (100, 65, 0)
_DASHES = ("-", "--", ":")


@dataclass(frozen=True)
class ComparedPart:
    """A part of several drives: its name, rows of figures with ratios, pictures."""

    name: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    pictures: list[str]


@dataclass(frozen=True)
class Overlay:
    """What is said of several drives together.

    Attributes
    ----------
    labels
        Their names.
    differing
        Rows: a condition, and what each drive has.
    comparisons
        A part each.
    """

    labels: tuple[str, ...]
    differing: list[tuple[str, ...]]
    comparisons: list[ComparedPart]


def overlay(several: Sequence[Measured], pictures: bool = True) -> Overlay:
    """Compare drives; without pictures where only tables are asked for."""
    labels = tuple(each.label for each in several)
    with blaming(", ".join(str(each.path) for each in several)):
        return Overlay(labels, differing(several), _comparisons(several, labels, pictures))


def _comparisons(
    several: Sequence[Measured], labels: tuple[str, ...], pictures: bool
) -> list[ComparedPart]:
    names = dict.fromkeys(part.plan.name for each in several for part in each.begun_parts)
    found = []
    for name in names:
        parts = [_part(each, name) for each in several]
        if sum(part is not None for part in parts) > 1:
            drawn = [each for each in _pictures(name, labels, parts) if each] if pictures else []
            # Names are long, and stand beside the figures already.
            ratios = tuple(f"{number} : 1" for number in range(2, len(labels) + 1))
            headings = (_remarks(name, parts), *labels, *ratios)
            found.append(ComparedPart(name, headings, _rows(parts), drawn))
    return found


def _part(measured: Measured, name: str) -> PartRead | None:
    return next((part for part in measured.begun_parts if part.plan.name == name), None)


def _remarks(name: str, parts: Sequence[PartRead | None]) -> str:
    """Name a part with what is true of any of its drives."""
    said = dict.fromkeys(
        remark for part in parts if part and part.summary for remark in part.summary["remarks"]
    )
    return ", ".join([name, *(f"{remark.upper()} (at least one)" for remark in said)])


def _rows(parts: Sequence[PartRead | None]) -> list[tuple[str, ...]]:
    cells = [_cells(part) for part in parts]
    test = next(part.test["name"] for part in parts if part)
    names = dict.fromkeys(name for each in cells for name in each)
    return [
        _row(
            f"{name}, {label}",
            [quantity.of(each[name]) if name in each else None for each in cells],
            quantity,
        )
        for name in names
        for label, quantity in _COMPARED[test]
    ]


def _cells(part: PartRead | None) -> dict[str, Mapping[str, Any]]:
    if part is None or part.summary is None:
        return {}
    return {cell["name"]: cell for cell in part.summary["cells"]}


def _row(name: str, values: Sequence[float | None], quantity: Quantity) -> tuple[str, ...]:
    first = values[0]
    ratios = [value / first if value is not None and first else None for value in values[1:]]
    shown = [_shown(value, quantity) for value in values]
    return (name, *shown, *(text.ratio(each) for each in ratios))


def _shown(value: float | None, quantity: Quantity) -> str:
    if value is None:
        return text.NOTHING
    if quantity in (MEAN, FIVE_NINES, MAXIMUM):
        return text.duration(value)
    return text.count(round(value)) if quantity is IOPS else f"{value:.1f}"


def _pictures(
    name: str, labels: Sequence[str], parts: Sequence[PartRead | None]
) -> Iterator[str | None]:
    there = [(label, part) for label, part in zip(labels, parts, strict=True) if part]
    there = there[:MOST_DRIVES]
    title = _remarks(name, [part for _, part in there])
    test = there[0][1].test["name"]
    if test in ("iops", "lat"):
        yield _sizes(there, _COMPARED[test][0][1], title, f"overlay-{name}-1")
    yield _rounds(there, title, f"overlay-{name}-2")


def _sizes(there: Sequence[tuple[str, PartRead]], quantity: Quantity, title: str, name: str) -> str:
    """Draw a figure by block size: a colour a drive, dashes a mix."""
    title = f"{quantity.label} by block size: {title}"
    sizes = sorted({cell.load.block_bytes for _, part in there for cell in part.plan.cells})
    marks = Marks()
    with drawing():
        made, axes = begun(title, _room_for(len(_DRAWN_MIXES) * len(there)))
        for order, (label, part) in enumerate(there):
            assert part.summary is not None, "it has begun"
            for reads, dashes in zip(_DRAWN_MIXES, _DASHES, strict=True):
                same = {
                    cell["load"]["block_bytes"]: cell
                    for cell in part.summary["cells"]
                    if cell["load"]["read_percent"] == reads
                }
                values = [quantity.of(same[size]) if size in same else None for size in sizes]
                words = f"{label}, {reads}/{100 - reads}"
                (drawn,) = axes.plot(
                    range(len(sizes)), known(values), dashes, color=theme.SERIES[order], label=words
                )
                marks.line(drawn, [block_size(size) for size in sizes], quantity.say)
        axes.set_xticks(range(len(sizes)), [f"{size / 1024:g}" for size in sizes])
        axes.set_xlabel("block size, KiB")
        axes.set_yscale("log")
        finish(axes, quantity, from_zero=False)
        return theme.svg(made, name, title, marks)


def _room_for(lines: int) -> tuple[float, float]:
    """Higher where the legend may take many lines."""
    return SIZE[0], SIZE[1] + 0.17 * lines


def _rounds(there: Sequence[tuple[str, PartRead]], title: str, name: str) -> str:
    """Draw the tracking variable over the rounds."""
    quantity = QUANTITIES[there[0][1].plan.tracking.figure]
    title = f"{quantity.label}, {there[0][1].plan.tracking.cell}: {title}"
    marks = Marks()
    with drawing():
        made, axes = begun(title, _room_for(len(there)))
        for order, (label, part) in enumerate(there):
            assert part.summary is not None, "it has begun"
            values = part.summary["tracking"]["values"]
            style = "-" if len(values) > 60 else "o-"
            numbers = range(1, len(values) + 1)
            colour = theme.SERIES[order]
            (drawn,) = axes.plot(numbers, values, style, ms=3, color=colour, label=label)
            marks.line(drawn, rounds_of(numbers), quantity.say)
        axes.set_xlabel("round")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(axes, quantity)
        return theme.svg(made, name, title, marks)
