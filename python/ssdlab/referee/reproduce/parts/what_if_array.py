"""Arrays with a parameter or a base changed, to see where a miss may come from; never counted."""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, section, story
from ssdlab.ground import seeds, text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import FIRMWARE, MECHANISM, WHAT_IF, JudgedRow
from ssdlab.referee.reproduce.parts import tkperf
from ssdlab.referee.reproduce.parts.array_statements import iops
from ssdlab.referee.reproduce.results import Results

DRIVE = "intel-dc-s3500-80gb"
_EARLY = "one drive, filled once"
_TENTHS = tuple(f"tenth {number}" for number in range(1, 7))
_SECOND = _TENTHS[1]


def experiments() -> list[Experiment]:
    """Return a drive that is only filled, and then written at random, tenth by tenth."""
    tenths = [
        section(name, rw="randwrite", bs="4k", iodepth=32, io_size="10%", norandommap=True)
        for name in _TENTHS
    ]
    return [Experiment(_EARLY, DRIVE, story(*tenths), "filled")]


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    return [*_early(results), _smaller_lines(results)]


def _early(results: Results) -> list[JudgedRow]:
    pace = ", ".join(text.count(round(results.iops(_EARLY, name))) for name in _TENTHS)
    base = results.iops(_EARLY, _SECOND)
    return [
        judging.judged(
            f"{level} against one drive not yet in steady state, writes",
            seeds.ratio("thomas-krenn", name),
            tkperf.iops(results, array, 0) / base,
            MECHANISM,
            uncounted=WHAT_IF,
            reason=(
                f"One drive, filled and then written at random, by tenths of it: {pace} IOPS. The "
                "second tenth is taken, because the e-book's own figures ask for a drive that is "
                "half as fast again as in steady state; when it was measured is not known."
            ),
        )
        for level, array, name in (
            ("RAID 1", "RAID 1, software", "raid1_write_change"),
            ("RAID 5 of 3", "RAID 5 of 3, software", "raid5_of_3_write"),
        )
    ]


def _smaller_lines(results: Results) -> JudgedRow:
    name = "write-back, lines of 16 KiB"
    return judging.judged(
        "write-back against write-through, if the cache's lines were 16 KiB",
        seeds.ratio("thomas-krenn", "write_back", "write_through"),
        iops(results, name, "writes", "RAID 5 of 4, controller"),
        FIRMWARE,
        uncounted=WHAT_IF,
        decided_by=("raid.cache_line_bytes",),
        profile=DRIVE,
        reason="How large the real cache's lines are is not published; the loss goes with them.",
    )
