"""How to start over: what secure erase, crypto erase and TRIM give back to a drive in long use."""

from __future__ import annotations

from ssdlab.engine.conditions import BY_JOB
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

DRIVE = "intel-x25-m-g2-80gb"
EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
FRESH, USED = "fresh", "in long use"
WAYS = {"secure erase": "secure-erase", "crypto erase": "crypto-erase", "TRIM of all": "trim"}
FIRST, AFTER_TRIM = "writes", "after trimming"


def experiments(scale: Scale) -> list[Experiment]:
    """Return random writes: fresh, used, and started over; each then trimmed and written again."""
    load: dict[str, Value] = {"rw": "randwrite", "bs": "4k", "iodepth": 16, "io_size": "10%"}
    writes = section(FIRST, norandommap=True, **load)
    trim = section("trim", rw="trim", bs="1m", iodepth=1)
    job = story(writes, trim, section(AFTER_TRIM, norandommap=True, **load))
    return [
        Experiment(FRESH, DRIVE, job),
        Experiment(USED, DRIVE, job, BY_JOB),
        *(Experiment(name, DRIVE, job, BY_JOB, start_over=way) for name, way in WAYS.items()),
    ]


def _share(results: Results, name: str, job: str = FIRST) -> float:
    """Return speed as a share of the fresh drive's."""
    return results.iops(name, job) / results.iops(FRESH, FIRST)


def _as_new(share: float) -> bool:
    return abs(share - 1) <= judging.MECHANISM


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    used, secure, crypto, trimmed = (_share(results, name) for name in (USED, *WAYS))
    later = _share(results, "crypto erase", AFTER_TRIM)
    return [
        judging.shape(
            "secure erase gives the first speed back",
            EBOOK,
            "p. 10",
            "all pages can be written again, with the original performance",
            f"{text.percent(used, 0)} before, {text.percent(secure, 0)} of the fresh drive's after",
            _as_new(secure) and not _as_new(used),
        ),
        judging.shape(
            "where only the key is thrown away, blocks stay full",
            EBOOK,
            "p. 10",
            "the data are still there, the blocks not erased",
            f"{text.percent(crypto, 0)} of the fresh drive's",
            abs(crypto / used - 1) <= judging.MECHANISM,
        ),
        judging.shape(
            "until they are trimmed",
            EBOOK,
            "p. 10",
            "such a drive has to be trimmed for its best performance",
            f"{text.percent(later, 0)} of the fresh drive's",
            _as_new(later),
        ),
        judging.shape(
            "formatting, which trims, does as well",
            EBOOK,
            "p. 10",
            "Windows 7 trims when it formats",
            f"{text.percent(trimmed, 0)} of the fresh drive's",
            _as_new(trimmed),
        ),
    ]


def picture(results: Results) -> str:
    """Draw the speed after each way as a share of the fresh drive's."""
    shown = [(USED, FIRST, USED, 1)]
    shown += [(name, FIRST, name, 0) for name in WAYS]
    shown.append(("crypto erase", AFTER_TRIM, "crypto erase,\nthen TRIM", 2))
    group = [
        Bar(
            label.replace(" ", "\n", 1) if "\n" not in label else label,
            _share(results, name, job),
            colour,
        )
        for name, job, label, colour in shown
    ]
    title, unit = "speed after starting over", "share of the fresh drive's IOPS"
    return pictures.bars(
        "start-over", title, unit, [("4 KiB random writes", group)], pictures.percent
    )


def finding(results: Results) -> str:
    """Say how to start over."""
    used, secure, crypto, trimmed = (_share(results, name) for name in (USED, *WAYS))
    return (
        f"A drive left at {text.percent(used, 0)} by long use is as new after a secure erase "
        f"({text.percent(secure, 0)}) or after all of it was trimmed "
        f"({text.percent(trimmed, 0)}). A crypto erase hides the data and leaves the drive as "
        f"slow as it was ({text.percent(crypto, 0)}), until it is trimmed."
    )


QUESTION = Question(
    number=10,
    name="start-over",
    title="How to start over?",
    said=(
        (
            "Thomas-Krenn, p. 10",
            "Secure erase empties all blocks of most drives, and the first speed is back.",
        ),
        (
            "Thomas-Krenn, p. 10",
            "Some new drives only throw the key away; they have to be trimmed as well.",
        ),
        ("Media-Addicted", "Secure erase, or format once so that the space is trimmed."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption="Random writes after each way to start over, as a share of the fresh drive's.",
    mechanism=(
        "What matters is whether the drive still treats its pages as valid. An erase and TRIM "
        "empty the map. Destroying the key makes the data unreadable, but leaves the map as it "
        "was, so that garbage collection keeps moving useless data."
    ),
    finding=finding,
    seconds=5,
)
