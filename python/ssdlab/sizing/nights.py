"""Free space that is trimmed at one go each night or week, as ``fstrim`` by cron does it.

Of what a drive exports the share f is free in the file system. Right after the trim all of it is
unmapped, and spare. Then writes, uniform over the drive, map it again; after t drive writes

    mapped share        v(t) = 1 − f · e^(−t)
    effective spare     1 + OP'(t) = (1 + OP) / v(t)

as for trims at any time (docs/model.md, section 8), so over d drive writes from trim to trim

    WA ≈ 1/d · ∫₀^d A(OP'(t)) dt,   A the closed form of the policy

Few writes a day leave f unmapped, as if it were unused; many leave little of it. What was written
into the free space in the meantime are new files, and as many others were deleted, lying scattered:
of all units the share r = f · (1 − e^(−d)) / (1 − f · e^(−d)) is trimmed, which makes f unmapped
again.

The formula explains; **the answer is a run**: a slice of one die, in steady state, lives through
days (so many writes) and nights (so many trims) until 3 drive writes and 3 nights have passed, and
the last drive write's WA differs by 1 % at most from that of the one before; else twice and four
times as long. That takes in how blocks age, which the formula leaves out. Days of less than a
twentieth of a drive write are put together; after 4 drive writes without a trim the rest of the
time is as if there were none. IOPS and latencies are those of the evening, just before the trim:
of a drive with f · e^(−d) unused.

Left out: free space that lies together and is used again first, files of one night that die
together, the time that the trim itself takes, layers that do not pass trims on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ssdlab.engine import Progress
from ssdlab.measured.twin import twin
from ssdlab.reproduce.experiment import Value, section, story
from ssdlab.request import RunRequest
from ssdlab.result import Job, Result
from ssdlab.sizing.candidate import Candidate, sheet
from ssdlab.sizing.load import Load
from ssdlab.sizing.steady import run_on

_DEPTH = 32
_LEAST_DAY, _MOST_DAY = 0.05, 4.0
"""Drive writes from trim to trim in a run."""
_DRIVE_WRITES, _LEAST_DAYS = 3.0, 3
_AGREE_WITHIN = 0.01
_TIMES = (1, 2, 4)


def drive_writes(candidate: Candidate, load: Load) -> float:
    """Return how often a drive is written over from one trim to the next."""
    layout = candidate.layout
    written = load.bytes_per_day * load.trim_days * layout.least_copies / layout.drives
    smallest = max(1.0, sheet(candidate.drive).unit_bytes / load.block_bytes)
    return written * smallest / candidate.exported_bytes


def still_free(candidate: Candidate, load: Load) -> float:
    """Return the share of a drive that is still unmapped in the evening.

    A drive without TRIM never hears what is free.
    """
    if not load.free or not sheet(candidate.drive).trims:
        return 0.0
    return load.free * math.exp(-drive_writes(candidate, load))


def remarks(drives: Sequence[str], load: Load) -> list[str]:
    """Say of which drives trims make no difference."""
    deaf = [each for each in drives if load.free and not sheet(each).trims]
    return [f"{each}: has no TRIM, so it never hears what is free" for each in deaf]


def evening(candidate: Candidate, load: Load) -> Candidate:
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


def days(candidate: Candidate, load: Load, capacity_bytes: int, times: int = 1) -> str:
    """Return the job of nights and days on a slice.

    Parameters
    ----------
    capacity_bytes
        Of the slice.
    times
        So many times as long as the least.
    """
    day = _day(candidate, load)
    piece = max(load.block_bytes, sheet(candidate.drive).unit_bytes)
    # Of a unit that is larger than a request each request maps the whole.
    written = max(1, round(capacity_bytes * day / piece)) * load.block_bytes
    jobs = []
    for number in range(times * max(_LEAST_DAYS, math.ceil(_DRIVE_WRITES / day))):
        share = load.free if number == 0 else deleted(load.free, day)
        trims = max(1, round(share * capacity_bytes / piece))
        jobs.append(section(f"night{number}", rw="randtrim", bs=piece, number_ios=trims))
        writes: dict[str, Value] = {"rw": "randwrite", "norandommap": True, "iodepth": _DEPTH}
        jobs.append(section(f"day{number}", bs=load.block_bytes, io_size=written, **writes))
    return story(*jobs)


def _day(candidate: Candidate, load: Load) -> float:
    """Return the drive writes from trim to trim in a run."""
    return min(max(drive_writes(candidate, load), _LEAST_DAY), _MOST_DAY)


def amplification(
    candidate: Candidate, load: Load, season: RunRequest, progress: Progress
) -> float:
    """Return the write amplification over days and nights, from a run.

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
    whole_day = drive_writes(candidate, load)
    for times in _TIMES:
        job = days(candidate, load, capacity, times)
        result = run_on(small, replace(small, job_text=job), progress)
        found, agrees = settled(result, _day(candidate, load))
        if agrees:
            break
    if whole_day <= _MOST_DAY:
        return found
    untrimmed = steady_amplification(result.jobs[0].lab["season"])
    return (found * _MOST_DAY + untrimmed * (whole_day - _MOST_DAY)) / whole_day


def one_die(candidate: Candidate, season: RunRequest) -> tuple[RunRequest, int]:
    """Return what brings a slice of one die into steady state, and its capacity in bytes."""
    dies = sheet(candidate.drive).dies
    small = twin(season.drive, dies, season.settings)
    return replace(season, settings=small.settings), small.capacity_bytes


def settled(result: Result, day: float) -> tuple[float, bool]:
    """Return the write amplification of the last drive write, and whether the one before agrees."""
    each = [job for job in result.jobs if job.name.startswith("day")]
    together = min(max(1, round(1 / day)), len(each) // 2)
    last = _amplification(each[-together:])
    before = _amplification(each[-2 * together : -together])
    return last, abs(last / before - 1) <= _AGREE_WITHIN


def _amplification(jobs: Sequence[Job]) -> float:
    counters = [job.lab["counters"] for job in jobs]
    programmed = sum(float(each["nand_bytes_written"]) for each in counters)
    return programmed / sum(float(each["nand_host_bytes_written"]) for each in counters)


def steady_amplification(season: Mapping[str, Any]) -> float:
    """Return the write amplification in steady state, of what a run tells of its season."""
    scaled = season.get("scale_model")
    return float((scaled["slices"] if scaled else season["rounds"])[-1])
