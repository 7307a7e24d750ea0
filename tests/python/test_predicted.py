"""The predictions of the 7450 pair: rows, drives by hand, the file, the command in small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.experiment.ensemble.draw import draws
from ssdlab.experiment.ensemble.ranges import Range, known
from ssdlab.referee.predicted.__main__ import main
from ssdlab.referee.predicted.drawn import DrawnValues, Predicted
from ssdlab.referee.predicted.prediction import summarised
from ssdlab.referee.predicted.rows import MAX, PRO, PredictedRow, rows
from ssdlab.study.twin import patterns

pytestmark = pytest.mark.end_to_end

KNOWN = known("predicted/micron-7450.toml")
FOLDER = Path(__file__).parents[2] / "docs/predictions"
FILE = FOLDER / "7450-2.json"
BLIND = FOLDER / "7450.json"
"""The first one, made before the buffer knew how far back it joins."""


def at(key: str, value: float | str) -> Range:
    """Return a range that is one value."""
    return Range(key, "choices", (value,), key, "")


BY_HAND = (
    at("pool_gib", 1075.0),
    at("pool_less_gib", 15.0),
    at("nand.program_us", 1.0),
    at("ftl.move_unit_us", 20.0),
    at("ftl.parity_stripe_pages", 16),
    at("ftl.map_log_entry_bytes", 8.0),
    at("buffer.join_bytes", "256 KiB"),
    at("ftl.gc", "greedy"),
    at("copies.uniform", 1.0),
    at("copies.zipf-1.0", 1.2),
)
DRAW = {each.key: 0.5 for each in BY_HAND}


def test_rows_are_those_that_were_measured() -> None:
    """Seven and six shares of the drive, and fifteen patterns on each whole drive."""
    found = rows()
    assert [sum(row.drive == drive for row in found) for drive in (PRO, MAX)] == [22, 21]
    assert len({row.name for row in found}) == len(found)
    assert all(patterns.distribution(row.pattern, 1 << 20) for row in found)
    assert {row.drive_writes for row in found} == {5, 6, 7, 9}


@pytest.mark.parametrize("drawn", KNOWN, ids=lambda drawn: drawn.key)
def test_a_range_has_a_reason(drawn: Range) -> None:
    """It stands at a place from one end to the other, and its reason is told."""
    assert len(drawn.reason) > 8
    assert drawn.at(0.0, 1.0) is not None and drawn.at(0.999, 1.0) is not None


def test_every_row_of_every_draw_can_be_asked_of_the_engine() -> None:
    """Each pattern knows how many moves it has, and no drawn drive is refused."""
    for draw in draws(KNOWN, 32, 1):
        for drive in (PRO, MAX):
            drawn = DrawnValues(drive, KNOWN, draw)
            engine.show(drive, drawn.settings())
            for row in rows():
                assert drawn.corrected(row, 2.0, 500.0).write_amplification > 1


def test_a_drawn_drive_by_hand() -> None:
    """1075 GiB over 800 GB; the PRO has 15 GiB less over 960 GB; a page in 16 is parity."""
    largest = dict(DrawnValues(MAX, BY_HAND, DRAW).settings())
    assert float(largest["over_provisioning"]) == pytest.approx(1075 * 2**30 / 800e9 - 1, abs=1e-6)
    assert float(largest["nand.program_us"]) == pytest.approx(737 * 15 / 16, abs=0.01)
    assert largest["ftl.gc"] == "greedy" and largest["ftl.parity_stripe_pages"] == "16"
    smallest = dict(DrawnValues(PRO, BY_HAND, DRAW).settings())
    assert float(smallest["over_provisioning"]) == pytest.approx(1060 * 2**30 / 960e9 - 1, abs=1e-6)


def test_moves_of_another_maker_by_hand() -> None:
    """One in 16 is parity: 3.2 is 16/15 · (1 + 2), and with 1.2 times the moves 16/15 · 3.4.

    64 dies program 16 KiB in 737 us, 1356.85 MiB a second; half that rate is half moving, and 1.2
    times as much of it takes 1.1 times as long.
    """
    drawn = DrawnValues(MAX, BY_HAND, DRAW)
    fresh = 64 * 16384 / 737e-6 / 2**20
    found = drawn.corrected(PredictedRow(MAX, "zipf-1.0", 1, 6), 3.2, fresh / 2)
    assert found.write_amplification == pytest.approx(16 / 15 * 3.4)
    assert found.mib_per_s == pytest.approx(fresh / 2 / 1.1)
    same = drawn.corrected(PredictedRow(MAX, "uniform", 1, 5), 3.2, fresh / 2)
    assert (same.write_amplification, same.mib_per_s) == pytest.approx((3.2, fresh / 2))


def test_a_summary_by_hand() -> None:
    """5, 50 and 95 % of 0 … 100."""
    found = summarised(rows()[0], [Predicted(float(each), each / 10) for each in range(101)])
    assert found["write_amplification"] == [5.0, 50.0, 95.0]
    assert found["mib_per_s"] == [0.5, 5.0, 9.5]


@pytest.mark.parametrize("file", [BLIND, FILE], ids=lambda file: file.name)
def test_the_file_has_every_row(file: Path) -> None:
    """In the order of the rows; an interval goes up; less written or skewed more is moved less."""
    found = json.loads(file.read_text("utf-8"))
    assert [
        PredictedRow(each["drive"], each["pattern"], each["written_share"], each["drive_writes"])
        for each in found
    ] == rows()
    for each in found:
        for figure in ("write_amplification", "mib_per_s"):
            assert each[figure] == sorted(each[figure])
        assert each["write_amplification"][0] >= 1
    for drive in (PRO, MAX):
        uniform = [each for each in found if (each["drive"], each["pattern"]) == (drive, "uniform")]
        medians = [each["write_amplification"][1] for each in uniform]
        assert medians == sorted(medians)


def test_the_command_in_small(tmp_path: Path) -> None:
    """One draw: low, median and high are one, near what the file says; then it is kept."""
    output = tmp_path / "found.json"
    arguments = ["--draws", "1", "--patterns", "never-rewritten 0.9", "-o", str(output)]
    assert main([*arguments, "--kept", str(tmp_path / "kept")]) == 0
    found = json.loads(output.read_text("utf-8"))
    assert [each["drive"] for each in found] == [PRO, MAX]
    whole = {(each["drive"], each["pattern"]): each for each in json.loads(FILE.read_text("utf-8"))}
    for each in found:
        low, median, high = each["write_amplification"]
        assert low == median == high
        told = whole[each["drive"], each["pattern"]]["write_amplification"]
        assert 0.9 * told[0] <= median <= 1.1 * told[2]
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert main([*arguments, "--kept", str(tmp_path / "kept")]) == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--draws", "0"], "--draws 0: must be a whole number from 1"),
        (["--patterns", "zipfy"], "--patterns zipfy: is not predicted"),
        (["--scale", "7"], "64 dies on 8 channels cannot be split into 7 equal parts"),
    ],
)
def test_what_cannot_be_predicted_is_refused(
    given: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the value and what is wrong, and no file."""
    output = tmp_path / "found.json"
    assert main([*given, "--kept", str(tmp_path / "kept"), "-o", str(output)]) == 2
    assert told in capsys.readouterr().err
    assert not output.exists()
