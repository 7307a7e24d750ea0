"""The answer in sentences: what meets it, what less spare and one drive less would cost."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab import text
from ssdlab.sizing.load import Limits, Load
from ssdlab.sizing.search import ranked
from ssdlab.sizing.verdict import Verdict


def best(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the first that meets what is asked."""
    first = ranked(verdicts)[0] if verdicts else None
    return first if first is not None and first.meets else None


def less_spare(chosen: Verdict, verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict on the same with the next smaller share unused."""
    mine = chosen.candidate
    smaller = [
        each
        for each in verdicts
        if (each.candidate.drive, each.candidate.layout) == (mine.drive, mine.layout)
        and each.candidate.unused < mine.unused
    ]
    return max(smaller, key=lambda each: each.candidate.unused, default=None)


def fewer_drives(chosen: Verdict, verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the best verdict on the same drive in the layout with one drive less."""
    smaller = chosen.candidate.layout.smaller()
    mine = [
        each
        for each in verdicts
        if each.candidate.drive == chosen.candidate.drive and each.candidate.layout == smaller
    ]
    return ranked(mine)[0] if mine else None


def sentences(verdicts: Sequence[Verdict], load: Load, limits: Limits) -> list[str]:
    """Say what was found; the first sentence is the answer."""
    chosen = best(verdicts)
    if chosen is None:
        return [_none_meets(verdicts, load, limits)]
    how = "cheapest" if chosen.price is not None else "smallest"
    near = ", ".join(chosen.limited_by) or "none is set"
    said = [
        f"The {how} that meets it: {chosen.candidate.label} "
        f"({_figures(chosen, load, limits)}); nearest to its limit: {near}."
    ]
    below = less_spare(chosen, verdicts)
    if below is not None:
        share = text.percent(below.candidate.unused, 0)
        said.append(f"With {share} unused instead, it misses: {_missed(below, load, limits)}.")
    elif chosen.candidate.unused == 0:
        said.append("It needs no unused space.")
    fewer = fewer_drives(chosen, verdicts)
    if fewer is not None:
        said.append(_fewer(fewer, load, limits))
    return said


def _fewer(found: Verdict, load: Load, limits: Limits) -> str:
    name = found.candidate.layout.name
    share = text.percent(found.candidate.unused, 0)
    if found.meets:
        return f"{name} would do as well, with {share} unused ({_figures(found, load, limits)})."
    return f"{name} would not do: {share} unused misses {_missed(found, load, limits)}."


def _none_meets(verdicts: Sequence[Verdict], load: Load, limits: Limits) -> str:
    run = [each for each in verdicts if each.figures is not None]
    if not run:
        return "None of them meets it, and no run was needed to say so."
    near = min(run, key=lambda each: len(each.limited_by))
    return f"None of them meets it; {near.candidate.label} misses {_missed(near, load, limits)}."


def _missed(found: Verdict, load: Load, limits: Limits) -> str:
    if found.reason:
        return "there is no such drive"
    if found.figures is None:
        return f"{', '.join(found.limited_by)}, by {found.decided_by}"
    return f"{', '.join(found.limited_by)} ({_figures(found, load, limits)})"


def _figures(found: Verdict, load: Load, limits: Limits) -> str:
    """Write the figures that limits are for; of a run."""
    figures = found.figures
    if figures is None:
        return found.decided_by
    headroom = figures.headroom(load)
    said = [] if headroom is None else [f"{text.significant(headroom, 2)} × the IOPS"]
    for name, latency in (("read", figures.read_p99_ns), ("write", figures.write_p99_ns)):
        if latency is not None:
            said.append(f"{name} p99 {text.duration(latency, 2)}")
    said.append(f"{text.years(figures.years(load.bytes_per_day))} years")
    return ", ".join(said)
