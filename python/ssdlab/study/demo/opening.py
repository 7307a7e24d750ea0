"""The chart a demo report opens with: the fall from fresh to steady, and what gives it back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ssdlab.ground import text
from ssdlab.study.demo import figures, plan
from ssdlab.report import theme
from ssdlab.report.charts import count_axis
from ssdlab.report.opening import Opening
from ssdlab.engine.result import Job, Result
from ssdlab.engine.series import Series

_TITLE = "An SSD once it is no longer new"
REMEDIES = (
    "Left unused: this share of the drive was never written, so it is spare area. Trimmed: the "
    "whole steady drive was trimmed; the gain lasts until the drive is full again."
)


def _by_part(results: Sequence[Result]) -> dict[str, Job]:
    return {str(result.experiment.get("part")): result.jobs[0] for result in results if result.jobs}


def _sentence(parts: dict[str, Job], title: str) -> str:
    fresh, steady = parts.get("randwrite-fresh"), parts.get("randwrite-steady")
    if fresh is None or steady is None or not steady.iops():
        return f"{title}: fresh and in steady state."
    amplification = steady.write_amplification or 1
    return (
        f"{title}: once the spare area has been used up, 4 KiB random writes fall from "
        f"{text.count(fresh.iops())} to {text.count(steady.iops())} IOPS. For each byte that the "
        f"host writes, garbage collection moves {text.ratio(amplification - 1, 1)} more. Space that "
        "is never written, or that is trimmed, restores speed."
    )


def _draw_fall(axes: Axes, fall: Job | None) -> None:
    axes.set_title("Random writes to a fresh drive")
    axes.set_xlabel("written so far, in drive capacities")
    axes.set_ylabel("IOPS, 4 KiB random writes, depth 16")
    series = Series.of(fall.lab) if fall else None
    if series is None:
        return
    written = list(accumulate(series.bytes_done))
    # The passes write the capacity each, so their sum is as many capacities.
    fills = [plan.FALL_PASSES * each / written[-1] for each in written]
    axes.plot(fills, series.iops, color=theme.SERIES[0], linewidth=1.6)
    axes.set_xlim(0, plan.FALL_PASSES)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _name_steady(axes: Axes, steady: Job) -> None:
    axes.annotate(
        f"steady state: {text.count(steady.iops())} IOPS",
        (0, steady.iops()),
        (6, -5),
        textcoords="offset points",
        va="top",
        color=theme.SERIES[1],
    )


def _draw_remedies(axes: Axes, parts: dict[str, Job]) -> None:
    shown = [
        ("fresh", "randwrite-fresh", theme.SERIES[0]),
        ("steady", "randwrite-steady", theme.SERIES[1]),
        ("7 %\nunused", "randwrite-unused-7", theme.SERIES[2]),
        ("20 %\nunused", "randwrite-unused-20", theme.SERIES[2]),
        ("25 %\nunused", "randwrite-unused-25", theme.SERIES[2]),
        ("trimmed", "randwrite-trimmed", theme.SERIES[2]),
    ]
    shown = [bar for bar in shown if bar[1] in parts]
    steady = parts.get("randwrite-steady")
    axes.set_title("What restores speed")
    axes.set_xlabel(
        theme.fitting("×: of steady · WA: bytes written to flash per byte the host writes")
    )
    axes.bar(
        range(len(shown)),
        [parts[part].iops() for _, part, _ in shown],
        width=0.62,
        color=[colour for _, _, colour in shown],
    )
    for place, (_, part, _) in enumerate(shown):
        axes.text(place, parts[part].iops(), _above(parts[part], steady), ha="center", va="bottom")
    axes.set_xticks(range(len(shown)), [label for label, _, _ in shown])
    axes.tick_params(axis="x", length=0, labelcolor=theme.INK)


def _above(job: Job, steady: Job | None) -> str:
    lines = [text.count(job.iops())]
    if steady is not None and steady.iops() and job is not steady:
        lines.append(f"× {job.iops() / steady.iops():.1f}")
    lines.append(f"WA {text.ratio(job.write_amplification, 1)}")
    return "\n".join(lines)


@theme.for_both
def chart(results: Sequence[Result]) -> str:
    """Draw the fall and the remedies on one scale, side by side or one above the other."""
    parts = _by_part(results)
    steady = parts.get("randwrite-steady")
    with theme.style():
        if theme.is_narrow():
            made = theme.figure(theme.SMALL, 7.0)
            left, right = made.subplots(2, 1, sharey=True)
        else:
            made = theme.figure(theme.WIDE, 4.2)
            left, right = made.subplots(1, 2, sharey=True, width_ratios=[1.15, 1])
        _draw_fall(left, parts.get("fall"))
        _draw_remedies(right, parts)
        for axes in (left, right):
            axes.yaxis.set_major_formatter(FuncFormatter(count_axis))
            theme.only_horizontal_grid(axes)
            if steady is not None:
                axes.axhline(steady.iops(), color=theme.SERIES[1], linewidth=1, linestyle="--")
        if steady is not None:
            _name_steady(left, steady)
        top = max([job.iops() for name, job in parts.items() if name.startswith("randwrite")], default=1)
        left.set_ylim(0, 1.28 * top)
        return theme.svg(made, "fall", "IOPS fall from fresh to steady; remedies restore part of them")


def opening(results: Sequence[Result]) -> Opening:
    """Return what a page of the demo opens with."""
    parts = _by_part(results)
    notes = [plan.JOBS, REMEDIES, figures.lifetime_formula(results)]
    come_by = figures.provenance(results)
    if come_by:
        notes += [f"Where the parameters come from: {come_by[0]}", *come_by[1:]]
    rows = figures.rows(results)
    title = next((str(each.experiment.get("title", "The drive")) for each in results), "")
    return Opening(_TITLE, _sentence(parts, title), chart(results), figures.HEADINGS, rows, notes)
