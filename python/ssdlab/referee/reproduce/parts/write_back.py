"""How long one write takes with a controller's cache: while that has room, and once it is full.

A write of 4 KiB takes a whole line of the cache, so that a gigabyte holds no more scattered writes
than it has lines, and what is destaged meanwhile. Then a write waits until a line is free.
"""

from __future__ import annotations

from collections.abc import Mapping

from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import tkperf
from ssdlab.referee.reproduce.parts.array_statements import EBOOK
from ssdlab.referee.reproduce.results import Results

THROUGH, BACK = "write-through, one write at a time", "write-back, one write at a time"
_SETTLED, _ROOM, _FULL = "writes", "writes while there is room", "writes once it is full"
_LOAD: dict[str, Value] = {"rw": "randwrite", "bs": "4k", "norandommap": True, "iodepth": 1}
_ROWS = "write-back lowers the latency of RAID 5's writes"


def experiments(
    scale: Scale, drive: str, layers: Mapping[str, tuple[str, ...]]
) -> list[Experiment]:
    """Return an array with and without write-back, of drives that are steady by themselves."""
    lines = tkperf.cache_lines(scale, drive)

    def writes(name: str, cachefuls: float) -> str:
        return section(name, number_ios=round(cachefuls * lines), **_LOAD)

    # Drives that were written without a pause first collect what they had put off.
    through = story(writes("settle", 8), writes(_SETTLED, 8))
    back = story(writes(_ROOM, 0.9), writes("fill", 2), writes(_FULL, 4))
    return [
        Experiment(name, drive, job, "steady", layers=layers[name], each_member=True)
        for name, job in ((THROUGH, through), (BACK, back))
    ]


def rows(results: Results) -> list[JudgedRow]:
    """Return where write-back lowers latency, and where not."""
    through, room, full = _times(results)
    minutes = [
        tkperf.mean_us(results, array, "writes")
        for array in ("RAID 5 of 4, controller", "write-back")
    ]
    return [
        judging.shape(
            f"{_ROWS}, while its cache has room",
            EBOOK,
            "p. 20",
            "its only advantage",
            _change(through, room),
            room < through,
        ),
        judging.shape(
            f"{_ROWS}, once its cache is full",
            EBOOK,
            "p. 20",
            "its only advantage",
            f"{_change(through, full)}; in TKperf's minutes {_change(*minutes)}",
            full < through,
            reason=(
                f"The controller's cache is full after about {_lines()}, each of which takes a "
                "line; a minute of writes, one at a time, is longer. From then on each write waits "
                "for a line of 64 KiB (assumed) to be destaged."
            ),
        ),
    ]


def _times(results: Results) -> tuple[float, float, float]:
    """Return microseconds a write: without write-back, while there is room, and afterwards."""
    through = results.mean_us(THROUGH, _SETTLED)
    return through, results.mean_us(BACK, _ROOM), results.mean_us(BACK, _FULL)


def _change(through: float, back: float) -> str:
    return f"{through:.0f} to {back:.0f} µs"


def _lines() -> str:
    """Say how many writes the document's controller holds."""
    return f"{text.count(tkperf.CACHE_KIB // tkperf.LINE_KIB)} scattered writes"


def sentence(results: Results) -> str:
    """Say until when write-back makes a single write faster, and what comes then."""
    through, room, full = _times(results)
    return (
        f"A single write takes {through:.0f} µs, and with write-back {room:.0f} µs until the cache "
        f"is full, after about {_lines()}; from then on {full:.0f} µs."
    )
