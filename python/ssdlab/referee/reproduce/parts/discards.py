"""Discards as files are deleted against a batch, on drives with a quick and with a slow TRIM."""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

DRIVE = "intel-x25-m-g2-80gb"
SLOW_US = 2000
"""A slow TRIM, assumed: drives were known to take milliseconds; none of them is profiled."""
SPEEDS = {"quick TRIM": (), "slow TRIM": (("controller.trim_command_us", str(SLOW_US)),)}
_LOAD: dict[str, Value] = {"bs": "4k", "iodepth": 4, "norandommap": True, "number_ios": 20_000}


def experiments() -> list[Experiment]:
    """Return writes of which each deletes first, and as many with one trim at the end."""
    often = section("writes", rw="randtrimwrite", size="10%", **_LOAD)
    batch = story(
        section("writes", rw="randwrite", size="10%", **_LOAD),
        section("trim", rw="trim", bs="2m", iodepth=1, size="10%"),
    )
    return [
        Experiment(f"{kind} discards, {speed}", DRIVE, job, "filled", settings=settings)
        for speed, settings in SPEEDS.items()
        for kind, job in (("continuous", often), ("batched", batch))
    ]


def _seconds(results: Results, name: str) -> float:
    """Return how long the writes and the discards took."""
    (first, *_) = results.of[name]
    return sum(float(job.data.get("job_runtime") or 1.0) / 1e3 for job in first.jobs)


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    quick, slow = (
        _seconds(results, f"batched discards, {speed}")
        / _seconds(results, f"continuous discards, {speed}")
        for speed in SPEEDS
    )
    return [
        judging.shape(
            "batched discards are better than continuous ones, more so where TRIM is slow",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 12",
            "a batch now and then, above all on drives with a slow TRIM",
            f"of the writes' speed continuous discards leave × {quick:.2f}, and × {slow:.2f} where "
            f"a TRIM takes {SLOW_US / 1000:.0f} ms",
            slow < quick <= 1,
            reason="How long a TRIM takes is assumed; no document says it of a drive.",
        )
    ]
