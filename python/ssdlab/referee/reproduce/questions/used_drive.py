"""What a used drive does: aged by a recipe, aged by long use, and fresh.

Speed is that of the stand-in for PCMark Vantage's disk suite.
"""

from __future__ import annotations

from statistics import geometric_mean

from ssdlab.bench.recipes import IMAGE
from ssdlab.experiment.experiment import Experiment, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import over_time
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results
from ssdlab.study.everyday import pcmark

DRIVE = pcmark.PUBLISHED_DRIVE
FRESH, RECIPE, LONG = "fresh", "aged by recipe", "in long use"
_IMAGE = section(
    "image",
    rw="randwrite",
    bs=f"{IMAGE.load.block_bytes >> 10}k",
    iodepth=IMAGE.load.depth,
    io_size=f"{IMAGE.passes:.0%}",
)
_DECIDED = ("over_provisioning", "ftl.gc", "ftl.gc_pace", "nand.program_us")


def experiments(scale: Scale) -> list[Experiment]:
    """Return the suite on the drive in three conditions."""
    replay = story(_IMAGE, pcmark.TEST_FILE, *pcmark.suite())
    return [
        Experiment(FRESH, DRIVE, replay, layout=False),
        Experiment(RECIPE, DRIVE, replay, "filled"),
        Experiment(LONG, DRIVE, replay, "used"),
        *over_time.experiments(),
    ]


def _score(results: Results, condition: str) -> float:
    return pcmark.score({task: results.mb_per_s(condition, task) for task in pcmark.READS_PERCENT})


def _loss(results: Results, condition: str) -> float:
    return _score(results, condition) / _score(results, FRESH)


def _of_task(results: Results, condition: str, task: str) -> float:
    return results.mb_per_s(condition, task) / results.mb_per_s(FRESH, task)


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    lost = 1 - documents.ratio("anandtech", "long_used_hdd", "fresh_hdd").value
    reads, writes = (_of_task(results, RECIPE, task) for task in ("games", "Movie Maker"))
    return [
        judging.judged(
            "drive aged by the recipe against fresh, disk suite",
            documents.ratio("anandtech", "recipe_hdd", "fresh_hdd"),
            _loss(results, RECIPE),
            judging.FIRMWARE,
            uncounted=judging.AFTERWARDS,
            decided_by=_DECIDED,
            reason=(
                f"The stand-in decides: a task that only reads keeps {text.percent(reads, 0)} "
                f"of its speed, one that writes half the time {text.percent(writes, 0)}. It writes "
                "without a pause and at random, PCMark's recordings likely less; and how this "
                "drive's firmware collects is not published."
            ),
        ),
        judging.judged(
            "drive aged by the recipe against drive in long use, disk suite",
            documents.ratio("anandtech", "recipe_hdd", "long_used_hdd"),
            _loss(results, RECIPE) / _loss(results, LONG),
            judging.MECHANISM,
            uncounted=judging.AFTERWARDS,
            decided_by=_DECIDED,
            reason=(
                "The recipe overwrites a quarter of the drive, long use all of it once; how long "
                "the document's drive had been used is not known."
            ),
        ),
        judging.shown(
            "score of the fresh drive",
            documents.figure("anandtech", "fresh_hdd"),
            f"{text.significant(_score(results, FRESH))} MB/s",
        ),
        judging.shape(
            "a used drive is slower, more so in what writes more",
            "AnandTech, Simulating a Used Drive",
            "table",
            f"{text.percent(lost, 0)} lost in the disk suite",
            (
                f"{text.percent(1 - _loss(results, LONG), 0)} lost in long use; aged by the "
                f"recipe, {text.percent(1 - reads, 0)} in games, {text.percent(1 - writes, 0)} in "
                "Movie Maker"
            ),
            writes < reads and _loss(results, LONG) < 1,
            figures=[judging.near(lost, 1 - _loss(results, LONG), judging.FIRMWARE)],
            reason="The stand-in decides, as in the first row.",
        ),
        *over_time.rows(results),
    ]


def picture(results: Results) -> str:
    """Draw score and two tasks, as shares of the fresh drive."""
    theirs = {
        condition: documents.ratio("anandtech", name, "fresh_hdd").value
        for condition, name in ((RECIPE, "recipe_hdd"), (LONG, "long_used_hdd"))
    }
    shown = {
        "all eight tasks": tuple(pcmark.READS_PERCENT),
        "games: reads only": ("games",),
        "Movie Maker: half writes": ("Movie Maker",),
    }
    panels = []
    for colour, (heading, tasks) in enumerate(shown.items()):
        group = [
            Bar(
                condition.replace(" ", "\n", 1),
                geometric_mean(_of_task(results, condition, task) for task in tasks),
                colour,
                theirs.get(condition) if len(tasks) > 1 else None,
            )
            for condition in (FRESH, RECIPE, LONG)
        ]
        panels.append((heading, group))
    title, unit = "speed of a used drive", "share of the fresh drive's speed"
    return pictures.bars("used-drive", title, unit, panels, pictures.percent)


def finding(results: Results) -> str:
    """Say what is lost, and whether the recipe can be trusted."""
    recipe, long = _loss(results, RECIPE), _loss(results, LONG)
    return (
        f"A used drive keeps {text.percent(recipe, 0)} of its speed in the mix after the recipe, "
        f"{text.percent(long, 0)} after long use: the recipe ages like use, provided that the "
        "image lies scattered. What is lost is the writes' speed (write amplification "
        f"{results.write_amplification(RECIPE, 'Movie Maker'):.1f} against "
        f"{results.write_amplification(FRESH, 'Movie Maker'):.1f}); what only reads keeps "
        f"{text.percent(_of_task(results, RECIPE, 'games'), 0)}, because collection still works "
        "off what was written before."
    )


QUESTION = Question(
    number=1,
    name="used-drive",
    title="What does a used drive do?",
    said=(
        (
            "AnandTech, text",
            "Erase, fill with 128 KB, restore an image: the drive is as slow as one in long use.",
        ),
        (
            "AnandTech, table",
            "Of the disk suite 78 % is left, of all of PCMark 97 % (recipe) or 94 % (long use).",
        ),
        (
            "AnandTech, comments",
            "Cleaning up when idle might help, or make the drive respond poorly now and then.",
        ),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption="Speed in a stand-in for PCMark's disk suite, as a share of the fresh drive's.",
    mechanism=(
        "A full drive can write only to its spare blocks. Each block that it collects still holds "
        "valid pages, which it must move first. A fill and a whole image written in order would "
        "leave whole blocks invalid, and cost nothing: scattered overwriting ages a drive."
    ),
    finding=finding,
    seconds=9,
    stand_ins=(
        "PCMark Vantage's disk suite: eight mixes, shares of reads as published, half of the "
        "requests 4 KiB and half 64 KiB, half in sequence and half anywhere in a file of a fifth "
        "of the drive, depth 4, 2 % of the capacity each.",
        "The restored image: a quarter of the drive, in pieces of 64 KiB scattered over it, as a "
        "used partition's sectors are. How scattered was chosen after a first result was seen, so "
        "the rows that rest on it are not counted. Long use: the drive filled, then overwritten at "
        "random as often as it holds.",
    ),
)
