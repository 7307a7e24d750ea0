"""How much spare area, and for what: shares of a drive left unused, by what is then asked of it."""

from __future__ import annotations

from ssdlab.engine.conditions import BY_JOB
from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.pictures import DocumentPoint, Line
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

CONSUMER, LARGE, SMALL = "intel-x25-m-g2-80gb", "intel-dc-s3500-800gb", "intel-dc-s3500-80gb"
_SHORT = {CONSUMER: "X25-M 80 GB", LARGE: "DC S3500 800 GB", SMALL: "DC S3500 80 GB"}
_DECIDED = ("over_provisioning", "ftl.gc", "ftl.frontiers")
_HALF: Settings = (("over_provisioning", "0.0906"),)
"""Half of what the profile of the DC S3500 counts as spare, were the other half parity: so it is in
the Intel SSD 320 (AnandTech 4244), the generation before; not published of this drive."""


def _name(drive: str, unused: int) -> str:
    return f"{_SHORT[drive]}, {unused} % unused"


def _random(drive: str, unused: int, settings: Settings = ()) -> Experiment:
    used = f"{100 - unused}%"
    load: dict[str, Value] = {"bs": "4k", "iodepth": 32, "norandommap": True, "size": used}
    job = story(
        # What collection still owes is paid first, so that the reads are measured alone.
        section("settle", rw="randread", io_size="5%", **load),
        section("reads", rw="randread", io_size="5%", **load),
        section("writes", rw="randwrite", io_size="25%", **load),
    )
    name = f"{_name(drive, unused)}, half its spare" if settings else _name(drive, unused)
    return Experiment(name, drive, job, BY_JOB, 1 - unused / 100, settings)


def _sequential(drive: str, unused: int) -> Experiment:
    used = f"{100 - unused}%"
    job = section("rewrite", rw="write", bs="128k", iodepth=32, size=used, loops=2)
    name = f"{_name(drive, unused)}, sequential"
    return Experiment(name, drive, job, "filled", 1 - unused / 100)


def _shares(scale: Scale) -> tuple[int, ...]:
    return (0, 10, 20, 25, 40) if len(scale.seeds) > 1 else (0, 10, 20, 40)


def experiments(scale: Scale) -> list[Experiment]:
    """Return the runs: random on two drives over all shares, sequential where named."""
    return [
        *(_random(drive, unused) for drive in (LARGE, CONSUMER) for unused in _shares(scale)),
        *(_random(LARGE, unused, _HALF) for unused in (0, 20)),
        *(_sequential(LARGE, unused) for unused in (0, 20)),
        _sequential(SMALL, 0),
    ]


def _gain(results: Results, drive: str, unused: int, base: int = 0) -> float:
    names = (_name(drive, unused), _name(drive, base))
    above, below = (results.iops(name, "writes") for name in names)
    return above / below


def _gain_of_half(results: Results) -> float:
    below, above = (
        results.iops(f"{_name(LARGE, unused)}, half its spare", "writes") for unused in (0, 20)
    )
    return above / below


def _read_gain(results: Results) -> float:
    return results.iops(_name(LARGE, 20), "reads") / results.iops(_name(LARGE, 0), "reads")


def _sequential_rate(results: Results, drive: str, unused: int) -> float:
    return results.mb_per_s(f"{_name(drive, unused)}, sequential", "rewrite")


def _sequential_gain(results: Results) -> float:
    return _sequential_rate(results, LARGE, 20) / _sequential_rate(results, LARGE, 0)


def _curve(results: Results, drive: str) -> list[tuple[int, float]]:
    shares = (0, 10, 20, 25, 40)
    return [
        (each, _gain(results, drive, each)) for each in shares if _name(drive, each) in results.of
    ]


def _enough(results: Results, drive: str) -> int:
    """Return the least share that gives nine tenths of what the largest gives."""
    curve = _curve(results, drive)
    return next(share for share, gain in curve if gain >= 0.9 * curve[-1][1])


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    small, large = (_sequential_rate(results, drive, 0) for drive in (SMALL, LARGE))
    return [
        judging.judged(
            "10 % unused against none, random writes, X25-M",
            documents.ratio("thomas-krenn", "spare_10_gain"),
            _gain(results, CONSUMER, 10),
            judging.MECHANISM,
            decided_by=_DECIDED,
            profile=CONSUMER,
            reason=(
                "Intel's study is of a drive that the e-book does not name; a consumer's "
                "drive with the usual spare of 7 % is taken."
            ),
        ),
        judging.judged(
            "20 % unused against none, random writes, DC S3500 800 GB",
            documents.ratio("thomas-krenn", "spare_20_gain"),
            _gain(results, LARGE, 20),
            judging.FIRMWARE,
            decided_by=(*_DECIDED, "controller.move_unit_us", "controller.write_command_us"),
            profile=LARGE,
            reason=(
                "The controller's time for a move limits what the full drive writes. It is fitted "
                "to another drive with the same controller, the DC S3700."
            ),
        ),
        judging.judged(
            "the same, if half of the drive's own spare were parity",
            documents.ratio("thomas-krenn", "spare_20_gain"),
            _gain_of_half(results),
            judging.FIRMWARE,
            uncounted=judging.WHAT_IF,
            decided_by=("over_provisioning",),
            profile=LARGE,
            reason=(
                "So it is in the Intel SSD 320, the generation before (AnandTech 4244). Of this "
                "drive it is not published, and that it would fit was known before it was tried."
            ),
        ),
        judging.judged(
            "the same, as the caption of the same picture has it",
            documents.ratio("thomas-krenn", "spare_20_gain_caption"),
            _gain(results, LARGE, 20),
            judging.FIRMWARE,
            uncounted=judging.REPEATED,
            decided_by=(*_DECIDED, "controller.move_unit_us", "controller.write_command_us"),
            profile=LARGE,
        ),
        judging.judged(
            "40 % unused against 20 %, random writes, DC S3500 800 GB",
            documents.ratio("thomas-krenn", "spare_40_over_20"),
            _gain(results, LARGE, 40, 20),
            judging.MECHANISM,
            decided_by=("controller.write_command_us", "link.command_us"),
            profile=LARGE,
            reason="The ceiling is the controller's time per write command, an assumption.",
        ),
        judging.judged(
            "20 % unused against none, random reads",
            documents.ratio("thomas-krenn", "spare_reads"),
            _read_gain(results),
            judging.MECHANISM,
            decided_by=("controller.read_command_us",),
            profile=LARGE,
        ),
        judging.judged(
            "20 % unused against none, sequential writes over sequential data",
            documents.ratio("thomas-krenn", "spare_sequential"),
            _sequential_gain(results),
            judging.MECHANISM,
            decided_by=("nand.program_us",),
            profile=LARGE,
        ),
        judging.judged(
            "25 % unused against none, a full drive, X25-M",
            documents.ratio("media-addicted", "spare_gain"),
            _at_25(results),
            judging.FIRMWARE,
            uncounted=judging.OTHER_MATTER,
            decided_by=_DECIDED,
            profile=CONSUMER,
            reason=(
                "The blog passes on a test of other drives, which looks at the "
                "slowest moments, not at the mean."
            ),
        ),
        judging.shape(
            "a small drive writes more slowly than a large one",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "p. 15",
            "fewer chips, less write speed",
            f"{text.significant(small)} and {text.significant(large)} MB/s",
            small < large,
        ),
    ]


def _at_25(results: Results) -> float:
    """Return the gain at 25 %, read off the curve where it was not run."""
    curve = dict(_curve(results, CONSUMER))
    return curve.get(25, curve[20] + (curve[40] - curve[20]) * 5 / 20)


def picture(results: Results) -> str:
    """Draw the gain over the share left unused, for both drives."""
    drawn = [
        Line(_SHORT[CONSUMER], _curve(results, CONSUMER), 0),
        Line(_SHORT[LARGE], _curve(results, LARGE), 1),
    ]
    names = ("spare_10_gain", "spare_20_gain", "spare_20_gain_caption", "spare_40_over_20")
    at_10, at_20, caption, more = (documents.figure("thomas-krenn", name).value for name in names)
    marks = [
        DocumentPoint(f"e-book: × {at_10:g} at 10 %", 10, at_10),
        DocumentPoint(f"e-book: × {at_20:g} (or {caption:g}) at 20 %", 20, at_20),
        DocumentPoint("no more at 40 %", 40, more * at_20),
    ]
    labels = ("left unused, % of the capacity", "4 KiB random writes, × full drive")
    return pictures.lines(
        "spare-area", "gain in random writes by spare area", labels, [("", drawn, marks)]
    )


def finding(results: Results) -> str:
    """Say how much is enough, and for what."""
    x25, s3500 = _gain(results, CONSUMER, 10), _gain(results, LARGE, 20)
    return (
        f"Spare area matters when a full drive is written at random: × {x25:.1f} at 10 % on a "
        f"drive that has 7 % itself, × {s3500:.1f} at 20 % on one that has 18 %. Nine tenths of "
        f"the gain at 40 % come with {_enough(results, CONSUMER)} % on the first, "
        f"{_enough(results, LARGE)} % on the second. It does nothing for random reads (× "
        f"{_read_gain(results):.2f}) or sequential writes (× {_sequential_gain(results):.2f})."
    )


QUESTION = Question(
    number=2,
    name="spare-area",
    title="How much spare area, and for what?",
    said=(
        ("Thomas-Krenn, p. 9", "A tenth left unpartitioned makes random I/O 2.5 times as fast."),
        (
            "Thomas-Krenn, p. 11 and 20",
            "Of one picture: 20 % more gives 2.5 times, and almost 3 times; 40 % no more.",
        ),
        ("Thomas-Krenn, p. 21", "Reads and sequential writes gain nothing."),
        (
            "Media-Addicted",
            "A quarter; guesses went from 10 to 50 %. A full drive gains an order of magnitude.",
        ),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Random writes in steady state as a multiple of those of the full drive. Crosses: "
        "the documents."
    ),
    mechanism=(
        "Before the host can write a page, garbage collection moves the valid pages of a victim. "
        "More spare area leaves fewer valid pages, so the gain is steep while spare area is "
        "scarce, and then flattens. A second limit ends it: once moves are few, the controller's "
        "time per command or the dies' program time decides. Sequential writes leave whole blocks "
        "invalid, and reads move nothing, so neither gains. 10, 20 and 25 % are each right for "
        "some drive, by its own spare area and its own limit."
    ),
    finding=finding,
    seconds=30,
)
