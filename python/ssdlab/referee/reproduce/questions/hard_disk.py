"""Hard disk or SSD: everyday work on both, from descriptions of each job's I/O.

The processor's part of each job was fitted to the SSD without encryption, so that column judges
nothing; the hard disk's columns and the encrypted one are predicted.
"""

from __future__ import annotations

from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, Scene, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import disk_arrays, early_drive, power, raw_drives
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.provenance import Fitted
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

DISK, SSD = "fujitsu-mhz2250bh", "super-talent-ultradrive-gx-256gb"
ARTICLE = "Stapelberg, Super Talent Solid State Disk im Test"
_DOCUMENT = "stapelberg"
JOBS = {
    "boot": "boot",
    "build": "build-package",
    "firefox": "start-firefox",
    "install": "install-package",
    "purge": "purge-package",
}
"""The article's rows and our scenarios; its search took about as long as its clock's step."""
CRYPT = "crypt:mb_per_s=100,cores=2"
"""AES-XTS of the notebook's Core 2 at 2.26 GHz, assumed."""
OLD, NEW, PLAIN, ENCRYPTED = "disk, fragmented", "disk, fresh", "SSD", "SSD, encrypted"
_DECIDED = ("hdd.rpm", "hdd.average_seek_ms")
_RAW_DISK, _SERVER_DISK, _SERVER_SSD = "raw disk", "raw disk of a server", "raw SSD of a server"
_PIECES: Settings = (("system.age.extents_per_file", "1.4"),)
"""Chosen by the boot (docs/explanation/validation/fits.toml): ageing alone gives about 1.0."""
_CHOOSING = "boot"
_QUICK_CHURN = "0.25"
"""Contents replaced while the file system ages: in full twice, quickly a quarter, within 5 %."""
_QUICK_FILL = "0.2"
"""How full the SSD is; on it places do not matter, and waiting times are the same."""
_AGED = (
    "How the article's file system had aged is not known. Ours, replaced twice at 85 % full, "
    "scatters files and hardly breaks them into pieces; 1.4 extents a file were chosen by the boot."
)
_RAW = {
    "random read": section("random read", rw="randread", bs="4k", iodepth=1, number_ios=2000),
    "sequential read": section("sequential read", rw="read", bs="1m", iodepth=4, io_size="256m"),
}


def experiments(scale: Scale) -> list[Experiment | Scene]:
    """Return every job on the encrypted disk, aged and fresh, and on the SSD, plain and so."""
    quick = len(scale.seeds) == 1
    churn = (("system.age.churn", _QUICK_CHURN),) if quick else ()
    fill = (("system.age.fill", _QUICK_FILL),) if quick else ()
    aged: Settings = (("state", "fragmented"), *churn, *_PIECES)
    scenes: list[Experiment | Scene] = []
    for scenario in JOBS.values():
        scenes += [
            # The article's disk was encrypted in both columns (its test 1 and the end of test 3).
            Scene(f"{OLD}, {scenario}", DISK, scenario, aged, layers=(CRYPT,)),
            Scene(f"{NEW}, {scenario}", DISK, scenario, layers=(CRYPT,)),
            Scene(f"{PLAIN}, {scenario}", SSD, scenario, fill),
            Scene(f"{ENCRYPTED}, {scenario}", SSD, scenario, fill, layers=(CRYPT,)),
        ]
    raw = story(*_RAW.values())
    return [
        *scenes,
        Experiment(_RAW_DISK, DISK, raw, whole=True, layout=False),
        Experiment(_SERVER_DISK, disk_arrays.DISK, raw, whole=True, layout=False),
        Experiment("raw SSD", SSD, raw),
        Experiment(_SERVER_SSD, early_drive.DRIVE, raw),
        *power.experiments(),
    ]


def _seconds(results: Results, column: str, scenario: str) -> float:
    return results.seconds(f"{column}, {scenario}")


def _ratio(one: str, other: str) -> Stated:
    return documents.ratio(_DOCUMENT, one, other)


def _everyday(results: Results) -> list[JudgedRow]:
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
                uncounted=judging.FITTED_TO if scenario == _CHOOSING else "",
                decided_by=_DECIDED,
                reason=_AGED,
            ),
        ]
    return rows


def _encrypted(results: Results) -> list[JudgedRow]:
    return [
        judging.judged(
            f"{scenario}: SSD encrypted against not",
            _ratio(f"ssd_crypt_{job}", f"ssd_plain_{job}"),
            _seconds(results, ENCRYPTED, scenario) / _seconds(results, PLAIN, scenario),
            judging.MECHANISM,
            decided_by=("crypt.mb_per_s", "crypt.request_us"),
            reason="The article's clock has steps of 1 s, a fifth of its shortest times.",
        )
        for job, scenario in JOBS.items()
    ]


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    gains = [
        _seconds(results, NEW, scenario) / _seconds(results, PLAIN, scenario)
        for scenario in JOBS.values()
    ]
    theirs = [_ratio(f"hdd_new_{job}", f"ssd_plain_{job}").value for job in JOBS]
    slower = [
        _seconds(results, OLD, scenario) / _seconds(results, NEW, scenario)
        for scenario in JOBS.values()
    ]
    most_slower = max(_ratio(f"hdd_old_{job}", f"hdd_new_{job}").value for job in JOBS)
    slow, access = (
        results.mean_us(name, "random read") / 1e3 for name in (_RAW_DISK, _SERVER_DISK)
    )
    low, high = (
        documents.figure("thomas-krenn", f"hdd_access_{name}").value for name in ("low", "high")
    )
    return [
        *_everyday(results),
        *_encrypted(results),
        judging.shape(
            "everyday work on an SSD is several times faster",
            ARTICLE,
            "tests 1 and 3",
            "a marked gain",
            f"× {min(gains):.1f} to × {max(gains):.1f}",
            min(gains) > 1 and max(gains) > 3,
            reason=(
                f"The article's times on a fresh file system, × {min(theirs):.1f} to × "
                f"{max(theirs):.1f}, have a row each; it gives no figure for all of them. "
                "“Three to seven times” stood here, which is not in it."
            ),
        ),
        judging.shape(
            "a fragmented file system makes the hard disk slower",
            ARTICLE,
            "test 1",
            f"up to × {most_slower:.1f}",
            f"× {min(slower):.2f} to × {max(slower):.2f}",
            min(slower) > 1,
            figures=[judging.near(most_slower, max(slower), judging.FIRMWARE)],
            reason=_AGED,
        ),
        judging.shape(
            "random access of a hard disk",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 4",
            f"{low:g} ms to {high:g} ms",
            f"{access:.1f} ms of a server's; {slow:.1f} ms of the notebook's; the SSD "
            f"{results.mean_us('raw SSD', 'random read') / 1e3:.2f} ms",
            low <= access <= high,
            reason=(
                "The e-book is on servers. A 2.5-inch drive at 5400 rpm, which was asked first, is "
                "slower than all that it means."
            ),
        ),
        *raw_drives.rows(results, _RAW_DISK, "raw SSD", (_SERVER_DISK, _SERVER_SSD)),
        *power.rows(results, _RAW_DISK),
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
                    documents.figure(_DOCUMENT, f"{prefix}_{job}").value,
                )
                for column, prefix, label, colour in columns
            ],
        )
        for job, scenario in JOBS.items()
    ]
    return pictures.bars(
        "hard-disk", "everyday work", "seconds of waiting", panels, lambda s: f"{s:.0f}"
    )


def finding(results: Results) -> str:
    """Say what the choice means."""
    boot, build = (
        _seconds(results, NEW, scenario) / _seconds(results, PLAIN, scenario)
        for scenario in ("boot", "build-package")
    )
    random, sequential = (
        results.mb_per_s("raw SSD", job) / results.mb_per_s(_RAW_DISK, job) for job in _RAW
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
        ("Stapelberg", "Half a watt less; a managed link made the drive hang at times."),
        ("Thomas-Krenn, p. 8", "20 to 30 minutes more from a notebook's battery."),
        ("Thomas-Krenn, p. 4", "Hard disks find a place in 5 ms to 15 ms, SSDs in 0.1 ms."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Seconds that a person waits, on a notebook of 2009: encrypted hard disk with an aged and "
        "a new file system, SSD without and with encryption. Filled: ours; outlined: the "
        "article's."
    ),
    mechanism=(
        "A job is processor time and waiting. A hard disk waits for the arm and half a revolution "
        "at each place; the SSD waits a tenth of a millisecond. So what is gained depends on how "
        "many places a job touches, not on how many bytes."
    ),
    finding=finding,
    seconds=58,
    stand_ins=(
        "Each job's files, their number and sizes, and what is done with them are described in the "
        "engine's scenarios, each number with its source; most are assumed.",
        "Processor time: fitted to the SSD without encryption, a column that is not judged.",
        "LVM is left out: it adds no time that these clocks would show.",
        "A quick run ages the file system by replacing a quarter of it, a full one by twice "
        "what it holds, and fills the SSD less; waiting times differ by less than 5 %, or not.",
        "Power: a read five times a second; the link sleeps after 20 ms (assumed). A battery of "
        f"{power.BATTERY_WH:.0f} Wh, a notebook of {power.NOTEBOOK_W:.1f} W (Thinkpad X200).",
    ),
    fitted=[
        Fitted(
            f"scenario {scenario}",
            "cpu_s",
            "",
            f"to {documents.figure(_DOCUMENT, f'ssd_plain_{job}')} on the SSD without encryption",
        )
        for job, scenario in JOBS.items()
    ],
)
