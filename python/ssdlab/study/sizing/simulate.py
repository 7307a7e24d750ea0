"""The runs that decide: a drive in steady state, without a pause, then at the rate that is asked.

Of a large drive a slice is run (`sizing/slices.py`); each member of an array is whole. It is
brought into steady state by the load's own writes, as `ssdlab season` does it, and kept in the
cache; the layers are put over it. Then the jobs of the load follow (`sizing/jobs.py`); of a fio job
the last stonewall group is the load.

    programmed bytes a host byte = WA in steady state · bytes to drives / bytes of the host
    years = flash bytes · rated cycles / (programmed a host byte · bytes a day · 365.25)

WA is that of the last round of preconditioning, a quarter of the capacity, or of the last slice
that the whole drive wrote after its scale model: the jobs that follow are too short for one. A
trace does not make a drive steady (4 KiB uniform does), and so has the WA of its own run. Where
nights trim the drive it is that of days and nights (`sizing/nights.py`).
Left out: what a drive collects in idle time beyond need; copies of a drive begin alike, so arrays
collect more in step than real ones.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from ssdlab import engine
from ssdlab.engine import Progress, conditions, latency
from ssdlab.engine.endurance import lifetime_years
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Job, Result
from ssdlab.experiment import runner
from ssdlab.experiment.runner import Chain
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing import nights
from ssdlab.study.sizing.candidate import Candidate, sheet
from ssdlab.study.sizing.jobs import RUSH, ends, flags, measured, writes
from ssdlab.study.sizing.load import HostLoad
from ssdlab.study.sizing.slices import Slice, blocks_of, most_iops, parts_of, slice_of

_PLACE_OF_LOAD = 2
"""Among the jobs of a plain load."""
_KEEPS_UP = 0.98
"""Of the rate that is asked; random arrivals differ by a half per cent."""


@dataclass(frozen=True)
class Morning:
    """What the first requests after idle hours find.

    Attributes
    ----------
    iops
        Without a pause.
    read_p99_ns, write_p99_ns
        At the rate that is asked; None of what the load does not do.
    """

    iops: float
    read_p99_ns: float | None
    write_p99_ns: float | None


@dataclass(frozen=True)
class LoadFigures:
    """What the runs of a candidate gave.

    Attributes
    ----------
    iops
        Without a pause; of a fio job, as it did. Of a slice as many times as there are slices.
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
    morning
        Of a drive that collects when idle, under a load that leaves it hours for that.
    not_steady
        Why the drive did not come into steady state, so that these are figures of another one.
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
    morning: Morning | None = None
    not_steady: str | None = None

    def years(self, bytes_per_day: float) -> float:
        """Years at so many bytes a day."""
        return lifetime_years(self.flash_bytes, self.rated_cycles, self.programmed, bytes_per_day)

    @property
    def bytes_written(self) -> float:
        """Host bytes until the cells are worn to their rating."""
        return self.flash_bytes * self.rated_cycles / self.programmed

    def headroom(self, load: HostLoad) -> float | None:
        """IOPS in multiples of what is asked; what a drive falls behind counts first."""
        if load.iops is None:
            return None
        return (self.iops if self.rate >= _KEEPS_UP * load.iops else self.rate) / load.iops

    @property
    def way_told(self) -> str:
        """How steady state came about, and whether it did."""
        return self.way if self.not_steady is None else f"{self.way}, NOT STEADY"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class DrawnDrive:
    """A drive that is drawn from what its profile assumes: what that sets on it and its layers."""

    settings: Settings
    layers: tuple[str, ...]


def conditioning(
    candidate: Candidate,
    load: HostLoad,
    seed: int,
    *,
    wear_alone: bool = False,
    exact: bool = False,
) -> tuple[RunRequest, Slice]:
    """Return what brings one drive of a candidate into steady state, and what part of it that is.

    Where nights trim it, that is the state of the evening.

    Parameters
    ----------
    wear_alone
        Latencies are not asked for.
    exact
        The whole drive, however large.
    """
    season = _season(nights.evening(candidate, load), load, seed, None)
    part = _part(candidate, load, season.settings, wear_alone=wear_alone, exact=exact)
    return replace(season, settings=part.settings, scale=part.scale), part


def _part(
    candidate: Candidate, load: HostLoad, settings: Settings, *, wear_alone: bool, exact: bool
) -> Slice:
    if exact:
        return slice_of(candidate, settings, 1)
    parts = parts_of(candidate, load, wear_alone=wear_alone)
    return slice_of(candidate, settings, parts, blocks_of(candidate, load))


def _season(candidate: Candidate, load: HostLoad, seed: int, draw: DrawnDrive | None) -> RunRequest:
    """Return what brings a whole drive into steady state; a draw is not kept."""
    return RunRequest(
        drive=candidate.drive,
        settings=candidate.settings(() if draw is None else draw.settings),
        condition=conditions.BY_JOB,
        seed=seed,
        job_text=writes(load, sheet(candidate.drive).unit_bytes),
        job_name=load.job_name,
        cache=draw is None,
    )


def simulate(
    candidate: Candidate,
    load: HostLoad,
    seed: int,
    progress: Progress,
    *,
    draw: DrawnDrive | None = None,
    wear_alone: bool = False,
    exact: bool = False,
) -> LoadFigures:
    """Run a candidate under a load.

    Parameters
    ----------
    draw
        Takes the place of the profile.
    wear_alone
        Latencies are not asked for; then of a draw of one drive a slice of one die is run.
    exact
        Run whole drives, however large.

    Raises
    ------
    SsdlabError
        The drive cannot be made so.
    Stopped
        `progress` returned False.
    """
    season = _season(nights.evening(candidate, load), load, seed, draw)
    if draw is not None and wear_alone and not draw.layers:
        # Within 1 % of the whole drive, far less than draws differ by, in a tenth of the time.
        part = slice_of(candidate, season.settings, sheet(candidate.drive).dies)
    else:
        part = _part(candidate, load, season.settings, wear_alone=wear_alone, exact=exact)
    whole, season = season, replace(season, settings=part.settings, scale=part.scale)
    request = replace(
        season,
        layers=candidate.layout.layers if draw is None else draw.layers,
        job_text=_measured(candidate, load, part.parts, wear_alone=wear_alone),
        flags=ends(load),
        json_plus=True,
    )
    drawn = () if draw is None else draw.settings
    chain = Chain.of(request, season)
    if part.blocks < 1:
        found = figures(runner.perform(chain, progress)[0], load)
        return replace(found, flash_bytes=_flash_bytes(candidate, whole), way=part.told)
    if not nights.lived(candidate, load):
        (result,) = runner.perform(chain, progress)
        return _of_whole(figures(result, load, parts=part.parts), candidate, load, part, drawn)
    (result,) = runner.perform(chain, lambda phase, share: progress(phase, share / 2))
    days = _season(candidate, load, seed, draw)
    amplification, not_steady = nights.amplification(
        candidate, load, days, lambda phase, share: progress(f"nights: {phase}", (1 + share) / 2)
    )
    found = figures(result, load, amplification, part.parts)
    found = _of_whole(found, candidate, load, part, drawn)
    way = f"{found.way}; days and nights on one die"
    return replace(found, way=way, not_steady=found.not_steady or not_steady)


def _flash_bytes(candidate: Candidate, season: RunRequest) -> float:
    """Return those of all drives."""
    shown = engine.show(candidate.drive, season.settings)
    return float(shown["wear"]["flash_bytes"]) * candidate.layout.drives


def _measured(candidate: Candidate, load: HostLoad, parts: int, *, wear_alone: bool) -> str:
    return measured(
        load,
        wear_alone=wear_alone,
        idle_hours=nights.idle_hours(candidate, load),
        parts=parts,
        queue_depth=sheet(candidate.drive).queue_depth,
    )


def _of_whole(
    found: LoadFigures, candidate: Candidate, load: HostLoad, part: Slice, drawn: Settings
) -> LoadFigures:
    """Return the figures of the drive that a slice is of."""
    if part.parts == 1:
        return found
    most = most_iops(candidate, load, drawn)

    def whole(iops: float) -> float:
        return min(most, iops * part.parts)

    morning = found.morning
    return replace(
        found,
        iops=whole(found.iops),
        rate=whole(found.rate),
        flash_bytes=found.flash_bytes * part.parts,
        way=part.told,
        morning=None if morning is None else replace(morning, iops=whole(morning.iops)),
    )


def figures(
    result: Result, load: HostLoad, amplification: float | None = None, parts: int = 1
) -> LoadFigures:
    """Read the figures of a run.

    Parameters
    ----------
    amplification
        In place of that of the run's own steady state.
    parts
        As many slices are the drive, and one was run.

    Raises
    ------
    SsdlabError
        The drive has worn out or stopped, so that there are none.
    """
    groups = _groups(result)
    last = groups[-1] if load.job is not None else groups[min(_PLACE_OF_LOAD, len(groups) - 1)]
    saturated = result.jobs[:1] if load.job is None else last
    lab = saturated[0].lab
    steady, wear = lab.get("season") or {}, lab["wear"]
    written = sum(float(job.direction("write").get("io_bytes") or 0) for job in saturated)
    if not written or not steady.get("rounds"):
        raise SsdlabError(f"{load.job_name}: writes nothing, so no drive wears")
    programmed = _programmed(saturated, amplification)
    return LoadFigures(
        iops=sum(job.iops() for job in saturated),
        rate=sum(job.iops() for job in last) * _unrounded(last, load, parts),
        read_p99_ns=_p99(last, "read"),
        write_p99_ns=_p99(last, "write"),
        write_amplification=programmed / float(lab["counters"]["nand_host_bytes_written"]),
        programmed=programmed / written,
        flash_bytes=float(wear["flash_bytes"]),
        rated_cycles=float(wear["rated_cycles"]),
        way="scale model" if "scale_model" in steady else "whole drive",
        morning=_morning(*groups[-2:]) if groups[-1][0].name == RUSH else None,
        not_steady=nights.not_steady(result),
    )


def _unrounded(jobs: list[Job], load: HostLoad, parts: int) -> float:
    """Return the load's rate, in multiples of what fio's whole requests a second made of it.

    Of 7.5 requests a second the jobs of a slice ask for 7: a drive that does these keeps up.
    """
    asked = sum(int(job.options.get("rate_iops", 0)) for job in jobs)
    return load.rate / (asked * parts) if load.job is None and asked else 1.0


def _morning(paced: list[Job], rush: list[Job]) -> Morning:
    return Morning(sum(job.iops() for job in rush), _p99(paced, "read"), _p99(paced, "write"))


def _groups(result: Result) -> list[list[Job]]:
    """Return the jobs that run together, in their order."""
    by_group = groupby(result.jobs, key=lambda job: job.lab["stonewall_group"])
    return [list(jobs) for _, jobs in by_group]


def _p99(jobs: Sequence[Job], direction: str) -> float | None:
    blocks = [job.direction(direction) for job in jobs if direction in job.directions]
    return latency.percentile(blocks, 99.0) if blocks else None


def _programmed(jobs: Sequence[Job], amplification: float | None) -> float:
    """Return the bytes that these jobs program in steady state."""
    lab = jobs[0].lab
    if any("read_iolog" in job.options for job in jobs):
        return float(lab["counters"]["nand_bytes_written"])
    received = float(lab["counters"]["nand_host_bytes_written"])
    return (amplification or nights.steady_amplification(lab["season"])) * received


def commands(
    candidate: Candidate,
    load: HostLoad,
    seed: int,
    *,
    wear_alone: bool = False,
    exact: bool = False,
) -> list[str]:
    """Return the command lines that make the same runs; a plain load needs no job file.

    Where nights trim the drive, a slice's run follows, which has the write amplification.
    """
    unit_bytes = sheet(candidate.drive).unit_bytes
    of_season = flags(writes(load, unit_bytes)) if load.job is None else ["--job", load.job_name]
    season, part = conditioning(candidate, load, seed, wear_alone=wear_alone, exact=exact)
    job = _measured(candidate, load, part.parts, wear_alone=wear_alone)
    of_run = flags(job) if load.job is None else [load.job_name, *ends(load)]
    layers = [word for each in candidate.layout.layers for word in ("--layer", each)]
    found = _commands(season, "drive.ssd", of_season, [*layers, *of_run])
    if nights.lived(candidate, load):
        small, capacity = nights.one_die(candidate, _season(candidate, load, seed, None))
        days = flags(nights.days(candidate, load, capacity))
        found += _commands(small, "die.ssd", of_season, days)
    return found


def _commands(
    season: RunRequest, file: str, of_season: Sequence[str], of_run: Sequence[str]
) -> list[str]:
    settings = [word for key, value in season.settings for word in ("--set", f"{key}={value}")]
    settings += [] if season.scale is None else ["--scale", season.scale]
    made = ["ssdlab", "season", season.drive, "--to", conditions.BY_JOB, "-o", file, *settings]
    run = ["ssdlab", "run", "--drive", file]
    seed = ["--seed", str(season.seed)]
    return [shlex.join([*made, *seed, *of_season]), shlex.join([*run, *seed, *of_run])]
