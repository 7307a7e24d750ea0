"""One drive that is not yet in steady state: what the e-book holds its arrays against.

Its RAID 5 of four makes 14,400 random writes, 7200 a drive, near the 7000 that Intel states for
steady state; by the same rule its RAID 5 of three makes 10,800, and that it calls one drive's. So
its one drive was half as fast again as in steady state. Here a filled drive is written at random,
tenth by tenth, and that tenth is taken in which it writes what comes nearest to the RAID 5 of
three.
"""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, section, story
from ssdlab.ground import text
from ssdlab.referee.reproduce.parts import tkperf
from ssdlab.referee.reproduce.results import Results

DRIVE = "intel-dc-s3500-80gb"
_EARLY = "one drive, filled once"
_TENTHS = tuple(f"tenth {number}" for number in range(1, 7))
_LOADS = {"writes": ("randwrite", "10%"), "50/50": ("randrw", "20%")}
"""How each is done, and how much of it writes a tenth of the drive."""


def _tenth(name: str, load: str = "writes") -> str:
    way, size = _LOADS[load]
    return section(name, rw=way, bs="4k", iodepth=32, io_size=size, norandommap=True)


def _half(tenth: str) -> str:
    return f"{_EARLY}, half writes in {tenth}"


def experiments() -> list[Experiment]:
    """Return a drive that is filled and then written at random, and each tenth with half writes."""
    tenths = [_tenth(name) for name in _TENTHS]
    halves = [
        Experiment(_half(name), DRIVE, story(*tenths[:place], _tenth(name, "50/50")), "filled")
        for place, name in enumerate(_TENTHS)
    ]
    return [Experiment(_EARLY, DRIVE, story(*tenths), "filled"), *halves]


def _chosen(results: Results) -> str:
    like = tkperf.iops(results, "RAID 5 of 3, software", 0)
    return min(_TENTHS, key=lambda name: abs(results.iops(_EARLY, name) - like))


def iops(results: Results, load: str) -> float:
    """Return the IOPS of that drive under a load, ``writes`` or ``50/50``."""
    chosen = _chosen(results)
    return results.iops(_EARLY if load == "writes" else _half(chosen), chosen)


def reason(results: Results) -> str:
    """Say what the one drive is."""
    pace = ", ".join(text.count(round(results.iops(_EARLY, name))) for name in _TENTHS)
    return (
        "The e-book's own figures ask for one drive that is half as fast again as in steady state. "
        f"One drive, filled and then written at random, by tenths of it: {pace} IOPS. The "
        f"{_TENTHS.index(_chosen(results)) + 1}. tenth is nearest to the RAID 5 of three, which "
        "the e-book calls alike. Against a drive in steady state RAID 1 loses 3 % if one of the "
        "pair is out of step, and as good as nothing else, as Intel finds of this drive (white "
        "paper 329903, December 2013, p. 13)."
    )
