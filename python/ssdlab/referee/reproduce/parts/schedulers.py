"""The host's schedulers over an SSD and over a hard disk, while one job reads and one writes."""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, section
from ssdlab.ground import text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

SSD, DISK = "intel-x25-m-g2-80gb", "hitachi-deskstar-7k1000c-1tb"
EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
ARTICLE = "Stapelberg, Super Talent Solid State Disk im Test"
POLICIES = ("noop", "deadline", "cfq")
_DEPTH = {SSD: 31, DISK: 1}
"""How many requests the scheduler hands down: all that NCQ takes, or one, so that it decides."""


def _name(drive: str, policy: str) -> str:
    return f"{'SSD' if drive == SSD else 'hard disk'}, {policy}"


def experiments() -> list[Experiment]:
    """Return a reader and a writer at once under each policy, on both kinds of drive."""
    some = 3000
    job = section("reader", rw="randread", bs="4k", iodepth=8, number_ios=some)
    job += section("writer", rw="randwrite", bs="4k", iodepth=64, number_ios=some)
    return [
        Experiment(
            _name(drive, policy),
            drive,
            job,
            layers=(
                f"scheduler:policy={policy},dispatch_depth={_DEPTH[drive]}"
                # CFQ waits for a disk's next read; an old kernel takes any drive for one.
                + (",rotational=true" if policy == "cfq" else ""),
            ),
            layout=drive == SSD,
            whole=drive == DISK,
        )
        for drive in (SSD, DISK)
        for policy in POLICIES
    ]


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    read, written = (
        {
            (drive, policy): results.iops(_name(drive, policy), job)
            for drive in (SSD, DISK)
            for policy in POLICIES
        }
        for job in ("reader", "writer")
    )
    deadline = written[SSD, "deadline"] / written[SSD, "noop"]
    cfq = written[SSD, "cfq"] / written[SSD, "noop"]
    disk = read[DISK, "cfq"] / read[DISK, "noop"]
    return [
        judging.shape(
            "SSD: noop or deadline",
            ARTICLE,
            "tips; Thomas-Krenn, p. 22",
            "noop in one document, deadline in the other",
            f"writes beside reads, deadline against noop × {deadline:.2f}",
            abs(deadline - 1) <= judging.MECHANISM,
        ),
        judging.shape(
            "CFQ, which idles for a disk's next read, is for hard disks",
            EBOOK,
            "p. 22",
            "deadline for SSDs; CFQ was what Linux took otherwise",
            f"SSD, against noop: writes × {cfq:.2f}; hard disk: reads × {text.ratio(disk)}",
            cfq < 1 - judging.MECHANISM and disk > 1,
        ),
    ]
