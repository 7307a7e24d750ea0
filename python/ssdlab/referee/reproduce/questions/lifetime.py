"""How long a drive lasts: cell kinds, a standard load, and whether scattered files cost erases.

host bytes until worn = flash bytes · rated cycles / write amplification
"""

from __future__ import annotations

from ssdlab.engine.conditions import BY_JOB
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

SMALL, LARGE_SPARE, CONSUMER = "intel-dc-s3500-80gb", "intel-dc-s3700-200gb", "intel-x25-m-g2-80gb"
LOADS = ("sequential", "server's standard load", "random")
DRIVES = {CONSUMER: "X25-M", SMALL: "DC S3500", LARGE_SPARE: "DC S3700"}
_JESD219: dict[str, Value] = {
    "bssplit": "512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3",
    "random_distribution": "zoned:50/5:30/15:20/80",
    "ba": 512,
}
"""Sizes, and places: half of the requests to a twentieth of the drive, 30 % to the next 15 %, 20 %
to the rest; JEDEC JESD219 as a maker sums it up (Tom's Hardware, Seagate, SSD Endurance)."""
_SLOW = "erases that take too long"
_COLD = "three quarters never written again"
FILES = ("in one piece", "scattered")
_FILE_BYTES = 2_000_000


_OF_LOAD: dict[str, dict[str, Value]] = {
    LOADS[0]: {"rw": "write", "bs": "128k"},
    LOADS[1]: {"rw": "randwrite", "norandommap": True, **_JESD219},
    LOADS[2]: {"rw": "randwrite", "norandommap": True, "bs": "4k"},
}


def _load(drive: str, load: str) -> Experiment:
    job = section("load", iodepth=16, io_size="50%", **_OF_LOAD[load])
    return Experiment(f"{DRIVES[drive]}, {load}", drive, job, BY_JOB)


def _files(order: str) -> Experiment:
    """Delete and write again a twentieth of a full drive, in files of one piece or in clusters."""
    rewrite: dict[str, Value] = {"iodepth": 4, "io_size": "50%"}
    block = "2m" if order == FILES[0] else "4k"
    delete = section("delete", rw="randtrim", bs=block, **rewrite)
    write = section("write", rw="randwrite", bs=block, norandommap=True, **rewrite)
    return Experiment(order, CONSUMER, story(delete, write), "filled")


def experiments(scale: Scale) -> list[Experiment]:
    """Return the loads on three drives, and the files."""
    return [
        *(_load(drive, load) for drive in DRIVES for load in LOADS),
        *(_files(each) for each in FILES),
        _slow_erases(),
        _cold_data(),
    ]


def _slow_erases() -> Experiment:
    """Write a drive until its erases take too long; few cycles, so that it does not take years."""
    cut: Settings = (("reliability.rated_cycles", "60"), ("nand.erase_limit_us", "2900"))
    job = section("write", rw="write", bs="128k", iodepth=16, loops=14)
    return Experiment(_SLOW, CONSUMER, job, settings=cut)


def _cold_data() -> Experiment:
    """Write a quarter of a small full drive; the difference of erases stays 5 % of the cycles."""
    cut: Settings = (("reliability.rated_cycles", "160"), ("ftl.static_wear_cycles", "8"))
    job = section(
        "hot", rw="randwrite", bs="4k", norandommap=True, iodepth=16, size="25%", loops=80
    )
    return Experiment(_COLD, CONSUMER, job, "filled", settings=cut, most_blocks_a_die=64)


def _wa(results: Results, drive: str, load: str) -> float:
    return results.write_amplification(f"{DRIVES[drive]}, {load}", "load")


def _writes_of_capacity(results: Results, drive: str, load: str) -> float:
    """Return how often the host can write the whole drive."""
    keys = parameters(results.first(f"{DRIVES[drive]}, {load}", "load").lab)
    cycles, spare = float(keys["reliability.rated_cycles"]), float(keys["over_provisioning"])
    return cycles * (1 + spare) / _wa(results, drive, load)


def _cycles(results: Results, drive: str) -> float:
    keys = parameters(results.first(f"{DRIVES[drive]}, random", "load").lab)
    return float(keys["reliability.rated_cycles"])


def _erases(results: Results, order: str) -> float:
    """Return erases for each file of 2 MB that was deleted and written again."""
    job = results.first(order, "write")
    return float(job.lab["blocks_erased"]) * _FILE_BYTES / float(job.direction("write")["io_bytes"])


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    one, scattered = (_erases(results, each) for each in FILES)
    erases = results.first(_COLD, "hot").lab["wear"]["erase_counts"]
    return [
        judging.judged(
            "erases for a scattered file against one in one piece",
            documents.ratio("anandtech", "scattered_erases", "contiguous_erases"),
            scattered / one,
            judging.FIRMWARE,
            uncounted=judging.OTHER_MATTER,
            decided_by=("nand.pages_per_block", "over_provisioning", "ftl.gc"),
            profile=CONSUMER,
            reason=(
                "A reader's reckoning, put to the test: it erases a block for "
                "every cluster. A drive that maps pages erases a block when it needs one, for all "
                "that has become invalid in it."
            ),
        ),
        judging.shown(
            "program/erase cycles of MLC",
            documents.figure("thomas-krenn", "cycles_mlc_low"),
            ", ".join(f"{DRIVES[drive]} {_cycles(results, drive):,.0f}" for drive in DRIVES),
            reason=(
                "An input of the profiles, of which lifetime is a multiple; it fell as cells "
                "shrank."
            ),
        ),
        judging.shape(
            "a larger spare area lengthens life",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 7",
            "collection has less to do",
            "random writes: write amplification "
            + ", ".join(f"{DRIVES[drive]} {_wa(results, drive, 'random'):.1f}" for drive in DRIVES),
            _wa(results, CONSUMER, "random")
            > _wa(results, SMALL, "random")
            > _wa(results, LARGE_SPARE, "random"),
        ),
        judging.shape(
            "wear is spread over all blocks",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 6",
            "all pages of a drive wear evenly",
            f"with three quarters of the data never written again: {erases['min']:.0f} to "
            f"{erases['max']:.0f} erases, {erases['mean']:.0f} on average",
            erases["max"] < 2 * erases["mean"] and erases["min"] > erases["mean"] / 2,
        ),
        _valid_data(results),
        _bad_blocks(results),
    ]


def _valid_data(results: Results) -> JudgedRow:
    """Compare how much is valid in a block when it is collected, under random writes."""
    low, high = (documents.figure("thomas-krenn", f"gc_valid_{end}") for end in ("low", "high"))

    def share(drive: str) -> float:
        counters = results.first(f"{DRIVES[drive]}, random", "load").lab["counters"]
        return float(counters["gc_pages_moved"]) / float(counters["nand_pages_written"] or 1)

    shares = {drive: share(drive) for drive in DRIVES}
    return judging.shape(
        "blocks that are collected hold 40 to 60 % valid data",
        low.document,
        low.place,
        f"{low} to {high}",
        ", ".join(f"{DRIVES[drive]} {text.percent(each, 0)}" for drive, each in shares.items()),
        any(low.value <= each <= high.value for each in shares.values()),
        figures=[(low.value, each, high.value) for each in shares.values()],
        reason=(
            "Under random writes the share is 1 − 1 / write amplification, which the spare area "
            "decides."
        ),
    )


def _bad_blocks(results: Results) -> JudgedRow:
    job = results.first(_SLOW, "write")
    counters = job.lab.get("counters") or {}
    bad, lost = (int(counters.get(key, 0)) for key in ("grown_bad_blocks", "uncorrectable_reads"))
    end = "then read-only" if job.lab.get("read_only") else "still written"
    return judging.shape(
        "a block whose erase takes too long is declared bad and replaced from the spare",
        "Thomas-Krenn, High Performance Solid State Drives in servers",
        "p. 6",
        "so that no data are lost",
        f"{bad} blocks replaced, {lost} reads lost, {end}; rated cycles cut to 60",
        bad > 0 and lost == 0,
    )


def picture(results: Results) -> str:
    """Draw how often the whole drive can be written, by drive and load."""

    def bar(drive: str, load: str, colour: int) -> Bar:
        label = load.replace(" ", "\n", 1)
        return Bar(label, _writes_of_capacity(results, drive, load), colour)

    panels = [
        (DRIVES[drive], [bar(drive, load, colour) for colour, load in enumerate(LOADS)])
        for drive in (CONSUMER, SMALL)
    ]
    title, unit = "how often a drive can be written", "whole drives that can be written"
    return pictures.bars("lifetime", title, unit, panels, lambda value: text.count(round(value)))


def finding(results: Results) -> str:
    """Say how long it lasts, and what a scattered file costs."""
    one, scattered = (_erases(results, each) for each in FILES)
    worst, best = (
        _writes_of_capacity(results, CONSUMER, load) for load in ("random", "sequential")
    )
    standard = _writes_of_capacity(results, SMALL, LOADS[1])
    return (
        f"As long as the load is kind: the X25-M can be written {text.count(round(best))} times "
        f"over in sequence and {text.count(round(worst))} times at random; the DC S3500 under the "
        f"server's standard load {text.count(round(standard))} times, {standard / 5 / 365:.1f} "
        f"times a day for five years. A scattered file costs × {scattered / one:.1f} the erases "
        "of one in one piece, not a hundred times."
    )


QUESTION = Question(
    number=11,
    name="lifetime",
    title="How long will it last?",
    said=(
        (
            "Thomas-Krenn, p. 5",
            "100,000 cycles of SLC, 10,000 to 30,000 of MLC, about 1,000 of TLC.",
        ),
        (
            "Thomas-Krenn, p. 7",
            "Makers state bytes to be written under JESD219's loads; spare area lengthens life.",
        ),
        (
            "AnandTech, comments",
            "Deleting a 2 MB file in scattered clusters costs 500 erases, in one piece 4 to 5.",
        ),
        ("Media-Addicted", "An encrypted drive wears out its few spare blocks early."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "How often the whole drive can be written before the average block reaches its rated "
        "cycles."
    ),
    mechanism=(
        "Each byte of the host costs as many bytes of flash as write amplification says. "
        "Sequential writes and whole files leave whole blocks invalid; scattered ones leave a "
        "few invalid pages in many blocks, so that valid ones are moved again and again. Spare "
        "blocks wear no sooner than others, since blocks change roles."
    ),
    finding=finding,
    seconds=15,
    stand_ins=(
        (
            "JESD219's load for servers: its sizes and places; its share of reads, which wear "
            "nothing, is left out."
        ),
        (
            "A file in one piece: 2 MiB deleted and written at once. Scattered: clusters of 4 KiB "
            "all over the drive."
        ),
    ),
)
