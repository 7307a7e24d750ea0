"""What ``ssdlab pts`` will take, printed beforehand: steps, time, bytes, and rated life."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ssdlab.bench.estimate import Effort, Speeds, part_effort, parts_of, plan_effort
from ssdlab.bench.plan import Part, Plan, StopRule
from ssdlab.bench.target import Description
from ssdlab.cli.console import note, print_filled, print_line, print_table, print_text
from ssdlab.ground import text


def tell_effort(
    name: str, described: Description, plan: Plan, speeds: Speeds | None, *, with_steps: bool
) -> None:
    """Print what a plan takes: in a line on stderr, or step by step.

    Parameters
    ----------
    name
        The target's.
    described, plan, speeds
        The target, what is asked of it, and what is expected of it.
    with_steps
        Print the steps of each part, and the deviations.
    """
    if with_steps:
        print_text(f"{name}: {described.model}\n{plan.standard}\n")
        headings = ("part", "steps", "drive time", "time here", "written")
        print_table(headings, _rows(described, plan, speeds), fold=1)
    if speeds is not None:
        least, most = plan_effort(plan, described.capacity_bytes, speeds)
        is_simulated = speeds.requests_per_s is not None
        told = _sentence(name, described, least, most, is_simulated=is_simulated)
        if with_steps:
            print_text("")
            print_line(told)
        else:
            note(f"ssdlab: {told}")
    if with_steps:
        for number, each in enumerate(plan.deviations, start=1):
            print_filled(f"{each.clause}. Here: {each.instead}.", f"Deviation {number}: ")


def tell_obstacles(name: str, obstacles: Sequence[str]) -> None:
    """Print why a real target would be refused."""
    if obstacles:
        print_text(f"\n{name} would be refused:")
        for each in obstacles:
            print_filled(each, "  ")


def _rows(described: Description, plan: Plan, speeds: Speeds | None) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for part in parts_of(plan):
        effort = ("", "", "")
        if speeds is not None:
            effort = _in_words(*part_effort(part, described.capacity_bytes, speeds))
        rows.append((part.name, _steps(part), *effort))
    return rows


def _steps(part: Part) -> str:
    """Name the steps of a part.

    Examples
    --------
    >>> from ssdlab.bench import book
    >>> plan = book.plan(["wsat"], 1, 32, 1, False, 512)
    >>> _steps(plan.tests[0].parts[0])
    'purge; rounds of 1 cell until steady, at most 4 × the capacity or 24.0 h'
    """
    steps = ["purge"]
    if part.conditioning is not None:
        size = text.exact_size(part.conditioning.load.block_bytes)
        times = {1.0: "once"}.get(part.conditioning.passes, f"{part.conditioning.passes:g} times")
        steps.append(f"write the capacity {times}, {size} sequential")
    if part.cells:
        steps.append(_rounds(part))
    if part.afterwards:
        steps.append(f"{len(part.afterwards)} steps afterwards")
    return "; ".join(steps)


def _rounds(part: Part) -> str:
    limits = _limits(part.stop)
    if not part.stop.until_steady:
        return f"{limits} of {_cells(part)}"
    return f"rounds of {_cells(part)} until steady, at most {limits}"


def _cells(part: Part) -> str:
    """Count the cells of a round, or describe the one that there is by its bytes."""
    first, count = part.cells[0], len(part.cells)
    if first.passes is not None:
        return f"{text.percent(first.passes)} of the capacity, {first.name}"
    return "1 cell" if count == 1 else f"{count} cells"


def _limits(stop: StopRule) -> str:
    limits = []
    if stop.most_rounds is not None:
        limits.append(f"{stop.most_rounds} rounds")
    if stop.most_passes is not None:
        limits.append(f"{stop.most_passes:g} × the capacity")
    if stop.most_seconds is not None:
        limits.append(text.long_time(stop.most_seconds))
    return " or ".join(limits)


def _in_words(least: Effort, most: Effort) -> tuple[str, str, str]:
    return (
        _span(least.target_s, most.target_s, text.long_time),
        _span(least.machine_s, most.machine_s, text.long_time),
        _span(least.written_bytes, most.written_bytes, text.size),
    )


def _span(least: float, most: float, write: Callable[[float], str]) -> str:
    first, last = write(least), write(most)
    return first if first == last else f"{first} to {last}"


def _sentence(
    name: str, described: Description, least: Effort, most: Effort, *, is_simulated: bool
) -> str:
    """Say what all of it takes; the share of life counts what is programmed, as wear does."""
    drive_time, here, written = _in_words(least, most)
    # Other work on this machine makes it longer by the clock, and several cores shorter.
    here += " of processor time here" if is_simulated else " here"
    told = f"{name}: takes about {here}, {drive_time} of drive time; writes {written}"
    rated = described.rated_bytes
    if rated is None:
        return told
    first, last = least.programmed_bytes / rated, most.programmed_bytes / rated
    return f"{told}, {_span(first, last, lambda share: text.percent(share, 3))} of rated life"
