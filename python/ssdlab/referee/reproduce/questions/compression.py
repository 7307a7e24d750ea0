"""What compression hides: zeros, real data and random data on a compressing controller.

ZFS writes records of 128 KiB one behind the other, and small blocks of its own between them, each
rounded up to the pool's sector.
"""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts.forum_drives import F60, VERTEX
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

DATA = {"zeros": 100, "real data": 40, "random data": 0}
"""How much of each can be compressed away, in percent; real data: typical of a desktop, on which
such a controller writes 0.6 of what it is sent (AnandTech, Vertex 3)."""
SECTORS = {"512 B": "512", "4096 B": "4k"}
_DECIDED = (
    "controller.compression",
    "controller.compression_floor",
    "nand.program_us",
    "link.mb_per_s",
)


def _name(data: str, sector: str) -> str:
    return f"{data}, sectors of {sector}"


def _zfs(data: str, sector: str) -> Experiment:
    def copy(job: str) -> str:
        small = SECTORS[sector]
        return section(
            job,
            rw="write",
            bssplit=f"128k/50:{small}/50",
            ba=small,
            iodepth=10,
            io_size="40%",
            buffer_compress_percentage=DATA[data],
        )

    return Experiment(
        _name(data, sector), VERTEX, story(copy("first"), copy("copy")), "filled", settings=F60
    )


def experiments(scale: Scale) -> list[Experiment]:
    """Return a copy of each kind of data at each sector."""
    return [_zfs(data, sector) for data in DATA for sector in SECTORS]


def _rate(results: Results, data: str, sector: str = "4096 B") -> float:
    return results.mb_per_s(_name(data, sector), "copy")


def _by_sector(results: Results, data: str) -> float:
    return _rate(results, data, "4096 B") / _rate(results, data, "512 B")


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    no_gap = (
        "A unit that two records share is completed in the write buffer before it is programmed, "
        "so the model loses nothing at 512 B. Why the real controller does is not published."
    )
    return [
        judging.judged(
            "zeros, sectors of 4096 B against 512 B",
            documents.ratio("freebsd-forum", "f60_zeros_4096", "f60_zeros_512"),
            _by_sector(results, "zeros"),
            judging.FIRMWARE,
            decided_by=_DECIDED,
            reason=no_gap,
        ),
        judging.judged(
            "real data, sectors of 4096 B against 512 B",
            documents.ratio("freebsd-forum", "f60_backup_4096", "f60_backup_512"),
            _by_sector(results, "real data"),
            judging.FIRMWARE,
            decided_by=_DECIDED,
        ),
        judging.judged(
            "real data against zeros, sectors of 4096 B",
            documents.ratio("freebsd-forum", "f60_backup_4096", "f60_zeros_4096"),
            _rate(results, "real data") / _rate(results, "zeros"),
            judging.FIRMWARE,
            decided_by=_DECIDED,
            reason=(
                "Zeros are as fast as the link here, and nearly so in the document. What has to be "
                "programmed is faster here: how well the backup compressed is not known, nor how "
                "many dies this drive has and how fast they program."
            ),
        ),
        judging.judged(
            "random data against zeros",
            documents.ratio("freebsd-forum", "f60_random_data", "f60_zeros_4096"),
            _rate(results, "random data") / _rate(results, "zeros"),
            judging.FIRMWARE,
            decided_by=_DECIDED,
            reason=(
                f"Random data come to {text.significant(_rate(results, 'random data'))} MB/s here, "
                "from sixteen dies of an assumed tPROG. See above; and the document's two figures "
                "are of two file systems, UFS and ZFS."
            ),
        ),
        judging.shape(
            "the less can be compressed, the slower",
            "FreeBSD forum, SSD performance and partition alignment",
            "reply on ZFS",
            "zeros before real data before random data",
            " > ".join(text.significant(_rate(results, data)) for data in DATA) + " MB/s",
            _rate(results, "zeros") > _rate(results, "real data") > _rate(results, "random data"),
        ),
        judging.shape(
            "4096 B sectors help zeros much, real data a little, random data not",
            "FreeBSD forum, SSD performance and partition alignment",
            "reply on ZFS",
            "× 1.6, × 1.2, no difference",
            ", ".join(f"× {_by_sector(results, data):.2f}" for data in DATA),
            _by_sector(results, "zeros")
            > 1 + judging.MECHANISM
            > _by_sector(results, "random data"),
            reason=no_gap,
        ),
    ]


def picture(results: Results) -> str:
    """Draw rates by data and sector as shares of zeros at 4096 B; the document's likewise."""
    theirs = {
        _name("zeros", "512 B"): "f60_zeros_512",
        _name("zeros", "4096 B"): "f60_zeros_4096",
        _name("real data", "512 B"): "f60_backup_512",
        _name("real data", "4096 B"): "f60_backup_4096",
        _name("random data", "4096 B"): "f60_random_data",
    }

    def bar(data: str, sector: str, colour: int) -> Bar:
        share = _rate(results, data, sector) / _rate(results, "zeros")
        key = theirs.get(_name(data, sector))
        mark = documents.ratio("freebsd-forum", key, "f60_zeros_4096").value if key else None
        return Bar(f"sectors of\n{sector}", share, colour, mark)

    panels = [
        (data, [bar(data, sector, colour) for sector in SECTORS])
        for colour, data in enumerate(DATA)
    ]
    title, unit = "writing by kind of data", "share of zeros at 4096 B"
    return pictures.bars("compression", title, unit, panels, pictures.percent)


def finding(results: Results) -> str:
    """Say what a benchmark with zeros hides."""
    zeros, real, random = (_rate(results, data) for data in DATA)
    return (
        f"On a compressing controller a test with zeros shows × {zeros / random:.1f} of what "
        f"random, and so encrypted, data get, and × {zeros / real:.1f} of a typical desktop's. "
        "Test with the data you have. Sectors of 4096 B change little in the model (× "
        f"{_by_sector(results, 'zeros'):.2f} for zeros); the real drive gained more."
    )


QUESTION = Question(
    number=9,
    name="compression",
    title="What does compression hide?",
    said=(
        ("FreeBSD forum, reply on the Corsair F60", "62 MB/s of random data, aligned or not."),
        (
            "FreeBSD forum, reply on ZFS",
            "Zeros 170 and, with sectors of 4 KiB, 270 MB/s; a backup 90 and 105.",
        ),
        ("Thomas-Krenn, p. 7", "Compression saves writes, and with them wear."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption="Rate of a large copy as a share of that of zeros with sectors of 4096 B.",
    mechanism=(
        "Programming flash is the bottleneck of sequential writes; a controller that compresses "
        "programs less than it was sent, until the link is the limit. Data that cannot be "
        "compressed, encrypted ones above all, get what the flash can do."
    ),
    finding=finding,
    seconds=3,
    stand_ins=(
        (
            "The Corsair F60: the profile of the Vertex 2, which has the same controller, with two "
            "dies a channel, of which one is parity's."
        ),
        (
            "ZFS: records of 128 KiB in sequence, each followed by a small block of one sector, "
            "ten at a time."
        ),
    ),
)
