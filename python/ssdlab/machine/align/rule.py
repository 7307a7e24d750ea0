"""The one rule of alignment, for `ssdlab align` and `ssdlab audit` alike.

What counts is the byte *on the drive* at which data begin; a layer below may begin anywhere, if
what stands on it puts it right, and a container holds no data itself.

- A multiple of 4 KiB is a *must*: sectors of 4Kn and 512e drives and most drives' map have that
  size, and a 4 KiB write off it covers two pages in part. Off it is misaligned (red).
- A multiple of 1 MiB is *good practice*: it fits the erase blocks and stripes in wide use, and all
  partitioning tools of today take it. Off it something may be lost (yellow).
- On an array the stripe (with parity), or the chunk, is good practice too: off it, full stripes are
  split, and single pages are not.

Sector 63 is misaligned, sector 64 fits what is a must and not what is good practice, sector 2048
fits both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from ssdlab.ground.exit_codes import Exit

PAGE_BYTES = 4096
GOOD_PRACTICE_BYTES = 2**20


class Standing(str, Enum):
    """What it means to miss a unit."""

    MUST = "must"
    GOOD_PRACTICE = "good practice"
    SHOWN = "shown"


class Judgement(str, Enum):
    """What is said of a place; the later, the worse."""

    ALIGNED = "aligned"
    NOT_KNOWN = "not known"
    NOT_GOOD_PRACTICE = "fits what is a must, not what is good practice"
    MISALIGNED = "misaligned"

    @property
    def exit(self) -> Exit:
        """The exit code that says so."""
        return _EXITS[self]


_EXITS = {
    Judgement.ALIGNED: Exit.DONE,
    Judgement.NOT_KNOWN: Exit.NOT_JUDGED,
    Judgement.NOT_GOOD_PRACTICE: Exit.ATTENTION,
    Judgement.MISALIGNED: Exit.FINDING,
}


def judgement(answers: Iterable[tuple[Standing, bool | None]]) -> Judgement:
    """Judge by whether units fit; None is where that is not known.

    Examples
    --------
    >>> judgement([(Standing.MUST, True), (Standing.GOOD_PRACTICE, False)]).name
    'NOT_GOOD_PRACTICE'
    >>> judgement([(Standing.MUST, None), (Standing.GOOD_PRACTICE, False)]).name
    'NOT_KNOWN'
    """
    found = list(answers)
    must = [fits for standing, fits in found if standing is Standing.MUST]
    good = [fits for standing, fits in found if standing is Standing.GOOD_PRACTICE]
    if False in must:
        return Judgement.MISALIGNED
    if None in must:
        return Judgement.NOT_KNOWN
    if False in good:
        return Judgement.NOT_GOOD_PRACTICE
    return Judgement.NOT_KNOWN if None in good else Judgement.ALIGNED


def judge_byte(byte: int) -> Judgement:
    """Judge the byte on a drive at which data begin.

    Examples
    --------
    >>> [judge_byte(sector * 512).name for sector in (63, 64, 2048)]
    ['MISALIGNED', 'NOT_GOOD_PRACTICE', 'ALIGNED']
    """
    return judgement(
        [
            (Standing.MUST, byte % PAGE_BYTES == 0),
            (Standing.GOOD_PRACTICE, byte % GOOD_PRACTICE_BYTES == 0),
        ]
    )


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """Give the worst of several; of none, that they are aligned."""
    order = list(Judgement)
    return max(judgements, key=order.index, default=Judgement.ALIGNED)


def containers(spans: Sequence[tuple[int, int] | None]) -> set[int]:
    """Name the partitions of a drive that hold another one whole: no data of their own.

    Partitions that only overlap are a broken table, and each is judged.

    Parameters
    ----------
    spans
        First byte and size of each; None where they are not known.

    Examples
    --------
    >>> containers([(32256, 10**9), (2**20, 10**6), (2**31, 10**6)])
    {0}
    """
    known = [(place, first, first + size) for place, (first, size) in _known(spans)]
    return {
        place
        for place, first, end in known
        if any(first < start and last <= end for _, start, last in known)
    }


def _known(
    spans: Sequence[tuple[int, int] | None],
) -> list[tuple[int, tuple[int, int]]]:
    return [(place, span) for place, span in enumerate(spans) if span is not None]
