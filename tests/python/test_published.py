"""Random writes beside data sheets: the data, the judgement by hand, and the command in small."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.referee.published import rows as published
from ssdlab.referee.published.__main__ import main
from ssdlab.referee.published.judge import JudgedRate, document, failures, is_run, mean
from ssdlab.referee.published.rows import PublishedRate
from ssdlab.referee.published.runs import Runs

ROW = PublishedRate("d", 100.0, "4k", 32, "", "found", "counted", "a data sheet", "")
FITTED = replace(ROW, drive="f", use="fitted", why="the pool")
BURST = replace(ROW, drive="b", use="burst", why="a cache")


def test_every_figure_is_of_a_profile() -> None:
    """Once a drive, with a source; a burst says why it does not count."""
    every = published.rows()
    names = [row.drive for row in every]
    assert len(set(names)) == len(names)
    assert set(names) <= {each["name"] for each in engine.profiles()}
    for row in every:
        assert row.use in published.USES
        assert row.kind in published.KINDS
        assert row.iops > 0
        assert row.source
        assert bool(row.why) or row.use != published.BURST
        assert not (row.why and row.counts)


def test_the_mean_is_geometric() -> None:
    """By hand: 4 times and 1 / 4 of what is published make 1; 2 and 4.5 make 3."""
    assert mean([JudgedRate(ROW, 400.0, 1.0), JudgedRate(ROW, 25.0, 9.0)]) == pytest.approx(1.0)
    assert mean([JudgedRate(ROW, 200.0, 1.0), JudgedRate(ROW, 450.0, 9.0)]) == pytest.approx(3.0)


def test_only_what_was_not_used_counts() -> None:
    """A row that is fitted to is shown with its ratio, and changes no mean; a cache has none."""
    counted = JudgedRate(ROW, 110.0, 3.0)
    every = [counted, JudgedRate(FITTED, 500.0, 2.0), JudgedRate(BURST, None, None)]
    assert mean(every) == pytest.approx(1.1)
    assert mean(every[1:]) is None
    assert [is_run(each.row) for each in every] == [True, True, False]
    shown = document(every)
    assert "| f | 500 | 100 | 5.00 | 2.00 | found: a data sheet | fitted: the pool |" in shown
    assert "| b |  | 100 |  | – | found: a data sheet | burst: a cache |" in shown


@pytest.mark.parametrize(
    ("iops", "said"),
    [(85.1, []), (114.9, []), (84.0, ["0.840"]), (116.0, ["1.160"])],
)
def test_the_mean_has_to_lie_inside(iops: float, said: list[str]) -> None:
    """From 0.85 to 1.15, on either side."""
    found = failures([JudgedRate(ROW, iops, 2.0)])
    assert [each.split()[3] for each in found] == said
    assert failures([JudgedRate(FITTED, 100.0, 2.0)]) == ["no figure counts"]


def test_means_stand_below_the_table() -> None:
    """Of all that count, and of those alone whose document was at hand."""
    memory = JudgedRate(replace(ROW, kind="memory"), 400.0, 1.0)
    unsure = JudgedRate(replace(ROW, kind="memory", use="unsure"), 1350.0, 1.0)
    shown = document([JudgedRate(ROW, 100.0, 1.0), memory, unsure])
    assert "all that count (2): 2.000" in shown
    assert "found that count (1): 1.000" in shown
    assert "with those that are unsure (3): 3.780" in shown
    assert "from memory: a data sheet" in shown


def test_a_part_of_a_drive_is_written_on_a_full_one() -> None:
    """The whole drive is made steady; of a part, the drive is filled, and then only it written."""
    whole, part = (Runs(Path(), 30).request(replace(ROW, span=span)) for span in ("", "8g"))
    assert (whole.condition, part.condition) == ("steady:job", "filled")
    assert "--size=8g" in part.flags
    assert not any("size=" in flag and "bs" not in flag for flag in whole.flags)


def test_the_command_judges_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure of 1 is missed by far: exit code 1; what has run is not run again."""
    row = replace(ROW, drive="theory", iops=1.0)
    monkeypatch.setattr("ssdlab.referee.published.__main__.rows", lambda: [row])
    asked = ["--seconds", "1", "-o", str(tmp_path)]
    assert main(asked) == 1
    (kept,) = tmp_path.glob("theory-*.json")
    kept.write_text(json.dumps({"iops": 1.0, "write_amplification": 2.0}))
    capsys.readouterr()
    assert main(asked) == 0
    assert "| theory | 1 | 1 | 1.00 | 2.00 |" in capsys.readouterr().out
    assert "| theory | 1 | 1 |" in (tmp_path / "published.md").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--drives", "theory"), "--drives theory: no random writes are published"),
        (("--seconds", "0"), "--seconds 0: must be a whole number from 1"),
    ],
)
def test_what_is_not_published_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    """With exit code 2, and no folder made."""
    folder = tmp_path / "new"
    assert main([*words, "-o", str(folder)]) == 2
    assert said in capsys.readouterr().err
    assert not folder.exists()
