"""``ssdlab report``: one page from result files."""

from __future__ import annotations

import click

from ssdlab.cli.completion import complete_file
from ssdlab.cli.console import note
from ssdlab.cli.results import loaded
from ssdlab.cli.verb import Verb
from ssdlab.output import is_stdout
from ssdlab.report import write_report


@click.command(
    cls=Verb,
    examples=(
        "ssdlab run job.fio --drive theory --output-format json+ --output result.json",
        "ssdlab report result.json -o report.html",
    ),
)
@click.argument(
    "results", nargs=-1, required=True, metavar="RESULT.json…", shell_complete=complete_file
)
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE.html",
    help="Write the page to this file.",
)
@click.option("--title", help="Set the page's heading.")
def report(results: tuple[str, ...], output: str, title: str | None) -> None:
    """Make one self-contained HTML page from result files.

    Latency distributions need results in --output-format json+. Results of fio on a real drive
    can be drawn beside simulated ones.
    """
    with loaded(results) as found:
        write_report(found, output, title=title)
    if not is_stdout(output):
        note(f"written: {output}")
