"""The jobs of a load, as fio job files: what makes a drive steady, and what is measured then.

    saturated   256 requests outstanding: the IOPS that headroom is of
    settle      at the rate that is asked: what collection still owes is paid
    load        at that rate, arrivals at random (Poisson), as many outstanding as come: latencies
    morning     the same after idle hours
    rush        256 requests outstanding, after idle hours again

The last two are for drives that do something in idle hours. A fio job runs alone instead.
"""

from __future__ import annotations

from dataclasses import replace

from ssdlab.reproduce.experiment import Value, section, story
from ssdlab.sizing.load import Load

SATURATED, SETTLE, LOAD = "saturated", "settle", "load"
MORNING, RUSH = "morning", "rush"
_DEPTH = 256
_MOST_OUTSTANDING = 4096
REQUESTS = 300_000
"""Of the load: three thousand of them lie above the 99th percentile."""
_SETTLE_S, _SETTLE_REQUESTS = 20.0, 3_000_000


def _access(load: Load) -> dict[str, Value]:
    kind = "" if load.sequential else "rand"
    options: dict[str, Value] = {"rw": f"{kind}write", "bs": load.block_bytes}
    if load.read_share > 0:
        mixed = "rw" if load.sequential else "randrw"
        options |= {"rw": mixed, "rwmixread": round(load.read_share * 100)}
    return options if load.sequential else options | {"norandommap": True}


def _rate(load: Load) -> dict[str, Value]:
    read, write = load.rate * load.read_share, load.rate * load.write_share
    rates = f"{max(1, round(read))},{max(1, round(write))}" if read else max(1, round(write))
    return {"iodepth": _MOST_OUTSTANDING, "rate_iops": rates, "rate_process": "poisson"}


def writes(load: Load, unit_bytes: int) -> str:
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


def measured(load: Load, *, wear_alone: bool = False, idle_hours: float = 0.0) -> str:
    """Return the jobs that follow, or the fio job itself; for wear the first is enough.

    Parameters
    ----------
    idle_hours
        Before the jobs of the morning; 0 for none of them.
    """
    if load.job is not None:
        return load.job
    access, rate = _access(load), _rate(load)
    saturated = section(SATURATED, iodepth=_DEPTH, number_ios=2 * REQUESTS, **access)
    if wear_alone:
        return saturated
    settle_s = min(_SETTLE_S, _SETTLE_REQUESTS / load.rate)
    jobs = [
        saturated,
        section(SETTLE, time_based=True, runtime=f"{settle_s * 1e3:.0f}ms", **rate, **access),
        section(LOAD, number_ios=REQUESTS, **rate, **access),
    ]
    if idle_hours:
        night: dict[str, Value] = {"startdelay": seconds(idle_hours), "number_ios": REQUESTS}
        jobs.append(section(MORNING, **night, **rate, **access))
        jobs.append(section(RUSH, iodepth=_DEPTH, **night, **access))
    return story(*jobs)


def seconds(hours: float) -> str:
    """Write hours as fio reads a time."""
    return f"{round(hours * 3600)}s"


def flags(job: str) -> list[str]:
    """Write a job file as flags, as the fio program takes them."""
    lines = filter(None, job.splitlines())
    return [f"--name={line[1:-1]}" if line.startswith("[") else f"--{line}" for line in lines]
