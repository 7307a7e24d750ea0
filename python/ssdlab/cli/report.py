"""``ssdlab report``: one page from result files, or from folders of ``ssdlab pts``."""

from __future__ import annotations

import click

from ssdlab.cli.completion import complete_file
from ssdlab.cli.console import note
from ssdlab.cli.results import are_pts_folders, loaded
from ssdlab.cli.verb import Verb
from ssdlab.output import is_stdout
from ssdlab.report import write_report


@click.command(
    cls=Verb,
    short_help="Make one self-contained HTML page, or a PDF, from results.",
    examples=(
        "ssdlab run job.fio --drive theory --output-format json+ --output result.json",
        "ssdlab report result.json -o report.html",
        "ssdlab report pts-intel-dc-s3500-80gb -o report.pdf",
    ),
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT…", shell_complete=complete_file)
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Write the page to this file; as a PDF where it ends in .pdf.",
)
@click.option("--title", help="Set the page's heading.")
def report(results: tuple[str, ...], output: str, title: str | None) -> None:
    """Make one self-contained HTML page from results; a PDF is printed by Chromium.

    RESULT is a result file. Latency distributions need results in --output-format json+. Results of
    fio on a real drive can be drawn beside simulated ones.

    Or RESULT is a folder of `ssdlab pts`, also while that is running. Several folders are laid over
    one another; what differs in their conditions comes first.
    """
    if are_pts_folders(results):
        from ssdlab.pts.report import write_pts_report

        write_pts_report(results, output, title=title)
    else:
        with loaded(results) as found:
            write_report(found, output, title=title)
    if not is_stdout(output):
        note(f"written: {output}")
