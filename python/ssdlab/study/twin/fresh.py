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
from ssdlab.study.twin.runs import Runs, dies_of
from ssdlab.study.twin.solve import NEAR, after, solved
from ssdlab.study.twin.targets import Target, Targets
from ssdlab.study.twin.twin import Twin

_OF_THE_KNEE = 0.6
"""A fresh drive is written to so far."""
_REQUESTS_A_MIB = 256


def data_sheet(targets: Targets, twin: Twin) -> None:
    """Take what arithmetic gives.

    Raises
    ------
    SsdlabError
        The base cannot have a number; the figure's line is named.
    """
    twin.derive("ftl.spare_counts", "collected", "measured", "the pool takes part in collection")
    twin.derive("reliability.factory_bad_share", 0, "assumed", "bad blocks are not in the pool")
    for name, target in targets.once.items():
        if name == "capacity_bytes":
            twin.derive(name, str(round(target.value)), "measured", target.source)
        elif name == "knee_drive_writes":
            twin.derive("over_provisioning", target.value, "measured", f"{target.source}: the pool")
        elif name == "read_iops":
            micro = 1e6 / target.value
            twin.fit("controller.read_command_us", micro, f"{target.source}: 1 s / IOPS")
        elif name == "read_mb_per_s":
            twin.fit("link.mb_per_s", target.value, target.source)
        _check(twin, target)


def _check(twin: Twin, target: Target) -> None:
    try:
        engine.show(twin.base, twin.settings())
    except SsdlabError as error:
        raise SsdlabError(f"{target.place}: {target.label} {target.value:g}: {error}") from None


def program_time(targets: Targets, twin: Twin, runs: Runs, progress: Progress) -> None:
    """Find tPROG, and the time of a write command where that is what limits a fresh drive.

    Raises
    ------
    OutOfReach
        The base does not write so fast or so slowly, whatever its flash.
    """
    fill, fresh = (targets.once.get(name) for name in ("fill_mib_per_s", "fresh_mib_per_s"))
    target = fill or fresh
    assert target is not None, "the targets were checked"
    done = 0

    def rate(of: Target, **more: float) -> float:
        nonlocal done
        done += 1
        if of is fill:
            return runs.fill(twin.settings(**more), after(progress, done - 1))
        written = _OF_THE_KNEE * targets.once["knee_drive_writes"].value
        return runs.fresh(written, twin.settings(**more), after(progress, done - 1))

    longest = _longest_program_us(twin, target.value)
    micro, reached = solved(
        target,
        "nand.program_us",
        lambda value: rate(target, nand__program_us=value),
        longest / 4,
        longest * (1 + NEAR),
    )
    twin.fit("nand.program_us", micro, f"{target.source}; limits of power are in it")
    twin.compare(target, reached, "fitted")
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
