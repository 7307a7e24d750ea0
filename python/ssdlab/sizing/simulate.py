"""The runs that decide: a drive in steady state, without a pause, then at the rate that is asked.

Each member of a layout is brought into steady state by the load's own writes, as `ssdlab season`
does it, and kept in the cache; the layers are put over it. Then three jobs follow each other:

    saturated   256 requests outstanding: the IOPS that headroom is of
    settle      at the rate that is asked: what collection still owes is paid
    load        at that rate, arrivals at random (Poisson), as many outstanding as come: latencies

A fio job runs alone instead; its last stonewall group is the load.

    programmed bytes a host byte = WA in steady state · bytes to drives / bytes of the host
    years = flash bytes · rated cycles / (programmed a host byte · bytes a day · 365.25)

WA is that of the last round of preconditioning, a quarter of the capacity, or of the last slice
that the whole drive wrote after its scale model: the jobs that follow are too short for one. A
trace does not make a drive steady (4 KiB uniform does), and so has the WA of its own run.
Left out: what a drive collects in idle time beyond need, the pauses of nights; copies of a drive
begin alike, so arrays collect more in step than real ones.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ssdlab import engine, latency, runner
from ssdlab.cache import conditioned
from ssdlab.endurance import lifetime_years
from ssdlab.engine import Progress
from ssdlab.errors import SsdlabError
from ssdlab.reproduce.experiment import Value, section, story
from ssdlab.request import RunRequest, Settings
from ssdlab.result import Job, Result
from ssdlab.sizing.candidate import Candidate, sheet
from ssdlab.sizing.load import Load

SATURATED, SETTLE, LOAD = "saturated", "settle", "load"
_DEPTH = 256
_MOST_OUTSTANDING = 4096
_REQUESTS = 300_000
"""Of the load: three thousand of them lie above the 99th percentile."""
_SETTLE_S, _SETTLE_REQUESTS = 20.0, 3_000_000
_CONDITIONING_SHARE = 0.8
_KEEPS_UP = 0.98
"""Of the rate that is asked; random arrivals differ by a half per cent."""


@dataclass(frozen=True)
class Figures:
    """What the runs of a candidate gave.

    Attributes
    ----------
    iops
        Without a pause; of a fio job, as it did.
    rate
        Requests a second that were done when the load's were asked for.
    read_p99_ns, write_p99_ns
        At the rate that is asked; None of what the load does not do.
    write_amplification
        In steady state, for each byte that drives receive.
    programmed
        Bytes programmed for each byte that the host writes.
    flash_bytes, rated_cycles
        Of all drives; of their cells.
    way
        How steady state came about.
    """

    iops: float
    rate: float
    read_p99_ns: float | None
    write_p99_ns: float | None
    write_amplification: float
    programmed: float
    flash_bytes: float
    rated_cycles: float
    way: str

    def years(self, bytes_per_day: float) -> float:
        """Years at so many bytes a day."""
        return lifetime_years(self.flash_bytes, self.rated_cycles, self.programmed, bytes_per_day)

    @property
    def bytes_written(self) -> float:
        """Host bytes until the cells are worn to their rating."""
        return self.flash_bytes * self.rated_cycles / self.programmed

    def headroom(self, load: Load) -> float | None:
        """IOPS in multiples of what is asked; what a drive falls behind counts first."""
        if load.iops is None:
            return None
        return (self.iops if self.rate >= _KEEPS_UP * load.iops else self.rate) / load.iops

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


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


def writes(load: Load) -> str:
    """Return the job that brings a drive into steady state: writes alone, trims where there are.

    With t of the trims and w of the writes uniform over the drive, a share t / (t + w) is free in
    the long run.
    """
    if load.job is not None:
        return load.job
    access = _access(replace(load, read_share=0.0))
    if not load.trimmed:
        return section("writes", **access)
    writers = round((1 - load.trimmed) / load.trimmed)
    trims = section("trims", rw="randtrim", bs=load.block_bytes, norandommap=True)
    return section("writes", **access, numjobs=writers) + trims


def measured(load: Load, *, wear_alone: bool = False) -> str:
    """Return the three jobs that follow, or the fio job itself; for wear the first is enough."""
    if load.job is not None:
        return load.job
    access, rate = _access(load), _rate(load)
    saturated = section(SATURATED, iodepth=_DEPTH, number_ios=2 * _REQUESTS, **access)
    if wear_alone:
        return saturated
    settle_s = min(_SETTLE_S, _SETTLE_REQUESTS / load.rate)
    return story(
        saturated,
        section(SETTLE, time_based=True, runtime=f"{settle_s * 1e3:.0f}ms", **rate, **access),
        section(LOAD, number_ios=_REQUESTS, **rate, **access),
    )


@dataclass(frozen=True)
class Draw:
    """A drive that is drawn from what its profile assumes: what that sets on it and its layers."""

    settings: Settings
    layers: tuple[str, ...]


def conditioning(
    candidate: Candidate, load: Load, seed: int, draw: Draw | None = None
) -> RunRequest:
    """Return what brings one drive of a candidate into steady state; a draw is not kept."""
    return RunRequest(
        drive=candidate.drive,
        settings=candidate.settings(() if draw is None else draw.settings),
        condition="steady",
        seed=seed,
        job_text=writes(load),
        job_name=load.job_name,
        cache=draw is None,
    )


def simulate(
    candidate: Candidate,
    load: Load,
    seed: int,
    progress: Progress,
    *,
    draw: Draw | None = None,
    wear_alone: bool = False,
) -> Figures:
    """Run a candidate under a load.

    Parameters
    ----------
    draw
        Takes the place of the profile.
    wear_alone
        Latencies are not asked for.

    Raises
    ------
    SsdlabError
        The drive cannot be made so.
    Stopped
        `progress` returned False.
    """
    season = conditioning(candidate, load, seed, draw)
    request = replace(
        season,
        layers=candidate.layout.layers if draw is None else draw.layers,
        job_text=measured(load, wear_alone=wear_alone),
        json_plus=True,
    )
    return figures(_run(season, request, progress), load, candidate)


def _run(season: RunRequest, request: RunRequest, progress: Progress) -> Result:
    """Run a job on a drive, or an array of drives, that was brought into its state alone."""

    def before(phase: str, share: float) -> bool:
        return progress(phase, share * _CONDITIONING_SHARE)

    def after(phase: str, share: float) -> bool:
        return progress(phase, _CONDITIONING_SHARE + share * (1 - _CONDITIONING_SHARE))

    kept = conditioned(season, before)
    if kept is not season:
        return runner.whole(engine.run(request.on(kept.drive), after), request.job_name)
    found: list[Result] = []
    chain = runner.Chain((("", request),), season)
    runner.perform(chain, progress, lambda _, result: found.append(result))
    return found[0]


def figures(result: Result, load: Load, candidate: Candidate) -> Figures:
    """Read the figures of a run.

    Raises
    ------
    SsdlabError
        The drive has worn out or stopped, so that there are none.
    """
    last = _last_group(result)
    saturated = result.jobs[:1] if load.job is None else last
    lab = saturated[0].lab
    steady, wear = lab.get("season") or {}, lab["wear"]
    written = sum(float(job.direction("write").get("io_bytes") or 0) for job in saturated)
    if not written or not steady.get("rounds"):
        raise SsdlabError(f"{load.job_name}: writes nothing, so no drive wears")
    programmed = _programmed(saturated, candidate)
    return Figures(
        iops=sum(job.iops() for job in saturated),
        rate=sum(job.iops() for job in last),
        read_p99_ns=_p99(last, "read"),
        write_p99_ns=_p99(last, "write"),
        write_amplification=programmed / float(lab["counters"]["nand_host_bytes_written"]),
        programmed=programmed / written,
        flash_bytes=float(wear["flash_bytes"]),
        rated_cycles=float(wear["rated_cycles"]),
        way="scale model" if "scale_model" in steady else "whole drive",
    )


def _last_group(result: Result) -> list[Job]:
    groups = [job.lab["stonewall_group"] for job in result.jobs]
    return [job for job in result.jobs if job.lab["stonewall_group"] == groups[-1]]


def _p99(jobs: Sequence[Job], direction: str) -> float | None:
    blocks = [job.direction(direction) for job in jobs if direction in job.directions]
    return latency.percentile(blocks, 99.0) if blocks else None


def _programmed(jobs: Sequence[Job], candidate: Candidate) -> float:
    """Return the bytes that these jobs program in steady state."""
    lab = jobs[0].lab
    if any("read_iolog" in job.options for job in jobs):
        return float(lab["counters"]["nand_bytes_written"])
    touched = float(lab["host_pages_written"]) * sheet(candidate.drive).unit_bytes
    return _steady_amplification(lab["season"]) * touched


def _steady_amplification(season: Mapping[str, Any]) -> float:
    scaled = season.get("scale_model")
    return float((scaled["slices"] if scaled else season["rounds"])[-1])


def commands(candidate: Candidate, load: Load, seed: int, *, wear_alone: bool = False) -> list[str]:
    """Return the command lines that make the same runs; a plain load needs no job file."""
    file, job = "drive.ssd", load.job_name
    season = ["ssdlab", "season", candidate.drive, "--to", "steady", "-o", file]
    settings = [word for key, value in candidate.settings() for word in ("--set", f"{key}={value}")]
    run = ["ssdlab", "run", "--drive", file, "--seed", str(seed)]
    layers = [word for each in candidate.layout.layers for word in ("--layer", each)]
    of_season = _flags(writes(load)) if load.job is None else ["--job", job]
    of_run = _flags(measured(load, wear_alone=wear_alone)) if load.job is None else [job]
    return [
        shlex.join([*season, *settings, "--seed", str(seed), *of_season]),
        shlex.join([*run, *layers, *of_run]),
    ]


def _flags(job: str) -> list[str]:
    """Write a job file as flags, as the fio program takes them."""
    lines = filter(None, job.splitlines())
    return [f"--name={line[1:-1]}" if line.startswith("[") else f"--{line}" for line in lines]
