"""The questions: what A and B are, as sections of a fio job, and what a document measured.

A turn is A and B one behind the other; every second turn begins with B, so that a drive that grows
slower or hotter by and by favours neither. Each arm brings the part of the drive that it measures
into its own condition first. Left out: a secure erase, which only some targets know (`ssdlab pts`);
a trim of all takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.bench.recipes import IMAGE
from ssdlab.experiment.experiment import Value, section
from ssdlab.ground import documents
from ssdlab.ground.documents import Stated

_SECTOR_63 = 63 * 512
_HALF, _TENTH = "50%", "10%"
"""Of the target: a misaligned job of half of it ends before the target does."""
_USED_WITH_SPARE = "80%"
ArmSections = Callable[[float], list[str]]
"""Makes the sections of an arm's part of a turn, whose measured ones last so many seconds."""


@dataclass(frozen=True)
class Contrast:
    """What is compared of A and B.

    Attributes
    ----------
    ratio
        What the ratio is, in words.
    sections
        Of A and of B, those that count; where there are several, a block goes through each.
    stated
        Gives what documents measured.
    """

    ratio: str
    sections: tuple[Sequence[str], Sequence[str]]
    stated: Callable[[], list[Stated]]


@dataclass(frozen=True)
class AskedQuestion:
    """A question.

    Attributes
    ----------
    name, asks
        On the command line, and in words.
    arms
        A and B.
    contrasts
        What is compared.
    prepared_writes
        What a turn writes before it measures, in capacities of the target.
    encrypts
        A goes through the kernel's cipher.
    """

    name: str
    asks: str
    arms: tuple[ArmSections, ArmSections]
    contrasts: tuple[Contrast, ...]
    prepared_writes: float
    encrypts: bool = False


def _timed(name: str, rw: str, seconds: float, **more: Value) -> str:
    load: dict[str, Value] = {"bs": "4k", "iodepth": 16, "norandommap": True, **more}
    return section(name, rw=rw, **load, time_based=True, runtime=f"{round(seconds * 1000)}ms")


def _fill(name: str, size: str) -> str:
    return section(name, rw="write", bs="1m", iodepth=4, size=size)


def _trim(name: str, size: str) -> str:
    return section(name, rw="trim", bs="1m", iodepth=1, size=size)


def _unaligned(seconds: float) -> list[str]:
    return [_timed("unaligned", "randwrite", seconds, size=_HALF, offset=_SECTOR_63)]


def _aligned(seconds: float) -> list[str]:
    return [_timed("aligned", "randwrite", seconds, size=_HALF)]


def _trimmed(seconds: float) -> list[str]:
    return [_trim("trim", _TENTH), _timed("trimmed", "randwrite", seconds, size=_TENTH)]


def _written(seconds: float) -> list[str]:
    return [_fill("fill", _TENTH), _timed("written", "randwrite", seconds, size=_TENTH)]


def _discarding(seconds: float) -> list[str]:
    return [
        _fill("fill-single", _TENTH),
        _timed("writes-single", "randwrite", seconds, size=_TENTH),
        # One at a time: that is how the kernel hands them on.
        _timed("discards-single", "randtrim", seconds, iodepth=1, size=_TENTH),
    ]


def _batched(seconds: float) -> list[str]:
    return [
        _fill("fill-batched", _TENTH),
        _timed("writes-batched", "randwrite", seconds, size=_TENTH),
        _trim("discards-batched", _TENTH),
    ]


def _used(seconds: float) -> list[str]:
    share, load = f"{IMAGE.passes or 0:.0%}", IMAGE.load
    image: dict[str, Value] = {"bs": load.block_bytes, "iodepth": load.depth}
    again = section("image", rw="randwrite", norandommap=True, io_size=share, size="100%", **image)
    return [_fill("fill", "100%"), again, _timed("used", "randwrite", seconds, size="100%")]


def _new(seconds: float) -> list[str]:
    return [_trim("trim", "100%"), _timed("new", "randwrite", seconds, size="100%")]


def _overwritten(name: str, size: str, seconds: float) -> list[str]:
    load: dict[str, Value] = {"bs": "4k", "iodepth": 16, "norandommap": True, "size": size}
    return [
        _trim(f"trim-{name}", "100%"),
        _fill(f"fill-{name}", size),
        section(f"overwrite-{name}", rw="randwrite", **load),
        _timed(name, "randwrite", seconds, size=size),
    ]


def _with_spare(seconds: float) -> list[str]:
    return _overwritten("with-spare", _USED_WITH_SPARE, seconds)


def _without_spare(seconds: float) -> list[str]:
    return _overwritten("without-spare", "100%", seconds)


def _read(name: str, seconds: float) -> list[str]:
    large: dict[str, Value] = {"bs": "1m", "iodepth": 4, "size": _TENTH}
    return [
        _fill(f"fill-{name}", _TENTH),
        _timed(f"large-{name}", "read", seconds, **large),
        _timed(f"small-{name}", "randread", seconds, iodepth=1, size=_TENTH),
    ]


def _encrypted(seconds: float) -> list[str]:
    return _read("encrypted", seconds)


def _plain(seconds: float) -> list[str]:
    return _read("plain", seconds)


def _without(document: str, loss_figure: str) -> list[Stated]:
    """Return what a stated loss leaves."""
    loss = documents.figure(document, loss_figure)
    left = 1 - loss.value
    return [Stated(left, f"{loss} lost = {left:.2f}", loss.document, loss.place)]


_ALIGNMENT = Contrast(
    "4 KiB random writes from sector 63 on against aligned ones",
    (["unaligned"], ["aligned"]),
    lambda: _without("media-addicted", "misaligned_write_loss"),
)
_TRIM = Contrast(
    "4 KiB random writes to a trimmed tenth against the same one written",
    (["trimmed"], ["written"]),
    lambda: [documents.ratio("freebsd-forum", "start_63_trimmed", "start_63_run_3")],
)
_DISCARD_COST = Contrast(
    "4 KiB written and discarded by itself, against written and discarded in pieces of 1 MiB",
    (["writes-single", "discards-single"], ["writes-batched", "discards-batched"]),
    # That batches are better is said (Thomas-Krenn, p. 12), and no figure is given.
    list,
)
_USED_NEW = Contrast(
    "4 KiB random writes to the drive filled, a quarter of it written anew, against all trimmed",
    (["used"], ["new"]),
    lambda: [documents.ratio("anandtech", "recipe_hdd", "fresh_hdd")],
)
_SPARE = Contrast(
    "4 KiB random writes to 80 % of the drive, the rest trimmed, against all of it in use",
    (["with-spare"], ["without-spare"]),
    lambda: [documents.ratio("thomas-krenn", "spare_20_gain")],
)
_CIPHER = tuple(
    Contrast(
        f"{words}, encrypted against plain",
        ([f"{size}-encrypted"], [f"{size}-plain"]),
        stated,
    )
    for words, size, stated in (
        ("1 MiB sequential reads", "large", list),
        (
            "4 KiB random reads, one at a time",
            "small",
            lambda: _without("media-addicted", "desktop_worst_loss"),
        ),
    )
)
QUESTIONS = {
    each.name: each
    for each in (
        AskedQuestion(
            "alignment",
            "Does alignment matter on this drive?",
            (_unaligned, _aligned),
            (_ALIGNMENT,),
            0,
        ),
        AskedQuestion(
            "cipher",
            "What does the kernel's cipher cost on this drive?",
            (_encrypted, _plain),
            _CIPHER,
            0.2,
            encrypts=True,
        ),
        AskedQuestion(
            "discard-cost",
            "What do discards cost that come block by block?",
            (_discarding, _batched),
            (_DISCARD_COST,),
            0.2,
        ),
        AskedQuestion(
            "spare",
            "Does spare area bring speed?",
            (_with_spare, _without_spare),
            (_SPARE,),
            3.6,
        ),
        AskedQuestion(
            "trim",
            "Does TRIM bring speed back?",
            (_trimmed, _written),
            (_TRIM,),
            0.1,
        ),
        AskedQuestion(
            "used-new",
            "How much slower is it used than new?",
            (_used, _new),
            (_USED_NEW,),
            1.25,
        ),
    )
}
"""By name."""
