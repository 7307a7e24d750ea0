"""Comparison: arithmetic checked by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

import synthetic
from ssdlab.engine.result import Result
from ssdlab.experiment.comparison import ComparedFigure, compare
from ssdlab.ground.errors import SsdlabError


def side(name: str, iops_by_seed: dict[int, float]) -> Result:
    jobs = [synthetic.job(iops=iops, seed=seed) for seed, iops in iops_by_seed.items()]
    return synthetic.result(*jobs, name=name)


def iops_row(rows: list[ComparedFigure]) -> ComparedFigure:
    return next(row for row in rows if row.metric.key == "iops")


def test_difference_by_hand() -> None:
    """Differences 100, 200, 300: mean 200, s = 100, t(2, 97.5 %) = 4.302653, half 248.4138."""
    baseline = side("a", {1: 1000, 2: 2000, 3: 4000})
    other = side("b", {3: 4300, 1: 1100, 2: 2200})
    row = iops_row(compare([baseline, other]).rows)
    assert row.pairs == 3
    assert row.difference == pytest.approx(200)
    assert row.difference_interval == pytest.approx((200 - 248.4138, 200 + 248.4138), abs=1e-3)


def test_ratio_by_hand() -> None:
    """Ratios 2 and 8: geometric mean 4; ln apart by ln 4, t(1, 97.5 %) = 12.7062."""
    row = iops_row(compare([side("a", {1: 100, 2: 100}), side("b", {1: 200, 2: 800})]).rows)
    assert row.ratio == pytest.approx(4)
    half = 12.7062047 * (math.log(4) / math.sqrt(2)) / math.sqrt(2)
    assert row.ratio_interval == pytest.approx((4 / math.exp(half), 4 * math.exp(half)), rel=1e-6)


def test_only_common_seeds_are_paired() -> None:
    """Seed 2 alone is on both sides."""
    row = iops_row(compare([side("a", {1: 100, 2: 200}), side("b", {2: 260, 3: 900})]).rows)
    assert (row.pairs, row.baseline, row.value) == (1, 200, 260)


def test_one_seed_has_no_interval() -> None:
    """A single pair gives a difference but no interval, and the remark says so."""
    comparison = compare([side("a", {1: 100}), side("b", {1: 150})])
    row = iops_row(comparison.rows)
    assert row.difference == 50
    assert row.difference_interval is None
    assert row.ratio_interval is None
    assert any("one seed only" in remark for remark in comparison.remarks)


def test_drives_of_one_file_are_compared() -> None:
    """A single result of a run on two drives is taken apart; the first drive is the baseline."""
    jobs = [synthetic.job(profile=name, iops=iops) for name, iops in (("a", 100), ("b", 300))]
    comparison = compare([synthetic.result(*jobs, name="both.json")])
    assert comparison.arms == ["both.json (a, fresh)", "both.json (b, fresh)"]
    assert iops_row(comparison.rows).ratio == pytest.approx(3)


def test_jobs_of_one_side_are_named() -> None:
    """What could not be compared is said."""
    one = synthetic.result(synthetic.job("x"), synthetic.job("only"), name="a")
    two = synthetic.result(synthetic.job("x"), name="b")
    assert "job only is only in a: not compared" in compare([one, two]).remarks


@pytest.mark.parametrize("names", [("a", "a"), ("x", "y")])
def test_nothing_to_compare(names: tuple[str, str]) -> None:
    """One result alone, or two without a common job, are refused."""
    results = [synthetic.result(synthetic.job(name), name=name) for name in dict.fromkeys(names)]
    with pytest.raises(SsdlabError, match="compare"):
        compare(results)


def test_fio_results_without_our_object_are_compared() -> None:
    """What fio measured on a real drive pairs with a simulated run of the same job."""
    real = synthetic.job(iops=200)
    del real["ssdlab"]
    comparison = compare([synthetic.result(real), synthetic.result(synthetic.job(iops=100))])
    assert iops_row(comparison.rows).ratio == pytest.approx(0.5)
    (written,) = (row for row in comparison.rows if row.metric.key == "write_amplification")
    assert (written.baseline, written.value, written.ratio, written.pairs) == (None, 2.75, None, 0)


def test_command(
    command: Callable[..., tuple[int, str, str]], golden: Callable[[str, str], None]
) -> None:
    """The table in a pipe is plain text; `--json` gives the same figures."""
    for name, factor in (("a", 1.0), ("b", 1.5)):
        jobs = [synthetic.job(iops=1000 * factor + seed, seed=seed) for seed in (1, 2, 3)]
        Path(f"{name}.json").write_text(synthetic.text(*jobs))
    code, out, _ = command("compare", "a.json", "b.json")
    assert code == 0
    golden("compare", out)
    _, out, _ = command("compare", "a.json", "b.json", "--json")
    decoded = json.loads(out)
    assert decoded["baseline"] == "a.json"
    assert {row["metric"] for row in decoded["rows"]} >= {"iops", "p99_ns", "write_amplification"}
