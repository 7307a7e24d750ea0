"""A stand-in for PCMark Vantage's disk suite, its score, and its weight in the overall score.

The suite replays eight recorded tasks. The recordings are not public; the shares of reads are. Each
task is stood in for by a mix of requests of 4 KiB and 64 KiB, half of which go on where the last
one ended and half jump. The score is the geometric mean of the eight rates, as PCMark's is; the
factor that makes points of it is not known here, so points need a drive whose points are published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import geometric_mean

from ssdlab.experiment.experiment import Value, section
from ssdlab.ground import documents

PUBLISHED_DRIVE = "intel-x25-m-g1-80gb"
"""The drive whose points AnandTech states."""
READS_PERCENT = {
    "Windows Defender": 99,
    "games": 100,
    "photos imported": 84,
    "Vista starts": 85,
    "Movie Maker": 54,
    "Media Center": 67,
    "music added": 78,
    "programs start": 87,
}
"""Share of reads of each task (AnandTech 3311, after Futuremark's white paper); Media Center's is
not there, and taken as playing, streaming and recording one stream each."""

_FILE: dict[str, Value] = {"offset": "40%", "size": "20%"}
TEST_FILE = section("test file", rw="write", bs="128k", iodepth=4, **_FILE)
"""What the tasks work on is written first."""


def suite() -> list[str]:
    """Return a section of a job file for each task."""
    return [
        section(
            name,
            rw="randrw",
            rwmixread=reads,
            bssplit="4k/50:64k/50",
            percentage_random=50,
            norandommap=True,
            iodepth=4,
            io_size="2%",
            **_FILE,
        )
        for name, reads in READS_PERCENT.items()
    ]


def score(rates: Mapping[str, float]) -> float:
    """Return the geometric mean of the tasks' rates, in their unit."""
    return geometric_mean(rates[task] for task in READS_PERCENT)


@dataclass(frozen=True)
class Weight:
    """The disk suite's weight in the overall score, were that a weighted geometric mean.

    Attributes
    ----------
    drive
        The used drive whose two scores are held against the fresh drive's.
    overall, disk
        What is left of each score, as a share.
    value
        The weight; 1 would mean that only the disk counts.
    """

    drive: str
    overall: float
    disk: float
    value: float


def weights() -> list[Weight]:
    """Return the weight that each of the document's two pairs of scores implies.

    overall = disk to the power of the weight, if all other tests stay as fast as they were; so
    weight = ln(overall) / ln(disk).

    Examples
    --------
    >>> [round(weight.value, 3) for weight in weights()]
    [0.125, 0.273]
    """
    found = []
    for drive, name in (("aged by the recipe", "recipe"), ("in long use", "long_used")):
        overall, disk = (
            documents.ratio("anandtech", f"{name}_{kind}", f"fresh_{kind}").value
            for kind in ("overall", "hdd")
        )
        found.append(Weight(drive, overall, disk, math.log(overall) / math.log(disk)))
    return found
