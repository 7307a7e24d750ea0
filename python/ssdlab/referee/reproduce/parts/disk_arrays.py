"""Arrays of hard disks beside those of SSDs: the controller's cache, and an SSD in front."""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import tkperf
from ssdlab.referee.reproduce.results import Results

DISK = "wd-velociraptor-300gb"
EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
ONE, THROUGH, BACK = "one hard disk", "hard disks, write-through", "hard disks, write-back"
PLAIN, CACHED = "hard disks, hot data", "hard disks behind an SSD, hot data"
_ARRAY = "raid:level=5,disks=4,preset=controller"
_ALONE = section("reads", rw="randread", bs="4k", iodepth=1, number_ios=1500)
_SOME: dict[str, Value] = {"bs": "4k", "norandommap": True, "size": "20g"}


def experiments() -> list[Experiment]:
    """Return one disk, RAID 5 of four with two settings of the cache, and with an SSD before it."""
    load = story(
        section("reads", rw="randread", iodepth=32, number_ios=3000, **_SOME),
        section("writes, one", rw="randwrite", iodepth=1, number_ios=1500, **_SOME),
        section("writes", rw="randwrite", iodepth=32, number_ios=4000, **_SOME),
    )
    # Nine requests in ten go to a hundredth of the data; the SSD keeps what is asked twice.
    hot: dict[str, Value] = {"random_distribution": "zoned:90/1:10/99", "iodepth": 32, **_SOME}
    warm = story(
        section("warm", rw="randread", number_ios=150_000, **hot),
        section("reads", rw="randread", number_ios=4000, **hot),
    )
    return [
        Experiment(ONE, DISK, _ALONE, whole=True, layout=False),
        Experiment(THROUGH, DISK, load, layers=(_ARRAY,), whole=True),
        Experiment(BACK, DISK, load, layers=(f"{_ARRAY},write_back=true",), whole=True),
        Experiment(PLAIN, DISK, warm, layers=(_ARRAY,), whole=True),
        Experiment(
            CACHED, DISK, warm, layers=(_ARRAY, "cache:drive=intel-dc-s3700-200gb"), whole=True
        ),
    ]


def rows(results: Results, ssd: str) -> list[JudgedRow]:
    """Return what is compared; `ssd` is one SSD by itself."""
    through, back = (results.mean_us(name, "writes, one") / 1e3 for name in (THROUGH, BACK))
    few, many = (results.iops(name, "writes") for name in (THROUGH, BACK))
    plain, cached = (results.iops(name, "reads") for name in (PLAIN, CACHED))
    low, high = (
        documents.figure("thomas-krenn", f"hdd_iops_{each}").value for each in ("low", "high")
    )
    one, solid = results.iops(ONE, "reads"), tkperf.iops(results, ssd, 100)
    return [
        judging.shape(
            "hard disks: write-back lifts random writes from hundreds to thousands a second",
            EBOOK,
            "p. 19",
            "a few hundred to several thousand; 5 to 10 ms to under 1 ms",
            f"{text.count(few)} to {text.count(many)} IOPS while they fit into the cache; "
            f"{through:.1f} to {back:.2f} ms",
            few < 1000 < 2000 < many and back < 1 < through,
            figures=[(2000, many, 10_000), (5, through, 10)],
            reason=(
                "Ours fit into the cache, so that the controller's time alone limits them; the "
                "document's cache likely fills up and is destaged (supposed)."
            ),
        ),
        judging.shape(
            "a hard disk does 100 to 300 requests a second, SSDs tens of thousands",
            EBOOK,
            "p. 15",
            f"{low:.0f} to {high:.0f} IOPS; tens of thousands",
            f"random reads of a disk, one at a time: {text.count(one)}; of an SSD, 32 at once: "
            f"{text.count(solid)}",
            low <= one <= high and solid > 10 * high,
            figures=[(10_000, solid, 100_000)],
            reason=(
                "Both alone, as the e-book has them. RAID 5 of four of each, which was asked "
                "first, writes 16 times as much with SSDs."
            ),
        ),
        judging.shape(
            "an SSD in front of hard disks speeds up what is asked often",
            EBOOK,
            "p. 8",
            "as maxCache and CacheCade do",
            f"reads, nine in ten of a hundredth of the data: {text.count(plain)} to "
            f"{text.count(cached)} IOPS",
            cached > 2 * plain,
        ),
    ]
