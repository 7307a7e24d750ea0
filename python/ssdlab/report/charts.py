"""The charts of a report: runs in, inline SVG out, or nothing where there is no data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ssdlab.engine.series import Amplification, Series
from ssdlab.ground import text
from ssdlab.report import theme
from ssdlab.report.runs import Run

MOST_LINES = len(theme.SERIES)
"""Lines that are drawn in one chart; more could not be told apart, and get another chart."""
MOST_RATES = 120
"""Points of IOPS over time: what lies closer cannot be seen apart."""
MOST_AMPLIFICATIONS = 40
"""Points of write amplification over time: garbage collection comes in bursts, each longer."""
# Two of them stand side by side on the page.
_SMALL = (theme.SMALL, 2.5)
_SMALL_TALL = (theme.SMALL, 3.6)
_NINES = ((0.0, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"))
_MORE_NINES = ((0.9999, "99.99 %"), (0.99999, "99.999 %"))
_LEAST_SHARE = 0.001
# Directions of a mix, by line; the colour tells the run.
_DASHES = {"read": "-", "write": "--", "trim": ":"}

Distribution = Sequence[tuple[float, float]]
"""Latency in nanoseconds and the share of requests that took no longer."""

Colours = Mapping[str, str]
"""A colour per label, the same in every chart."""


def colours_of(runs: Sequence[Run]) -> dict[str, str]:
    """Give every label its colour, in the order in which labels come."""
    labels = dict.fromkeys(run.label for run in runs)
    return {label: theme.SERIES[number % MOST_LINES] for number, label in enumerate(labels)}


def count_axis(value: float, _position: object = None) -> str:
    """Write an axis tick: 20 k rather than 20000."""
    for factor, suffix in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= factor:
            return f"{value / factor:g}{suffix}"
    return f"{value:g}"


def duration_axis(value: float, _position: object = None) -> str:
    """Write a latency tick with its unit; zero needs none."""
    return text.duration(value) if value else "0"


def _known(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def over_time(name: str, runs: Sequence[Run], colours: Colours) -> str | None:
    """Draw IOPS of each direction, and write amplification of the drive, over virtual time."""
    lines = [
        (run, direction, found)
        for run, direction in _directions(runs)
        if (found := Series.of(run.lab, MOST_RATES, direction)) and len(found.iops) > 2
    ]
    if not lines:
        return None
    drawn = dict.fromkeys(run.label for run, _, _ in lines)
    amplifications = [
        (run, factors)
        for run in runs
        if run.label in drawn and (factors := Amplification.of(run.lab, MOST_AMPLIFICATIONS))
    ]
    written = any(factor is not None for _, drive in amplifications for factor in drive.factors)
    mixed = len({direction for _, direction, _ in lines}) > 1
    with theme.style():
        size = _SMALL_TALL if written else _SMALL
        made = theme.figure(*_room_for(size, len(lines)))
        rows = made.subplots(2 if written else 1, 1, sharex=True, squeeze=False)
        panels: list[Axes] = [row[0] for row in rows]
        for run, direction, found in lines:
            label = _label(run, direction, mixed)
            style = _DASHES[direction] if mixed else "-"
            panels[0].plot(found.times_s, found.iops, style, color=colours[run.label], label=label)
        for run, drive in amplifications if written else ():
            panels[1].plot(drive.times_s, _known(drive.factors), color=colours[run.label])
        _finish_over_time(panels)
        return theme.svg(made, f"time-{name}", f"IOPS and write amplification over time, {name}")


def _room_for(size: tuple[float, float], lines: int) -> tuple[float, float]:
    """Higher where the legend may take many lines, so that the chart keeps its height."""
    return size[0], size[1] + 0.16 * max(0, lines - 2)


def _directions(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    return [(run, direction) for run in runs for direction in run.first.directions]


def _label(run: Run, direction: str, mixed: bool) -> str:
    return ", ".join(part for part in (run.label, f"{direction}s" if mixed else "") if part)


def _finish_over_time(panels: Sequence[Axes]) -> None:
    panels[0].set_ylabel("IOPS")
    panels[0].yaxis.set_major_formatter(FuncFormatter(count_axis))
    theme.legend_above(panels[0])
    if len(panels) > 1:
        panels[1].set_ylabel("write amplification")
    for panel in panels:
        panel.set_ylim(bottom=0)
        panel.set_xlim(left=0)
        panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        theme.only_horizontal_grid(panel)
    panels[-1].set_xlabel("virtual time, s")


def _nines(share: float) -> float:
    """Each further nine is one step up, so that the tail can be seen."""
    return -math.log10(1 - min(share, 1 - 1e-9))


def latencies(name: str, runs: Sequence[Run], colours: Colours) -> str | None:
    """Draw the cumulative distribution of latencies, the tail drawn large."""
    points = [(run, each, run.first.distribution(each)) for run, each in _directions(runs)]
    points = [line for line in points if len(line[2]) > 1]
    if not points:
        return None
    mixed = len({direction for _, direction, _ in points}) > 1
    with theme.style():
        made = theme.figure(*_room_for(_SMALL, len(points)))
        axes = made.subplots()
        for run, direction, curve in points:
            style = _DASHES[direction] if mixed else "-"
            label = _label(run, direction, mixed)
            axes.plot(*_stairs(curve), style, color=colours[run.label], label=label)
        _finish_latencies(axes, [curve for _, _, curve in points])
        return theme.svg(made, f"latency-{name}", f"distribution of latencies of {name}")


def commits(name: str, runs: Sequence[Run], colours: Colours) -> str | None:
    """Draw the cumulative distribution of what flushes took, the tail drawn large."""
    curves = [(run, run.first.distribution("sync")) for run in runs if run.first.commits]
    curves = [(run, curve) for run, curve in curves if curve][:MOST_LINES]
    if not curves:
        return None
    with theme.style():
        made = theme.figure(*_SMALL)
        axes = made.subplots()
        for run, curve in curves:
            axes.plot(*_stairs(curve), color=colours[run.label], label=run.label)
        _finish_latencies(axes, [curve for _, curve in curves])
        axes.set_ylabel("commits that were faster")
        return theme.svg(made, f"commit-{name}", f"distribution of commit latencies of {name}")


def _stairs(curve: Distribution) -> tuple[list[float], list[float]]:
    """Rise where requests are, up to the slowest, at which the curve leaves the picture."""
    values, heights, below = [curve[0][0]], [0.0], 0.0
    for value, share in curve:
        values += [value, value]
        heights += [below, below := _nines(share)]
    return values, heights


def _slow_enough(curve: Distribution) -> float:
    """Return where the drawing begins: few requests that were far faster would stretch the axis."""
    return next(value for value, share in curve if share > _LEAST_SHARE)


def _finish_latencies(axes: Axes, curves: Sequence[Distribution]) -> None:
    highest = max((share for curve in curves for _, share in curve if share < 1), default=0.0)
    ticks = [*_NINES, *(nine for nine in _MORE_NINES if nine[0] <= highest)]
    left, right = min(map(_slow_enough, curves)), max(curve[-1][0] for curve in curves)
    axes.set_xscale("log")
    axes.set_xlim(0.85 * left, 1.15 * right)
    fine = (1, 2, 5) if right < 100 * left else (1,)
    # Within less than three times the least there may be none of these.
    few = MaxNLocator(3) if right < 3 * left else LogLocator(subs=fine)
    axes.xaxis.set_major_locator(few)
    axes.set_yticks([_nines(share) for share, _ in ticks], [label for _, label in ticks])
    axes.set_ylim(0, _nines(ticks[-1][0]) * 1.03)
    axes.xaxis.set_major_formatter(FuncFormatter(duration_axis))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("latency")
    axes.set_ylabel("requests that were faster")
    theme.legend_above(axes)


def _shares(*kinds: str) -> dict[str, str]:
    return {f"_{kind}": theme.SHARES[kind] for kind in kinds}


_RESOURCES: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("die", "flash dies", _shares("host_read", "host_write", "move", "erase")),
    ("channel", "channels", _shares("host", "move")),
    ("link", "link", {"": theme.SERIES[3]}),
    ("controller", "controller", {"": theme.SERIES[3]}),
)
"""What is busy, as results name it, as people do, and with what, in which colour."""


@theme.for_both
def where_the_time_went(runs: Sequence[Run]) -> str | None:
    """Draw which share of the time dies, channels, link and controller were busy, and with what."""
    shown = [run for run in runs if run.lab.get("utilization")]
    if not shown:
        return None
    with theme.style():
        made = _resources_by_run(shown) if theme.is_narrow() else _runs_by_resource(shown)
        return theme.svg(made, "utilization", "share of the time that each resource was busy")


def _runs_by_resource(runs: Sequence[Run]) -> Figure:
    """Draw a panel for each resource, with a bar for each run."""
    made = theme.figure(theme.WIDE, 1.3 + 0.24 * len(runs))
    panels = made.subplots(1, 4, sharey=True, width_ratios=[3, 2, 1, 1])
    for panel, (resource, name, kinds) in zip(panels, _RESOURCES, strict=True):
        for place, run in enumerate(runs):
            _stack(panel, place, run, resource, kinds, 0.66)
        panel.set_title(f"{name}, %")
        panel.set_xticks([0, 50, 100])
        _finish_shares(panel)
    panels[0].set_yticks(range(len(runs)), [run.title for run in runs])
    panels[0].invert_yaxis()
    return made


def _resources_by_run(runs: Sequence[Run]) -> Figure:
    """Draw a panel for each run, with a bar for each resource."""
    made = theme.figure(theme.SMALL, 0.9 * len(runs) + 0.3)
    panels = made.subplots(len(runs), 1, sharex=True, squeeze=False)
    for (panel,), run in zip(panels, runs, strict=True):
        for place, (resource, _, kinds) in enumerate(_RESOURCES):
            _stack(panel, place, run, resource, kinds, 0.7)
        panel.set_yticks(range(len(_RESOURCES)), [name for _, name, _ in _RESOURCES])
        panel.invert_yaxis()
        panel.set_title(theme.fitting(run.title))
        _finish_shares(panel)
    panels[-1][0].set_xlabel("share of the time, %")
    return made


def _stack(
    panel: Axes, place: int, run: Run, resource: str, kinds: Mapping[str, str], height: float
) -> None:
    left = 0.0
    for kind, colour in kinds.items():
        share = 100 * run.lab["utilization"].get(f"{resource}{kind}", 0.0)
        panel.barh(place, share, left=left, height=height, color=colour)
        left += share


def _finish_shares(panel: Axes) -> None:
    panel.set_xlim(0, 100)
    theme.only_vertical_grid(panel)


@theme.for_both
def timeline(run: Run, name: str) -> str | None:
    """Draw single operations over the dies, for the stretch that was recorded."""
    operations = [each for each in run.lab.get("timeline") or [] if each["kind"] in theme.KINDS]
    if not operations:
        return None
    start = min(operation["start_ns"] for operation in operations)
    dies = sorted({operation["die"] for operation in operations})
    present = {operation["kind"] for operation in operations}
    rows = {die: place for place, die in enumerate(dies)}
    with theme.style():
        made = theme.figure(theme.width(), 1.1 + 0.17 * len(dies))
        axes = made.subplots()
        for kind in (kind for kind in theme.KINDS if kind in present):
            _bars(axes, [each for each in operations if each["kind"] == kind], rows, start)
        axes.set_yticks(range(len(dies)), [f"die {die}" for die in dies])
        axes.invert_yaxis()
        axes.set_xlabel(f"ms, from {text.duration(start)} of the run on")
        axes.set_xlim(left=0)
        theme.only_vertical_grid(axes)
        theme.legend_above(axes, least=1)
        return theme.svg(made, name, f"single operations over dies, {run.title}")


def _bars(
    axes: Axes,
    operations: Sequence[Mapping[str, Any]],
    rows: Mapping[int, int],
    start: int,
) -> None:
    kind = str(operations[0]["kind"])
    axes.barh(
        [rows[each["die"]] for each in operations],
        [(each["end_ns"] - each["start_ns"]) / 1e6 for each in operations],
        left=[(each["start_ns"] - start) / 1e6 for each in operations],
        height=0.7,
        color=theme.KINDS[kind][0],
        edgecolor=theme.PAPER,
        linewidth=0.3,
        label=theme.KINDS[kind][1],
    )


def wear(run: Run, name: str) -> str | None:
    """Draw how many blocks of a run's drive were erased how often."""
    counts = (run.lab.get("wear") or {}).get("erase_counts") or {}
    return erases(counts.get("histogram") or [], name, f"erases per block, {run.title}")


def erases(histogram: Sequence[tuple[int, int]], name: str, title: str) -> str | None:
    """Draw how many blocks were erased how often, from pairs of erases and blocks."""
    if not histogram:
        return None
    counts, blocks = zip(*histogram, strict=True)
    gaps = [after - before for before, after in zip(counts, counts[1:], strict=False)]
    with theme.style():
        made = theme.figure(*_SMALL)
        axes = made.subplots()
        axes.bar(counts, blocks, width=0.8 * min(gaps, default=1), color=theme.SERIES[0])
        axes.set_xlabel("erases of a block")
        axes.set_ylabel("blocks")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.yaxis.set_major_formatter(FuncFormatter(count_axis))
        theme.only_horizontal_grid(axes)
        return theme.svg(made, name, title)


@theme.for_both
def overview(runs: Sequence[Run]) -> str | None:
    """Draw the main figure of every run, of a mix one for each direction."""
    bars = _directions(runs)
    if not bars:
        return None
    figures = [_iops(run, direction) for run, direction in bars]
    values = [each or 0.0 for each in figures]
    with theme.style():
        labels = [_title(run, direction) for run, direction in bars]
        made = theme.figure(theme.width(), 0.8 + theme.rows_inches(labels, 0.27))
        axes = made.subplots()
        colours = [theme.DIRECTIONS[direction] for _, direction in bars]
        axes.barh(range(len(bars)), values, height=theme.bar_height(), color=colours)
        for place, ((run, direction), value) in enumerate(zip(bars, figures, strict=True)):
            words = _figures(run, direction, value)
            axes.text(value or 0.0, place, f"  {words}", va="center", color=theme.INK)
        theme.name_rows(axes, labels)
        axes.set_xlim(0, max(values) * (2.1 if theme.is_narrow() else 1.45) or 1.0)
        axes.set_xlabel("IOPS")
        axes.xaxis.set_major_formatter(FuncFormatter(count_axis))
        theme.only_vertical_grid(axes)
        return theme.svg(made, "overview", "IOPS of every run and direction")


def _iops(run: Run, direction: str) -> float | None:
    return run.mean(lambda job: job.known_iops(direction))


def _title(run: Run, direction: str) -> str:
    return f"{run.title}, {direction}s" if len(run.first.directions) > 1 else run.title


def _figures(run: Run, direction: str, iops: float | None) -> str:
    parts = [text.count(iops), text.rate(run.mean(lambda job: job.known_bandwidth(direction)))]
    amplification = run.mean(lambda job: job.write_amplification)
    # Of the drive as a whole; beside reads it would look like theirs.
    if amplification is not None and (direction != "read" or run.first.directions == ["read"]):
        parts.append(f"WA {text.ratio(amplification)}")
    return " · ".join(parts)
