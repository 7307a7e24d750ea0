"""Whether TRIM matters: a drive written again, only deleted, trimmed; a RAID that passes none."""

from __future__ import annotations

from ssdlab.engine.conditions import BY_JOB
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import discards
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

DRIVE, WITHOUT_TRIM = "intel-dc-s3500-80gb", "intel-x25-m-g1-80gb"
EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
_WHOLE, _NINETY = "no TRIM, whole drive used", "no TRIM, 90 % used"
_LIVE = (95, 90, 75, 50)
"""Shares of the drive that the file system holds, in percent."""
_STATE_MAPS = {
    "64_gib": (64, 4096, 1),
    "two_bits": (64, 4096, 2),
    "256_gib": (256, 4096, 1),
    "512_b": (256, 512, 1),
}
"""GiB of the drive, bytes of a page and bits for each, by what a comment says of them."""
_LOAD: dict[str, Value] = {"bs": "4k", "iodepth": 16, "norandommap": True}


def _live(percent: int) -> str:
    return f"TRIM, {percent} % holds data"


def _story(drive: str, name: str) -> Experiment:
    """Write, write again, delete (which sends nothing), write, trim, write."""

    def writes(job: str) -> str:
        return section(job, rw="randwrite", io_size="20%", **_LOAD)

    clean = section("clean", rw="randwrite", io_size="5%", **_LOAD)
    wear = section("wear", rw="randwrite", loops=2, **_LOAD)
    trim = section("trim", rw="trim", bs="1m", iodepth=1)
    after = section("trimmed", rw="randwrite", io_size="5%", **_LOAD)
    return Experiment(
        name, drive, story(clean, wear, writes("again"), writes("deleted"), trim, after)
    )


def _steady(name: str, used_percent: int) -> Experiment:
    job = section("writes", rw="randwrite", size=f"{used_percent}%", io_size="20%", **_LOAD)
    return Experiment(name, DRIVE, job, BY_JOB, used_percent / 100)


def experiments(scale: Scale) -> list[Experiment]:
    """Return the two stories, and steady states by what the drive believes to hold data."""
    return [
        _story(DRIVE, "with TRIM"),
        _story(WITHOUT_TRIM, "without TRIM"),
        _steady(_WHOLE, 100),
        _steady(_NINETY, 90),
        *(_steady(_live(percent), percent) for percent in _LIVE if percent != 90),
        *discards.experiments(),
    ]


def _iops(results: Results, name: str) -> float:
    # What TRIM tells the drive and what the host never wrote are the same to it.
    return results.iops(_NINETY if name == _live(90) else name, "writes")


def _share(results: Results, drive: str, job: str) -> float:
    """Return speed as a share of the clean drive's."""
    return results.iops(drive, job) / results.iops(drive, "clean")


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    again, deleted, trimmed = (
        _share(results, "with TRIM", job) for job in ("again", "deleted", "trimmed")
    )
    not_trimmed = _share(results, "without TRIM", "trimmed")
    ninety, full_trim, half_trim = (
        _iops(results, name) / _iops(results, _WHOLE) for name in (_NINETY, _live(95), _live(50))
    )
    return [
        judging.shape(
            "TRIM gives a used drive its first speed back",
            EBOOK,
            "p. 12",
            "more speed and longer life",
            (
                f"written again {text.percent(again, 0)}, trimmed {text.percent(trimmed, 0)} of "
                "the clean drive's"
            ),
            abs(trimmed - 1) <= judging.MECHANISM and again < 1 - judging.MECHANISM,
        ),
        judging.shape(
            "files only deleted give nothing back",
            "Media-Addicted, posts on SSDs",
            "post of 5 December 2012",
            "a partition has to be formatted, so that it is trimmed, before it is deleted",
            f"{text.percent(again, 0)} before, {text.percent(deleted, 0)} after",
            abs(deleted / again - 1) <= judging.MECHANISM,
        ),
        judging.shape(
            "a drive without TRIM ignores it",
            EBOOK,
            "p. 12",
            "drive, operating system and file system must support it",
            (
                f"X25-M of the first generation: {text.percent(not_trimmed, 0)} of clean after "
                "trimming all"
            ),
            not_trimmed < 1 - judging.MECHANISM,
        ),
        judging.shape(
            "90 % used makes up for missing TRIM, file system 95 % full",
            EBOOK,
            "p. 12",
            "using 90 % should balance the lack of TRIM",
            f"× {ninety:.2f} without TRIM at 90 %, × {full_trim:.2f} with TRIM",
            ninety >= full_trim,
        ),
        judging.shape(
            "90 % used makes up for missing TRIM, file system half full",
            EBOOK,
            "p. 12",
            "using 90 % should balance the lack of TRIM",
            f"× {ninety:.2f} without TRIM at 90 %, × {half_trim:.2f} with TRIM",
            ninety >= half_trim,
            reason=(
                "TRIM hands over all that the file system does not hold, here half the drive; "
                "a tenth left unused is only a tenth."
            ),
        ),
        *discards.rows(results),
        _state_map(),
    ]


def _state_map() -> JudgedRow:
    """Return how much memory it takes to know what is free, beside the whole map."""
    units = documents.figure("anandtech", "units_64_gib")
    stated = [documents.figure("anandtech", f"state_map_{name}") for name in _STATE_MAPS]
    maps = [gib * 2**30 / unit * bits / 8 / 2**20 for gib, unit, bits in _STATE_MAPS.values()]
    pages = 64 * 2**30 // 4096
    return judging.shape(
        "a bit or two for each page say what is free",
        units.document,
        "comments of 18 and 19 March 2009",
        f"{units} of 64 GiB; {', '.join(f'{each.value:.0f}' for each in stated)} MiB",
        f"{text.count(pages)}; {', '.join(f'{each:.0f}' for each in maps)} MiB; of 64 GiB a map of "
        f"pages, 4 B an entry, takes {pages * 4 / 2**20:.0f} MiB and says it too",
        pages == units.value
        and all(abs(a / b.value - 1) < 0.01 for a, b in zip(maps, stated, strict=True)),
    )


def picture(results: Results) -> str:
    """Draw the story on the left, RAID without TRIM beside TRIM on the right."""
    story_bars = [
        Bar(label, _share(results, "with TRIM", job), colour=colour)
        for label, job, colour in (
            ("clean", "clean", 0),
            ("written\nagain", "again", 1),
            ("only\ndeleted", "deleted", 1),
            ("trimmed", "trimmed", 2),
        )
    ]
    names = {_WHOLE: "none,\nwhole", _NINETY: "none,\n90 % used"}
    names |= {_live(percent): f"TRIM,\n{percent} % full" for percent in (95, 75, 50)}
    clean = results.iops("with TRIM", "clean")
    raid_bars = [
        Bar(label, _iops(results, name) / clean, colour=1 if name in (_WHOLE, _NINETY) else 2)
        for name, label in names.items()
    ]
    panels = [("one drive", story_bars), ("in the long run, without and with TRIM", raid_bars)]
    title, unit = "random writes without and with TRIM", "share of the clean drive's IOPS"
    return pictures.bars("trim", title, unit, panels, pictures.percent)


def finding(results: Results) -> str:
    """Say when TRIM matters, and what stands in for it."""
    ninety = _iops(results, _NINETY) / _iops(results, _WHOLE)
    half = _iops(results, _live(50)) / _iops(results, _WHOLE)
    return (
        "TRIM matters as much as the file system is empty: at half full it makes random writes × "
        f"{half:.1f}, and a drive trimmed as a whole is clean again "
        f"({text.percent(_share(results, 'with TRIM', 'trimmed'), 0)}). Where it cannot pass, "
        f"using 90 % gives × {ninety:.1f}: exactly what TRIM gives a drive that is 90 % full, so "
        "it makes up for TRIM on drives at least as full, and for a part of it on others. "
        "Deleting alone gives nothing. Where a TRIM is slow, discard in batches."
    )


QUESTION = Question(
    number=3,
    name="trim",
    title="Does TRIM matter, and does it get through?",
    said=(
        (
            "Thomas-Krenn, p. 12",
            (
                "Opinions differ on what TRIM gains. RAID controllers do not pass it; 90 % used "
                "should make up."
            ),
        ),
        ("Thomas-Krenn, p. 14", "Server drives have so much spare area that TRIM hardly matters."),
        (
            "AnandTech, comments",
            "With spare blocks there would be no need of TRIM; it marks what is free, no more.",
        ),
        (
            "Media-Addicted",
            "Space given up later has to be formatted first, so that it is trimmed.",
        ),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "4 KiB random writes as a share of the clean drive's. Left: one drive through its "
        "life. Right: steady state."
    ),
    mechanism=(
        "The drive cannot know what a file system has deleted; it keeps moving such pages. TRIM "
        "tells it, and they become spare: with a share s of the drive holding data the spare is "
        "(1 + OP) / s − 1, just as if the rest had never been written. So an unused tenth and "
        "TRIM on a drive 90 % full are the same to garbage collection."
    ),
    finding=finding,
    seconds=4,
    stand_ins=(
        "A file system that trims at once and holds a share of the drive: a drive of which just "
        "that share is ever written. To the drive both are the same.",
        "Continuous discards: each write of 4 KiB comes with a trim of as much; in batches: "
        "one pass of trims after all writes.",
    ),
)
