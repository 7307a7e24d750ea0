"""Drives and hosts made wrong, each with rows that have to turn red on it.

A row that holds on every wrong drive as on a right one judges nothing. Each mutant changes
parameters of the drives, layers over them, or jobs of one question's experiments at the quick
scale. A row that none of them turns is in `UNTURNED`, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from ssdlab.engine import show
from ssdlab.experiment.experiment import Experiment, Scene
from ssdlab.experiment.scale import QUICK
from ssdlab.referee.reproduce.catalogue import find
from ssdlab.referee.reproduce.judging import RED, JudgedRow
from ssdlab.referee.reproduce.perform import Performance
from ssdlab.referee.reproduce.specified import Specified

Piece = Experiment | Scene | Specified
Change = Callable[[Piece], Piece]


def unchanged(piece: Piece) -> Piece:
    """Leave the drive as it is."""
    return piece


def setting(key: str, value: str) -> Change:
    """Give every drive that has the parameter another value of it."""

    def change(piece: Piece) -> Piece:
        keys = {each["key"] for each in show(piece.drive)["parameters"]}
        if key not in keys:
            return piece
        return replace(piece, settings=tuple({**dict(piece.settings), key: value}.items()))

    return change


def layer(said: str, instead: str) -> Change:
    """Put another text into every layer in place of one."""

    def change(piece: Piece) -> Piece:
        return replace(piece, layers=tuple(each.replace(said, instead) for each in piece.layers))

    return change


def both(first: Change, second: Change) -> Change:
    """Make both wrong."""
    return lambda piece: second(first(piece))


def start_over(way: str, instead: str) -> Change:
    """Start drives over in another way in place of one."""

    def change(piece: Piece) -> Piece:
        if isinstance(piece, Experiment) and piece.start_over == way:
            return replace(piece, start_over=instead)
        return piece

    return change


def job(said: str, instead: str) -> Change:
    """Put another text into every job in place of one."""

    def change(piece: Piece) -> Piece:
        if isinstance(piece, Experiment):
            return replace(piece, job=piece.job.replace(said, instead))
        return piece

    return change


def whole_span(piece: Piece) -> Piece:
    """Leave no part of the drive unwritten."""
    if isinstance(piece, Specified):
        return piece
    return replace(piece, span=1.0)


@dataclass(frozen=True)
class Mutant:
    """A wrong drive or host.

    Attributes
    ----------
    what
        What is wrong with it.
    question
        Whose experiments it is put into.
    rows
        How the conditions of the rows begin that have to turn red.
    change
        What makes an experiment wrong.
    """

    what: str
    question: str
    rows: tuple[str, ...]
    change: Change


_TASKS = ("boot", "build-package", "start-firefox", "install-package", "purge-package")
_DISK_AGAINST_SSD = "hard disk, fresh file system, against SSD"
_FAST_ARM = both(setting("hdd.average_seek_ms", "1.6"), setting("hdd.full_stroke_ms", "none"))
_SLOW_WRITES = setting("controller.write_command_us", "3000")
_SLOW_READS = setting("controller.read_command_us", "2000")
_SLOW_PROGRAMS = setting("nand.program_us", "20000")
_ONE_COMMAND = setting("link.queue_depth", "1")
_TWO_DIES = both(setting("nand.channels", "1"), setting("nand.dies_per_channel", "2"))
_FREE_ENCRYPTION = both(layer("mb_per_s=", "mb_per_s=99"), layer(",driver=truecrypt", ""))

MUTANTS = (
    Mutant(
        "cold data is never moved",
        "lifetime",
        ("wear is spread over all blocks",),
        setting("ftl.static_wear_cycles", "none"),
    ),
    Mutant(
        "a block whose erase takes too long is used on",
        "lifetime",
        ("a block whose erase takes too long",),
        setting("nand.erase_limit_us", "none"),
    ),
    Mutant(
        "all drives have the same spare area",
        "lifetime",
        ("a larger spare area lengthens life",),
        setting("over_provisioning", "0.2"),
    ),
    Mutant(
        "TRIM is ignored",
        "trim",
        ("TRIM gives a used drive its first speed back",),
        setting("ftl.trim", "false"),
    ),
    Mutant(
        "all drives have TRIM",
        "trim",
        ("a drive without TRIM ignores it",),
        setting("ftl.trim", "true"),
    ),
    Mutant(
        "deleting discards",
        "trim",
        ("files only deleted give nothing back",),
        job("[deleted]", "[discards]\nrw=trim\nbs=1m\nstonewall\n[deleted]"),
    ),
    Mutant(
        "each write takes the controller 3 ms",
        "trim",
        ("90 % used makes up for missing TRIM, file system 95 % full",),
        _SLOW_WRITES,
    ),
    Mutant(
        "a program takes 20 ms, so that TRIM costs nothing beside it",
        "trim",
        ("batched discards are better than continuous ones",),
        _SLOW_PROGRAMS,
    ),
    Mutant(
        "a secure erase throws only the key away",
        "start-over",
        ("secure erase gives the first speed back",),
        start_over("secure-erase", "crypto-erase"),
    ),
    Mutant(
        "a crypto erase erases the blocks too",
        "start-over",
        ("where only the key is thrown away, blocks stay full",),
        start_over("crypto-erase", "secure-erase"),
    ),
    Mutant(
        "the host sends no trims",
        "start-over",
        ("until they are trimmed", "formatting, which trims, does as well"),
        both(job("rw=trim", "rw=read"), start_over("trim", "crypto-erase")),
    ),
    Mutant(
        "data is not compressed",
        "compression",
        ("the less can be compressed, the slower",),
        setting("controller.compression", "false"),
    ),
    Mutant(
        "the host sends one command at a time",
        "queueing",
        ("NCQ keeps the drive busy, IDE does not", "reads beat writes", "SSD: noop or deadline"),
        _ONE_COMMAND,
    ),
    Mutant(
        "each read takes the controller 2 ms",
        "queueing",
        ("mean latency of an SSD", "CFQ, which idles for a disk's next read"),
        _SLOW_READS,
    ),
    Mutant(
        "what is in order is at random",
        "queueing",
        ("random access lowers what sequential gives",),
        job("rw=write\nbs=4k", "rw=randwrite\nnorandommap\nbs=4k"),
    ),
    Mutant(
        "a drive has two dies",
        "queueing",
        ("depth raises IOPS and mean latency together",),
        _TWO_DIES,
    ),
    Mutant(
        "encryption costs nothing",
        "encryption",
        ("desktop, 4 KiB random reads, encrypted against not",),
        _FREE_ENCRYPTION,
    ),
    Mutant(
        "each encrypted read takes the controller 2 ms",
        "encryption",
        ("desktop: the smaller the random reads, the more they suffer",),
        _SLOW_READS,
    ),
    Mutant(
        "an encrypted drive has no spare area",
        "encryption",
        ("a fully encrypted drive is a full drive",),
        whole_span,
    ),
    Mutant(
        "partitions begin on a unit's boundary",
        "alignment",
        (
            "4 KiB random writes at sector 63 against 2048, X25-M",
            "dd at sector 63 against 21030912, run 1",
            "dd at sector 63 against 21030912, run 3",
        ),
        layer("start_sector=63", "start_sector=2048"),
    ),
    Mutant(
        "the buffer joins whatever waits",
        "alignment",
        (
            "dd at sector 63 against 21030912, run 1",
            "dd at sector 63 against 21030912, run 2",
            "dd at sector 63 against 21030912, run 3",
            "the same after newfs -E",
            "dd at label 1984, one sector off",
            "unaligned, dd loses speed from run to run",
        ),
        setting("buffer.join_bytes", "64 GiB"),
    ),
    Mutant(
        "partitions begin a sector too early",
        "alignment",
        ("dd at label 1985 against 21030912", "dd at 129024 against 21030912"),
        both(layer("=1985", "=1984"), layer("=129024", "=129023")),
    ),
    Mutant(
        "encryption costs nothing",
        "alignment",
        ("dm-crypt lowers the data rate",),
        _FREE_ENCRYPTION,
    ),
    Mutant(
        "a hard disk's arm and platter are five times as fast",
        "hard-disk",
        (
            *(f"{task}: {_DISK_AGAINST_SSD}" for task in _TASKS if task != "start-firefox"),
            "random access, hard disk against SSD",
            "random access of a hard disk",
            "random reads of a hard disk",
            "everyday work on an SSD is several times faster",
            "install-package: hard disk, fragmented against fresh",
            "a fragmented file system makes the hard disk slower",
        ),
        both(_FAST_ARM, setting("hdd.rpm", "25000")),
    ),
    Mutant(
        "a hard disk's arm is twice as slow",
        "hard-disk",
        (f"start-firefox: {_DISK_AGAINST_SSD}",),
        both(setting("hdd.average_seek_ms", "24"), setting("hdd.full_stroke_ms", "none")),
    ),
    Mutant(
        "a hard disk's arm and platter are five times as fast",
        "raid",
        ("a hard disk does 100 to 300 requests a second",),
        both(_FAST_ARM, setting("hdd.rpm", "25000")),
    ),
    Mutant(
        "a hard disk reads 10 MB/s at most",
        "hard-disk",
        ("a hard disk in sequence", "an SSD has two to three times a hard disk's throughput"),
        both(setting("hdd.inner_mb_per_s", "5"), setting("hdd.outer_mb_per_s", "10")),
    ),
    Mutant(
        "the cipher does 5 MB/s",
        "hard-disk",
        tuple(f"{task}: SSD encrypted against not" for task in _TASKS if task != "purge-package"),
        layer("mb_per_s=100", "mb_per_s=5"),
    ),
    Mutant(
        "the link never sleeps",
        "hard-disk",
        ("managing the link saves power",),
        setting("power.slumber_after_ms", "none"),
    ),
    Mutant(
        "what stays unwritten is no spare area",
        "spare-area",
        (
            "10 % unused against none, random writes, X25-M",
            "20 % unused against none, random writes, DC S3500 800 GB",
        ),
        whole_span,
    ),
    Mutant(
        "a program takes 20 ms",
        "spare-area",
        ("40 % unused against 20 %, random writes, DC S3500 800 GB",),
        _SLOW_PROGRAMS,
    ),
    Mutant(
        "all drives have two dies",
        "spare-area",
        ("a small drive writes more slowly than a large one",),
        _TWO_DIES,
    ),
    Mutant(
        "a controller's cache is off when it says on",
        "raid",
        (
            "write-back against write-through, if",
            "write-back lowers the latency of RAID 5's writes, while",
        ),
        layer("write_back=true", "write_back=false"),
    ),
    Mutant(
        "a port of 3 Gb/s carries what one of 6 Gb/s does",
        "raid",
        ("RAID 1, reads, controller against software", "RAID 1 against one drive, writes"),
        both(setting("link.mb_per_s", "341"), setting("link.command_us", "1")),
    ),
    Mutant(
        "a link that sleeps draws 0.5 W",
        "hard-disk",
        ("that is 20 to 30 minutes of battery",),
        setting("power.slumber_mw", "500"),
    ),
    Mutant(
        "a mirror has lost a drive",
        "raid",
        ("RAID 1 reads more than 1.4 times what one drive does",),
        layer("raid:level=1,", "raid:level=1,failed=1,"),
    ),
    Mutant(
        "each read takes the controller 2 ms",
        "raid",
        (
            "RAID 5 of 4, 1 MiB reads, controller against software",
            "RAID 1 against one drive, half writes",
        ),
        _SLOW_READS,
    ),
    Mutant(
        "parity costs nothing",
        "raid",
        (
            "RAID 10 writes best of four drives",
            "RAID 5 of 8 against 3, writes",
            "RAID 5 of 3 against one drive, writes",
            "RAID 5 of 4 by controller against one drive, 1 MiB writes",
            "RAID 5 of 4 by software against one drive, 1 MiB writes",
        ),
        layer("level=5", "level=0"),
    ),
    Mutant(
        "the cache in front of hard disks is a hard disk",
        "raid",
        ("an SSD in front of hard disks speeds up",),
        layer("cache:drive=intel-dc-s3700-200gb", "cache:drive=wd-velociraptor-300gb"),
    ),
    Mutant(
        "an idle drive does nothing",
        "used-drive",
        ("cleaning up when idle helps",),
        setting("ftl.idle_gc_after_ms", "none"),
    ),
    Mutant(
        "the spare area is as large as three drives",
        "used-drive",
        ("a new drive slows down as it fills",),
        setting("over_provisioning", "2"),
    ),
    Mutant(
        "the cache lies about what is safe",
        "commit",
        (
            "without protection writes are fast and flushes slow",
            "synchronous writes of 4 KiB: protected against unprotected",
        ),
        setting("buffer.power_loss_protected", "true"),
    ),
    Mutant(
        "data of a write with FUA go into the SLC cache",
        "commit",
        ("synchronous writes of 4 KiB: protected against unprotected",),
        setting("buffer.fua_past_slc", "false"),
    ),
    Mutant(
        "a program takes 20 ms",
        "commit",
        ("every drive is fast enough for etcd",),
        _SLOW_PROGRAMS,
    ),
)

UNTURNED = {
    "trim": {"a bit or two for each page": "arithmetic; no drive takes part"},
    "compression": {
        "real data, sectors of 4096 B against 512 B": "the band of 30 % holds no effect as well"
    },
    "alignment": {
        "aligned or not makes no difference": "in sequence on a fresh drive nothing else decides",
    },
    "hard-disk": {
        f"{task}: hard disk, fragmented against fresh": "the band of 30 % holds no effect as well"
        for task in _TASKS
        if task != "install-package"
    },
    "raid": {"read-ahead against none, random reads": "the band of 30 % holds no effect as well"},
    "spare-area": {
        "20 % unused against none, random reads": "reads do not collect, on any drive",
        "20 % unused against none, sequential writes": "data in sequence move nothing",
    },
}
"""By question and how a row begins: why no drive or host was found on which it turns red."""


@cache
def rows(question: str, change: Change = unchanged) -> dict[str, JudgedRow]:
    """Return the rows of a question on changed drives, by condition."""
    asked = find([question])[0]

    def experiments(scale: object) -> list[Piece]:
        return [change(each) for each in asked.experiments(QUICK)]

    performance = Performance([replace(asked, experiments=experiments)], QUICK)
    pieces = performance.pieces()
    for piece, task in zip(pieces, performance.tasks(pieces), strict=True):
        performance.keep(piece, task(lambda phase, share: True))
    [(question_, results)] = performance.answered()
    return {row.condition: row for row in question_.rows(results)}


def turned(mutant: Mutant) -> list[str]:
    """Return the rows that are red on the mutant and not on the drive as it is."""
    right, wrong = rows(mutant.question), rows(mutant.question, mutant.change)
    return [
        name
        for name, row in wrong.items()
        if row.verdict in RED and name in right and right[name].verdict not in RED
    ]
