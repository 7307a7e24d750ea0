"""The replay of measured drives: patterns, slices, judgement, and the command in small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.engine.series import Series
from ssdlab.engine.shown import sizes
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.ground.errors import SsdlabError
from ssdlab.referee.measured import judge, rows, table, transient
from ssdlab.referee.measured.__main__ import main
from ssdlab.study.twin import patterns

STEADY = rows.MeasuredRow("d", "zipf-0.4", 5, 200.0, 198.0, 202.0, 1.0)
DRIFTING = rows.MeasuredRow("d", "never-rewritten 0.6", 7, 300.0, 250.0, 350.0, 0.8)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("uniform", "random"),
        ("zipf-0.8", "zipf:0.8:ranks=5000"),
        ("zipf-1.0", "zipf:0.9999:ranks=5000"),
        ("two-zone 5/95", "zoned_scatter:95/5:5/95"),
        ("never-rewritten 0.9", "zoned_scatter:100/10"),
    ],
)
def test_a_pattern_is_a_distribution(pattern: str, expected: str) -> None:
    """Worked out by hand; shares of writes stand before those of space."""
    assert patterns.distribution(pattern, 5000) == expected


def test_an_unknown_pattern_is_refused() -> None:
    """A misspelt row is not run as uniform."""
    with pytest.raises(ValueError, match="zipfy"):
        patterns.distribution("zipfy 3", 5000)


def test_every_measured_pattern_is_known() -> None:
    """Each drive has its rows, its transient and its loads, each pattern once."""
    for drive in rows.DRIVES:
        found = rows.rows(drive)
        assert len({row.pattern for row in found}) == len(found) >= 11
        assert {patterns.UNIFORM, rows.POLICY_ROW} <= {row.pattern for row in found}
        assert all(patterns.distribution(row.pattern, 1 << 20) for row in found)
        assert rows.transient(drive).lowest < rows.transient(drive).fresh
        for load in (*rows.FITTED_LOADS, rows.HALF_LOADS[drive]):
            assert rows.latency(drive, load).read_p99 > 0


def test_the_same_pattern_twice_is_one_row() -> None:
    """The mean of both counts once."""
    (one,) = rows.merged([STEADY, replace(STEADY, median=204.0, p90=210.0)])
    assert (one.median, one.p10, one.p90) == (202.0, 198.0, 206.0)


@pytest.mark.parametrize(("rate", "difference"), [(214.0, 0.07), (180.0, -0.10)])
def test_a_steady_row_is_judged_by_its_median(rate: float, difference: float) -> None:
    """Whatever p10 and p90 are."""
    assert judge.judge_rate(STEADY, rate).difference == pytest.approx(difference)


@pytest.mark.parametrize(
    ("rate", "difference"), [(250.0, 0.0), (349.0, 0.0), (385.0, 0.1), (225.0, -0.1)]
)
def test_a_drifting_row_is_judged_by_its_band(rate: float, difference: float) -> None:
    """No difference inside p10 to p90; outside, the distance to the nearer end."""
    assert judge.judge_rate(DRIFTING, rate).difference == pytest.approx(difference)


def test_a_drift_of_a_tenth_is_no_drift() -> None:
    """Only more than that."""
    assert not replace(STEADY, drift=1.1).drifts
    assert replace(STEADY, drift=1.101).drifts


def test_shares_count_what_was_predicted() -> None:
    """Fitted rows are not counted, and a row given twice counts once."""
    near, far = judge.judge_rate(STEADY, 201), judge.judge_rate(DRIFTING, 500)
    fitted = judge.judge_rate(replace(STEADY, pattern="uniform"), 1000)
    every = [near, near, far, fitted]
    assert judge.share_within(every, 0.07) == 0.5
    assert judge.misses(every, 0.07) == [far]
    assert len(judge.failures(every, [], [])) == 2
    assert judge.failures([near, fitted], [], []) == []


def test_dip_and_latency_have_their_limits() -> None:
    """15 % for the dip; 30 % for writes and 40 % for reads at the load that was not fitted to."""
    measured = rows.Transient("d", 1000, 0.1, 100, 0.3)
    quarter, half = rows.Stretch("d", 0.25, 190, 10), rows.Stretch("d", 0.5, 100, 20)
    capacity = (
        600_000 << 20
    )  # At 1000 MiB/s one minute is a tenth of it: two of the ten were fresh.
    near = {"dip": 86, "lowest_tenth": 114, "recovery": 86}
    dips = judge.judge_transient(measured, quarter, half, capacity, near)
    far = judge.judge_transient(
        replace(measured, drive="e"), quarter, half, capacity, {**near, "dip": 84}
    )
    dips += far
    load = rows.Latency("d", 40_000, 70, 400, 500, 10, 13)
    model = {"read_p99": 239.0, "write_p50": 12.9, "write_p99": 17.0}
    latencies = judge.judge_latency(load, model, fitted=False)
    said = judge.failures([judge.judge_rate(STEADY, 200)], dips, latencies)
    assert [each.split(":")[0] for each in said] == [
        "e, dip",
        "d, write p99 at 40,000 a second",
        "d, read p99 at 40,000 a second",
    ]
    assert (
        judge.failures([judge.judge_rate(STEADY, 200)], [], judge.judge_latency(load, model, True))
        == []
    )


def test_fitted_rows_stand_apart() -> None:
    """In the document what was fitted comes after all that was predicted."""
    uniform = judge.judge_rate(replace(STEADY, pattern="uniform"), 200)
    text = table.document([uniform, judge.judge_rate(DRIFTING, 385)], [], [])
    assert (
        text.index("never-rewritten 0.6 | 300 (drifts: 250 to 350) | 385 | +10.0%")
        < text.index("Fitted, not counted")
        < text.index("uniform")
    )
    assert "within 7%: 0% of 1 rows (65% needed)" in text


@pytest.mark.parametrize("drive", rows.DRIVES)
def test_a_slice_has_the_blocks_of_its_dies(drive: str) -> None:
    """As many blocks a die as the whole drive has (one more or less), of the same size."""
    whole = sizes(engine.show(drive))
    part = sizes(engine.show(drive, scale="dies:16"))
    assert abs(part.flash.blocks_per_die - whole.flash.blocks_per_die) <= 1
    assert part.flash.block_bytes == whole.flash.block_bytes
    assert part.capacity_bytes == pytest.approx(whole.capacity_bytes / 16, rel=1e-6)


def test_dies_are_not_cut() -> None:
    """64 dies cannot be split into 3 parts."""
    with pytest.raises(SsdlabError, match="64 dies on 8 channels cannot be split into 3"):
        engine.show(rows.DRIVES[0], scale="dies:3")


def test_a_run_comes_in_minutes() -> None:
    """Of 40 s one and a half make a minute, and what is left over makes none."""
    mib = 1 << 20
    series = Series([20.0, 60.0, 100.0, 140.0], [0.0] * 4, [40 * mib, 80 * mib, 40 * mib, 40 * mib])
    found = transient.minutes(series, parts=2, capacity_bytes=1000 * mib)
    assert [each.end for each in found] == pytest.approx([0.08, 0.16])
    assert [each.rate for each in found] == pytest.approx([2 * 80 / 60, 2 * 80 / 60])


def test_a_transient_has_its_stretches() -> None:
    """By hand: the fresh minute is left out of the dip, and each minute counts where it ends."""
    every = [
        transient.Minute(end, rate)
        for end, rate in ((0.1, 900), (0.2, 90), (0.25, 110), (0.3, 130), (0.4, 120), (0.5, 150))
    ]
    assert transient.figures(every, 1) == {"dip": 100, "recovery": 400 / 3, "lowest_tenth": 90}


@pytest.mark.parametrize(("drive", "dip"), [*zip(rows.DRIVES, (279.9, 196.5, 133.2), strict=True)])
def test_the_lowest_rate_is_not_that_of_a_minute(drive: str, dip: float) -> None:
    """The minutes behind the fresh ones have a lower mean than the lowest rate published."""
    measured, quarter = rows.transient(drive), rows.stretch(drive, transient.QUARTER)
    found = transient.measured_dip(measured, quarter, capacity_bytes(drive))
    assert found == pytest.approx(dip, abs=0.05)
    assert found < measured.lowest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--drives", "theory"], "--drives theory: was not measured"),
        (["--patterns", "zipf-3"], "--patterns zipf-3: was not measured"),
        (["--scale", "0"], "--scale 0: must be a whole number from 1"),
        (["--share", "2"], "--share 2.0: must be above 0, and 1 at most"),
        (["--share", "nan"], "--share nan: must be above 0, and 1 at most"),
    ],
)
def test_what_was_not_measured_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """With exit code 2, and no folder made."""
    folder = tmp_path / "new"
    assert main([*words, "-o", str(folder)]) == 2
    assert said in capsys.readouterr().err
    assert not folder.exists()


def test_the_command_replays_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A die's worth of writes, judged and kept; the second time nothing runs."""
    words = ["--drives", rows.DRIVES[0], "--scale", "64", "--share", "0.05", "--no-latency"]
    words += ["--patterns", "uniform,zipf-0.4", "-o", str(tmp_path)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "| sk-hynix-pe8110-960gb | zipf-0.4 | 323.1" in said
    assert (tmp_path / "measured.md").read_text() in said
    assert len(list(tmp_path.glob("*.json"))) == 3
    monkeypatch.setattr(engine, "run", None)
    assert main(words) == 1
    assert capsys.readouterr().out == said
