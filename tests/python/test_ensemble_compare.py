"""Ensembles after they were run: read, compared draw by draw, drawn on a page; and seasons."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import synthetic
from ssdlab.experiment.ensemble import pairing, seasons
from ssdlab.experiment.ensemble.document import Arm, EnsembleFigure, is_ensemble, read
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError
from ssdlab.report.ensemble.page import build_html
from test_report import Page

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
SMALL = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=2GiB")
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=8", "--norandommap", "--number_ios=4000")


def figure(
    draws: Sequence[float | None], metric: str = "mean_ns", job: str = "job"
) -> EnsembleFigure:
    """Return a figure with these draws; of latencies the model's own error is not known."""
    known = [each for each in draws if each is not None]
    influences = {"ftl.gc": 0.9, "nand.read_us": -0.4, "nand.erase_us": 0.1}
    return EnsembleFigure(
        job, metric, "a figure", known[0], 1.0, 2.0, 3.0, tuple(draws), influences
    )


def arm(name: str, *figures: EnsembleFigure, seed: int = 1) -> Arm:
    """Return an ensemble with these figures."""
    assumptions = ({"key": "ftl.gc", "choices": ["greedy", "fifo"], "reason": "not published"},)
    return Arm(name, "a-drive", seed, 3, ("too small",), assumptions, figures)


def test_a_ratio_is_taken_draw_by_draw() -> None:
    """By hand: each draw is twice the baseline's, which lies anywhere from 1 to 100."""
    before = [float(number) for number in range(1, 101)]
    found = pairing.compare(
        [arm("a", figure(before)), arm("b", figure([2 * each for each in before]))]
    )
    (row,) = found.rows
    assert (row.low, row.median, row.high) == pytest.approx((2.0, 2.0, 2.0))
    assert (row.baseline, row.value, row.pairs) == pytest.approx((50.5, 101.0, 100))
    # With a = 1/99, (1 + a)²/2r − a(1 + a) + ra²/2 of all pairs of numbers from 1 to 100 are as r
    # to 1 and more; that is 5 % at r = 8.54.
    assert row.independent == pytest.approx((2 / 8.54, 2 * 8.54), rel=0.02)


def test_the_models_own_error_counts_once_and_twice() -> None:
    """By hand: 1.645 × 10.4 % a side of a ratio of rates; √2 of it where the draws are apart."""
    (row,) = pairing.compare([arm(name, figure([100.0] * 3, "iops")) for name in ("a", "b")]).rows
    assert row.drawn == (1.0, 1.0)
    once, twice = (1.645 * 0.104 * factor for factor in (1.0, math.sqrt(2)))
    assert (row.low, row.high) == pytest.approx((1 - once, 1 + once), abs=0.003)
    assert row.independent == pytest.approx((1 - twice, 1 + twice), abs=0.003)


def test_what_one_side_lacks_is_left_out() -> None:
    """A draw that made no drive, draws beyond the shorter ensemble, and a job of one side alone."""
    before = arm("a", figure([1.0, None, 4.0, 8.0]), figure([1.0], job="other"))
    found = pairing.compare([before, arm("b", figure([3.0, 3.0, 12.0]))])
    (row,) = found.rows
    assert (row.pairs, row.median) == (2, 3.0)
    assert found.remarks == ["job other is only in a: not compared"]


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        ([arm("a", figure([1.0]))], "nothing to compare with"),
        ([arm("a", figure([1.0])), arm("b", figure([1.0]), seed=2)], "b: drawn by seed 2, and a"),
        ([arm("a", figure([1.0])), arm("b", figure([1.0], job="x"))], "no job of the same name"),
    ],
)
def test_what_has_no_draw_in_common_is_refused(arms: list[Arm], said: str) -> None:
    """With the seeds or the jobs."""
    with pytest.raises(SsdlabError, match=said):
        pairing.compare(arms)


def document(**changes: Any) -> str:
    """Write an ensemble with one figure that is changed."""
    told = {
        **{"job": "job", "metric": "iops", "label": "IOPS", "point": 2.0},
        **{"low": 1, "median": 2, "high": 3, "influences": {"ftl.gc": 0.5}, "draws": [2, None]},
    }
    figures = [{key: value for key, value in {**told, **changes}.items() if value != "gone"}]
    drive = {"drive": "d", "runs": 1, "left_out": ["no"], "assumptions": [], "figures": figures}
    return json.dumps({"ensemble": {"draws": 2, "seed": 1, "drives": [drive]}})


def test_what_is_written_is_read() -> None:
    """Draws that have no figure stay in their place; a result of fio is none."""
    (found,) = read(document(), "a.json")
    assert found.figures[0].draws == (2.0, None)
    assert found.figures[0].show(4000.0) == "4000"
    assert is_ensemble(document())
    assert not is_ensemble('{"fio version": "ssdlab", "jobs": []}')


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"draws": "gone"}, "a.json: no 'draws' in it"),
        ({"draws": [1, "many"]}, "job, iops: draws is 'many', which is not a figure"),
        ({"median": True}, "job, iops: median is True, which is not a figure"),
        ({"high": math.inf}, "job, iops: high is inf, which is not a figure"),
        ({"influences": [1]}, "a.json: is out of shape"),
        ({"median": 2000}, "median is 2000, and not that of the draws"),
        ({"low": 2.5}, "low, median and high do not rise"),
        ({"mode": 2}, "job, iops has 'mode', which is not known"),
    ],
)
def test_what_is_out_of_shape_is_refused(changes: dict[str, Any], said: str) -> None:
    """With file, place, value, and the command that writes it."""
    with pytest.raises(SsdlabError, match=said) as raised:
        read(document(**changes), "a.json")
    assert "ssdlab run … --ensemble N" in str(raised.value)


def test_a_text_that_was_cut_is_refused() -> None:
    """With the place."""
    with pytest.raises(SsdlabError, match=r"a.json: not JSON \(line 1"):
        read(document()[:200], "a.json")


def test_the_page_shows_medians_and_ratios() -> None:
    """What a figure hangs on most, the strongest first; a choice names its last entry."""
    arms = [arm("a.json", figure([1.0, 2.0])), arm("b.json", figure([3.0, 6.0]))]
    page = Page(build_html(arms))
    rows = [[cell.strip() for cell in row] for row in page.rows]
    assert "ftl.gc → fifo +0.90, nand.read_us -0.40" in [row[-1] for row in rows]
    assert ["job", "a figure", "1.5 ns", "4.5 ns", "3.000"] in [row[:5] for row in rows]
    assert page.pictures == 3
    alone = Page(build_html(arms[:1]))
    assert alone.pictures == 1
    assert "Compared with a.json" not in [each.strip() for each in alone.headings]


def test_other_seeds_stand_side_by_side() -> None:
    """They are not compared, and the page says why."""
    html = build_html([arm("a", figure([1.0])), arm("b", figure([1.0]), seed=2)])
    assert "The drives are not compared: b: drawn by seed 2" in html


def test_runs_are_compared_draw_by_draw(command: Command, tmp_path: Path) -> None:
    """A drive compared with itself has a ratio of 1 in each draw, and so surer than its terms."""
    place = str(tmp_path / "a.json")
    words = ("--drive", *SMALL, "--state=steady", "--ensemble=8", "--output-format=json")
    assert command("run", *WRITES, *words, "-o", place)[0] == 0
    code, out, _ = command("compare", place, place, "--json")
    assert code == 0
    by_metric = {each["metric"]: each for each in json.loads(out)["rows"]}
    mean = by_metric["mean_ns"]
    assert (mean["low"], mean["median"], mean["high"]) == (1.0, 1.0, 1.0)
    assert mean["independent"][0] < 0.9 < 1.1 < mean["independent"][1]
    code, out, err = command("compare", place, place)
    assert (code, out.splitlines()[0]) == (0, f"{place} compared with {place}, draw by draw")
    assert "the model's own error" in err
    report = tmp_path / "r.html"
    assert command("report", place, place, "-o", str(report))[0] == 0
    assert "Compared with" in report.read_text()


def test_ensembles_and_single_drives_do_not_mix(command: Command, tmp_path: Path) -> None:
    """The file that does not fit is named."""
    drawn, single = tmp_path / "drawn.json", tmp_path / "single.json"
    drawn.write_text(document())
    single.write_text(synthetic.text(synthetic.job()))
    for verb in ("compare", "report"):
        code, _, err = command(verb, str(drawn), str(single))
        assert code == 2
        assert f"{single}: is the result of single drives" in err
    single.write_text("<html>")
    code, _, err = command("compare", str(drawn), str(single))
    assert (code, "a page of HTML" in err) == (2, True)


def test_seasons_are_summed_up() -> None:
    """By hand: the last round's write amplification, of the scale model where there is one."""
    whole = {"rounds": [9.0, 5.0], "steady_reached": True, "scale_model": None}
    scaled = {**whole, "scale_model": {"slices": [4.0, 3.0]}, "steady_reached": False}
    assert seasons.last_amplification(whole) == 5.0
    assert seasons.last_amplification(scaled) == 3.0
    assert seasons.last_amplification({"rounds": []}) is None
    reached = seasons.reached_in([whole, scaled, "no such drive", None])
    assert reached == {"point": True, "draws": [False, None, None]}


def test_a_season_of_drawn_drives(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each draw has write amplification, rounds, and whether it is steady; no file is left."""
    monkeypatch.chdir(tmp_path)
    code, out, err = command("season", *SMALL, "--to", "steady", "--ensemble", "8", "--json")
    assert code == 0, err
    (drive,) = json.loads(out)["ensemble"]["drives"]
    amplification, rounds = drive["figures"]
    assert amplification["low"] < amplification["median"] < amplification["high"]
    assert len(amplification["draws"]) == len(drive["steady_reached"]["draws"]) == 8
    assert drive["steady_reached"]["point"] is True
    assert rounds["metric"] == "rounds"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "filled", "--ensemble", "8"), "add --to steady"),
        (("--to", "steady", "--ensemble", "8", "-o", "x.ssd"), "does not go with -o"),
        (("--to", "steady", "--ensemble", "8", "--start-over", "trim"), "not go with --start-over"),
        (("--to", "steady", "--ensemble", "few"), "--ensemble few: must be a whole number"),
        (("--to", "steady", "-o", "-", "--json"), "-o -: the drive goes there"),
    ],
)
def test_what_is_no_season_of_an_ensemble_is_refused(
    command: Command, words: tuple[str, ...], said: str
) -> None:
    """With exit code 2, before anything runs."""
    code, out, err = command("season", *SMALL, *words)
    assert (code, out) == (2, "")
    assert said in err


def test_a_season_that_was_stopped_keeps_what_had_ended(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures cover the draws that had ended, and the exit code is that of the signal."""
    season = {"rounds": [3.0], "steady_reached": True, "scale_model": None}
    outcomes = [season, {**season, "rounds": [4.0]}, *[None] * 7]
    monkeypatch.setattr("ssdlab.cli.season_ensemble.carry_out", lambda *_: (outcomes, True))
    monkeypatch.setattr(signals, "exit_code", lambda: 130)
    code, out, err = command("season", *SMALL, "--to", "steady", "--ensemble", "8")
    assert code == 130
    assert "reached in 1 of 1 draws" in out
    assert "stopped" in err
