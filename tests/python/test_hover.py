"""Where pictures tell their values: on the dots and bars as drawn, and in their words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest

from ssdlab.report import theme
from ssdlab.report.hover import MOST_MARKS, Marks

WORDS = re.compile(r"<title>([^<]*)</title>")
CIRCLE = re.compile(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)">')


def say(value: float) -> str:
    return f"{value:g} IOPS"


def lines(several: dict[str, Sequence[float]], log: bool = False) -> str:
    """Draw lines with dots over places 0, 1, 2, … and return the picture."""
    marks = Marks()
    with theme.style():
        made = theme.figure(5, 3)
        axes = made.subplots()
        for label, values in several.items():
            (drawn,) = axes.plot(range(len(values)), values, "o-", label=label)
            marks.line(drawn, [f"round {place}" for place in range(len(values))], say)
        if log:
            axes.set_yscale("log")
        theme.legend_above(axes)
        return theme.svg(made, "p", "a picture", marks)


def dots(drawn: str) -> list[tuple[float, float]]:
    """Return the dots of the lines, as they are drawn."""
    found = []
    for series in re.findall(r'<g data-series="\d+">.*?</g>\s*</g>', drawn, re.DOTALL):
        found += re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"', series)
    return [(float(x), float(y)) for x, y in found]


def circles(drawn: str) -> list[tuple[float, ...]]:
    """Return where it tells something, and how far around."""
    return [tuple(map(float, each)) for each in CIRCLE.findall(drawn)]


def test_marks_lie_on_the_dots() -> None:
    """Each dot is the middle of a circle, which tells series, place and value."""
    drawn = lines({"a": [1, 30, 200], "b": [7, 8, math.nan]}, log=True)
    assert len(dots(drawn)) == 5
    for (x, y), (across, down, _) in zip(dots(drawn), circles(drawn), strict=True):
        assert (across, down) == pytest.approx((x, y), abs=0.06)
    assert WORDS.findall(drawn) == [
        *("round 0, a: 1 IOPS", "round 1, a: 30 IOPS", "round 2, a: 200 IOPS"),
        *("round 0, b: 7 IOPS", "round 1, b: 8 IOPS"),
    ]


def test_what_cannot_be_drawn_tells_nothing() -> None:
    """Zero has no place among decades."""
    assert WORDS.findall(lines({"_": [0, 30, 200]}, log=True)) == [
        "round 1: 30 IOPS",
        "round 2: 200 IOPS",
    ]


def test_no_circle_covers_a_neighbour() -> None:
    """Circles as wide as half the way to the next dot touch each other at most."""
    found = circles(lines({"a": [math.sin(place / 5) for place in range(40)], "b": [0.99] * 40}))
    assert len(found) == 80
    narrow = min(reach for *_, reach in found)
    assert narrow == 1.5
    for number, (x, y, reach) in enumerate(found):
        for across, down, other in found[:number]:
            apart = math.hypot(x - across, y - down)
            # Two decimals are rounded away in each of the four numbers.
            assert apart >= reach + other - 0.2 or min(reach, other) == narrow


def test_long_lines_have_their_extremes() -> None:
    """Of many points some are marked: evenly, with the highest, the lowest, the first, the last."""
    values = [100.0] * 1000
    values[501], values[77] = 900, 3
    told = WORDS.findall(lines({"_": values}))
    assert len(told) == MOST_MARKS + 2
    for place in (0, 77, 501, 999):
        assert f"round {place}: {values[place]:g} IOPS" in told


def test_bars_are_felt_where_they_are_drawn() -> None:
    """A rectangle has the corners of its bar."""
    marks = Marks()
    with theme.style():
        made = theme.figure(5, 3)
        axes = made.subplots()
        marks.bars(axes.bar([0, 1], [5, 9], label="rate"), ["first", "second"], say)
        drawn = theme.svg(made, "p", "bars", marks)
    assert WORDS.findall(drawn) == ["first, rate: 5 IOPS", "second, rate: 9 IOPS"]
    bars = re.findall(r'<g data-series="0">\s*<path d="([^"]*)"', drawn)
    felt = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)">', drawn)
    for path, rectangle in zip(bars, felt, strict=True):
        numbers = [float(each) for each in re.findall(r"[\d.]+", path)]
        across, down = numbers[::2], numbers[1::2]
        wanted = (min(across), min(down), max(across) - min(across), max(down) - min(down))
        assert tuple(map(float, rectangle)) == pytest.approx(wanted, abs=0.06)


def test_legend_and_series_have_the_same_number() -> None:
    """Line and words of an entry, and line and marks of its series, bear one number."""
    drawn = lines({"first": [1, 2], "second": [3, 4]})
    for number, label in enumerate(("first", "second")):
        entries = re.findall(rf'<g data-key="{number}">(.*?)</g>', drawn, re.DOTALL)
        assert len(entries) == 2 and label in entries[1]
        assert drawn.count(f'data-series="{number}"') == 2
        marks = drawn[drawn.index(f'<g data-series="{number}" fill="none"') :]
        assert set(re.findall(r", (\w+):", marks[: marks.index("</g>")])) == {label}
    assert 'id="series' not in drawn and 'id="key' not in drawn


def test_names_are_escaped() -> None:
    """What stands in a name is no markup, and no reference or colour of the picture."""
    name = "<b>&amp; #0a0b01 url(#x)"
    drawn = lines({name: [1, 2], "other": [1, 2]})
    assert "<b>" not in drawn
    assert "<title>round 0, &lt;b&gt;&amp;amp; #0a0b01 url(#x): 1 IOPS</title>" in drawn


def test_marks_are_not_printed() -> None:
    """Nothing of them has ink."""
    drawn = lines({"a": [1, 2], "b": [1, 3]})
    for opening in re.findall(r'<g data-series="\d+" [^>]*>', drawn):
        assert 'fill="none"' in opening and "stroke" not in opening
