"""The rule for steady state: by hand, against SciPy's regression, and as a property."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from scipy.stats import linregress

from ssdlab.bench.plan import StopRule
from ssdlab.bench.steady import Steadiness, judge

RULE = StopRule()


def judged(values: Sequence[float], rule: StopRule = RULE) -> Steadiness:
    found = judge(values, rule)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        # Constant.
        ((100, 100, 100, 100, 100), True),
        # A drive that does nothing.
        ((0, 0, 0, 0, 0), False),
        # Range of exactly 20 % of an average of 100, no slope: the limit belongs to it.
        ((90, 110, 100, 110, 90), True),
        # A hair more.
        ((89.9, 110.1, 100, 110.1, 89.9), False),
        # A line that rises by exactly 10 %: slope 2.5 times 4.
        ((95, 97.5, 100, 102.5, 105), True),
        # A hair more.
        ((94.9, 97.45, 100, 102.55, 105.1), False),
        # Falling just as fast.
        ((105.1, 102.55, 100, 97.45, 94.9), False),
        # Noise beyond the range, without a slope.
        ((80, 120, 100, 120, 80), False),
        # Within the range, and yet it falls too fast.
        ((109, 105, 100, 95, 91), False),
    ],
)
def test_series_by_hand(values: tuple[float, ...], steady: bool) -> None:
    """Just inside and just outside of each limit."""
    assert judged(values).steady is steady


def test_too_few_rounds_are_not_judged() -> None:
    """Four rounds make no window; the fifth does."""
    assert judge([100] * 4, RULE) is None
    assert judged([100] * 5).rounds == (1, 2, 3, 4, 5)


def test_window_is_the_newest_five() -> None:
    """What came before the window plays no part."""
    found = judged([900, 5, 100, 100, 100, 100, 100])
    assert found.rounds == (3, 4, 5, 6, 7)
    assert found.steady


def test_window_may_skip_rounds() -> None:
    """Of saturation every thirty-first minute counts, however the others look."""
    values = [100.0 if minute % 31 == 0 else 1e6 for minute in range(1, 156)]
    rule = StopRule(stride=31)
    assert judge(values[:-1], rule) is None
    found = judged(values, rule)
    assert found.rounds == (31, 62, 93, 124, 155)
    assert found.steady


def test_line_is_that_of_scipy() -> None:
    """Slope, intercept and correlation of drawn windows are those of SciPy's regression."""
    draw = random.Random(1)
    for _ in range(200):
        values = [draw.uniform(1, 1e6) for _ in range(5)]
        found, expected = judged(values), linregress(range(5), values)
        assert found.slope == pytest.approx(expected.slope)
        assert found.intercept == pytest.approx(expected.intercept)
        assert found.correlation == pytest.approx(expected.rvalue)
        assert found.excursion == pytest.approx(abs(expected.slope) * 4)


def test_rule_does_not_depend_on_the_unit() -> None:
    """Drawn windows are judged alike in IOPS, kIOPS, or backwards in time."""
    draw = random.Random(2)
    verdicts = set()
    for _ in range(500):
        values = [100 * (1 + draw.uniform(-0.12, 0.12)) for _ in range(5)]
        verdict = judged(values).steady
        verdicts.add(verdict)
        # A power of two leaves all digits as they are.
        assert judged([value / 1024 for value in values]).steady is verdict
        if abs(judged(values).excursion - judged(values).allowed_excursion) > 1e-9:
            assert judged(values[::-1]).steady is verdict
    assert verdicts == {True, False}


def test_no_window_is_steady_without_both_limits() -> None:
    """A window is steady only where range and line are; both are checked on drawn ones."""
    draw = random.Random(3)
    for _ in range(500):
        values = [draw.gauss(1000, 60) for _ in range(5)]
        found = judged(values)
        mean = sum(values) / 5
        line = linregress(range(5), values).slope * 4
        expected = bool(max(values) - min(values) <= 0.2 * mean and abs(line) <= 0.1 * mean)
        assert found.steady is expected
