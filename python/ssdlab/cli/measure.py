"""``ssdlab measure``: a question of the documents, asked of a real drive in turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.bench_options import destroy_options
from ssdlab.cli.console import note, print_json
from ssdlab.cli.drives import SET_OPTION, parse_settings, tell_not_steady
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine import conditions
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import PendingFile, check_writable, is_stdout

if TYPE_CHECKING:
    from ssdlab.bench.real.cipher import CipherRate
    from ssdlab.engine.request import RunRequest
    from ssdlab.engine.result import Result
    from ssdlab.referee.asked.questions import AskedQuestion
    from ssdlab.referee.asked.turns import TurnsAnswer

_NAMES = ("alignment", "cipher", "discard-cost", "spare", "trim", "used-new")


@click.command(
    cls=Verb,
    short_help="Test the documents' claims on a real drive.",
    examples=(
        "ssdlab measure alignment --target /dev/sdX --destroy /dev/sdX",
        "ssdlab measure trim --target /dev/sdX --destroy /dev/sdX --drive mine.toml --state steady",
        "ssdlab measure used-new --target /dev/sdX --destroy /dev/sdX --turns 2 -o used-new.json",
    ),
)
@click.argument("question", metavar="QUESTION", type=click.Choice(_NAMES))
@click.option(
    "--target",
    required=True,
    metavar="DEVICE",
    help="Measure this drive: a block device, a file, or an NBD URI.",
)
@destroy_options
@click.option(
    "--drive",
    metavar="DRIVE",
    help="Also simulate this drive, and show its ratio beside the measured one.",
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
    help="Run A and B alternately, N times each.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=2,
    show_default=True,
    metavar="S",
    help="Run each of them for S seconds per turn.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Also write the result to FILE as JSON, and update it after each turn.",
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
    output: str | None,
    as_json: bool,
) -> int:
    """Test the documents' claims on a real drive, A against B in turns.

    alignment measures small writes from sector 63 on against aligned ones. cipher measures reads
    through the kernel's cipher against plain ones. discard-cost measures 4 KiB written and
    discarded by itself against discarded in pieces of 1 MiB. spare measures 80 % of the drive in
    use against all of it. trim measures small writes to a trimmed tenth against the same one
    written. used-new measures the drive filled and partly rewritten against all of it trimmed.

    All overwrite the target, with fio and direct I/O; spare and used-new write all of it in each
    turn. The result is a ratio with its 95 % interval, beside the documents' figures and, with
    --drive, the simulated ratio. After Ctrl-C the finished turns count.
    """
    from ssdlab.bench.real.wishes import Wishes
    from ssdlab.cli.measure_answer import as_data, show
    from ssdlab.cli.measure_turns import open_asked, take_turns
    from ssdlab.engine.request import RunRequest
    from ssdlab.referee.asked.questions import QUESTIONS
    from ssdlab.referee.asked.turns import figures

    if drive is None and (settings or state):
        raise SsdlabError("--set, --state: apply to a simulated drive\nadd --drive DRIVE")
    _check_output(output)
    asked = QUESTIONS[question]
    with ExitStack() as held:
        # Before time is spent on a simulation.
        opened = open_asked(asked, target, Wishes(destroy, destroy_content), held)
        rate = _kernel_rate() if asked.encrypts else None
        beside = None
        if drive is not None:
            condition = conditions.named(state)
            base = RunRequest(drive, settings=parse_settings(settings), condition=condition)
            cipher = "crypt" if rate is None else rate.layer()
            beside = _simulated(asked, base, turns, seconds, cipher)

        def data(results: Sequence[Sequence[Result]]) -> dict[str, Any]:
            return as_data(asked, target, figures(asked, results), beside, rate)

        def keep(results: Sequence[Sequence[Result]]) -> None:
            if output is not None:
                with PendingFile(output) as pending:
                    pending.write(json.dumps(data(results), ensure_ascii=False, indent=2) + "\n")

        done, stopped = take_turns(asked, opened, turns, seconds, keep)
    note(f"ssdlab: {target} was written to, and is no longer in the condition that it was in")
    if not done:
        raise Stopped
    if as_json:
        print_json(data(done))
    else:
        show(asked, target, figures(asked, done), drive, beside, rate)
    if stopped:
        note(f"ssdlab: stopped; {len(done)} of {turns} turns count")
        return signals.exit_code()
    return Exit.DONE


def _check_output(output: str | None) -> None:
    if output is not None and is_stdout(output):
        raise SsdlabError(f"--output {output}: is written anew after each turn\nuse --json instead")
    if output is not None:
        check_writable(output, "--output")


def _kernel_rate() -> CipherRate | None:
    """Ask for the rate of the kernel's cipher, and say where it is not known."""
    from ssdlab.bench.real.cipher import kernel_rate

    rate = kernel_rate()
    if rate is None:
        note(
            "ssdlab: cryptsetup benchmark does not tell the rate of the kernel's cipher here; a "
            "simulated drive has the layer's default: ssdlab layers crypt"
        )
    return rate


def _simulated(
    asked: AskedQuestion, base: RunRequest, turns: int, seconds: float, cipher: str
) -> list[TurnsAnswer]:
    from ssdlab.engine.result import Result
    from ssdlab.experiment.cache import run_conditioned
    from ssdlab.referee.asked.turns import on_drive, simulated

    results = []
    for request in on_drive(asked, turns, seconds, base, cipher):
        # By itself: a drive's figures are not to hang on what else is computed.
        (found,), stopped = carry_out([base.drive], [partial(run_conditioned, request)])
        if stopped or found is None:
            raise Stopped
        results.append(Result.from_json(found))
    tell_not_steady([(base.drive, each.not_steady) for each in results])
    return simulated(asked, turns, results)
