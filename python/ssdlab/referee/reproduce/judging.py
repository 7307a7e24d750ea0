"""Rows: a document's figure beside ours, and whether ours is inside its band.

Of a ratio the quotient ours / theirs is judged: within 15 % where a mechanism that is modelled
decides, within 30 % where unpublished firmware does. Ours must also lie on the same side of 1,
unless one of the two is within 2 % of it. A row that rests on a fitted parameter says
to what it was fitted; it may not be that figure. One whose stand-in or parameter was chosen after
the result was seen is judged and not counted, and neither is a repeated figure. What is stated
otherwise is a shape: it holds, or is shown not to; where it has a figure, ours must lie within that
too. Absolute figures are shown, and judge nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.ground import text
from ssdlab.ground.documents import Stated, StatedFigure

MECHANISM = 0.15
FIRMWARE = 0.30

INSIDE, MISSES, HOLDS, FAILS, SHOWN = "inside", "misses", "holds", "does not hold", "shown"
OUTSIDE = "outside the figure"
"""Of a shape: what is said holds, and ours lies outside the figure that is said with it."""
RED = (MISSES, FAILS, OUTSIDE)
"""Verdicts that the model or the document has to answer for."""

AFTERWARDS = "a choice behind it was made after its result was seen"
FITTED_TO = "a parameter behind it was fitted to it"
REPEATED = "another row has the same figure"
OTHER_MATTER = "the document speaks of something else"
_ALIKE = 0.02
"""A ratio nearer to 1 than this says that two things are alike, not which is more."""
_OTHER_WAY = "The document says more, and here it is less, or the reverse."
_OUTSIDE = "The statement holds; ours lies outside the document's figure."

WHAT_IF = "a parameter was changed to see what it does"
"""Why a judged ratio is not counted."""

UNKNOWN = "Why is not known."


@dataclass(frozen=True)
class JudgedRow:
    """A row of the table.

    Attributes
    ----------
    condition
        What is compared.
    document, place
        Who says so, and where.
    theirs, ours
        The figures, as text.
    verdict
        One of the six above.
    their_ratio, our_ratio
        Of a ratio; None otherwise.
    their_rounding
        Relative standard deviation that the digits of the document's figures leave.
    band
        The widest deviation that is inside; None where nothing is judged.
    uncounted
        Why a judged ratio is none of the independent ones; empty if it is one.
    decided_by
        Parameters on which our figure rests most, by their keys.
    profile
        The drive whose parameters they are; empty for all that were run.
    reason
        Why it misses or what it hides, as far as known.
    """

    condition: str
    document: str
    place: str
    theirs: str
    ours: str
    verdict: str
    their_ratio: float | None = None
    our_ratio: float | None = None
    their_rounding: float = 0.0
    band: float | None = None
    uncounted: str = ""
    decided_by: tuple[str, ...] = ()
    profile: str = ""
    reason: str = ""

    @property
    def quotient(self) -> float | None:
        """Ours / theirs; 1 is agreement."""
        if self.their_ratio is None or self.our_ratio is None:
            return None
        return self.our_ratio / self.their_ratio

    @property
    def counted(self) -> bool:
        """One of the independent ratios, by which the model is judged as a whole."""
        return self.band is not None and not self.uncounted

    @property
    def why(self) -> str:
        """Why it misses or what it hides; that it is not known, where nothing is said of a miss."""
        return self.reason or (UNKNOWN if self.verdict in RED else "")


def judged(
    condition: str,
    stated: Stated,
    ours: float,
    band: float,
    *,
    uncounted: str = "",
    decided_by: tuple[str, ...] = (),
    profile: str = "",
    reason: str = "",
) -> JudgedRow:
    """Return a row of a ratio.

    Examples
    --------
    >>> claim = Stated(2.0, "× 2", "a document", "p. 1")
    >>> judged("eight drives against three", claim, 2.4, MECHANISM).verdict
    'misses'
    """
    theirs_more, ours_more = stated.value - 1, ours - 1
    alike = min(abs(theirs_more), abs(ours_more)) < _ALIKE
    same_way = alike or theirs_more * ours_more > 0
    inside = abs(ours / stated.value - 1) <= band and same_way
    return JudgedRow(
        condition,
        stated.document,
        stated.place,
        stated.text,
        text.ratio(ours),
        INSIDE if inside else MISSES,
        stated.value,
        ours,
        stated.rounding,
        band,
        uncounted,
        decided_by,
        profile,
        reason if same_way else f"{_OTHER_WAY} {reason}".rstrip(),
    )


def shape(
    condition: str,
    document: str,
    place: str,
    theirs: str,
    ours: str,
    holds: bool,
    *,
    figures: Sequence[tuple[float, float, float]] = (),
    reason: str = "",
) -> JudgedRow:
    """Return a row of a statement.

    Parameters
    ----------
    holds
        Whether what is said is so, its figures aside.
    figures
        For each figure of the statement the least that it allows, ours, and the most.

    Examples
    --------
    >>> twice = [(1.9, 3.5, 2.1)]
    >>> shape("two write faster", "a book", "p. 1", "twice", "× 3.5", True, figures=twice).verdict
    'outside the figure'
    """
    verdict = HOLDS if holds else FAILS
    if holds and not all(least <= ours_ <= most for least, ours_, most in figures):
        verdict, reason = OUTSIDE, f"{_OUTSIDE} {reason}".rstrip()
    return JudgedRow(condition, document, place, theirs, ours, verdict, reason=reason)


def near(stated: float, ours: float, band: float) -> tuple[float, float, float]:
    """Return a single figure of a statement with a band around it, for `shape`."""
    return stated * (1 - band), ours, stated * (1 + band)


def shown(condition: str, stated: StatedFigure, ours: str, *, reason: str = "") -> JudgedRow:
    """Return a row of an absolute figure, which is not judged."""
    return JudgedRow(
        condition, stated.document, stated.place, str(stated), ours, SHOWN, reason=reason
    )
