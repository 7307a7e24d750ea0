"""Real listings of public threads, each judged by arithmetic, beside the thread's own answer."""

from __future__ import annotations

import pytest

from real_listings import REAL, Real
from ssdlab.machine.align import Grid
from ssdlab.machine.align.grid import read_unit
from ssdlab.machine.align.listings import JudgedDisk, judge, read_listing
from ssdlab.machine.align.notation import Geometry


def judged(real: Real) -> list[JudgedDisk]:
    grid = Grid((read_unit(real.align, Geometry()),)) if real.align else Grid()
    return judge(read_listing(real.text, "pasted"), grid)


@pytest.mark.parametrize("real", REAL.values(), ids=list(REAL))
def test_real_listing(real: Real) -> None:
    """Starts are those worked out by hand, and what fits 4 KiB and 1 MiB follows from them."""
    disks = judge(read_listing(real.text, "pasted"), Grid())
    partitions = [each for disk in disks for each in disk.partitions if not each.listed.idle]
    places = [each.listed.start.byte for each in partitions]
    assert places == [None if sector is None else sector * 512 for sector in real.starts]
    assert [[fits for _, fits in each.fits] for each in partitions] == [
        [each.as_printed or None if sector is None else sector % unit == 0 for unit in (8, 2048)]
        for each, sector in zip(partitions, real.starts, strict=True)
    ]
    assert [each.listed.name for each in partitions if each.as_printed] == list(real.as_printed)


@pytest.mark.parametrize(
    "real",
    [each for each in REAL.values() if each.thread is not None],
    ids=lambda real: real.source,
)
def test_what_the_thread_says(real: Real) -> None:
    """The verdict is the thread's, or there is a reason why it is not."""
    ours = {disk.aligned for disk in judge(read_listing(real.text, "pasted"), Grid())}
    assert ours != {real.thread} if real.differs else ours == {real.thread}


def test_what_the_thread_asks_for() -> None:
    """Asked for the thread's own size, the verdict is the thread's where the listing tells."""
    four_kib = Grid((read_unit("4KiB", Geometry()),))
    image = REAL["a firmware's image"]
    assert judge(read_listing(image.text, "pasted"), four_kib)[0].aligned is image.thread
    grain = REAL["an image asked for 4 MiB"]
    assert judged(grain)[0].aligned is grain.thread


def test_there_are_at_least_twelve() -> None:
    """Of public threads, not of the five documents."""
    assert len({real.source for real in REAL.values() if real.source.startswith("http")}) >= 12
