"""The answer in sentences: what meets it, what less spare and one drive less would cost."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.ground import text
from ssdlab.study.sizing import shown
from ssdlab.study.sizing.candidate import ArrayLayout
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.search import ranked
from ssdlab.study.sizing.verdict import CandidateVerdict


def brief(verdicts: Sequence[CandidateVerdict]) -> list[CandidateVerdict]:
    """Return what a buyer compares, of each drive and layout, in the order given.

    Of what meets the least spare, and the one below it; else the best that can be had of it: the
    most spare that was run, or the most that closed forms rule out.
    """
    groups = dict[tuple[str, ArrayLayout], list[CandidateVerdict]]()
    for each in verdicts:
        groups.setdefault((each.candidate.drive, each.candidate.layout), []).append(each)
    kept = [one for group in groups.values() for one in _brief(group)]
    return [each for each in verdicts if each in kept]


def _brief(group: Sequence[CandidateVerdict]) -> list[CandidateVerdict]:
    rising = sorted(group, key=lambda each: each.candidate.unused)
    place = next((place for place, each in enumerate(rising) if each.meets), None)
    if place is not None:
        return rising[max(0, place - 1) : place + 1]
    return [next((each for each in reversed(rising) if each.figures is not None), rising[-1])]


def of_drive(group: Sequence[CandidateVerdict], load: HostLoad, limits: Limits) -> str:
    """Say in a line what was found of a drive in a layout, of all its shares."""
    found = _brief(group)[-1]
    share = text.percent(found.candidate.unused, 0)
    name = f"{found.candidate.drive}, {found.candidate.layout.name}"
    if not found.is_judged:
        return f"{name}: cannot be judged: {found.reason}"
    if found.meets:
        return f"{name}: meets with {share} unused ({shown.line(found, load, limits)})"
    return f"{name}: misses with up to {share} unused: {shown.missed(found, load, limits)}"


def best(verdicts: Sequence[CandidateVerdict]) -> CandidateVerdict | None:
    """Return the first that meets what is asked."""
    first = ranked(verdicts)[0] if verdicts else None
    return first if first is not None and first.meets else None


def less_spare(
    chosen: CandidateVerdict, verdicts: Sequence[CandidateVerdict]
) -> CandidateVerdict | None:
    """Return the verdict on the same with the next smaller share unused."""
    mine = chosen.candidate
    smaller = [
        each
        for each in verdicts
        if (each.candidate.drive, each.candidate.layout) == (mine.drive, mine.layout)
        and each.candidate.unused < mine.unused
    ]
    return max(smaller, key=lambda each: each.candidate.unused, default=None)


def fewer_drives(
    chosen: CandidateVerdict, verdicts: Sequence[CandidateVerdict]
) -> CandidateVerdict | None:
    """Return the best verdict on the same drive in the layout with one drive less."""
    smaller = chosen.candidate.layout.smaller()
    mine = [
        each
        for each in verdicts
        if each.candidate.drive == chosen.candidate.drive and each.candidate.layout == smaller
    ]
    return ranked(mine)[0] if mine else None


def sentences(verdicts: Sequence[CandidateVerdict], load: HostLoad, limits: Limits) -> list[str]:
    """Say what was found; the first sentence is the answer, the last what was not steady."""
    restless = [each.candidate.label for each in verdicts if each.not_steady]
    return [*_found(verdicts, load, limits), *not_steady(restless)]


def not_steady(names: Sequence[str]) -> list[str]:
    """Say whose figures are not those of a steady state; nothing where there is no such drive."""
    each = ", ".join(names)
    return [f"NOT STEADY: {each}: these figures are not those of a steady state."] if names else []


def _found(verdicts: Sequence[CandidateVerdict], load: HostLoad, limits: Limits) -> list[str]:
    chosen = best(verdicts)
    if chosen is None:
        return [_none_meets(verdicts, load, limits)]
    how = "cheapest" if chosen.price is not None else "smallest"
    none = "none is set" if chosen.figures is not None else "none is near"
    near = ", ".join(chosen.limited_by) or none
    said = [
        f"The {how} that meets it: {chosen.candidate.label} "
        f"({shown.line(chosen, load, limits)}); nearest to its limit: {near}."
    ]
    below = less_spare(chosen, verdicts)
    if below is not None:
        share = text.percent(below.candidate.unused, 0)
        said.append(f"With {share} unused instead, it misses: {shown.missed(below, load, limits)}.")
    elif chosen.candidate.unused == 0:
        said.append("It needs no unused space.")
    fewer = fewer_drives(chosen, verdicts)
    if fewer is not None:
        said.append(_fewer(fewer, load, limits))
    return said


def _fewer(found: CandidateVerdict, load: HostLoad, limits: Limits) -> str:
    name = found.candidate.layout.name
    share = text.percent(found.candidate.unused, 0)
    if found.meets:
        return f"{name} would do as well, with {share} unused ({shown.line(found, load, limits)})."
    return f"{name} would not do: {share} unused misses {shown.missed(found, load, limits)}."


def _none_meets(verdicts: Sequence[CandidateVerdict], load: HostLoad, limits: Limits) -> str:
    run = [each for each in verdicts if each.figures is not None]
    if not any(each.is_judged for each in verdicts):
        return "None of them could be judged."
    if not run:
        return "None of them meets it, and no run was needed to say so."
    near = min(run, key=lambda each: len(each.limited_by))
    missed = shown.missed(near, load, limits)
    return f"None of them meets it; {near.candidate.label} misses {missed}."
