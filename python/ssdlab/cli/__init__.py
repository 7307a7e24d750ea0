"""The ``ssdlab`` command: one verb a module, one way to fail.

Exit codes: 0 done; 1 what was checked is not in order (`align`), or no drive of the ranges explains
what was measured (`fit`); 2 what the user can mend; 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by
SIGHUP.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from ssdlab import guarded, signals
from ssdlab.cli import streams
from ssdlab.cli.align import align
from ssdlab.cli.audit import audit
from ssdlab.cli.cache import cache
from ssdlab.cli.compare import compare
from ssdlab.cli.completion import completion
from ssdlab.cli.demo import demo
from ssdlab.cli.drives import drives, show
from ssdlab.cli.explain import explain
from ssdlab.cli.fit import fit
from ssdlab.cli.health import health
from ssdlab.cli.importing import import_
from ssdlab.cli.layers import layers
from ssdlab.cli.lifetime import lifetime
from ssdlab.cli.pts import pts
from ssdlab.cli.report import report
from ssdlab.cli.reproduce import reproduce
from ssdlab.cli.run import run
from ssdlab.cli.season import season
from ssdlab.cli.sizing import sizing
from ssdlab.cli.sweep import sweep
from ssdlab.cli.theory import theory
from ssdlab.cli.trace import trace
from ssdlab.cli.verb import Verbs
from ssdlab.errors import SsdlabError, Stopped

EXIT_MENDABLE = 2


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ssdlab import engine

        click.echo(f"ssdlab {engine.version()}")
        context.exit()


@click.group(
    cls=Verbs,
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


for _verb in (
    drives,
    layers,
    show,
    run,
    season,
    pts,
    sizing,
    lifetime,
    sweep,
    fit,
    import_,
    trace,
    cache,
    theory,
    explain,
    compare,
    report,
    demo,
    reproduce,
    audit,
    health,
    align,
    completion,
):
    ssdlab.add_command(_verb)


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
    except BrokenPipeError:
        # The reader has seen enough.
        streams.give_up_stdout()
        return 0
    except OSError as error:
        streams.give_up_stdout()
        _complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
        return EXIT_MENDABLE


def _answer(arguments: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else arguments
        policy = guarded.policy_of(given)
        code = _carried_out(given) if policy is None else guarded.run(policy, given)
        sys.stdout.flush()
        return code
    except SsdlabError as error:
        _complain(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        _complain(error.format_message(), "")
    except click.ClickException as error:
        _complain(_click_message(error))
    except (Stopped, KeyboardInterrupt, click.Abort):
        _complain("stopped; nothing had finished")
        return signals.exit_code()
    return EXIT_MENDABLE


def _carried_out(arguments: Sequence[str] | None) -> int:
    stdout, stderr = sys.stdout, sys.stderr
    try:
        code = ssdlab.main(args=arguments, prog_name="ssdlab", standalone_mode=False)
    except SystemExit:
        # To a reader who has gone, click answers with 1, and streams of its own.
        if sys.stdout is stdout:
            raise
        sys.stdout, sys.stderr = stdout, stderr
        raise BrokenPipeError from None
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
