"""The ``ssdlab`` command: one verb a module, one way to fail.

Exit codes: 0 done; 1 what was checked is not in order (`align`); 2 what the user can mend; 130
stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import click

from ssdlab.cli.align import align
from ssdlab.cli.audit import audit
from ssdlab.cli.compare import compare
from ssdlab.cli.completion import completion
from ssdlab.cli.demo import demo
from ssdlab.cli.drives import drives, show
from ssdlab.cli.health import health
from ssdlab.cli.layers import layers
from ssdlab.cli.report import report
from ssdlab.cli.reproduce import reproduce
from ssdlab.cli.run import EXIT_STOPPED, run
from ssdlab.cli.season import season
from ssdlab.cli.theory import theory
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
            "a profile (ssdlab drives), a profile of your own (my.toml), "
            "a drive file in a condition (old.ssd), or a stack of layers over a drive (host.toml)",
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
    theory,
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
    try:
        code = ssdlab.main(args=arguments, prog_name="ssdlab", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SsdlabError as error:
        _complain(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
    except click.ClickException as error:
        _complain(_click_message(error))
    except (Stopped, KeyboardInterrupt, click.Abort):
        print("ssdlab: stopped; nothing had finished", file=sys.stderr)
        return EXIT_STOPPED
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter complains while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return EXIT_MENDABLE


def _complain(message: str) -> None:
    sys.stdout.flush()
    print(f"ssdlab: {message}", file=sys.stderr)


def _click_message(error: click.ClickException) -> str:
    # click lists choices in lines of their own.
    message = re.sub(r"\s*\n\s+", " ", error.format_message())
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    return f"{message}\ntry: {context.command_path} --help"


def entry_point() -> None:
    """Run as the console script."""
    sys.exit(main())
