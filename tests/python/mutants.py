"""Drives and hosts made wrong, each with a row that has to turn red on it.

A row that holds on a wrong drive as on a right one judges nothing. Each mutant changes parameters
of the drives, or layers over them, of one question's experiments at the quick scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from ssdlab.engine import show
from ssdlab.reproduce.catalogue import find
from ssdlab.reproduce.experiment import QUICK, Experiment, Scene
from ssdlab.reproduce.judging import RED, Row
from ssdlab.reproduce.perform import Performance

Piece = Experiment | Scene
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


def start_over(way: str) -> Change:
    """Start drives over in another way than by secure erase."""

    def change(piece: Piece) -> Piece:
        if isinstance(piece, Experiment) and piece.start_over == "secure-erase":
            return replace(piece, start_over=way)
        return piece

    return change


def whole_span(piece: Piece) -> Piece:
    """Leave no part of the drive unwritten."""
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
    row
        How the condition of the row begins that has to turn red.
    change
        What makes an experiment wrong.
    """

    what: str
    question: str
    row: str
    change: Change


_FAST_ARM = both(setting("hdd.average_seek_ms", "1.6"), setting("hdd.full_stroke_ms", "none"))

MUTANTS = (
    Mutant(
        "cold data is never moved",
        "lifetime",
        "wear is spread over all blocks",
        setting("ftl.static_wear_cycles", "none"),
    ),
    Mutant(
        "a block whose erase takes too long is used on",
        "lifetime",
        "a block whose erase takes too long",
        setting("nand.erase_limit_us", "none"),
    ),
    Mutant(
        "all drives have the same spare area",
        "lifetime",
        "a larger spare area lengthens life",
        setting("over_provisioning", "0.2"),
    ),
    Mutant(
        "TRIM is ignored",
        "trim",
        "TRIM gives a used drive its first speed back",
        setting("ftl.trim", "false"),
    ),
    Mutant(
        "a secure erase throws only the key away",
        "start-over",
        "secure erase gives the first speed back",
        start_over("crypto-erase"),
    ),
    Mutant(
        "data is not compressed",
        "compression",
        "the less can be compressed, the slower",
        setting("controller.compression", "false"),
    ),
    Mutant(
        "the host sends one command at a time",
        "queueing",
        "NCQ keeps the drive busy, IDE does not",
        setting("link.queue_depth", "1"),
    ),
    Mutant(
        "each read takes the controller 2 ms",
        "queueing",
        "mean latency of an SSD",
        setting("controller.read_command_us", "2000"),
    ),
    Mutant(
        "encryption costs nothing",
        "encryption",
        "desktop, 4 KiB random reads, encrypted against not",
        both(layer("mb_per_s=", "mb_per_s=99"), layer(",driver=truecrypt", "")),
    ),
    Mutant(
        "partitions begin on a unit's boundary",
        "alignment",
        "4 KiB random writes at sector 63 against 2048, X25-M",
        layer("start_sector=63", "start_sector=2048"),
    ),
    Mutant(
        "a hard disk's arm and platter are five times as fast",
        "hard-disk",
        "boot: hard disk, fresh file system, against SSD",
        both(_FAST_ARM, setting("hdd.rpm", "25000")),
    ),
    Mutant(
        "what stays unwritten is no spare area",
        "spare-area",
        "10 % unused against none, random writes, X25-M",
        whole_span,
    ),
    Mutant(
        "a controller's cache is off when it says on",
        "raid",
        "write-back lowers the latency of RAID 5's writes",
        layer("write_back=true", "write_back=false"),
    ),
    Mutant(
        "an idle drive does nothing",
        "used-drive",
        "cleaning up when idle helps",
        setting("ftl.idle_gc_after_ms", "none"),
    ),
    Mutant(
        "the cache lies about what is safe",
        "commit",
        "without protection writes are fast and flushes slow",
        setting("buffer.power_loss_protected", "true"),
    ),
)


@cache
def rows(question: str, change: Change = unchanged) -> dict[str, Row]:
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
