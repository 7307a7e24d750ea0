"""The fresh drive: data sheet, pool, and tPROG.

    time of a read command = 1 s / IOPS of reads
    share of spare blocks = bytes written between the fill and the knee / capacity
    tPROG: so that the fill, or where none was measured the first random writes, have their rate

Random writes slower than the fill are no measure of tPROG: the controller's time of a write command
is then 1 s / IOPS. Left out: the few blocks by which a drive begins to collect before its pool is
empty, about 3 % of the spare, which the cost of a move takes up.
"""

from __future__ import annotations

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.shown import in_bytes, parameters
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.twin.goals import Goal, Goals
from ssdlab.study.twin.runs import SliceRuns, dies_of
from ssdlab.study.twin.solve import NEAR, after, solved
from ssdlab.study.twin.twin import Twin

_OF_THE_KNEE = 0.6
"""A fresh drive is written to so far."""
_REQUESTS_A_MIB = 256


def data_sheet(goals: Goals, twin: Twin) -> None:
    """Take what arithmetic gives.

    Raises
    ------
    SsdlabError
        The base cannot have a number; the figure's line is named.
    """
    twin.derive("ftl.spare_counts", "collected", "measured", "the pool takes part in collection")
    twin.derive("reliability.factory_bad_share", 0, "assumed", "bad blocks are not in the pool")
    for name, goal in goals.once.items():
        if name == "capacity_bytes":
            twin.derive(name, str(round(goal.value)), "measured", goal.source)
        elif name == "knee_drive_writes":
            twin.derive("over_provisioning", goal.value, "measured", f"{goal.source}: the pool")
        elif name == "read_iops":
            micro = 1e6 / goal.value
            twin.fit("controller.read_command_us", micro, f"{goal.source}: 1 s / IOPS")
        elif name == "read_mb_per_s":
            twin.fit("link.mb_per_s", goal.value, goal.source)
        _check(twin, goal)


def _check(twin: Twin, goal: Goal) -> None:
    try:
        engine.show(twin.base, twin.settings())
    except SsdlabError as error:
        raise SsdlabError(f"{goal.place}: {goal.label} {goal.value:g}: {error}") from None


def program_time(goals: Goals, twin: Twin, runs: SliceRuns, progress: Progress) -> None:
    """Find tPROG, and the time of a write command where that is what limits a fresh drive.

    Raises
    ------
    OutOfReach
        The base does not write so fast or so slowly, whatever its flash.
    """
    fill, fresh = (goals.once.get(name) for name in ("fill_mib_per_s", "fresh_mib_per_s"))
    goal = fill or fresh
    assert goal is not None, "the goals were checked"
    done = 0

    def rate(of: Goal, **more: float) -> float:
        nonlocal done
        done += 1
        if of is fill:
            return runs.fill(twin.settings(**more), after(progress, done - 1))
        written = _OF_THE_KNEE * goals.once["knee_drive_writes"].value
        return runs.fresh(written, twin.settings(**more), after(progress, done - 1))

    longest = _longest_program_us(twin, goal.value)
    micro, reached = solved(
        goal,
        "nand.program_us",
        lambda value: rate(goal, nand__program_us=value),
        longest / 4,
        longest * (1 + NEAR),
    )
    twin.fit("nand.program_us", micro, f"{goal.source}; limits of power are in it")
    twin.compare(goal, reached, "fitted")
    if fill is None or fresh is None:
        return
    reached = rate(fresh)
    if reached > fresh.value * (1 + NEAR):
        micro = 1e6 / (fresh.value * _REQUESTS_A_MIB)
        twin.fit("controller.write_command_us", micro, f"{fresh.source}, below the fill's")
        reached = rate(fresh)
    twin.compare(fresh, reached, "fitted")


def _longest_program_us(twin: Twin, mib_per_s: float) -> float:
    """Return tPROG of dies that do nothing but program at a rate, in µs."""
    values = parameters(engine.show(twin.base, twin.settings()))
    row_bytes = in_bytes(values["nand.page_bytes"]) * int(values["nand.planes"])
    return dies_of(twin.base) * row_bytes / (mib_per_s * (1 << 20)) * 1e6
