"""``ssdlab demo``: one drive fresh and steady, and what gives speed back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from ssdlab import engine
from ssdlab.cli.arguments import SEED_OPTION
from ssdlab.cli.console import (
    note,
    print_json,
    print_list,
    print_paragraph,
    print_table,
    print_text,
)
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.folder import output_folder
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine.request import Settings
from ssdlab.engine.result import Result
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.study.demo import plan


@click.command(
    cls=Verb,
    short_help="Show an SSD fresh and in steady state, and what restores its speed.",
    examples=(
        "ssdlab demo -o demo",
        "ssdlab demo --drive intel-x25-m-g2-80gb --capacity 8GB -o demo",
    ),
)
@click.option(
    "--drive",
    default=plan.DRIVE,
    show_default=True,
    metavar="DRIVE",
    help="Simulate this SSD: a profile name or a profile file.",
)
@click.option(
    "-o",
    "--output",
    default="demo",
    show_default=True,
    metavar="DIR",
    help="Write results and report to this folder.",
)
@click.option(
    "--capacity",
    metavar="SIZE",
    help="Shrink the drive to this size, such as 8GB, to finish sooner.",
)
@SEED_OPTION
@JSON_OPTION
def demo(drive: str, output: str, capacity: str | None, seed: int, as_json: bool) -> int:
    """Show what an SSD does fresh and in steady state, and what restores its speed.

    Runs the five jobs of the Thomas-Krenn e-book, and 4 KiB random writes with space left unused
    and with TRIM. Writes every result and report.html to DIR. The fio command that ssdlab run
    baseline prints runs the five jobs on a real drive.
    """
    from ssdlab.report import write_report
    from ssdlab.study.demo import perform

    settings = () if capacity is None else (("capacity_bytes", capacity),)
    _check_capacity(drive, settings)
    performance = perform.DemoPerformance(drive, Path(output), settings, seed)
    labels, tasks = zip(*performance.tasks(), strict=True)
    folder = output_folder(output, "report.html")
    _, stopped = carry_out(labels, tasks)
    results = performance.in_order()
    if not results:
        raise Stopped
    if as_json:
        _print_json(results, None if stopped else folder / "report.html")
    else:
        _print(results)
    if stopped:
        # Drawing takes longer than whoever pressed Ctrl-C will wait.
        kept = " ".join(str(folder / result.name) for result in results)
        note(f"ssdlab: stopped; to draw the finished runs: ssdlab report {kept}")
        return signals.exit_code()
    from ssdlab.study.demo.opening import opening

    write_report(results, folder / "report.html", opening=opening)
    if not as_json:
        print_text(f"\nopen {folder / 'report.html'}")
    return tell_not_steady((result.name, result.not_steady) for result in results)


def _check_capacity(drive: str, settings: Settings) -> None:
    """Refuse a drive or a size before anything is made, in the words of this verb's options."""
    try:
        engine.show(drive, settings)
    except SsdlabError as error:
        said = str(error).replace("--set capacity_bytes=", "--capacity ")
        said = re.sub(r"at least capacity_bytes=(\w+).*", r"at least --capacity \1", said)
        raise SsdlabError(said) from None


def _print_json(results: Sequence[Result], report: Path | None) -> None:
    from ssdlab.study.demo import figures

    print_json(
        {
            "report": None if report is None else str(report),
            "not_steady": {each.name: each.not_steady for each in results if each.not_steady},
            "results": figures.as_data(results),
        }
    )


def _print(results: Sequence[Result]) -> None:
    from ssdlab.study.demo import figures

    rows = figures.brief_rows(results)
    print_table(figures.HEADINGS, rows, right=(1, 2, 3, 4, 5, 6), fold=7)
    print_paragraph(plan.JOBS)
    print_paragraph(figures.lifetime_formula(results))
    print_list(
        "Published (* not predicted, because a parameter is fitted):",
        figures.published_notes(results),
    )
    print_list("Where the parameters come from:", figures.provenance(results))
