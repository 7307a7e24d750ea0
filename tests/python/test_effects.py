"""Ratios of documents by the size of their effect: the share of it that ours shows."""

from __future__ import annotations

import pytest

from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import effects, judging


@pytest.mark.parametrize(
    ("theirs", "ours", "share", "is_shown"),
    [
        (2.0, 2.0, 1.0, True),
        (2.0, 1.42, 0.506, True),
        (2.0, 1.40, 0.485, False),
        (2.0, 2.8, 1.485, True),
        (2.0, 2.9, 1.536, False),
        (0.5, 0.6, 0.737, True),
        (0.75, 1.0, 0.0, False),
        (0.75, 1.1, -0.331, False),
        (1.2, 1.09, 0.473, True),
        (1.2, 1.08, 0.422, False),
    ],
)
def test_an_effect_is_shown_or_not(
    theirs: float, ours: float, share: float, is_shown: bool
) -> None:
    """By hand: ln ours / ln theirs from a half to one and a half, or within twice 5 % of theirs."""
    stated = Stated(theirs, "", "document", "p. 1")
    effect = effects.effect_of(judging.judged("a against b", stated, ours, judging.FIRMWARE))
    assert effect is not None and not effect.is_null
    assert effect.share == pytest.approx(share, abs=0.001)
    assert effect.is_shown == is_shown
    assert effect.is_lost == (not is_shown and share < 0.1)


def test_null_effects_are_told_apart() -> None:
    """Within twice the document's own error of 1 it says that things are alike."""
    rows = [
        judging.judged("alike", Stated(1.08, "", "document", "p. 1"), 1.0, judging.MECHANISM),
        judging.judged("alike by its digits", Stated(1.3, "", "d", "p. 1", 0.2), 1.0, 0.15),
        judging.judged("not alike", Stated(1.12, "", "document", "p. 1", 0.01), 1.0, 0.15),
        judging.judged("shown", Stated(2.0, "", "document", "p. 1"), 1.9, judging.MECHANISM),
        judging.judged("not counted", Stated(2.0, "", "d", "p"), 1, 0.15, uncounted="why"),
    ]
    assert effects.told(rows) == (
        "1 of 2 effects shown, the median share 0.46; 1 less than a tenth or the other way; "
        "1 of 2 null effects inside their band"
    )
    assert effects.effect_of(judging.shape("so", "document", "p. 1", "so", "so", True)) is None
