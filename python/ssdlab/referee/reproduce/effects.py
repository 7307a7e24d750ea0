"""How much of an effect our ratio shows, where a document states one.

    share = ln ours / ln theirs

An effect counts where |ln theirs| is more than twice the document's own error: what its digits
leave, and 5 % at least, since figures that were measured once repeat no better. It is *shown* where
its share is 0.5 to 1.5, or where ours lies within twice that error of theirs. Ratios that say "as
fast as" are null effects: a model that does nothing meets them, so they are told apart.

Left out: statements, and ratios that are not counted (`JudgedRow.counted`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ssdlab.ground import text
from ssdlab.referee.reproduce.judging import INSIDE, JudgedRow

OWN_ERROR = 0.05
"""Relative error at least of a ratio that a document measured."""
_SHOWN = (0.5, 1.5)
_LOST = 0.1


@dataclass(frozen=True)
class StatedEffect:
    """A ratio that a document states, as an effect.

    Attributes
    ----------
    share
        Of theirs that ours shows; negative where it goes the other way.
    is_null
        The document says that two things are alike.
    is_shown
        Ours shows it.
    """

    share: float
    is_null: bool
    is_shown: bool

    def to_dict(self) -> dict[str, float | bool | None]:
        """Return it for JSON, which has no number for what is none."""
        share = None if self.is_null else self.share
        return {"share": share, "is_null": self.is_null, "is_shown": self.is_shown}

    @property
    def is_lost(self) -> bool:
        """Ours shows less than a tenth of it, or the other way."""
        return not self.is_null and not self.is_shown and self.share < _LOST


def effect_of(row: JudgedRow) -> StatedEffect | None:
    """Return a row's effect; None where it has no ratio.

    Examples
    --------
    >>> from ssdlab.referee.reproduce.judging import MECHANISM, judged
    >>> from ssdlab.ground.documents import Stated
    >>> stated = Stated(0.75, "0.75", "a document", "p. 1", 0.01)
    >>> effect_of(judged("misaligned", stated, 1.0, MECHANISM)).is_lost
    True
    """
    theirs, ours = row.their_ratio, row.our_ratio
    if theirs is None or ours is None or theirs <= 0 or ours <= 0:
        return None
    error = 2 * max(row.their_rounding, OWN_ERROR)
    size = math.log(theirs)
    if abs(size) <= error:
        return StatedEffect(math.nan, is_null=True, is_shown=row.verdict == INSIDE)
    share = math.log(ours) / size
    is_near = abs(math.log(ours / theirs)) <= error
    return StatedEffect(share, is_null=False, is_shown=is_near or _SHOWN[0] <= share <= _SHOWN[1])


def told(rows: Sequence[JudgedRow]) -> str:
    """Say how many effects are shown.

    Examples
    --------
    >>> told([])
    '0 of 0 effects shown; 0 of 0 null effects inside their band'
    """
    found = [effect for row in rows if row.counted and (effect := effect_of(row)) is not None]
    effects = [each for each in found if not each.is_null]
    null = [each for each in found if each.is_null]
    lost = sum(each.is_lost for each in effects)
    middle = f", the median share {median(each.share for each in effects):.2f}" if effects else ""
    none = f"; {lost} less than a tenth or the other way" if lost else ""
    return (
        f"{sum(each.is_shown for each in effects)} of {len(effects)} effects shown{middle}{none}; "
        f"{sum(each.is_shown for each in null)} of {len(null)} null effects inside their band"
    )


def share_of(row: JudgedRow) -> str:
    """Write the share of a row's effect: empty where it has none, a dash of a null effect."""
    effect = effect_of(row)
    if effect is None:
        return ""
    return text.NOTHING if effect.is_null else f"{effect.share:.2f}"
