"""The command itself: its verbs, and the one way in which all of them fail.

`ssdlab.ground.exit_codes` has the exit codes of all verbs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from ssdlab.cli import streams
from ssdlab.cli.verb import Verbs
from ssdlab.engine import guarded
from ssdlab.ground import signals, stdout
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit

VERBS = {
    "drives": ("drives:drives", "List the profiles."),
    "layers": (
        "layers:layers",
        "List the layers that a stack can have, or the parameters of one KIND.",
    ),
    "show": ("drives:show", "Show every parameter of a DRIVE with its unit and source."),
    "run": ("run:run", "Run a fio job on simulated drives, or on a real one."),
    "season": ("season:season", "Precondition a drive."),
    "pts": ("pts:pts", "Measure drives by SNIA's Performance Test Specification."),
    "sizing": ("sizing:sizing", "Find which drives meet a load, with how much spare."),
    "lifetime": ("lifetime:lifetime", "Tell how long a DRIVE lasts under a load."),
    "sweep": ("sweep:sweep", "Run a study of many drives and loads into one table."),
    "fit": ("fit:fit", "Fit a profile to measurements of a drive."),
    "twin": ("twin:twin", "Make a profile from a long test of a drive."),
    "import": ("importing:import_", "Import a drive, a workload or a trace from MQSim."),
    "trace": ("trace:trace", "Show what a trace holds."),
    "cache": ("cache:cache", "List or clear preconditioned drives that are kept for reuse."),
    "theory": ("theory:theory", "Compute the write amplification of random writes."),
    "explain": ("explain:explain", "Make a page that shows what happens inside a small drive."),
    "compare": ("compare:compare", "Compare results with the first one, paired by seed."),
    "report": ("report:report", "Make a self-contained HTML page or a PDF from results."),
    "demo": ("demo:demo", "Show an SSD fresh and in steady state, and what restores its speed."),
    "reproduce": (
        "reproduce:reproduce",
        "Check claims of nine documents on SSDs, figure by figure.",
    ),
    "measure": ("measure:measure", "Test the documents' claims on a real drive."),
    "audit": ("audit:audit", "Check how the storage of this machine is set up."),
    "health": ("health:health", "Read the wear of real drives, as each vendor defines it."),
    "smart": ("smart:smart", "Print a simulated drive's health as smartctl does."),
    "align": ("align:align", "Find boundaries, check layouts, and print the commands to type."),
    "serve": ("serve:serve", "Serve a drive that holds bytes to other programs."),
    "attach": ("attach:attach", "Make a served drive a block device of this machine."),
    "detach": ("attach:detach", "Take the block device of a served drive away."),
    "ctl": ("ctl:ctl", "Ask and steer drives that are being served."),
    "check": (
        "check:check",
        "Check the folder of a served drive, or play a log of its commands again.",
    ),
    "completion": ("completion:completion", "Print the completion script for a shell."),
}
"""Where each verb is below `ssdlab.cli`, and the sentence that the list of verbs shows."""


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ssdlab import engine

        click.echo(f"ssdlab {engine.version()}")
        context.exit()


@click.group(
    cls=Verbs,
    table=VERBS,
    terms=(
        (
            "DRIVE",
            "a profile (ssdlab drives), your own profile (my.toml), a drive file in some condition "
            "(old.ssd), or a stack of layers over a drive (host.toml)",
        ),
    ),
    examples=(
        "ssdlab run --rw=randwrite --bs=4k --iodepth=16 --drive intel-dc-s3500-80gb",
        "ssdlab run job.fio --drive theory --state steady --output-format json",
        "ssdlab demo",
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def ssdlab() -> None:
    """Show what an SSD does once it is no longer new: how fast, how long and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        Without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code.
    """
    streams.prepare()
    try:
        code = _answer(arguments)
        guarded.tell("e")
        return code
    except OSError as error:
        stdout.give_up()
        _complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
        return Exit.WRONG_INPUT


def _answer(arguments: Sequence[str] | None) -> int:
    given = _given() if arguments is None else arguments
    try:
        policy = guarded.policy_of(given)
        code = _carried_out(given) if policy is None else _in_child(policy, given)
        sys.stdout.flush()
        return code
    except SsdlabError as error:
        from ssdlab.cli.given_files import what_was_given

        _complain(str(error) + what_was_given(str(error), given))
    except click.exceptions.NoArgsIsHelpError as error:
        _complain(error.format_message(), "")
    except click.ClickException as error:
        _complain(_click_message(error))
    except (Stopped, KeyboardInterrupt, click.Abort):
        _complain("stopped; nothing had finished")
        return signals.exit_code()
    return Exit.WRONG_INPUT


def _given() -> Sequence[str]:
    """Give what was typed; under the name of smartctl the verb is `ssdlab smart`."""
    stands_in = Path(sys.argv[0]).name == "smartctl"
    return ["smart", *sys.argv[1:]] if stands_in else sys.argv[1:]


def _in_child(policy: str, arguments: Sequence[str]) -> int:
    from ssdlab.engine import policy_child

    return policy_child.run(policy, arguments)


def _carried_out(arguments: Sequence[str] | None) -> int:
    code = ssdlab.main(args=arguments, prog_name="ssdlab", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _complain(message: str, who: str = "ssdlab: ") -> None:
    sys.stdout.flush()
    with suppress(OSError):
        print(f"{who}{message}", file=sys.stderr)


_NUMBERS = {"float": "a number", "integer": "a whole number"}


def _click_message(error: click.ClickException) -> str:
    # click lists choices in lines of their own, and calls numbers by their types.
    message = re.sub(r"\s*\n\s+", " ", error.format_message())
    message = re.sub(r"a valid (float|integer)( range)?", lambda m: _NUMBERS[m[1]], message)
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    return f"{message}\ntry: {context.command_path} --help"
