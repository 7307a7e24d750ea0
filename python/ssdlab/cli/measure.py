"""``ssdlab measure``: a question of the documents, asked of a real drive in short turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.bench_options import destroy_options
from ssdlab.cli.completion import complete_drive, complete_file
from ssdlab.cli.console import note, print_json, print_table, print_text
from ssdlab.cli.drives import SET_OPTION, parse_settings, tell_not_steady
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine import Progress, conditions
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit

if TYPE_CHECKING:
    from ssdlab.bench.real.job import OpenTarget
    from ssdlab.engine.result import Result
    from ssdlab.referee.asked.questions import AskedQuestion
    from ssdlab.referee.asked.turns import TurnsAnswer

_NAMES = ("alignment", "trim")


@click.command(
    cls=Verb,
    short_help="Test on a real drive what the documents claim.",
    examples=(
        "ssdlab measure alignment --target /dev/sdX --destroy /dev/sdX",
        "ssdlab measure trim --target /dev/sdX --destroy /dev/sdX --drive mine.toml --state steady",
    ),
)
@click.argument("question", type=click.Choice(_NAMES))
@click.option(
    "--target",
    required=True,
    metavar="DEVICE",
    help="Measure this drive: a block device, a file, or an NBD URI.",
    shell_complete=complete_file,
)
@destroy_options
@click.option(
    "--drive",
    metavar="DRIVE",
    help="Also simulate this drive, and show its ratio beside the measured one.",
    shell_complete=complete_drive,
)
@SET_OPTION
@click.option(
    "--state",
    type=click.Choice(conditions.CHOICES),
    help="Precondition the simulated drive first.",
)
@click.option(
    "--turns",
    type=click.IntRange(2, 1000),
    default=6,
    show_default=True,
    metavar="N",
    help="Run A and B N times each, in turn.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=2,
    show_default=True,
    metavar="S",
    help="Run A and B for S seconds each time.",
)
@JSON_OPTION
def measure(
    question: str,
    target: str,
    destroy: tuple[str, ...],
    destroy_content: tuple[str, ...],
    drive: str | None,
    settings: tuple[str, ...],
    state: str | None,
    turns: int,
    seconds: float,
    as_json: bool,
) -> int:
    """Test on a real drive what the documents claim, A against B in short turns.

    alignment measures what small writes lose when they begin at sector 63. trim measures what small
    writes gain on a tenth of the drive that was just trimmed. Both overwrite the target, with fio
    and direct I/O. The result is a ratio with its 95 % interval, beside the documents' figures and,
    with --drive, the simulated ratio. After Ctrl-C the finished turns count.
    """
    from ssdlab.bench.real.wishes import Wishes
    from ssdlab.referee.asked.questions import QUESTIONS
    from ssdlab.referee.asked.turns import figures

    if drive is None and (settings or state):
        raise SsdlabError("--set, --state: apply to a simulated drive\nadd --drive DRIVE")
    asked = QUESTIONS[question]
    beside = None if drive is None else _simulated(asked, drive, settings, state, turns, seconds)
    with ExitStack() as held:
        opened = _opened(target, Wishes(destroy, destroy_content), held)
        done, stopped = _turns(asked, opened, turns, seconds)
    note(f"ssdlab: {target} was written to, and is no longer in the condition that it was in")
    if not done:
        raise Stopped
    answer = figures(asked, done)
    if as_json:
        print_json(_as_data(asked, answer, beside))
    else:
        _show(asked, target, answer, drive, beside)
    if stopped:
        note(f"ssdlab: stopped; {len(done)} of {turns} turns count")
        return signals.exit_code()
    return Exit.DONE


def _opened(target: str, wishes: Any, held: ExitStack) -> OpenTarget:
    from ssdlab.bench.real.job import open_target

    return open_target(target, wishes, _tell, held, writes=True)


def _turns(
    asked: AskedQuestion, opened: OpenTarget, turns: int, seconds: float
) -> tuple[list[Result], bool]:
    """Return the turns that finished, one after the other, and whether they were stopped."""
    from ssdlab.engine.result import Result

    labels = [f"turn {number + 1}" for number in range(turns)]
    tasks = [_turn(asked, opened, number, seconds) for number in range(turns)]
    found, stopped = carry_out(labels, tasks, workers=1)
    return [Result.from_json(each) for each in found if each is not None], stopped


def _turn(
    asked: AskedQuestion, opened: OpenTarget, number: int, seconds: float
) -> Callable[[Progress], str]:
    from ssdlab.bench.real.job_words import for_target
    from ssdlab.referee.asked.turns import turn

    job = for_target(turn(asked, number, seconds), asked.name, (), opened.place)
    return lambda progress: opened.run(job, _tell, progress)


def _simulated(
    asked: AskedQuestion,
    drive: str,
    settings: tuple[str, ...],
    state: str | None,
    turns: int,
    seconds: float,
) -> TurnsAnswer:
    from ssdlab.engine.request import RunRequest
    from ssdlab.engine.result import Result
    from ssdlab.experiment.cache import run_conditioned
    from ssdlab.referee.asked.turns import on_drive, simulated

    base = RunRequest(drive, settings=parse_settings(settings), condition=conditions.named(state))
    request = on_drive(asked, turns, seconds, base)
    (found,), stopped = carry_out([drive], [lambda progress: run_conditioned(request, progress)])
    if stopped or found is None:
        raise Stopped
    result = Result.from_json(found)
    tell_not_steady([(drive, result.not_steady)])
    return simulated(asked, turns, result)


def _tell(lines: Any) -> None:
    for line in lines:
        note(f"ssdlab: {line}")


def _cells(name: str, answer: TurnsAnswer) -> tuple[str, str, str, str]:
    between = "" if answer.interval is None else "{:.2f} to {:.2f}".format(*answer.interval)
    return name, f"{answer.ratio:.2f}", between, f"{len(answer.pairs)} turns"


def _show(
    asked: AskedQuestion,
    target: str,
    answer: TurnsAnswer,
    drive: str | None,
    beside: TurnsAnswer | None,
) -> None:
    print_text(f"{asked.asks}\n{asked.ratio}:\n")
    rows = [_cells(target, answer)]
    if drive is not None and beside is not None:
        rows.append(_cells(f"{drive}, simulated", beside))
    rows += [
        (each.document, f"{each.value:.2f}", "", f"{each.text} ({each.place})")
        for each in asked.stated()
    ]
    print_table(("", "ratio", "95 % interval", ""), rows, right=(1,))


def _as_data(
    asked: AskedQuestion, answer: TurnsAnswer, beside: TurnsAnswer | None
) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "question": asked.name,
        "ratio_of": asked.ratio,
        "target": vars(answer),
        "simulated": None if beside is None else vars(beside),
        "documents": [
            {"document": each.document, "place": each.place, "ratio": each.value}
            for each in asked.stated()
        ],
    }
