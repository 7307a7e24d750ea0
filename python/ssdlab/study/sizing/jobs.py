"""The jobs of a load, as fio job files: what makes a drive steady, and what is measured then.

    saturated   256 requests outstanding: the IOPS that headroom is of
    settle      at the rate that is asked: what collection still owes is paid
    load        at that rate, arrivals at random (Poisson), as many outstanding as come: latencies
    morning     the same after idle hours
    rush        256 requests outstanding, after idle hours again

The last two are for drives that do something in idle hours. A fio job runs alone instead: for as
many requests as latencies need if any stretch of it is like any other, else to its end. At the rate
that is asked reads and writes are jobs of their own: in one job, one would wait for the other's
turn and come in bursts, the longer the lower the rate.

Of a slice (`sizing/slices.py`), 1/n of a drive, the rate and the requests outstanding are 1/n; the
saturated job has no more of them than the drive's queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ssdlab.experiment.experiment import Value, section
from ssdlab.study.sizing.load import HostLoad

SATURATED, SETTLE, LOAD = "saturated", "settle", "load"
MORNING, RUSH = "morning", "rush"
_DEPTH = 256
_MOST_OUTSTANDING, _LEAST_OUTSTANDING = 4096, 256
REQUESTS = 300_000
"""Of the load: three thousand of them lie above the 99th percentile."""
_OF_A_JOB = 500_000
_LEAST_REQUESTS = 50_000
_SETTLE_S, _SETTLE_REQUESTS = 20.0, 3_000_000


def _access(load: HostLoad) -> dict[str, Value]:
    kind = "" if load.sequential else "rand"
    options: dict[str, Value] = {"rw": f"{kind}write", "bs": load.block_bytes}
    if load.read_share > 0:
        mixed = "rw" if load.sequential else "randrw"
        options |= {"rw": mixed, "rwmixread": round(load.read_share * 100)}
    return options if load.sequential else options | {"norandommap": True}


def _rate(load: HostLoad, share: float, parts: int) -> int:
    """Return a rate as fio takes it: whole requests a second."""
    return max(1, round(load.rate / parts * share)) if share else 0


def _paced(name: str, load: HostLoad, parts: int, **options: Value) -> str:
    """Return reads and writes at the load's rate, side by side; ``number_ios`` is of both."""
    both = options.pop("number_ios", None)
    sections = []
    shares = {"read": load.read_share, "write": load.write_share}
    for direction, share in shares.items():
        if share == 0:
            continue
        access = _access(replace(load, read_share=0.0)) | {
            "rw": direction if load.sequential else f"rand{direction}",
            "iodepth": max(_LEAST_OUTSTANDING, _MOST_OUTSTANDING // parts),
            "rate_iops": _rate(load, share, parts),
            "rate_process": "poisson",
        }
        count = {} if both is None else {"number_ios": max(1, round(float(both) * share))}
        sections.append(section(f"{name}_{direction}s", **options, **count, **access))
    return "\n".join(sections)


def writes(load: HostLoad, unit_bytes: int) -> str:
    """Return the job that brings a drive into steady state: writes alone, trims where there are.

    With t of the trims and w of the writes uniform over the drive, a share t / (t + w) is free in
    the long run. A trim of less than a mapping unit unmaps nothing, while a write maps all of it.
    """
    if load.job is not None:
        return load.job
    access = _access(replace(load, read_share=0.0))
    if not load.trimmed:
        return section("writes", **access)
    writers = round((1 - load.trimmed) / load.trimmed)
    piece = max(load.block_bytes, unit_bytes)
    trims = section("trims", rw="randtrim", bs=piece, norandommap=True)
    return section("writes", **access, numjobs=writers) + trims


def measured(
    load: HostLoad,
    *,
    wear_alone: bool = False,
    idle_hours: float = 0.0,
    parts: int = 1,
    queue_depth: int = _DEPTH,
) -> str:
    """Return the jobs that follow, or the fio job itself; for wear the first is enough.

    Parameters
    ----------
    idle_hours
        Before the jobs of the morning; 0 for none of them.
    parts, queue_depth
        As many slices are the drive, and what it takes at a time; the whole load is given.
    """
    if load.job is not None:
        return load.job
    access = _access(load)
    depth = _DEPTH if parts == 1 else max(1, min(_DEPTH, queue_depth) // parts)
    count = max(_LEAST_REQUESTS, REQUESTS // parts)
    saturated = section(SATURATED, iodepth=depth, number_ios=2 * count, **access)
    if wear_alone:
        return saturated
    settle_s = min(_SETTLE_S, _SETTLE_REQUESTS / load.rate)
    lasts_s = REQUESTS / sum(
        _rate(load, each, parts) for each in (load.read_share, load.write_share)
    )
    jobs = [
        saturated,
        _paced(SETTLE, load, parts, time_based=True, runtime=f"{settle_s * 1e3:.0f}ms"),
        _paced(LOAD, load, parts, time_based=True, runtime=f"{lasts_s * 1e3:.0f}ms"),
    ]
    if idle_hours:
        night: dict[str, Value] = {"startdelay": seconds(idle_hours)}
        jobs.append(_paced(MORNING, load, parts, number_ios=REQUESTS // parts, **night))
        rush = section(RUSH, iodepth=depth, number_ios=REQUESTS // parts, **night, **access)
        jobs.append(rush)
    return in_turn(jobs)


def ends(load: HostLoad) -> tuple[str, ...]:
    """Return the fio options that end a job of the user's when it has told enough.

    All sections end with the first of them, so that each is measured beside the others.
    """
    if not load.stationary:
        return ()
    return (f"--number_ios={_OF_A_JOB}", "--exitall", "--exit_what=stonewall")


def in_turn(groups: Sequence[str]) -> str:
    """Join groups of sections into a job file in which each group waits for the one before."""
    return "\n".join([groups[0], *(_waiting(each) for each in groups[1:])])


def _waiting(group: str) -> str:
    """Have the first section of a group wait; a blank line ends it."""
    first, blank, rest = group.partition("\n\n")
    return f"{first.rstrip()}\nstonewall\n" + (f"\n{rest}" if blank else "")


def seconds(hours: float) -> str:
    """Write hours as fio reads a time."""
    return f"{round(hours * 3600)}s"


def flags(job: str) -> list[str]:
    """Write a job file as flags, as the fio program takes them."""
    lines = filter(None, job.splitlines())
    return [f"--name={line[1:-1]}" if line.startswith("[") else f"--{line}" for line in lines]
