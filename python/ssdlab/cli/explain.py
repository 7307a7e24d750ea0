"""``ssdlab explain``: one page that shows what happens inside a small drive."""

from __future__ import annotations

import click

from ssdlab.cli.console import note, print_json
from ssdlab.cli.drives import SET_OPTION, parse_settings
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import is_stdout
from ssdlab.report.printing import check_ending
from ssdlab.study.explain import recorded, write_page


@click.command(
    cls=Verb,
    short_help="Make a page that shows what happens inside a small drive.",
    examples=(
        "ssdlab explain -o explain.html",
        "ssdlab explain --set ftl.gc=fifo --set over_provisioning=0.4 -o fifo.html",
        "ssdlab explain --set nand.dies_per_channel=2 -o two-dies.html",
        "ssdlab explain --json",
    ),
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    help="Write the page to this file.  [default: explain.html]",
)
@SET_OPTION
@JSON_OPTION
def explain(output: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Make one self-contained HTML page that shows what happens inside a small drive.

    It shows every flash page (valid, invalid or free), the map and the counters, step by step: a
    write, an overwrite, a misaligned write, garbage collection, TRIM and wear levelling. Every
    step is recorded from a simulated drive of a few blocks.
    """
    parsed = parse_settings(settings)
    if as_json:
        if output is not None:
            raise SsdlabError(f"-o {output}: --json prints to stdout; leave one of them out")
        print_json(recorded(parsed))
        return
    output = output or "explain.html"
    check_ending(output, (".html", ".htm"))
    write_page(output, parsed)
    if not is_stdout(output):
        note(f"written: {output}")
