"""Which RAID, and how set: arrays of server drives as the e-book measured them.

TKperf keeps 2 × 16 requests outstanding for IOPS and throughput, and one for latency.
"""

from __future__ import annotations

from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import FIRMWARE, MECHANISM, JudgedRow
from ssdlab.referee.reproduce.parts import (
    array_statements,
    disk_arrays,
    early_drive,
    tkperf,
    write_back,
)
from ssdlab.referee.reproduce.parts.array_statements import ALIKE, READS, TIMED, iops, rate
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results
from ssdlab.referee.reproduce.specified import Specified

DRIVE = "intel-dc-s3500-80gb"
_CONTROLLER = f"preset=controller,chunk_bytes={tkperf.STRIP}"
ARRAYS = {
    "one drive": "",
    "RAID 1, software": "raid:level=1,disks=2",
    "RAID 1, controller": f"raid:level=1,disks=2,{_CONTROLLER}",
    "RAID 5 of 3, software": "raid:level=5,disks=3",
    "RAID 5 of 4, software": "raid:level=5,disks=4",
    "RAID 5 of 8, software": "raid:level=5,disks=8",
    "RAID 5 of 4, controller": f"raid:level=5,disks=4,{_CONTROLLER}",
    "write-back": f"raid:level=5,disks=4,{_CONTROLLER},write_back=true",
    "write-back, lines of 16 KiB": (
        f"raid:level=5,disks=4,{_CONTROLLER},write_back=true,cache_line_bytes=16KiB"
    ),
    "read-ahead": f"raid:level=5,disks=4,{_CONTROLLER},read_ahead=adaptive",
    "RAID 10 of 4, software": "raid:level=10,disks=4",
}
_ON_THE_BOARD = tuple(
    f"{array}, software" for array in ("RAID 1", "RAID 5 of 3", "RAID 5 of 4", "RAID 10 of 4")
)
_PORTS: Settings = (("link.mb_per_s", "286"), ("link.command_us", "5.1"))
"""Arrays by software hang on the board, Supermicro's X9SCM-F (p. 17), of whose ports two have
6 Gb/s and four 3 Gb/s (Intel C204 data sheet). 286 MB/s is what a drive with 3 Gb/s carries (OCZ
Vertex 2). A command takes twice what it takes at 6 Gb/s, where no drive reads more than 100,000
times 4 KiB a second: 10 µs, less 4 KiB at 550 MB/s (Samsung 850 PRO data sheet). Both data sheets
are quoted from memory. Writes in steady state do not depend on it: a pair writes 5969 times a
second either way. In TKperf's rounds they move by a tenth, with what was written before them."""
_THREE_ALIKE = "RAID 5 of 3, software, ports of 6 Gb/s"
"""What eight are held against: Intel's figure is of a controller, all of whose ports are alike."""
_CHOOSING = "RAID 5 of 3 against one drive, writes"
_AGAINST_EARLY = (
    "RAID 1 against one drive, writes",
    "RAID 1 against one drive, half writes",
    _CHOOSING,
)
_UNCOUNTED = {
    _CHOOSING: judging.FITTED_TO,
    # How far half writes go was changed when they had been seen.
    "RAID 1 against one drive, half writes": judging.AFTERWARDS,
    "read-ahead against none, random reads": judging.AFTERWARDS,
}
_DECIDED = ("raid.request_us", "raid.fast_path_us", "raid.thread_request_us")


def _tests(scale: Scale, array: str, layer: str) -> list[Experiment | Specified]:
    """Return TKperf's IOPS and throughput of an array, and its latency where a row reads it."""
    layers = (layer,) if layer else ()
    settings = _PORTS if array in _ON_THE_BOARD else ()
    latency = Specified(
        tkperf.latency_experiment(array),
        DRIVE,
        tkperf.latency_part(scale, DRIVE),
        layers=_with_cache(layer, scale),
        settings=settings,
    )
    return [
        _iops_test(scale, array, layer, settings),
        Experiment(
            tkperf.rate_experiment(array),
            DRIVE,
            tkperf.rate_job(scale, DRIVE),
            "filled",
            settings=settings,
            layers=layers,
            each_member=True,
            most_blocks_a_die=tkperf.blocks_a_die(scale),
        ),
        *([latency] if array in TIMED else []),
    ]


def _iops_test(scale: Scale, array: str, layer: str, settings: Settings = ()) -> Specified:
    return Specified(
        tkperf.iops_experiment(array),
        DRIVE,
        tkperf.iops_part(scale, DRIVE),
        layers=_with_cache(layer, tkperf.for_rates(scale)),
        settings=settings,
        most_blocks_a_die=tkperf.blocks_a_die(scale),
    )


def _with_cache(layer: str, scale: Scale) -> tuple[str, ...]:
    """Return an array, its controller's cache as small a share of it as in the document."""
    if _CONTROLLER in layer:
        return (f"{layer},{tkperf.cache(scale, DRIVE)}",)
    return (layer,) if layer else ()


def experiments(scale: Scale) -> list[Experiment | Specified]:
    """Return the tests of every array of SSDs, what is tried beside, and arrays of hard disks."""
    return [
        *(test for name, layer in ARRAYS.items() for test in _tests(scale, name, layer)),
        _iops_test(scale, _THREE_ALIKE, ARRAYS["RAID 5 of 3, software"]),
        *write_back.experiments(
            scale,
            DRIVE,
            {
                write_back.THROUGH: _with_cache(ARRAYS["RAID 5 of 4, controller"], scale),
                write_back.BACK: _with_cache(ARRAYS["write-back"], scale),
            },
        ),
        *early_drive.experiments(),
        *disk_arrays.experiments(),
    ]


def _early(results: Results, array: str, load: str) -> float:
    """Return an array's IOPS against one drive that is not yet in steady state."""
    return tkperf.iops(results, array, READS[load]) / early_drive.iops(results, load)


def _ratios(results: Results) -> list[tuple[str, Stated, float, float]]:
    """Return what is judged: condition, what the e-book has, ours, band."""

    def book(name: str, base: str | None = None) -> Stated:
        return documents.ratio("thomas-krenn", name, base)

    raid1, raid5 = "RAID 1, software", "RAID 5 of 4, software"
    hardware1, hardware5 = "RAID 1, controller", "RAID 5 of 4, controller"
    three, eight = "RAID 5 of 3, software", "RAID 5 of 8, software"
    less = book("raid1_write_change")
    return [
        ("RAID 1, reads, controller against software",
         book("raid1_controller_read", "raid1_software_read"),
         iops(results, hardware1, "reads", raid1), FIRMWARE),
        ("RAID 1 against one drive, writes", less, _early(results, raid1, "writes"), MECHANISM),
        ("RAID 1 against one drive, half writes", less, _early(results, raid1, "50/50"), MECHANISM),
        (_CHOOSING, book("raid5_of_3_write"), _early(results, three, "writes"), MECHANISM),
        ("RAID 5 of 8 against 3, writes", book("raid5_8_over_3_write"),
         iops(results, eight, "writes", _THREE_ALIKE), MECHANISM),
        ("RAID 5 of 4, reads, controller against software",
         book("raid5_of_4_controller_read", "raid5_of_4_software_read"),
         iops(results, hardware5, "reads", raid5), FIRMWARE),
        ("RAID 5 of 4, 1 MiB reads, controller against software",
         book("raid5_of_4_controller_1m_read", "raid5_of_4_software_1m_read"),
         rate(results, hardware5, "read", "1024k", raid5), FIRMWARE),
        ("RAID 5 of 4 by controller against one drive, 1 MiB writes",
         book("raid5_of_4_controller_1m_write", "s3500_80_write"),
         rate(results, hardware5, "write", "1024k"), FIRMWARE),
        ("RAID 5 of 4 by software against one drive, 1 MiB writes",
         book("raid5_of_4_software_1m_write", "s3500_80_write"),
         rate(results, raid5, "write", "1024k"), FIRMWARE),
        ("write-back against write-through, writes", book("write_back", "write_through"),
         iops(results, "write-back", "writes", hardware5), FIRMWARE),
        ("read-ahead against none, random reads", book("with_read_ahead", "without_read_ahead"),
         iops(results, "read-ahead", "reads", hardware5), FIRMWARE),
    ]  # fmt: skip


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    judged = [
        judging.judged(
            condition,
            stated,
            ours,
            band,
            decided_by=_DECIDED,
            profile=DRIVE,
            uncounted=_UNCOUNTED.get(condition, ""),
            reason=(
                early_drive.reason(results)
                if condition in _AGAINST_EARLY
                else array_statements.REASONS.get(condition, "")
            ),
        )
        for condition, stated, ours, band in _ratios(results)
    ]
    shown = [
        judging.shown(
            f"RAID 5 of 4 by controller, random {what}",
            documents.figure("thomas-krenn", name),
            f"{text.count(tkperf.iops(results, array, READS[load]))} IOPS",
        )
        for what, name, array, load in (
            ("writes, write-through", "write_through", "RAID 5 of 4, controller", "writes"),
            ("writes, write-back", "write_back", "write-back", "writes"),
            ("reads", "raid5_of_4_controller_read", "RAID 5 of 4, controller", "reads"),
        )
    ]
    return [
        *judged,
        _smaller_lines(results),
        *array_statements.rows(results),
        *write_back.rows(results),
        *disk_arrays.rows(results, "one drive"),
        *shown,
    ]


def _smaller_lines(results: Results) -> JudgedRow:
    name = "write-back, lines of 16 KiB"
    return judging.judged(
        "write-back against write-through, if the cache's lines were 16 KiB",
        documents.ratio("thomas-krenn", "write_back", "write_through"),
        iops(results, name, "writes", "RAID 5 of 4, controller"),
        FIRMWARE,
        uncounted=judging.WHAT_IF,
        decided_by=("raid.cache_line_bytes",),
        profile=DRIVE,
        reason="How large the real cache's lines are is not published; the loss goes with them.",
    )


def picture(results: Results) -> str:
    """Draw reads and writes of the arrays as multiples of one drive's."""
    theirs = {("RAID 1, software", "reads"): 1.4, ("RAID 1, software", "writes"): 0.7}
    theirs |= {("RAID 5 of 3, software", "writes"): 1.0, ("RAID 5 of 8, software", "writes"): 2.0}
    arrays = {
        "RAID 1": "RAID 1, software",
        "RAID 5\nof 3": "RAID 5 of 3, software",
        "RAID 5\nof 8": "RAID 5 of 8, software",
        "RAID 10\nof 4": "RAID 10 of 4, software",
        "RAID 5,\nwrite-back": "write-back",
    }
    panels = [
        (
            heading,
            [
                Bar(label, iops(results, array, load), colour, theirs.get((array, load)))
                for label, array in arrays.items()
                # Reads would meet what the cache still has to write, which is not the question.
                if (array, load) != ("write-back", "reads")
            ],
        )
        for colour, (heading, load) in enumerate(
            {"random reads": "reads", "random writes": "writes"}.items()
        )
    ]
    return pictures.bars(
        "raid",
        "arrays against one drive",
        "IOPS, × one drive",
        panels,
        lambda value: f"{value:.2g}",
    )


def finding(results: Results) -> str:
    """Say which array for what, and how to set it."""
    names = ("RAID 10", "RAID 5")
    written = {name: iops(results, f"{name} of 4, software", "writes") for name in names}
    more, less = sorted(names, key=lambda name: written[name], reverse=True)
    gain = written[more] / written[less]
    which = f"{more} writes most" if gain >= ALIKE else "RAID 10 and RAID 5 write alike"
    back = iops(results, "write-back", "writes", "RAID 5 of 4, controller")
    ahead = iops(results, "read-ahead", "reads", "RAID 5 of 4, controller")
    return (
        f"Of four drives {which}: × {written['RAID 10']:.2f} of one drive's random writes as RAID "
        f"10, × {written['RAID 5']:.2f} as RAID 5, which costs less capacity. Two mirrored read × "
        f"{iops(results, 'RAID 1, software', 'reads'):.1f} and write × "
        f"{iops(results, 'RAID 1, software', 'writes'):.1f}. With SSDs leave the controller's "
        f"cache off: write-back keeps × {back:.2f} of the writes, read-ahead × {ahead:.2f} of the "
        f"random reads. {write_back.sentence(results)}"
    )


QUESTION = Question(
    number=6,
    name="raid",
    title="Which RAID, and how set?",
    said=(
        (
            "Thomas-Krenn, p. 17",
            "RAID 1 reads 1.4 times one drive; writes and half writes are 30 % below one.",
        ),
        (
            "Thomas-Krenn, p. 18",
            "RAID 5 of three writes like one, of eight like twice three; reads gain.",
        ),
        (
            "Thomas-Krenn, p. 19",
            "With hard disks write-back makes a few hundred IOPS several thousand.",
        ),
        ("Thomas-Krenn, p. 19", "RAID 10 has one drive's latency and the best writes."),
        (
            "Thomas-Krenn, p. 20",
            "Write-back costs four fifths of the writes, read-ahead a fifth of the reads.",
        ),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Random reads and writes of 4 KiB, 32 outstanding, against one drive; outlined: the e-book."
    ),
    mechanism=(
        "A small write to RAID 5 reads old data and parity and writes both: four accesses, "
        "spread over the drives. A mirror waits for the slower of two drives, each of which "
        "collects in its own time. Writes without a pause go at the pace of collection, even one "
        "at a time. Reads spread freely until the array's own time for a request "
        "is the limit."
    ),
    finding=finding,
    seconds=36,
    stand_ins=(
        (
            "TKperf's IOPS by the code of `ssdlab pts`, its throughput in the order of its source, "
            "on drives that are 3 % as large (quickly 1 %), a minute shorter by as much; a quick "
            "run takes one round for the window of five. Latency by the code of `ssdlab pts` as "
            "well, on drives that are 18 % as large (quickly 3 %)."
        ),
        "Read-ahead: begins when two reads followed each other, chosen after a first result.",
        "Arrays of hard disks: four at 10,000 rpm; 20 GB of them are used.",
    ),
)
