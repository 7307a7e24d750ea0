"""The questions: what A and B are, as sections of a fio job, and what a document measured.

A turn is A and B one behind the other; every second turn begins with B, so that a drive that grows
slower or hotter by and by favours neither. Left out: what a machine must be set up for (a cipher's
mapping, spare area that is left unused for weeks, a secure erase).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ssdlab.experiment.experiment import section
from ssdlab.ground import seeds
from ssdlab.ground.seeds import Stated

_SECTOR_63 = 63 * 512
_SHARE = "50%"
"""Of the target: a misaligned job of the same size ends before the target does."""
_TRIMMED_SHARE = "10%"


@dataclass(frozen=True)
class AskedQuestion:
    """A question.

    Attributes
    ----------
    name, asks
        On the command line, and in words.
    ratio
        What the ratio is, in words: A against B.
    arms
        A and B: each the sections of its part of a turn, of which the last is measured.
    stated
        Gives what documents measured.
    """

    name: str
    asks: str
    ratio: str
    arms: tuple[Callable[[float], Mapping[str, str]], Callable[[float], Mapping[str, str]]]
    stated: Callable[[], list[Stated]]


def _writes(name: str, seconds: float, **more: str | int) -> str:
    return section(
        name,
        rw="randwrite",
        bs="4k",
        iodepth=16,
        norandommap=True,
        time_based=True,
        runtime=f"{round(seconds * 1000)}ms",
        **more,
    )


def _unaligned(seconds: float) -> Mapping[str, str]:
    return {"unaligned": _writes("unaligned", seconds, size=_SHARE, offset=_SECTOR_63)}


def _aligned(seconds: float) -> Mapping[str, str]:
    return {"aligned": _writes("aligned", seconds, size=_SHARE)}


def _written(seconds: float) -> Mapping[str, str]:
    fill = section("fill", rw="write", bs="1m", iodepth=4, size=_TRIMMED_SHARE)
    return {"fill": fill, "written": _writes("written", seconds, size=_TRIMMED_SHARE)}


def _trimmed(seconds: float) -> Mapping[str, str]:
    trim = section("trim", rw="trim", bs="1m", iodepth=1, size=_TRIMMED_SHARE)
    return {"trim": trim, "trimmed": _writes("trimmed", seconds, size=_TRIMMED_SHARE)}


def _of_alignment() -> list[Stated]:
    loss = seeds.figure("media-addicted", "misaligned_write_loss")
    left = 1 - loss.value
    return [Stated(left, f"{loss} lost = {left:.2f}", loss.document, loss.place)]


def _of_trim() -> list[Stated]:
    return [seeds.ratio("freebsd-forum", "start_63_trimmed", "start_63_run_3")]


QUESTIONS = {
    each.name: each
    for each in (
        AskedQuestion(
            "alignment",
            "Does alignment matter on this drive?",
            "4 KiB random writes from sector 63 on against aligned ones",
            (_unaligned, _aligned),
            _of_alignment,
        ),
        AskedQuestion(
            "trim",
            "Does TRIM bring speed back?",
            "4 KiB random writes to a trimmed tenth against the same one written",
            (_trimmed, _written),
            _of_trim,
        ),
    )
}
"""By name."""
