"""``ssdlab reproduce``: what documents on SSDs measured and advise, beside what the model says."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab import engine
from ssdlab.cli.console import (
    is_terminal,
    note,
    print_json,
    print_paragraph,
    print_table,
    print_text,
)
from ssdlab.cli.ensemble import parse_count
from ssdlab.cli.folder import output_folder
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.ground import signals
from ssdlab.ground.output import PendingFile

if TYPE_CHECKING:
    from ssdlab.experiment.scale import Scale
    from ssdlab.referee.reproduce.document import Answer
    from ssdlab.referee.reproduce.ensemble import QuestionEnsemble
    from ssdlab.referee.reproduce.intervals import KeptDraws
    from ssdlab.referee.reproduce.kept_runs import KeptRuns
    from ssdlab.referee.reproduce.perform import Performance, RunOutcome


@click.command(
    cls=Verb,
    short_help="Check claims of nine documents on SSDs, figure by figure.",
    examples=(
        "ssdlab reproduce --quick",
        "ssdlab reproduce spare-area trim -o reproduction",
        "ssdlab reproduce --list",
    ),
)
@click.argument("questions", nargs=-1, metavar="[QUESTION]…")
@click.option(
    "--quick", is_flag=True, help="Use smaller drives and one seed; takes one to two minutes."
)
@click.option(
    "--ensemble",
    metavar="N",
    help="Draw N times what the profiles assume, for new intervals, in one or two minutes a draw; "
    "by default, those that come with ssdlab are shown.",
)
@click.option("--list", "only_list", is_flag=True, help="List the questions and exit.")
@click.option(
    "-o",
    "--output",
    default="reproduction",
    show_default=True,
    metavar="DIR",
    help="Write the page and the figures to this folder.",
)
@JSON_OPTION
def reproduce(
    questions: tuple[str, ...],
    quick: bool,
    ensemble: str | None,
    only_list: bool,
    output: str,
    as_json: bool,
) -> int:
    """Run the experiments of nine documents on SSDs, and show their figures beside ours.

    QUESTION is a name or a number that --list prints; by default, all run. The command writes
    reproduce.html and reproduce.json to DIR. A ratio must be within 15 % where a mechanism decides
    it, or within 30 % where unknown firmware does, and on the same side of 1. A row that misses is
    not an error; it is shown in red. An interval beside each ratio shows what the profiles'
    assumptions leave open. Each run is kept in DIR/runs as it ends; after Ctrl-C the same command
    goes on.
    """
    from ssdlab.referee.reproduce import FULL, QUICK, Performance, find, intervals
    from ssdlab.referee.reproduce.document import as_data
    from ssdlab.referee.reproduce.ensemble import QuestionEnsemble
    from ssdlab.referee.reproduce.kept_runs import KeptRuns

    asked = find(questions)
    if only_list and as_json:
        names = ("number", "name", "title")
        print_json([{name: getattr(each, name) for name in names} for each in asked])
        return 0
    if only_list:
        rows = [(str(each.number), each.name, each.title) for each in asked]
        print_table(("", "question", ""), rows, right=(0,))
        return 0
    count = None if ensemble is None else parse_count(ensemble)
    scale = QUICK if quick else FULL
    folder = output_folder(output, "reproduce.html")
    performance = Performance(asked, scale)
    began = time.monotonic()
    runs = KeptRuns(folder / "runs", scale)
    stopped = _perform(performance, runs)
    kept = intervals.kept()
    if count is not None and not stopped:
        kept, stopped = _drawn(QuestionEnsemble(asked, scale, count, folder / "draws"), folder)
    answers = _answers(performance, kept)
    if answers:
        data = as_data(answers, scale, engine.version())
        if as_json:
            print_json(data)
        else:
            _print(answers, time.monotonic() - began)
        _write_data(data, folder)
    if stopped:
        # Drawing pictures takes longer than whoever pressed Ctrl-C will wait.
        _tell_stopped(len(asked) - len(answers), len(asked), folder)
        return signals.exit_code()
    _write_page(answers, scale, folder, kept)
    runs.remove(performance.pieces())
    if not as_json:
        print_text(f"\nopen {folder / 'reproduce.html'}")
    return 0


def _perform(performance: Performance, runs: KeptRuns) -> bool:
    """Run everything that is not kept yet; tell whether it was stopped."""
    from ssdlab.referee.reproduce.effort import told

    missing = []
    for piece in performance.planned():
        found = runs.find(piece)
        if found is None:
            missing.append(piece)
        else:
            performance.keep(piece, found)
    note(f"ssdlab: {told(performance.scale, missing, len(performance.planned()))}")
    tasks = performance.tasks(missing)

    def keep(index: int, found: tuple[RunOutcome, float]) -> None:
        runs.keep(missing[index], found)
        performance.keep(missing[index], found)

    return carry_out([each.label for each in missing], tasks, keep)[1]


def _drawn(ensemble: QuestionEnsemble, folder: Path) -> tuple[KeptDraws, bool]:
    """Perform every draw; return what they say, and whether they were stopped."""
    from ssdlab.referee.reproduce import intervals

    ensemble.folder.mkdir(exist_ok=True)
    found = ensemble.perform(lambda *work: carry_out(*work)[1])
    names = [each.name for each in ensemble.questions]
    command = ensemble_command(names, ensemble.scale.name, len(found))
    written = intervals.written(found, command, engine.version(), ensemble.seed)
    with PendingFile(folder / "intervals.json", "-o") as pending:
        pending.write(written)
    return intervals.of_data(json.loads(written)), len(found) < ensemble.count


def ensemble_command(names: Sequence[str], scale: str, draws: int) -> str:
    """Return the command that makes the intervals of these questions again."""
    from ssdlab.referee.reproduce.catalogue import questions

    asked = [] if len(names) == len(questions()) else list(names)
    quick = ["--quick"] if scale == "quick" else []
    return " ".join(["ssdlab reproduce", *asked, *quick, f"--ensemble {draws}"])


def _tell_stopped(left_out: int, asked: int, folder: Path) -> None:
    note(
        f"ssdlab: stopped; {left_out} of {asked} questions had not finished; "
        f"what others gave is in {folder / 'reproduce.json'}; runs and draws that had finished are "
        "kept, and the same command goes on with them"
    )


def _answers(performance: Performance, kept: KeptDraws) -> list[Answer]:
    from ssdlab.referee.reproduce.document import answer

    return [
        answer(question, results, performance.cpu_s[question.name], kept.spreads)
        for question, results in performance.answered()
    ]


def _print(answers: Sequence[Answer], wall_s: float) -> None:
    from ssdlab.referee.reproduce import calibration, effects, table
    from ssdlab.referee.reproduce.document import all_rows, rows_with_spreads, tally

    if is_terminal(sys.stdout):
        _print_by_question(answers)
    else:
        rows = table.rows(answers)
        print_table(table.HEADINGS, rows, right=table.NUMBERS, red=table.red(answers))
        for each in answers:
            print_paragraph(f"{each.question.title} {each.finding}")
    print_paragraph(
        f"{effects.told(all_rows(answers))}. {tally(all_rows(answers))}. Rows in brackets are "
        "judged, not counted. The page says why a row misses."
    )
    told = calibration.told(rows_with_spreads(answers))
    if told:
        print_paragraph(f"{told}.")
    seconds = ", ".join(f"{each.question.name} {each.cpu_s:.0f}" for each in answers)
    print_paragraph(f"Processor seconds: {seconds}; {wall_s:.0f} s by the clock.")


def _print_by_question(answers: Sequence[Answer]) -> None:
    from ssdlab.referee.reproduce import table

    width = shutil.get_terminal_size().columns
    for each in answers:
        print_text(f"\n{each.question.number}. {each.question.title}")
        headings, rows, numbers = table.fitted_to(width, each)
        print_table(headings, rows, right=numbers, red=table.red([each]))
        print_paragraph(each.finding)


def _write_data(data: dict[str, Any], folder: Path) -> None:
    with PendingFile(folder / "reproduce.json", "-o") as pending:
        pending.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _write_page(answers: Sequence[Answer], scale: Scale, folder: Path, kept: KeptDraws) -> None:
    from ssdlab.referee.reproduce.page import build_html

    page = build_html(answers, scale, engine.version(), kept)
    with PendingFile(folder / "reproduce.html", "-o") as pending:
        pending.write(page)
