"""Recipes that precondition a drive, each a plan of one part: purge, fill, and rounds of writes.

Sources: SNIA PTS-E 1.1 (workload-independent preconditioning, then the workload itself until the
five-round window is steady). AnandTech, Simulating a Used Drive, 2009 (erase the drive, fill it in
order with 128 KiB, restore an image of an installed system), and its later performance consistency
test of 2016 (article 10328, p. 2: a filled drive, an hour of 4 KiB random writes at queue depth
32). JESD219's enterprise workload as fio's own example jesd219.fio and Tom's Hardware have it (SSD
Endurance: Data Integrity is Marathon, Not a Sprint).

The image of 2009 is not described: `IMAGE` stands for it, 64 KiB at random places, a quarter of the
capacity; size and order are assumed. Left out: the days that JESD219 asks for, and zones that are
scattered over the drive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.bench.book import cell
from ssdlab.bench.plan import (
    Cell,
    Conditioning,
    Deviation,
    MixedLoad,
    Part,
    Plan,
    StopRule,
    Test,
    Tracking,
    Workload,
)

_FILL = Workload("sequential", 0, 128 << 10, threads=1, depth=32)
_WRITES = cell("random", 0, 4096, threads=1, depth=32)
IMAGE = Cell("restored image", Workload("random", 0, 64 << 10, threads=1, depth=4), passes=0.25)
"""Files of an installed system, copied over a drive that is full (assumed)."""
_TENTH = 0.1
_TENTHS = 10
_MINUTES_OF_AN_HOUR = 60
_JESD219_SIZES = (
    *((512, 4), (1024, 1), (1536, 1), (2048, 1), (2560, 1), (3072, 1), (3584, 1), (4096, 67)),
    *((8192, 10), (16384, 7), (32768, 3), (65536, 3)),
)
_JESD219_ZONES = ((50, 5), (30, 15), (20, 80))


@dataclass(frozen=True)
class Recipe:
    """A recipe.

    Attributes
    ----------
    title
        What it does, in a line.
    source
        Where it is from.
    make
        Makes its part, for a drive with sectors of so many bytes.
    """

    title: str
    source: str
    make: Callable[[int], Part]


def plan(name: str, seed: int, sector_bytes: int) -> Plan:
    """Return the plan of a recipe.

    Parameters
    ----------
    name
        One of `RECIPES`.
    seed
        The one source of chance.
    sector_bytes
        The drive's smallest request.

    Examples
    --------
    >>> made = plan("snia", 1, 512)
    >>> made.tests[0].parts[0].conditioning.passes, made.tests[0].parts[0].stop.window
    (2.0, 5)
    """
    recipe = RECIPES[name]
    test = Test(name, recipe.title, (recipe.make(sector_bytes),))
    deviations: tuple[Deviation, ...] = ()
    if name == "jesd219" and sector_bytes > _JESD219_SIZES[0][0]:
        deviations = (
            Deviation(
                "a tenth of the requests is smaller than 4 KiB (JESD219)",
                f"the drive takes no request below {sector_bytes} bytes; these are "
                f"{sector_bytes} bytes long",
            ),
        )
    return Plan(recipe.source, (test,), _FILL.threads, _FILL.depth, seed, False, deviations)


def _fill(_sector_bytes: int) -> Part:
    return Part("fill", _filled(1.0), (), Tracking("", "iops"), StopRule(), without_cache=False)


def _used(_sector_bytes: int) -> Part:
    tenth = Cell(_WRITES.name, _WRITES.load, passes=_TENTH)
    stop = StopRule(most_rounds=_TENTHS, until_steady=False)
    return _part("used", 1.0, tenth, stop)


def _snia(_sector_bytes: int) -> Part:
    return Part("snia", _filled(2.0), (_WRITES,), Tracking(_WRITES.name, "iops"), StopRule())


def _anandtech(_sector_bytes: int) -> Part:
    return _part("anandtech", 1.0, IMAGE, StopRule(most_rounds=1, until_steady=False))


def _consistency(_sector_bytes: int) -> Part:
    stop = StopRule(most_rounds=_MINUTES_OF_AN_HOUR, until_steady=False)
    return _part("anandtech-consistency", 1.0, _WRITES, stop)


def _jesd219(sector_bytes: int) -> Part:
    sizes: Counter[int] = Counter()
    for size, percent in _JESD219_SIZES:
        sizes[max(size, sector_bytes)] += percent
    load = MixedLoad("random", 40, 4096, 1, 32, tuple(sizes.items()), _JESD219_ZONES)
    tenth = Cell("JESD219 enterprise workload", load, passes=_TENTH)
    return _part("jesd219", 1.0, tenth, StopRule(most_rounds=5 * _TENTHS))


def _filled(passes: float) -> Conditioning:
    return Conditioning(_FILL, passes)


def _part(name: str, passes: float, one: Cell, stop: StopRule) -> Part:
    tracking = Tracking(one.name, "iops")
    return Part(name, _filled(passes), (one,), tracking, stop, without_cache=False)


RECIPES = {
    "fill": Recipe(
        "writes the capacity once, 128 KiB sequential",
        "AnandTech, Simulating a Used Drive, steps 1 and 2",
        _fill,
    ),
    "used": Recipe(
        "fills the drive, then writes as much as the capacity, 4 KiB random",
        "`ssdlab season --to used` of simulated drives",
        _used,
    ),
    "snia": Recipe(
        "fills it twice, then 4 KiB random writes until five rounds are steady",
        "SNIA Solid State Storage Performance Test Specification Enterprise 1.1",
        _snia,
    ),
    "anandtech": Recipe(
        "fills it, then writes a quarter of it anew, as the restored image of 2009 does",
        "AnandTech, Simulating a Used Drive, 2009; the image is assumed",
        _anandtech,
    ),
    "anandtech-consistency": Recipe(
        "fills it, then an hour of 4 KiB random writes at queue depth 32",
        "AnandTech 10328 p. 2, Performance Consistency, 2016",
        _consistency,
    ),
    "jesd219": Recipe(
        "fills it, then JESD219's enterprise workload until five rounds are steady",
        "JEDEC JESD219, as fio's example jesd219.fio has it",
        _jesd219,
    ),
}
"""Each begins with a purge."""
