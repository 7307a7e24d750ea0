"""Hard disk or SSD: everyday work on both, from descriptions of each job's I/O.

The processor's part of each job was fitted to the SSD without encryption, so that column judges
nothing; the hard disk's columns and the encrypted one are predicted.
"""

from __future__ import annotations

from ssdlab import text
from ssdlab.reproduce import judging, pictures, seeds
from ssdlab.reproduce.experiment import Experiment, Scale, Scene, section, story
from ssdlab.reproduce.judging import Row
from ssdlab.reproduce.pictures import Bar
from ssdlab.reproduce.question import Question
from ssdlab.reproduce.results import Results
from ssdlab.reproduce.seeds import Stated

DISK, SSD = "fujitsu-mhz2250bh", "super-talent-ultradrive-gx-256gb"
ARTICLE = "Stapelberg, Super Talent Solid State Disk im Test"
JOBS = {
    "boot": "boot",
    "build": "build-package",
    "firefox": "start-firefox",
    "install": "install-package",
    "purge": "purge-package",
}
"""The article's rows and our scenarios; its search took about as long as its clock's step."""
CRYPT = "crypt:mb_per_s=100,cores=2"
"""AES-XTS of a Core 2 at 2.26 GHz, assumed."""
OLD, NEW, PLAIN, ENCRYPTED = "disk, fragmented", "disk, fresh", "SSD", "SSD, encrypted"
_DECIDED = ("hdd.rpm", "hdd.average_seek_ms")
_RAW = {
    "random read": section("random read", rw="randread", bs="4k", iodepth=1, number_ios=2000),
    "sequential read": section("sequential read", rw="read", bs="1m", iodepth=4, io_size="256m"),
}


def experiments(scale: Scale) -> list[Experiment | Scene]:
    """Return every job on the disk, fragmented and fresh, and on the SSD, plain and encrypted."""
    scenes: list[Experiment | Scene] = []
    for scenario in JOBS.values():
        scenes += [
            Scene(f"{OLD}, {scenario}", DISK, scenario, (("state", "fragmented"),)),
            Scene(f"{NEW}, {scenario}", DISK, scenario),
            Scene(f"{PLAIN}, {scenario}", SSD, scenario),
            Scene(f"{ENCRYPTED}, {scenario}", SSD, scenario, layers=(CRYPT,)),
        ]
    raw = story(*_RAW.values())
    return [*scenes, Experiment("raw disk", DISK, raw, whole=True), Experiment("raw SSD", SSD, raw)]


def _seconds(results: Results, column: str, scenario: str) -> float:
    return results.seconds(f"{column}, {scenario}")


def _ratio(one: str, other: str) -> Stated:
    return seeds.ratio("stapelberg", one, other)


def _everyday(results: Results) -> list[Row]:
    rows = []
    for job, scenario in JOBS.items():
        plain, new, old = (_seconds(results, column, scenario) for column in (PLAIN, NEW, OLD))
        rows += [
            judging.judged(
                f"{scenario}: hard disk, fresh file system, against SSD",
                _ratio(f"hdd_new_{job}", f"ssd_plain_{job}"),
                new / plain,
                judging.FIRMWARE,
                decided_by=_DECIDED,
                reason="The files that a job touches are described, not recorded.",
            ),
            judging.judged(
                f"{scenario}: hard disk, fragmented against fresh",
                _ratio(f"hdd_old_{job}", f"hdd_new_{job}"),
                old / new,
                judging.FIRMWARE,
                decided_by=_DECIDED,
                reason="How the article's file system had aged is not known; ours by replacing.",
            ),
        ]
    return rows


def _encrypted(results: Results) -> list[Row]:
    return [
        judging.judged(
            f"{scenario}: SSD encrypted against not",
            _ratio(f"ssd_crypt_{job}", f"ssd_plain_{job}"),
            _seconds(results, ENCRYPTED, scenario) / _seconds(results, PLAIN, scenario),
            judging.MECHANISM,
            decided_by=("crypt.mb_per_s", "crypt.request_us"),
        )
        for job, scenario in JOBS.items()
    ]


def rows(results: Results) -> list[Row]:
    """Return what is compared."""
    gains = [
        _seconds(results, NEW, scenario) / _seconds(results, PLAIN, scenario)
        for scenario in JOBS.values()
    ]
    slower = [
        _seconds(results, OLD, scenario) / _seconds(results, NEW, scenario)
        for scenario in JOBS.values()
    ]
    access = results.mean_us("raw disk", "random read") / 1e3
    low, high = (
        seeds.figure("thomas-krenn", f"hdd_access_{name}").value for name in ("low", "high")
    )
    return [
        *_everyday(results),
        *_encrypted(results),
        judging.shape(
            "everyday work on an SSD is several times faster",
            ARTICLE,
            "tests 1 and 3",
            "three to seven times",
            f"× {min(gains):.1f} to × {max(gains):.1f}",
            min(gains) > 1 and max(gains) > 3,
        ),
        judging.shape(
            "a fragmented file system makes the hard disk slower",
            ARTICLE,
            "test 1",
            "up to × 1.7",
            f"× {min(slower):.2f} to × {max(slower):.2f}",
            min(slower) > 1,
        ),
        judging.shape(
            "random access of a hard disk",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 4",
            f"{low:g} ms to {high:g} ms",
            f"{access:.1f} ms; the SSD {results.mean_us('raw SSD', 'random read') / 1e3:.2f} ms",
            low <= access <= 1.3 * high,
            reason="A 2.5-inch drive at 5400 rpm is slower than the servers' drives meant there.",
        ),
    ]


def picture(results: Results) -> str:
    """Draw the waiting times of every job on every drive."""
    columns = (
        (OLD, "hdd_old", "disk,\naged", 1),
        (NEW, "hdd_new", "disk,\nnew", 3),
        (PLAIN, "ssd_plain", "SSD", 2),
        (ENCRYPTED, "ssd_crypt", "SSD,\nenc.", 6),
    )
    panels = [
        (
            scenario.replace("-", " "),
            [
                Bar(
                    label,
                    _seconds(results, column, scenario),
                    colour,
                    seeds.figure("stapelberg", f"{prefix}_{job}").value,
                )
                for column, prefix, label, colour in columns
            ],
        )
        for job, scenario in JOBS.items()
    ]
    return pictures.bars(
        "hard-disk", "everyday work", "seconds of waiting", panels, lambda s: f"{s:.0f}"
    )


def verdict(results: Results) -> str:
    """Say what the choice means."""
    boot, build = (
        _seconds(results, NEW, scenario) / _seconds(results, PLAIN, scenario)
        for scenario in ("boot", "build-package")
    )
    random, sequential = (
        results.mb_per_s("raw SSD", job) / results.mb_per_s("raw disk", job) for job in _RAW
    )
    return (
        f"An SSD is × {text.significant(random, 2)} a hard disk in random reads and × "
        f"{text.significant(sequential, 2)} in sequence; a person notices the part of a job that "
        f"waits for places: × {boot:.1f} in starting up, × {build:.1f} in building a package, "
        "where the processor works most of the time. Encryption hardly shows in either."
    )


QUESTION = Question(
    number=7,
    name="hard-disk",
    title="Hard disk or SSD?",
    said=(
        ("Stapelberg", "Everyday jobs three to seven times faster, encrypted or not."),
        ("Stapelberg", "A fragmented ext4 costs a hard disk up to 70 %."),
        ("Thomas-Krenn, p. 4", "Hard disks find a place in 5 ms to 15 ms, SSDs in 0.1 ms."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Seconds that a person waits, on a notebook of 2009: hard disk with an aged and a new file "
        "system, SSD without and with encryption. Filled: ours; outlined: the article's."
    ),
    mechanism=(
        "A job is processor time and waiting. A hard disk waits for the arm and half a revolution "
        "at each place; the SSD waits a tenth of a millisecond. So what is gained depends on how "
        "many places a job touches, not on how many bytes."
    ),
    verdict=verdict,
    stand_ins=(
        "Each job's files, their number and sizes, and what is done with them are described in the "
        "engine's scenarios, each number with its source; most are assumed.",
        "Processor time: fitted to the SSD without encryption, a column that is not judged.",
        "LVM is left out: it adds no time that these clocks would show.",
    ),
)
