"""Intervals of ``ssdlab reproduce``: draws, quantiles, how often they hold, and the command."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.experiment.ensemble import ranges
from ssdlab.experiment.ensemble.model_error import MODEL_ERROR
from ssdlab.experiment.experiment import Experiment, Scene, section
from ssdlab.experiment.scale import Scale
from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import QUICK, Question, calibration, intervals, judging
from ssdlab.referee.reproduce.assumed import Assumed, assumptions
from ssdlab.referee.reproduce.catalogue import questions
from ssdlab.referee.reproduce.ensemble import Attempt, QuestionEnsemble
from ssdlab.referee.reproduce.intervals import Spread
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
KNOWN = ranges.known()
VALIDATION = Path(__file__).parents[2] / "docs" / "explanation" / "validation"
DRIVE = "intel-dc-s3500-80gb"
AGE = ("system.age.fill", "0.5")
JOB = section("writes", rw="randwrite", bs="4k", iodepth=8, io_size="4m")
TWICE = Stated(2.0, "× 2", "document", "p. 1")


def row(ours: float, **others: Any) -> JudgedRow:
    return judging.judged("a against b", TWICE, ours, judging.MECHANISM, **others)


def question(experiments: Sequence[Experiment]) -> Question:
    """Make a question up: how much faster the drive writes than 1000 times a second."""

    def rows(results: Results) -> list[JudgedRow]:
        return [
            replace(row(results.iops(each.name, "writes") / 1000), condition=each.name)
            for each in experiments
        ]

    first = questions()[0]
    return replace(first, name="made-up", experiments=lambda _: experiments, rows=rows)


def test_an_interval_by_hand() -> None:
    """One figure twice leaves the document's 3 % and the model's 10.4 %: 1.645 × 10.8 % a side."""
    low, high = Spread((2.0, 2.0)).interval()
    assert (low, high) == pytest.approx((2 * (1 - 0.178), 2 * (1 + 0.178)), rel=0.005)
    wide = Spread(tuple(1 + place / 2 for place in range(101)))
    assert wide.interval(level=0.5) == pytest.approx((13.5, 38.5), rel=0.03)
    low, high = wide.interval(rounding=0.1)
    assert low < wide.interval()[0] < wide.interval()[1] < high
    lows = [wide.interval(level=level)[0] for level in (0.9, 0.8, 0.5)]
    assert lows == sorted(lows)
    assert Spread((1.9, 2.1)).contains(row(1.0)) and not Spread((4.0, 4.1)).contains(row(1.0))


def test_the_models_error_is_that_of_the_measured_drives() -> None:
    """No less than the root mean square of the differences that are listed as predicted rates."""
    with VALIDATION.joinpath("measured_predicted.csv").open(encoding="utf-8") as file:
        rates = [row["difference"].removesuffix("%") for row in csv.DictReader(file)]
    squares = [math.log(1 + float(rate) / 100) ** 2 for rate in rates]
    assert len(squares) == 27
    assert round(math.sqrt(sum(squares) / len(squares)), 3) == 0.096 < MODEL_ERROR


def test_a_draw_says_what_each_row_says() -> None:
    """Ratios as such, statements as whether they hold; what is only shown says nothing."""
    rows = [
        row(2.5),
        judging.shape("so", "document", "p. 1", "so", "so", True),
        judging.shape("otherwise", "document", "p. 1", "so", "not so", False),
        replace(row(1.0), condition="shown", our_ratio=None, verdict=judging.SHOWN),
    ]
    assert intervals.figures(rows) == {"a against b": 2.5, "so": True, "otherwise": False}


def test_a_draw_that_could_not_answer_is_left_out_of_that_question_alone() -> None:
    """Two draws, of which the second has one question."""
    found = intervals.spreads([{"one": {"a": 1.0}, "two": {"b": True}}, {"one": {"a": 2.0}}])
    assert found["one", "a"].figures == (1.0, 2.0)
    assert (found["two", "b"].holding, len(found["two", "b"].figures)) == (1, 1)


def test_only_counted_ratios_calibrate() -> None:
    """One inside, one outside, one that is not counted, one without draws, a statement."""
    near, far = Spread((1.9, 2.1)), Spread((4.0, 5.0))
    statement = judging.shape("so", "document", "p. 1", "so", "so", True)
    pairs = [
        (row(2.0), near),
        (row(4.5), far),
        (row(4.5, uncounted=judging.REPEATED), far),
        (row(2.0), None),
        (statement, Spread((True, False))),
    ]
    assert calibration.inside(pairs) == (1, 2)
    assert calibration.told(pairs).startswith("1 of 2 independent ratios lie inside")
    assert calibration.median_width([(row(2.0), None)]) is None
    assert "<svg" in str(calibration.picture(pairs))
    assert calibration.picture([]) is None


def test_a_draw_changes_what_is_assumed_and_nothing_else() -> None:
    """What was set stays, layers get theirs, and two experiments on a drive assume alike."""
    assumed = Assumed(0, 1, 1)
    layer = "raid:level=5,disks=3,preset=controller,request_us=7"
    plain = Experiment("x", DRIVE, JOB, "steady", settings=(("nand.erase_us", "1234"),))
    drawn = assumed.on(plain)
    over = assumed.on(replace(plain, name="y", layers=(layer,)))
    assert dict(drawn.settings)["nand.erase_us"] == "1234"
    assert len(drawn.settings) > 5
    assert drawn.settings == over.settings
    assert replace(drawn, settings=plain.settings) == plain
    assert over.layers[0].startswith(layer + ",")
    assert over.layers[0].count(",request_us=") == 1 and ",latency_us=" in over.layers[0]


def test_every_experiment_can_be_drawn() -> None:
    """Settings and layers are known to the engine: drawn once, an experiment can be shown."""
    (assumed,) = assumptions(1, 1)
    for asked in questions():
        for each in asked.experiments(QUICK):
            drawn = assumed.on(each)
            engine.show(drawn.drive, drawn.settings, drawn.layers)


def values_on(assumed: Assumed, scene: Scene) -> Settings:
    drawn = assumed.on(scene)
    assert isinstance(drawn, Scene)
    return drawn.values


def test_what_a_scenario_says_is_kept_and_its_ranges_hold_it() -> None:
    """Every range names a value that the scenario assumes, and its own is one of the choices."""
    scenarios = Path(__file__).parents[2] / "crates/lab/src/files/scenarios"
    for each in ranges.known("scenario_ranges.toml"):
        where, _, key = each.key.partition(" ")
        assert len(each.reason) > 10
        if where == "fragmented":
            continue
        _, files, name = key.split(".")
        said = tomllib.loads((scenarios / f"{where}.toml").read_text("utf-8"))["files"][files][name]
        assert said["kind"] == "assumed" and said["value"] in each.limits
    (assumed,) = assumptions(1, 1)
    aged = Scene("x", "fujitsu-mhz2250bh", "boot", (("state", "fragmented"), AGE))
    values = values_on(assumed, aged)
    assert values[:2] == aged.values and "files.programs.count" in dict(values)
    assert [key for key, _ in values].count(AGE[0]) == 1
    fresh = dict(values_on(assumed, replace(aged, values=())))
    assert not any(key.startswith("system.age") for key in fresh)


def carried(tasks: Sequence[Callable[..., Attempt]], keep: Callable[[int, Attempt], None]) -> None:
    for index, task in enumerate(tasks):
        keep(index, task(lambda *_: True))


def test_draws_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    """The second time nothing is run; another scale is run anew; stopped, it gives fewer."""
    steady = Experiment("steady", DRIVE, JOB, "steady")
    ensemble = QuestionEnsemble([question([steady])], Scale("tiny", 64, (1,)), 3, tmp_path)
    runs: list[str] = []

    def carry(
        labels: Sequence[str],
        tasks: Sequence[Callable[..., Attempt]],
        keep: Callable[[int, Attempt], None],
    ) -> bool:
        runs.extend(labels)
        carried(tasks, keep)
        return False

    found = ensemble.perform(carry)
    assert len(found) == 3 == len(runs)
    assert runs[0] == "draw 1 of 3: made-up, steady"
    assert len({each["made-up"]["steady"] for each in found}) == 3
    assert ensemble.perform(carry) == found
    assert len(runs) == 3
    larger = replace(ensemble, scale=Scale("tiny", 80, (1,)), count=1)
    assert larger.perform(carry) != found[:1]
    assert len(runs) == 4
    assert replace(ensemble, seed=2).perform(lambda *_: True) == []


def test_what_cannot_run_leaves_its_question_out(tmp_path: Path) -> None:
    """As a draw in which no such drive can work; the other question is answered."""
    works = Experiment("works", DRIVE, JOB)
    cannot = replace(works, name="cannot", job=JOB.replace("randwrite", "sideways"))
    asked = [question([works]), replace(question([cannot]), name="cannot")]
    ensemble = QuestionEnsemble(asked, Scale("tiny", 64, (1,)), 1, tmp_path)

    def carry(
        _labels: Sequence[str],
        tasks: Sequence[Callable[..., Attempt]],
        keep: Callable[[int, Attempt], None],
    ) -> bool:
        carried(tasks, keep)
        return False

    (found,) = ensemble.perform(carry)
    assert list(found) == ["made-up"]


def test_what_is_kept_is_of_rows_that_there_are() -> None:
    """A row that was renamed would silently lose its interval."""
    kept = intervals.kept()
    assert kept.draws == 32
    assert kept.command == "ssdlab reproduce --quick --ensemble 32"
    names = {each.name for each in questions()}
    assert {question for question, _ in kept.spreads} == names
    assert all(16 < len(each.figures) <= 32 for each in kept.spreads.values())


def test_the_command_draws_and_shows(command: Command, tmp_path: Path) -> None:
    """Intervals in the table, the data and a file of their own."""
    folder = tmp_path / "out"
    code, out, err = command(
        "reproduce", "compression", "--quick", "--ensemble", "8", "-o", str(folder)
    )
    assert code == 0, err
    assert "inside" in out and "of 4 independent ratios lie inside" in out
    data = json.loads((folder / "intervals.json").read_text())
    assert data["command"] == "ssdlab reproduce compression --quick --ensemble 8"
    assert len(list((folder / "draws").iterdir())) == 8
    # A draw that makes no drive is left out.
    (works,) = {len(figures) for _, _, figures in data["rows"]}
    assert 5 < works <= 8 == data["draws"]
    (answered,) = json.loads((folder / "reproduce.json").read_text())["questions"]
    told = [each["ensemble"] for each in answered["rows"] if each["verdict"] != judging.SHOWN]
    assert told and all(each["draws"] == works for each in told)


def test_a_count_that_is_none(command: Command, tmp_path: Path) -> None:
    """Refused before anything is run or made."""
    code, _, err = command("reproduce", "--ensemble", "few", "-o", str(tmp_path / "out"))
    assert code == 2
    assert "--ensemble few" in err
    assert not (tmp_path / "out").exists()
