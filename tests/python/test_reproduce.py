"""The questions: their figures, how rows are judged, and the report; one of them for real."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import synthetic
from ssdlab import engine
from ssdlab.engine.result import Result
from ssdlab.engine.shown import sizes
from ssdlab.experiment.experiment import Scene, section, story
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.ground import documents
from ssdlab.ground.documents import Stated
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.referee.reproduce import (
    FULL,
    QUICK,
    Experiment,
    Performance,
    Question,
    Scale,
    find,
    judging,
    provenance,
    table,
)
from ssdlab.referee.reproduce.catalogue import questions
from ssdlab.referee.reproduce.document import Answer, answer, as_data, fitted, tally
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.page import build_html
from ssdlab.referee.reproduce.parts import tkperf, write_back
from ssdlab.referee.reproduce.results import Results
from ssdlab.referee.reproduce.specified import Specified
from stand_in import StandIn
from test_report import Page

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
TINY = Scale("tiny", 32, (1,))
_KINDS = ("measured", "claim", "spec", "parameter")
_CYCLES = {**synthetic.PARAMETERS[3], "key": "reliability.rated_cycles", "value": 3000}
_FITTED = {**synthetic.PARAMETERS[3], "key": "nand.program_us", "kind": "fitted"}


def made_up(experiment: Experiment | Scene | Specified, seed: int = 1) -> Result | dict[str, Any]:
    """Make results of an experiment up: each of its jobs, the later ones faster."""
    if isinstance(experiment, Specified):
        return made_up_part(experiment)
    if isinstance(experiment, Scene):
        step = {"step": "write", "program_bytes": 1_000_000, "elapsed_s": 0.5}
        elapsed = 10.0 + len(experiment.name)
        told = {"scenario": experiment.scenario, "elapsed_s": elapsed, "steps": [step]}
        parameters = [*synthetic.PARAMETERS, _CYCLES, _FITTED]
        return {"profile": experiment.drive, "scenario": told, "parameters": parameters}
    jobs = []
    for place, name in enumerate(re.findall(r"^\[(.+)\]$", experiment.job, re.MULTILINE)):
        job = synthetic.job(name, iops=5000.0 + 100 * place, seed=seed, profile=experiment.drive)
        job["ssdlab"]["parameters"] = [*synthetic.PARAMETERS, _CYCLES, _FITTED]
        jobs.append(job)
    return synthetic.result(*jobs)


def made_up_part(experiment: Specified) -> dict[str, Any]:
    """Make what follows from the rounds of a part up, each cell faster than the one before."""
    cells = [
        {
            "name": cell.name,
            "load": asdict(cell.load),
            "both": {"iops": 5000.0 + 100 * place, "mb_per_s": 20.0, "mean_ns": 6e6},
        }
        for place, cell in enumerate(experiment.part.cells)
    ]
    part = {"steady": True, "rounds": 5, "cells": cells}
    parameters = [*synthetic.PARAMETERS, _CYCLES, _FITTED]
    return {"profile": experiment.drive, "part": part, "parameters": parameters}


def answered(question: Question, scale: Scale = TINY) -> Answer:
    """Answer a question from what was made up."""
    results = Results()
    for experiment in question.experiments(scale):
        for seed in scale.seeds:
            results.add(experiment.name, made_up(experiment, seed))
    return answer(question, results, 1.0)


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return [answered(question) for question in questions()]


@pytest.mark.parametrize(
    ("ours", "band", "verdict"),
    [
        (2.29, judging.MECHANISM, judging.INSIDE),
        (2.31, judging.MECHANISM, judging.MISSES),
        (1.71, judging.MECHANISM, judging.INSIDE),
        (1.69, judging.MECHANISM, judging.MISSES),
        (2.59, judging.FIRMWARE, judging.INSIDE),
        (1.39, judging.FIRMWARE, judging.MISSES),
    ],
)
def test_a_ratio_is_inside_its_band_or_misses(ours: float, band: float, verdict: str) -> None:
    """Of a stated 2.0, 15 % reach from 1.7 to 2.3, and 30 % from 1.4 to 2.6."""
    row = judging.judged("a against b", Stated(2.0, "× 2", "document", "p. 1"), ours, band)
    assert row.verdict == verdict
    assert row.quotient == pytest.approx(ours / 2)


def test_only_counted_ratios_are_counted() -> None:
    """A repeated figure, a statement and an absolute figure do not make the tally look better."""
    stated = Stated(2.0, "× 2", "document", "p. 1")
    rows = [
        judging.judged("counted", stated, 2.0, judging.MECHANISM),
        judging.judged("missed", stated, 9.0, judging.MECHANISM),
        judging.judged("repeated", stated, 2.0, judging.MECHANISM, uncounted=judging.REPEATED),
        judging.shape("statement", "document", "p. 1", "so", "not so", False),
        judging.shown("absolute", documents.figure("anandtech", "fresh_hdd"), "90 MB/s"),
    ]
    told = tally(rows)
    assert told.startswith("1 of 2 independent ratios")
    assert told.endswith("0 of 1 statements hold")


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [(2.9, judging.OUTSIDE), (3, judging.HOLDS), (7, judging.HOLDS), (7.1, judging.OUTSIDE)],
)
def test_a_statement_does_not_hold_outside_its_figure(gain: float, verdict: str) -> None:
    """Three to seven times: 2.9 and 7.1 are more than 1, are told apart, and do not count."""
    figures = [(3, 5, 7), (3, gain, 7)]
    row = judging.shape("faster", "document", "p. 1", "3 to 7", "", True, figures=figures)
    assert row.verdict == verdict
    assert ("outside the document's figure" in row.why) == (verdict == judging.OUTSIDE)
    assert (row.verdict in judging.RED) == (verdict == judging.OUTSIDE)
    slower = judging.shape("faster", "document", "p. 1", "3 to 7", "", False, figures=figures)
    assert slower.verdict == judging.FAILS
    held = (
        "1 of 2 statements hold" if verdict == judging.HOLDS else "0 of 2 statements hold, 1 more"
    )
    assert held in tally([row, slower])


@pytest.mark.parametrize(
    ("shortest", "most", "aged", "gained", "aged_so"),
    [
        (3.5, 6.5, 1.5, judging.HOLDS, judging.HOLDS),
        (1.3, 3.7, 1.08, judging.HOLDS, judging.OUTSIDE),
        (0.9, 3.7, 0.99, judging.FAILS, judging.FAILS),
    ],
)
def test_everyday_work_is_held_to_its_figures(
    shortest: float, most: float, aged: float, gained: str, aged_so: str
) -> None:
    """Faster on the SSD in all, much in some; up to 1.69 times as slow on a fragmented disk."""
    hard_disk = find(["hard-disk"])[0]
    results = Results()
    for each in hard_disk.experiments(QUICK):
        found = made_up(each)
        if isinstance(each, Scene):
            assert isinstance(found, dict)
            found["scenario"]["elapsed_s"] = 10 * (
                1.0
                if each.name.startswith("SSD")
                else (shortest if "boot" in each.name else most)
                * (aged if "fragmented" in each.name else 1)
            )
        results.add(each.name, found)
    rows = {row.condition: row.verdict for row in hard_disk.rows(results)}
    assert rows["everyday work on an SSD is several times faster"] == gained
    assert rows["a fragmented file system makes the hard disk slower"] == aged_so


def test_figures_have_a_place_and_a_kind() -> None:
    """Every figure of every document says where it stands and whether it was measured."""
    assert len(documents.by_name()) == 9
    for document in documents.by_name().values():
        for name, figure in document.figures.items():
            assert figure.place and figure.about, f"{document.name}: {name}"
            assert figure.kind in _KINDS, f"{document.name}: {name}"


def test_no_figure_of_the_five_documents_is_missing() -> None:
    """What they state, read from them once more, is all there, with its value and unit."""
    table = Path(__file__).with_name("seed_figures.csv").read_text("utf-8")
    stated = list(csv.DictReader(table.splitlines()))
    assert len(stated) == 228 and len({each["document"] for each in stated}) == 5
    wrong = []
    for each in stated:
        found = documents.by_name()[each["document"]].figures.get(each["metric"])
        value = None if found is None else pytest.approx(found.value, rel=1e-6)
        if found is None or float(each["value"]) != value or each["unit"] != found.unit:
            wrong.append((*each.values(), "missing" if found is None else str(found)))
    assert wrong == []


def test_a_reason_that_names_another_figure_finds_it() -> None:
    """As another means as one that has a reason of its own, in the same document."""
    for document in documents.by_name().values():
        for name, figure in document.figures.items():
            if of := re.match(r"as (\w+)", figure.unjudged):
                other = document.figures.get(of[1])
                assert other and other.unjudged, f"{document.name}: {name}"
                assert not other.unjudged.startswith("as "), f"{document.name}: {name}"


def test_every_figure_is_asked_for_or_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure of a document lies about: a row, a statement or a verdict asks for it."""
    asked: set[tuple[str, str]] = set()
    figure = documents.figure

    def watched(document: str, name: str) -> documents.StatedFigure:
        asked.add((document, name))
        return figure(document, name)

    monkeypatch.setattr(documents, "figure", watched)
    for question in questions():
        answered(question)
    for document in documents.by_name().values():
        for name, each in document.figures.items():
            is_asked = (document.name, name) in asked
            assert is_asked == (not each.unjudged), f"{document.name}: {name}"


@pytest.mark.parametrize(
    ("stated", "ours", "verdict"),
    [
        (1.12, 0.96, judging.MISSES),
        (0.90, 1.03, judging.MISSES),
        (1.12, 1.01, judging.INSIDE),
        (1.03, 0.97, judging.MISSES),
        (1.12, 0.99, judging.INSIDE),
        (1.0, 0.95, judging.INSIDE),
    ],
)
def test_a_ratio_goes_the_same_way(stated: float, ours: float, verdict: str) -> None:
    """More than 1 against less than 1 misses, however near; what is within 2 % of 1 says alike."""
    row = judging.judged("a", Stated(stated, "×", "document", "p. 1"), ours, judging.FIRMWARE)
    assert row.verdict == verdict
    assert ("the reverse" in row.reason) == (verdict == judging.MISSES)


def test_a_ratio_of_two_figures_by_hand() -> None:
    """23252 / 29879 of the table is 0.78."""
    stated = documents.ratio("anandtech", "recipe_hdd", "fresh_hdd")
    assert stated.value == pytest.approx(23252 / 29879)
    assert stated.text.endswith("= 0.78")


def test_questions_are_told_apart() -> None:
    """Numbers and names are unique, and so are the experiments of a question."""
    asked = questions()
    assert len({each.number for each in asked}) == len({each.name for each in asked}) == len(asked)
    for question in asked:
        names = [each.name for each in question.experiments(QUICK)]
        assert len(set(names)) == len(names), question.name


def test_every_experiment_can_be_asked_of_the_engine() -> None:
    """Each names a profile there is, parameters it has, and layers that fit on it."""
    known = {profile["name"] for profile in engine.profiles()}
    for question in questions():
        for experiment in question.experiments(TINY):
            assert experiment.drive in known
            if isinstance(experiment, Scene):
                engine.show(experiment.drive, (), experiment.layers)
                continue
            if isinstance(experiment, Specified):
                experiment = experiment.as_experiment()
            request = experiment.request(TINY, 1)
            shown = engine.show(request.drive, request.settings, request.layers, request.scale)
            keys = {each["key"] for each in shown["parameters"]}
            assert dict(request.settings).keys() <= keys


def test_a_smaller_drive_has_fewer_blocks_and_the_same_dies() -> None:
    """Capacity goes with the blocks a die, rounded down to a MiB; what is whole keeps its size."""
    drive = "intel-dc-s3500-80gb"
    half = Experiment("half", drive, "").request(Scale("half", 1408, (1,)), 1)
    whole = Experiment("whole", drive, "", whole=True).request(TINY, 1)
    assert half.scale == "blocks:1408" and half.settings == whole.settings == ()
    assert whole.scale is None
    found = sizes(engine.show(drive, scale=half.scale))
    assert found.capacity_bytes % 2**20 == 0
    assert found.capacity_bytes == pytest.approx(40e9, rel=0.001)
    # Blocks that collection keeps free come on top.
    assert found.flash.blocks_per_die == pytest.approx(1408, abs=16)


def test_sections_follow_one_another() -> None:
    """Each part of a story but the first waits for the one before."""
    told = story(section("a", rw="write"), section("b", rw="read"), section("c", rw="trim"))
    assert [part.count("stonewall") for part in told.split("[")[1:]] == [0, 1, 1]


def test_every_question_has_rows_a_picture_and_a_finding(answers: list[Answer]) -> None:
    """Whatever the runs gave, the answer is whole."""
    for each in answers:
        assert each.rows, each.question.name
        assert "<svg" in each.picture, each.question.name
        assert len(each.finding) > 80, each.question.name
        assert each.question.said and each.question.mechanism and each.question.caption


def test_the_page_stands_alone(answers: list[Answer]) -> None:
    """A picture a question and one of all ratios; every reference stays on the page."""
    page = Page(build_html(answers, TINY, "0.1.0"))
    assert page.pictures == len(answers) + 1
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)


def test_what_misses_is_red_and_stays(answers: list[Answer]) -> None:
    """Each row that misses or does not hold is on the page, marked, with a sentence on why."""
    html = build_html(answers, TINY, "0.1.0")
    missing = [row for each in answers for row in each.rows if row.verdict in judging.RED]
    assert missing and all(row.why for row in missing)
    assert html.count('<tr class="red">') == len(missing)


def test_what_was_chosen_afterwards_is_judged_and_not_counted(answers: list[Answer]) -> None:
    """Rows on the used drive, reading ahead, a disk's small writes and FUA say so on the page."""
    found = {
        (each.question.name, row.condition): row
        for each in answers
        for row in each.rows
        if row.uncounted == judging.AFTERWARDS
    }
    assert {name for name, _ in found} == {"used-drive", "raid", "alignment", "commit"}
    assert len([name for name, _ in found if name == "used-drive"]) == 2
    assert not any(row.counted for row in found.values())
    html = build_html(answers, TINY, "0.1.0")
    assert html.count(f"Not counted: {judging.AFTERWARDS}.") == len(found)


def test_what_everyday_jobs_were_fitted_to_is_listed(answers: list[Answer]) -> None:
    """The processor time of each job, and no row is judged by the column it was fitted to."""
    found = {each.drive: each.source for each in fitted(answers) if each.key == "cpu_s"}
    assert found["scenario boot"] == "to 9 s on the SSD without encryption"
    assert len(found) == 5


def test_a_narrow_terminal_gets_fewer_columns(answers: list[Answer]) -> None:
    """What is said, ours, verdict and interval always; the others where there is room."""
    narrow, rows, _ = table.fitted_to(80, answers[1])
    wide, _, _ = table.fitted_to(table.WIDE, answers[1])
    assert narrow == ["condition", "says", "ours", "share", "verdict", "5 to 95 %"]
    assert set(wide) - set(narrow) == {"document", "ratio", "band", "parameters"}
    assert all(len(row) == len(narrow) for row in rows)


def test_data_for_programs(answers: list[Answer]) -> None:
    """Rows, verdicts and every job's figures survive JSON."""
    data = json.loads(json.dumps(as_data(answers, TINY, "0.1.0")))
    assert [each["name"] for each in data["questions"]] == [each.name for each in questions()]
    for question, found in zip(data["questions"], answers, strict=True):
        assert len(question["rows"]) == len(found.rows)
        for row in question["rows"]:
            assert {"condition", "document", "place", "verdict", "quotient", "band"} <= row.keys()
        for experiment in question["experiments"]:
            assert experiment["jobs"], experiment["name"]


def test_fitted_parameters_are_said_to_be_fitted(answers: list[Answer]) -> None:
    """What decides a row is named with its kind, and every fitted parameter with its drive."""
    row = JudgedRow("a", "d", "p", "1", "1", judging.INSIDE, decided_by=("nand.program_us",))
    drives = answers[0].results.parameters()
    assert provenance.kinds(row, drives) == {"nand.program_us": "fitted"}
    found = provenance.fitted([each.results for each in answers])
    drive = answers[0].question.experiments(TINY)[0].drive
    assert (drive, "nand.program_us") in {(each.drive, each.key) for each in found}
    assert all(each.source for each in found)


def test_means_are_over_the_seeds() -> None:
    """Two seeds of 100 and 300 IOPS are 200."""
    results = Results()
    for seed, iops in ((1, 100.0), (2, 300.0)):
        results.add("x", synthetic.result(synthetic.job("w", iops=iops, seed=seed)))
    assert results.iops("x", "w") == pytest.approx(200)


def test_unfinished_questions_are_left_out() -> None:
    """A question is answered when its last run has finished, not before."""
    asked = find(["compression"])
    performance = Performance(asked, TINY)
    pieces = performance.pieces()
    performance.tasks(pieces)
    for piece in pieces[:-1]:
        performance.keep(piece, (made_up(piece.experiment), 0.5))
    assert performance.answered() == []
    performance.keep(pieces[-1], (made_up(pieces[-1].experiment), 0.5))
    assert [question.name for question, _ in performance.answered()] == ["compression"]
    assert performance.cpu_s["compression"] == pytest.approx(0.5 * len(pieces))


def test_results_stand_as_planned() -> None:
    """In whatever order runs finish, a question's results are the same, the first seed's first."""
    performance = Performance(questions(), replace(TINY, seeds=(1, 2)))
    pieces = performance.pieces()
    performance.tasks(pieces)
    assert len({piece.key for piece in pieces}) == len(pieces)
    for piece in reversed(pieces):
        performance.keep(piece, (made_up(piece.experiment, piece.seed), 0.5))
    for question, results in performance.answered():
        every = question.experiments(performance.scale)
        planned = [each.name for each in every if isinstance(each, Experiment)]
        assert list(results.of) == planned
        for runs in results.of.values():
            assert [run.jobs[0].lab["seed"] for run in runs] == [1, 2]


def test_stopping_reaches_the_runs() -> None:
    """A run that is stopped gives nothing, so that no half of an experiment is shown."""
    performance = Performance(find(["compression"]), TINY)
    stop = threading.Event()
    stop.set()
    from ssdlab.experiment.parallel import run_all

    tasks = performance.tasks(performance.pieces())
    assert set(run_all(tasks, stop=stop)) == {None}


@pytest.mark.parametrize(
    ("asked", "near"), [("spare", "spare-area"), ("compresion", "compression")]
)
def test_an_unknown_question_brings_up_the_nearest(
    stand_in: StandIn, command: Command, asked: str, near: str
) -> None:
    """The name, the one that was likely meant, and all there are."""
    code, out, err = command("reproduce", asked)
    assert (code, out) == (2, "")
    assert f"no question '{asked}'" in err and f"did you mean {near}?" in err
    assert not Path("reproduction").exists()


def test_questions_are_found_by_number_and_once() -> None:
    """A number and a name of the same question ask once, in the report's order."""
    assert [each.name for each in find(["3", "spare-area", "2"])] == ["spare-area", "trim"]
    with pytest.raises(SsdlabError, match="no question '99'"):
        find(["99"])


def test_list(command: Command) -> None:
    """Every question with number and title, and nothing is run."""
    code, out, _ = command("reproduce", "--list")
    assert code == 0
    assert all(each.title in out for each in questions())


def test_a_folder_that_cannot_be_written(command: Command, tmp_path: Path) -> None:
    """The place is tried before anything is run."""
    place = tmp_path / "taken"
    place.write_text("")
    code, _, err = command("reproduce", "compression", "--quick", "-o", str(place))
    assert code == 2
    assert str(place) in err


def test_one_question_for_real(command: Command, tmp_path: Path) -> None:
    """Runs, table, verdict, page and data; zeros are written faster than random data."""
    code, out, _ = command("reproduce", "compression", "--quick", "-o", str(tmp_path / "out"))
    assert code == 0
    assert "What does compression hide?" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "reproduce.html",
        "reproduce.json",
    ]
    Page((tmp_path / "out" / "reproduce.html").read_text(encoding="utf-8"))
    data: dict[str, Any] = json.loads((tmp_path / "out" / "reproduce.json").read_text())
    (question,) = data["questions"]
    rates = _rates(question["experiments"])
    assert rates["zeros, sectors of 4096 B"] > 1.5 * rates["random data, sectors of 4096 B"]


def _rates(experiments: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {each["name"]: float(each["jobs"][-1]["mb_per_s"]) for each in experiments}


def test_what_ended_before_ctrl_c_is_kept_and_not_run_again(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two runs end, then it stops; the same command runs the others alone, and gives all rows."""
    asked: list[int] = []

    def stopped_after_two(
        _labels: Sequence[str], tasks: Sequence[Any], finished: Callable[[int, Any], None]
    ) -> tuple[list[Any], bool]:
        asked.append(len(tasks))
        for index in range(2):
            finished(index, tasks[index](lambda _phase, _share: True))
        return [], True

    words = ("reproduce", "commit", "--quick", "-o", "out")
    with monkeypatch.context() as patched:
        patched.setattr("ssdlab.cli.reproduce.carry_out", stopped_after_two)
        _, out, err = command(*words)
    assert out == "" and "stopped; 1 of 1 questions had not finished" in err
    assert f"{asked[0]} runs take about" in err
    assert len(list((tmp_path / "out/runs").iterdir())) == 2
    code, out, err = command(*words, "--json")
    assert code == 0
    assert json.loads(out) == json.loads(Path("out/reproduce.json").read_text())
    assert f"{asked[0] - 2} of {asked[0]} runs are left" in err
    assert not (tmp_path / "out/runs").exists()


def test_tkperfs_loads_come_in_its_order_and_take_their_share_of_the_drive() -> None:
    """From all reads of 1 MiB to all writes of 512 B; a small drive's minute is short."""
    drive = "intel-dc-s3500-80gb"
    part = tkperf.iops_part(QUICK, drive)
    assert part.cells[0].name == "random 100/0 1024 KiB"
    assert part.cells[-1].name == "random 0/100 0.5 KiB"
    assert len(part.cells) == 7 * 8
    share = QUICK.at_most(tkperf.blocks_a_die(QUICK)).share(drive)
    assert {cell.seconds for cell in part.cells} == {60 * share}
    assert share < QUICK.share(drive) < 1
    assert (part.stop.window, tkperf.iops_part(FULL, drive).stop.window) == (1, 5)


def test_latency_takes_the_share_of_its_own_drives() -> None:
    """Nine cells, as much shorter as the drives are smaller, and the standard's window."""
    drive = "intel-dc-s3500-80gb"
    for scale in (QUICK, FULL):
        part = tkperf.latency_part(scale, drive)
        assert len(part.cells) == 9
        assert {cell.seconds for cell in part.cells} == {60 * scale.share(drive)}
        assert part.stop.window == 5
    (question,) = find(["raid"])
    asked = {each.name: each for each in question.experiments(QUICK)}
    arrays = [name for name in asked if name.endswith(", latency")]
    assert len(arrays) == 7
    for name in ("RAID 5 of 4, controller", "write-back"):
        (layer,) = asked[f"{name}, latency"].layers
        assert layer.endswith(tkperf.cache(QUICK, drive))


def test_a_part_of_the_specification_is_carried_out_at_scale() -> None:
    """The array is written twice, its cells are measured, and the drives are as small as asked."""
    part = tkperf.iops_part(QUICK, "intel-dc-s3500-80gb")
    part = replace(part, cells=tuple(each for each in part.cells if each.load.block_bytes == 4096))
    asked = Specified(
        "x", "intel-dc-s3500-80gb", part, layers=("raid:level=0,disks=2",), most_blocks_a_die=32
    )
    told: list[float] = []

    def hear(_phase: str, share: float) -> bool:
        told.append(share)
        return True

    found = asked.perform(QUICK, 1, hear)
    small = capacity_bytes(asked.drive, scale="blocks:32")
    written = found["part"]["conditioning"]["written_bytes"]
    assert written == pytest.approx(2 * 2 * small, rel=0.01)
    assert found["part"]["steady"] and found["part"]["rounds"] == 1
    assert len(found["part"]["cells"]) == 7
    assert {"raid.level", "nand.channels"} <= {each["key"] for each in found["parameters"]}
    assert 0 <= min(told) <= max(told) <= 1
    with pytest.raises(Stopped):
        asked.perform(QUICK, 1, lambda *_: False)


def test_a_controllers_cache_shrinks_with_its_drives() -> None:
    """As much of the array as 1 GiB is of the real one, in whole lines."""
    drive = "intel-dc-s3500-80gb"
    for scale in (QUICK, tkperf.for_rates(QUICK)):
        (size,) = re.findall(r"cache_bytes=(\d+)KiB", tkperf.cache(scale, drive))
        assert int(size) % 64 == 0
        assert int(size) / 2**20 == pytest.approx(scale.share(drive), rel=0.01)


def test_when_the_controllers_cache_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: 1 GiB in lines of 64 KiB holds 16,384 scattered writes; both sentences say so."""
    times = {"writes": 500.0, "writes while there is room": 60.0, "writes once it is full": 900.0}
    monkeypatch.setattr(Results, "mean_us", lambda _self, _experiment, job: times[job])
    results = Results()
    for array, mean_ns in (("RAID 5 of 4, controller", 4e5), ("write-back", 7e5)):
        cell = {"load": {"read_percent": 0, "block_bytes": 4096}, "both": {"mean_ns": mean_ns}}
        results.add(tkperf.latency_experiment(array), {"part": {"cells": [cell]}})
    room, full = write_back.rows(results)
    assert (room.verdict, full.verdict) == ("holds", "does not hold")
    assert full.reason.startswith(
        "The controller's cache is full after about 16,384 scattered writes"
    )
    assert write_back.sentence(results) == (
        "A single write takes 500 µs, and with write-back 60 µs until the cache is full, after "
        "about 16,384 scattered writes; from then on 900 µs."
    )
