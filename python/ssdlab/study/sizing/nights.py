"""Nights: free space that is trimmed at one go, as ``fstrim`` by cron does it, and idle hours.

Of what a drive exports the share f is free in the file system. Right after the trim all of it is
unmapped, and spare. Then writes, uniform over the drive, map it again; after t drive writes

    mapped share        v(t) = 1 − f · e^(−t)
    effective spare     1 + OP'(t) = (1 + OP) / v(t)

as for trims at any time (docs/explanation/model.md, section 8), so over d drive writes from trim to
trim

    WA ≈ 1/d · ∫₀^d A(OP'(t)) dt,   A the closed form of the policy

Few writes a day leave f unmapped, as if it were unused; many leave little of it. What was written
into the free space in the meantime are new files, and as many others were deleted, lying scattered:
of all units the share r = f · (1 − e^(−d)) / (1 − f · e^(−d)) is trimmed, which makes f unmapped
again.

**Idle hours**: a drive that collects when idle (``ftl.idle_gc_after_ms``;
docs/explanation/model.md, section 4) empties its SLC cache and collects ahead of need in the hours
without load. That costs wear, and a morning finds more free blocks. Other drives do nothing.

The formula explains; **the answer is a run**: a slice of one die, in steady state, lives through
days (so many writes, without a pause) and nights (trims, idle hours) until 3 drive writes and 3
nights have passed, and the last drive write's WA differs by 1 % at most from that of the one
before; else twice and four times as long. That takes in how blocks age, which the formula leaves
out. Very short days are put together: less than a twentieth of a drive write from trim to trim, a
hundredth from one idle time to the next. After 4 drive writes in one go the rest of the time is as
in steady state. IOPS and latencies are those of the evening, just before the trim: of a drive with
f · e^(−d) unused.

Left out: free space that lies together and is used again first, files of one night that die
together, the time that the trim itself takes, layers that do not pass trims on, pauses between the
requests of a day that are long enough for collection, idle hours between writes in order, or
among trims at any time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Job, Result
from ssdlab.experiment import runner
from ssdlab.experiment.experiment import Value, section, story
from ssdlab.experiment.runner import Chain
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.study.sizing.candidate import Candidate, sheet
from ssdlab.study.sizing.jobs import seconds
from ssdlab.study.sizing.load import HostLoad

_DEPTH = 32
_LEAST_DAY, _LEAST_IDLE_DAY, _MOST_DAY = 0.05, 0.01, 4.0
"""Drive writes without a night in a run."""
_DRIVE_WRITES, _LEAST_DAYS = 3.0, 3
_AGREE_WITHIN = 0.01
_TIMES = (1, 2, 4)


def drive_writes(candidate: Candidate, load: HostLoad) -> float:
    """Return how often a drive is written over from one trim to the next."""
    layout = candidate.layout
    written = load.bytes_per_day * load.trim_days * layout.least_copies / layout.drives
    smallest = max(1.0, sheet(candidate.drive).unit_bytes / load.block_bytes)
    return written * smallest / candidate.exported_bytes


def still_free(candidate: Candidate, load: HostLoad) -> float:
    """Return the share of a drive that is still unmapped in the evening.

    A drive without TRIM never hears what is free.
    """
    if not load.free or not sheet(candidate.drive).trims:
        return 0.0
    return load.free * math.exp(-drive_writes(candidate, load))


def remarks(drives: Sequence[str], load: HostLoad) -> list[str]:
    """Say of which drives nights make no difference."""
    deaf = [each for each in drives if load.free and not sheet(each).trims]
    idle = [each for each in drives if load.hours < 24 and not sheet(each).collects_idle]
    return [
        *(f"{each}: has no TRIM, so it never hears what is free" for each in deaf),
        *(
            f"{each}: does not collect when idle (ftl.idle_gc_after_ms is none), so idle hours "
            "change neither its wear nor, once what is under way has ended, what a morning finds"
            for each in idle
        ),
    ]


def evening(candidate: Candidate, load: HostLoad) -> Candidate:
    """Return the candidate as it is just before the trim: with so much more unused.

    Examples
    --------
    Of 20 % free, 7.4 % are unmapped after one drive write: 20 % / e.
    """
    free = still_free(candidate, load)
    return replace(candidate, unused=1 - (1 - candidate.unused) * (1 - free)) if free else candidate


def deleted(free: float, drive_writes_between: float) -> float:
    """Return the share of all units that is trimmed so that the free share is unmapped again.

    Examples
    --------
    >>> round(deleted(0.2, 100.0), 3), deleted(0.2, 0.0)
    (0.2, 0.0)
    """
    left = free * math.exp(-drive_writes_between)
    return (free - left) / (1 - left)


def idle_hours(candidate: Candidate, load: HostLoad) -> float:
    """Return the hours of a day in which a drive does something that is not asked for."""
    runs = sheet(candidate.drive).collects_idle and not load.sequential and not load.trimmed
    return 24.0 - load.hours if runs else 0.0


def lived(candidate: Candidate, load: HostLoad) -> bool:
    """Tell whether nights make a difference, so that they have to be run."""
    return still_free(candidate, load) > 0 or idle_hours(candidate, load) > 0


@dataclass(frozen=True)
class Rhythm:
    """Days as they are run.

    Attributes
    ----------
    asked
        Drive writes from one night to the next.
    day
        The same, within what is run.
    trim_every
        Nights; 0 for no trims.
    """

    asked: float
    day: float
    trim_every: int

    def count(self, times: int) -> int:
        """Return how many days are run: whole rounds of trims."""
        step = max(1, self.trim_every)
        least = max(_LEAST_DAYS, math.ceil(_DRIVE_WRITES / self.day / step))
        return times * least * step

    @property
    def together(self) -> int:
        """Days that are one drive write, in whole rounds of trims."""
        step = max(1, self.trim_every)
        return step * max(1, round(1 / (self.day * step)))


def rhythm(candidate: Candidate, load: HostLoad) -> Rhythm:
    """Return the days of a load: where idle hours make no difference, they go from trim to trim."""
    between, trims = drive_writes(candidate, load), still_free(candidate, load) > 0
    if not idle_hours(candidate, load):
        return Rhythm(between, min(max(between, _LEAST_DAY), _MOST_DAY), 1)
    asked = between / load.trim_days
    day = min(max(asked, _LEAST_IDLE_DAY), _MOST_DAY)
    return Rhythm(asked, day, max(1, round(between / day)) if trims else 0)


def days(candidate: Candidate, load: HostLoad, capacity_bytes: int, times: int = 1) -> str:
    """Return the job of nights and days on a slice.

    Parameters
    ----------
    capacity_bytes
        Of the slice.
    times
        So many times as long as the least.
    """
    found, idle = rhythm(candidate, load), idle_hours(candidate, load)
    piece = max(load.block_bytes, sheet(candidate.drive).unit_bytes)
    # Of a unit that is larger than a request each request maps the whole.
    written = max(1, round(capacity_bytes * found.day / piece)) * load.block_bytes
    writes: dict[str, Value] = {"rw": "randwrite", "norandommap": True, "iodepth": _DEPTH}
    writes |= {"bs": load.block_bytes, "io_size": written}
    jobs = []
    for number in range(found.count(times)):
        if found.trim_every and number % found.trim_every == 0:
            share = deleted(load.free, found.day * found.trim_every) if number else load.free
            trims = max(1, round(share * capacity_bytes / piece))
            jobs.append(section(f"night{number}", rw="randtrim", bs=piece, number_ios=trims))
        rest: dict[str, Value] = {"startdelay": seconds(idle)} if idle and number else {}
        jobs.append(section(f"day{number}", **writes, **rest))
    return story(*jobs)


def amplification(
    candidate: Candidate, load: HostLoad, season: RunRequest, progress: Progress
) -> tuple[float, str | None]:
    """Return the write amplification over days and nights, from a run, and why it is not steady.

    Parameters
    ----------
    season
        What brings the whole drive, without trims, into steady state.

    Raises
    ------
    SsdlabError
        There is no such slice.
    Stopped
        `progress` returned False.
    """
    small, capacity = one_die(candidate, season)
    found = rhythm(candidate, load)
    for times in _TIMES:
        job = days(candidate, load, capacity, times)
        result = runner.perform(Chain.of(replace(small, job_text=job), small), progress)[0]
        lasting, agrees = settled(result, found)
        if agrees:
            break
    if found.asked <= _MOST_DAY:
        return lasting, not_steady(result)
    steady = steady_amplification(result.jobs[0].lab["season"])
    over_days = (lasting * _MOST_DAY + steady * (found.asked - _MOST_DAY)) / found.asked
    return over_days, not_steady(result)


def one_die(candidate: Candidate, season: RunRequest) -> tuple[RunRequest, int]:
    """Return what brings a slice of one die into steady state, and its capacity in bytes."""
    scale = f"dies:{sheet(candidate.drive).dies}"
    capacity = capacity_bytes(season.drive, season.settings, scale)
    return replace(season, scale=scale), capacity


def settled(result: Result, found: Rhythm) -> tuple[float, bool]:
    """Return the write amplification of the last drive write, and whether the one before agrees."""
    by_day: dict[int, list[Job]] = {}
    for job in result.jobs:
        by_day.setdefault(int(job.name.removeprefix("night").removeprefix("day")), []).append(job)
    each = [by_day[number] for number in sorted(by_day)]
    together = min(found.together, len(each) // 2)
    last = _amplification(each[-together:])
    before = _amplification(each[-2 * together : -together])
    return last, abs(last / before - 1) <= _AGREE_WITHIN


def _amplification(each: Sequence[Sequence[Job]]) -> float:
    counters = [job.lab["counters"] for day in each for job in day]
    programmed = sum(float(each["nand_bytes_written"]) for each in counters)
    return programmed / sum(float(each["nand_host_bytes_written"]) for each in counters)


def not_steady(result: Result) -> str | None:
    """Return why the drive of a run did not come into steady state; None where it did."""
    return next((job.not_steady for job in result.jobs if job.not_steady), None)


def steady_amplification(season: Mapping[str, Any]) -> float:
    """Return the write amplification in steady state, of what a run tells of its season."""
    scaled = season.get("scale_model")
    return float((scaled["slices"] if scaled else season["rounds"])[-1])
