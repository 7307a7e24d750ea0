"""What is said of arrays of SSDs without a figure, and why figures of them miss."""

from __future__ import annotations

from itertools import pairwise

from ssdlab.ground import documents
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import MECHANISM, JudgedRow
from ssdlab.referee.reproduce.parts import tkperf
from ssdlab.referee.reproduce.results import Results

EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
ALIKE = 1.05
"""Arrays whose rates are nearer than this write alike."""
READS = {"reads": 100, "65/35": 65, "50/50": 50, "writes": 0}
"""Loads by their share of reads, in percent."""
TIMED = (
    "one drive",
    "RAID 1, software",
    "RAID 1, controller",
    "RAID 5 of 4, software",
    "RAID 5 of 4, controller",
    "RAID 10 of 4, software",
    "write-back",
)
"""Arrays of whose latency something is said."""
REASONS = {
    "RAID 5 of 4 by software against one drive, 1 MiB writes": (
        "Whole stripes need no reads, so three of four drives write data at once: 3 at most. "
        "Requests of 1 MiB are no whole stripe of 1.5 MiB, so that some are written in parts; how "
        "many, md's cache of stripes decides, whose size is not modelled. Each member is filled by "
        "itself here. An array of full size that is itself written twice, by 32 requests of 1 MiB, "
        "is left with a write amplification of 2.7 and writes 75 MB/s."
    ),
    "read-ahead against none, random reads": (
        "When a controller reads ahead (here once two reads followed each other) was chosen after "
        "a first result was seen; random reads then never trigger it."
    ),
    "write-back against write-through, writes": (
        "The cache is destaged in lines of 64 KiB (assumed), so that a write of 4 KiB costs a "
        "whole line of data and of parity; smaller units would cost less. How large the real "
        "cache's lines are is not published."
    ),
}
"""Why ratios miss or what they hide, by condition."""


def iops(results: Results, array: str, load: str, base: str = "one drive") -> float:
    """Return IOPS as a multiple of a base's."""
    above, below = (tkperf.iops(results, each, READS[load]) for each in (array, base))
    return above / below


def rate(results: Results, array: str, way: str, size: str, base: str = "one drive") -> float:
    """Return MB/s in sequence as a multiple of a base's."""
    above, below = (tkperf.mb_per_s(results, each, way, size) for each in (array, base))
    return above / below


def _added_ms(results: Results, array: str) -> list[float]:
    """Return latency added to one drive's, one request at a time, by mix."""
    return [
        (tkperf.mean_us(results, array, mix) - tkperf.mean_us(results, "one drive", mix)) / 1e3
        for mix in tkperf.MIXES
    ]


def rows(results: Results) -> list[JudgedRow]:
    """Return what holds or does not."""
    hardware5, ten, five = (
        "RAID 5 of 4, controller",
        "RAID 10 of 4, software",
        "RAID 5 of 4, software",
    )
    added, added_soft = (_added_ms(results, f"RAID 1, {by}") for by in ("controller", "software"))
    steps = [tkperf.mean_us(results, five, mix) for mix in tkperf.MIXES]
    felt = [iops(results, five, load) for load in READS]
    above = documents.figure("thomas-krenn", "raid5_software_more")
    more = [
        tkperf.iops(results, five, READS[load]) - tkperf.iops(results, hardware5, READS[load])
        for load in ("65/35", "50/50", "writes")
    ]
    small, medium, large = (
        rate(results, "read-ahead", "read", size, hardware5) for size in ("8k", "64k", "1024k")
    )
    written = [iops(results, each, "writes") for each in (ten, five)]
    mirrors, alone = (tkperf.mean_us(results, array, "writes") for array in (ten, "one drive"))
    ten_over_one = mirrors / alone
    step = documents.figure("thomas-krenn", "raid5_software_step_latency")
    milli = ", ".join(f"{each:.3f}" for each in added)
    mirrored = iops(results, "RAID 1, software", "reads")
    return [
        judging.shape(
            "RAID 1 reads more than 1.4 times what one drive does",
            EBOOK,
            "p. 17",
            "more than × 1.4",
            f"× {mirrored:.2f}",
            mirrored > documents.figure("thomas-krenn", "raid1_read_gain").value,
        ),
        judging.shape(
            "the controller adds about 0.04 ms to every load, software hardly anything",
            EBOOK,
            "p. 17 and 18",
            "constant 0.04 ms; minimal",
            f"controller {milli} ms; software at most {max(added_soft):.3f} ms",
            all(0.02 <= each <= 0.06 for each in added) and max(added_soft) < 0.02,
            reason=(
                "In a mix, reads find the less busy of two copies, which takes off some of what "
                "the controller adds. In a minute of writes the controller works while the drives "
                "collect, and they set the pace."
            ),
        ),
        judging.shape(
            "the more reads, the less parity is felt",
            EBOOK,
            "p. 18",
            "from reads to writes ever less of the gain",
            "RAID 5 of 4 against one drive: " + ", ".join(f"× {each:.1f}" for each in felt),
            felt == sorted(felt, reverse=True),
            reason=(
                "From all reads to all writes it holds. In between, 32 requests over four drives "
                "and two rounds a write leave queues too short to keep all drives busy (supposed)."
            ),
        ),
        judging.shape(
            "RAID 5 of 4: software does more than the controller, mixed and writes",
            EBOOK,
            above.place,
            f"about {above} more",
            f"65/35, 50/50, writes: {', '.join(f'{each:+,.0f}' for each in more)} IOPS",
            min(more) > 0,
        ),
        judging.shape(
            "RAID 5: latency grows from reads through 65/35 to writes",
            EBOOK,
            "p. 18",
            f"{step.value:.2f} ms a step",
            ", ".join(f"{each / 1e3:.2f}" for each in steps) + " ms",
            steps == sorted(steps),
            figures=[
                judging.near(step.value, (after - before) / 1e3, judging.FIRMWARE)
                for before, after in pairwise(steps)
            ],
        ),
        judging.shape(
            "RAID 10 has the latency of one drive",
            EBOOK,
            "p. 19",
            "as one drive",
            f"writes × {ten_over_one:.2f}",
            abs(ten_over_one - 1) <= MECHANISM,
            reason=(
                "A minute of writes, one at a time, goes at the pace at which the drives collect, "
                "and two pairs of drives collect twice as fast as one drive."
            ),
        ),
        judging.shape(
            "RAID 10 writes best of four drives",
            EBOOK,
            "p. 19",
            "the best writes",
            f"RAID 10 × {written[0]:.2f} of one drive, RAID 5 × {written[1]:.2f}",
            written[0] >= ALIKE * written[1],
            reason=(
                "A mirror writes twice, parity reads and writes twice each, over as many drives; "
                "reads that SSDs answer in a tenth of a write's time cost little."
            ),
        ),
        judging.shape(
            "read-ahead helps 8 KiB reads in sequence, not 64 KiB or 1 MiB",
            EBOOK,
            "p. 20",
            "only at 8 KiB, and for a single reader",
            f"× {small:.2f}, × {medium:.2f}, × {large:.2f}",
            small > 1 + MECHANISM and abs(medium - 1) <= MECHANISM and abs(large - 1) <= MECHANISM,
            reason=(
                "Reading 256 KiB ahead (assumed) beside 32 requests of 1 MiB takes turns from "
                "them, and with strips of 64 KiB it helps requests of a strip as well; how far the "
                "real controller reads ahead, and when not, is not published."
            ),
        ),
    ]
