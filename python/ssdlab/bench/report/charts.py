"""The pictures of a part: runs of rounds in, inline SVG out, or nothing where there is no data.

Each picture's own title says "NOT STEADY" or "NOT PURGED" where that is so, so that it goes along
when the picture is taken out of the page.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ssdlab.bench.report.reading import PartRead
from ssdlab.bench.table import five_nines, heading
from ssdlab.ground import text
from ssdlab.report import theme
from ssdlab.report.charts import count_axis, duration_axis
from ssdlab.report.hover import Marks, Say

SIZE = (theme.SMALL, 3.3)
_HEADROOM = 1.05
_LETTERS = 56
"""In a line of a title as wide as a picture."""
_MOST_MARKS = 60
"""Rounds of which each is marked by a dot."""
Along = Literal["time", "written"]
_ALONG = {"time": "time", "written": "terabytes written"}
MeasuredCell = Mapping[str, Any]
"""A cell of a round, as the record has it."""


@dataclass(frozen=True)
class Quantity:
    """A figure of a cell: its name on an axis, how it is taken, how a tick and it are written."""

    label: str
    of: Callable[[MeasuredCell], float | None]
    tick: Callable[..., str]
    say: Say


def _say_time(nanoseconds: float) -> str:
    return text.duration(nanoseconds, digits=4)


IOPS = Quantity(
    "IOPS",
    lambda cell: cell["both"]["iops"],
    count_axis,
    lambda value: f"{text.count(value)} IOPS",
)
RATE = Quantity(
    "MB/s",
    lambda cell: cell["both"]["mb_per_s"],
    count_axis,
    lambda value: f"{text.count(value)} MB/s",
)
MEAN = Quantity(
    "mean response time", lambda cell: cell["both"]["mean_ns"], duration_axis, _say_time
)
FIVE_NINES = Quantity("99.999 % response time", five_nines, duration_axis, _say_time)
MAXIMUM = Quantity(
    "maximum response time", lambda cell: cell["both"]["max_ns"], duration_axis, _say_time
)
QUANTITIES = {"iops": IOPS, "mb_per_s": RATE, "mean_ns": MEAN}


def block_size(number: int) -> str:
    """Write a block size, which is binary.

    Examples
    --------
    >>> block_size(512), block_size(131072)
    ('0.5 KiB', '128 KiB')
    """
    return f"{number / 1024:g} KiB"


def mix(load: Mapping[str, Any]) -> str:
    """Write the shares of reads and writes."""
    return f"{load['read_percent']}/{100 - load['read_percent']}"


def titled(part: PartRead, title: str) -> str:
    """Add what a reader must not miss."""
    assert part.summary is not None, "a part without rounds has no picture"
    return heading(part.summary, title)


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in our style; names of drives are no formulas."""
    with theme.style(), mpl.rc_context({"text.parse_math": False}):
        yield


def begun(title: str, size: tuple[float, float] = SIZE) -> tuple[Figure, Axes]:
    """Return a figure with its title, which stands in the picture, and axes."""
    made = theme.figure(*size)
    add_title(made, title)
    return made, made.subplots()


def add_title(made: Figure, title: str) -> None:
    """Put the title over a figure; what must not be missed gets a line and a colour of its own."""
    plain, remarks = (re.split(r", (?=NOT |PURGE NOT |UNFINISHED)", title, maxsplit=1) + [""])[:2]
    lines = [*textwrap.wrap(plain, _LETTERS), *textwrap.wrap(remarks, _LETTERS)]
    words = "\n".join(lines)
    colour = theme.SERIES[7] if remarks else theme.INK
    made.suptitle(words, x=0.01, ha="left", fontsize=10, color=colour)


def convergence(part: PartRead, quantity: Quantity, reads: int, name: str) -> str | None:
    """Draw a figure of every block size over all rounds, at one mix."""
    places = [
        place for place, cell in enumerate(part.plan.cells) if cell.load.read_percent == reads
    ]
    if not places:
        return None
    values = [[quantity.of(each["cells"][place]) for each in part.rounds] for place in places]
    if not any_known(values):
        return None
    way = {0: "100 % writes", 100: "100 % reads"}.get(reads, f"{reads}/{100 - reads}")
    title = titled(part, f"Steady-state convergence, {way}: {quantity.label}")
    numbers = [each["round"] for each in part.rounds]
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        for order, (place, line) in enumerate(zip(places, values, strict=True)):
            label = block_size(part.plan.cells[place].load.block_bytes)
            colour = theme.SERIES[order % len(theme.SERIES)]
            (drawn,) = axes.plot(numbers, known(line), "o-", ms=3.5, color=colour, label=label)
            marks.line(drawn, rounds_of(numbers), quantity.say)
        axes.set_xlabel("round")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        finish(axes, quantity)
        return theme.svg(made, name, title, marks)


def window(part: PartRead, name: str) -> str | None:
    """Draw the tracking variable in the window: average, limits, least-squares line."""
    assert part.summary is not None, "there is a round"
    judged = part.summary["judged"]
    if judged is None:
        return None
    quantity = QUANTITIES[part.plan.tracking.figure]
    title = titled(part, f"Measurement window: {quantity.label}, {part.plan.tracking.cell}")
    rounds = judged["rounds"]
    line = [judged["intercept"] + judged["slope"] * place for place in range(len(rounds))]
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        (dots,) = axes.plot(
            rounds, judged["values"], "o", ms=6, color=theme.SERIES[0], label="measured"
        )
        (fitted,) = axes.plot(rounds, line, color=theme.SERIES[1], label="least-squares line")
        for drawn in (dots, fitted):
            marks.line(drawn, rounds_of(rounds), quantity.say)
        _levels(axes, part, quantity, marks)
        axes.set_xticks(rounds)
        axes.set_xlabel("round")
        finish(axes, quantity, from_zero=False)
        return theme.svg(made, name, title, marks)


def _levels(axes: Axes, part: PartRead, quantity: Quantity, marks: Marks) -> None:
    """Draw the window's average, and how far from it a value may be."""
    assert part.summary is not None, "there is a round"
    judged = part.summary["judged"]
    average, half = judged["average"], judged["allowed_range"] / 2
    share = text.percent(part.plan.stop.range_share / 2, 0)
    limits = f"average ± {share}"
    aside = judged["rounds"][0] + 0.5
    for name, said, height, colour, dashes in (
        ("average", "average", average, theme.SOFT, "--"),
        (limits, f"average + {share}", average + half, theme.SERIES[7], ":"),
        (limits, f"average − {share}", average - half, theme.SERIES[7], ":"),
    ):
        label = name if name not in marks.series else None
        drawn = axes.axhline(height, lw=1, label=label, color=colour, ls=dashes)
        marks.level(drawn, name, aside, f"{said}: {quantity.say(height)}")


def by_size(part: PartRead, quantity: Quantity, name: str, log: bool) -> str | None:
    """Draw a figure over block sizes, a series a mix."""
    assert part.summary is not None, "there is a round"
    title = titled(part, f"{quantity.label} by block size, reads/writes")
    found = part.summary["cells"]
    if not any_known([[quantity.of(cell) for cell in found]]):
        return None
    sizes = sorted({cell["load"]["block_bytes"] for cell in found})
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        for order, name_of_mix in enumerate(dict.fromkeys(mix(cell["load"]) for cell in found)):
            same = {c["load"]["block_bytes"]: c for c in found if mix(c["load"]) == name_of_mix}
            values = [quantity.of(same[size]) if size in same else None for size in sizes]
            colour = theme.SERIES[order % len(theme.SERIES)]
            across, heights = range(len(sizes)), known(values)
            (drawn,) = axes.plot(across, heights, "o-", ms=3.5, color=colour, label=name_of_mix)
            marks.line(drawn, [block_size(size) for size in sizes], quantity.say)
        axes.set_xticks(range(len(sizes)), [f"{size / 1024:g}" for size in sizes])
        axes.set_xlabel("block size, KiB")
        if log:
            axes.set_yscale("log")
        finish(axes, quantity, from_zero=not log)
        return theme.svg(made, name, title, marks)


def by_mix(part: PartRead, quantity: Quantity, name: str) -> str:
    """Draw a bar for each mix, of a test with one block size."""
    assert part.summary is not None, "there is a round"
    found = part.summary["cells"]
    size = block_size(found[0]["load"]["block_bytes"])
    title = titled(part, f"{quantity.label}, {size}, reads/writes")
    values, mixes = known([quantity.of(cell) for cell in found]), [mix(c["load"]) for c in found]
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        colours = list(theme.SERIES[: len(found)])
        drawn = axes.bar(range(len(found)), values, width=0.5, color=colours)
        marks.bars(drawn, mixes, quantity.say)
        for place, value in enumerate(values):
            axes.text(place, value, quantity.tick(round(value, 1)), ha="center", va="bottom")
        axes.set_xticks(range(len(found)), mixes)
        finish(axes, quantity)
        return theme.svg(made, name, title, marks)


def saturation(part: PartRead, along: Along, name: str, log: bool = False) -> str | None:
    """Draw IOPS of every round over time, or over the bytes written, from zero or by decades."""
    if (across := _across(part, along)) is None:
        return None
    title = titled(part, f"IOPS over {_ALONG[along]}{', logarithmic' if log else ''}")
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        values = [IOPS.of(each["cells"][0]) for each in part.rounds]
        (drawn,) = axes.plot(across, known(values), _style(part), ms=3, lw=1.3)
        drawn.set_color(theme.SERIES[0])
        marks.line(drawn, _places(part, along, across), IOPS.say)
        _label_across(axes, along)
        if log:
            axes.set_yscale("log")
        finish(axes, IOPS, from_zero=not log)
        if log:
            axes.yaxis.set_major_locator(_log_ticks(axes))
        return theme.svg(made, name, title, marks)


def response_times(part: PartRead, along: Along, name: str) -> str | None:
    """Draw mean, maximum and five nines of every round over time, or over the bytes written."""
    if (across := _across(part, along)) is None:
        return None
    title = titled(part, f"Response times over {_ALONG[along]}")
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        for order, quantity in enumerate((MEAN, MAXIMUM, FIVE_NINES)):
            values = [quantity.of(each["cells"][0]) for each in part.rounds]
            if not any_known([values]):
                continue
            # Of few requests the slowest is the five nines too: neither line may hide the other.
            style = ":" if quantity is FIVE_NINES else _style(part)
            colour, label = theme.SERIES[order], quantity.label.removesuffix(" response time")
            look: dict[str, Any] = {"ms": 3, "lw": 1.3, "color": colour, "label": label}
            (drawn,) = axes.plot(across, known(values), style, **look)
            marks.line(drawn, _places(part, along, across), quantity.say)
        _label_across(axes, along)
        axes.set_yscale("log")
        finish(axes, MEAN, from_zero=False)
        axes.set_ylabel("response time")
        axes.yaxis.set_major_locator(_log_ticks(axes))
        return theme.svg(made, name, title, marks)


def _log_ticks(axes: Axes) -> LogLocator:
    """Less than two decades have finer ticks."""
    low, high = axes.get_ylim()
    return LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,))


def _across(part: PartRead, along: Along) -> list[float] | None:
    """Return where each round ended; None where bytes were not recorded."""
    if along == "time":
        return [each["elapsed_s"] / 60 for each in part.rounds]
    written = [each["written_bytes"] for each in part.rounds]
    return None if None in written else [each / 1e12 for each in written]


def _places(part: PartRead, along: Along, across: Sequence[float]) -> list[str]:
    """Say where each round ended."""
    unit = "min" if along == "time" else "TB"
    names = rounds_of([each["round"] for each in part.rounds])
    return [
        f"{name}, {text.significant(place)} {unit}"
        for name, place in zip(names, across, strict=True)
    ]


def _label_across(axes: Axes, along: Along) -> None:
    axes.set_xlabel("time, min" if along == "time" else "written, TB")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))


def _style(part: PartRead) -> str:
    return "-" if len(part.rounds) > _MOST_MARKS else "o-"


def amplification(part: PartRead, factors: Sequence[float | None], name: str) -> str | None:
    """Draw bytes programmed per byte written, of each round."""
    if sum(factor is not None for factor in factors) < 2:
        return None
    title = titled(part, "Write amplification by the drive's log, round by round")
    numbers = [each["round"] for each in part.rounds]
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        (drawn,) = axes.plot(numbers, known(factors), _style(part), ms=3.5, color=theme.SERIES[1])
        marks.line(drawn, rounds_of(numbers), lambda value: f"write amplification {value:.3f}")
        axes.set_xlabel("round")
        axes.set_ylabel("write amplification")
        axes.set_ylim(0, axes.get_ylim()[1] * _HEADROOM)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        theme.only_horizontal_grid(axes)
        return theme.svg(made, name, title, marks)


def recovery(part: PartRead, name: str) -> str | None:
    """Draw rates after steady state: of writes in turns with idle time, and right after these."""
    assert part.summary is not None, "there is a round"
    steps = part.summary["afterwards"]
    if not steps:
        return None
    title = titled(part, "Host idle recovery: IOPS while writing")
    in_turns = [each for each in steps if each["pauses"]]
    after = [each for each in steps if not each["pauses"]]
    idle = [f"{each['pauses']['idle_s']:g}" for each in in_turns]
    marks = Marks()
    with drawing():
        made, axes = begun(title)
        for side, (label, found) in enumerate(
            (("with idle time", in_turns), ("right after", after))
        ):
            places = [place + 0.4 * side - 0.2 for place in range(len(found))]
            values = [each["iops_at_work"] for each in found]
            drawn = axes.bar(places, values, width=0.36, color=theme.SERIES[side], label=label)
            marks.bars(drawn, [f"{each} s idle" for each in idle[: len(found)]], IOPS.say)
        axes.set_xticks(range(len(idle)), idle)
        axes.set_xlabel("idle time between bursts of writes, s")
        finish(axes, IOPS)
        return theme.svg(made, name, title, marks)


def rounds_of(numbers: Sequence[int]) -> list[str]:
    """Name rounds."""
    return [f"round {number}" for number in numbers]


def any_known(several: Sequence[Sequence[float | None]]) -> bool:
    """Tell whether there is anything to draw."""
    return any(value is not None for values in several for value in values)


def known(values: Sequence[float | None]) -> list[float]:
    """Leave a gap where there is no figure."""
    return [math.nan if value is None else float(value) for value in values]


def finish(axes: Axes, quantity: Quantity, from_zero: bool = True) -> None:
    """Set the value's axis and the legend."""
    axes.set_ylabel(quantity.label)
    axes.yaxis.set_major_formatter(FuncFormatter(quantity.tick))
    axes.yaxis.set_minor_locator(NullLocator())
    if from_zero:
        axes.set_ylim(0, axes.get_ylim()[1] * _HEADROOM)
    theme.only_horizontal_grid(axes)
    theme.legend_above(axes)
