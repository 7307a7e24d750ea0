"""``ssdlab sweep``: a study of many drives and loads, a row a point."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.arguments import whole_number
from ssdlab.cli.console import note, print_json, print_table, progress_display
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.sweep_watch import seconds, watch
from ssdlab.cli.verb import Verb
from ssdlab.ground import signals, text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import is_stdout

if TYPE_CHECKING:
    from ssdlab.study.sweeps.perform import Outcome
    from ssdlab.study.sweeps.plan import StudyPlan


_COUNT = whole_number(1, 4096)


def _count(context: click.Context, option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else _COUNT(context, option, value)


@click.command(
    cls=Verb,
    short_help="Run a study of many drives and loads into one table.",
    examples=(
        "ssdlab sweep study.toml -o study --dry-run",
        "ssdlab sweep study.toml -o study",
        "ssdlab sweep study.toml -o study --cluster tcp://10.0.0.1:8786",
        "ssdlab sweep --watch -o study",
        "ssdlab report study -o study.html",
    ),
)
@click.argument("study", required=False, metavar="STUDY.toml")
@click.option("-o", "--output", metavar="FOLDER", help="Write rows and table to FOLDER.")
@click.option("--dry-run", is_flag=True, help="Show points, time and memory; run nothing.")
@click.option(
    "--workers",
    metavar="N",
    callback=_count,
    help="Use at most N processes; by default one per core, as memory allows.",
)
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler.")
@click.option(
    "--watch",
    "watches",
    is_flag=True,
    help="Show the progress of the sweep in FOLDER; needs no STUDY.toml.",
)
@click.option("--keep-fio", is_flag=True, help="Keep fio's JSON of each point, too.")
@JSON_OPTION
def sweep(
    study: str | None,
    output: str | None,
    dry_run: bool,
    workers: int | None,
    cluster: str | None,
    watches: bool,
    keep_fio: bool,
    as_json: bool,
) -> int:
    """Run every point of a study once, and write a table with a row a point and seed.

    FOLDER then holds table.parquet and table.csv; rows/ can be read while the study runs. Start it
    again after Ctrl-C or a crash: what had finished is not run again, by the next study in FOLDER
    neither.
    """
    if watches:
        watch(_folder(output), as_json)
        return 0
    if study is None:
        raise SsdlabError(
            "STUDY.toml is missing\nsee examples/sweep-theory.toml, or: ssdlab sweep --help"
        )
    from ssdlab.study.sweeps.perform import run_plan
    from ssdlab.study.sweeps.plan import plan
    from ssdlab.study.sweeps.strict import load

    planned = plan(load(study))
    if dry_run:
        _show(planned, output, workers, as_json)
        return 0
    folder = _folder(output)
    with progress_display([Path(study).name]) as display:

        def tell(status: dict[str, Any]) -> None:
            display.report(0, _phase(status), status["finished"] / max(status["points"], 1))

        outcome = run_plan(
            planned, folder, cluster=cluster, workers=workers, keep_fio=keep_fio, tell=tell
        )
    if as_json:
        table = None if outcome.table is None else str(outcome.table)
        print_json({**vars(outcome), "table": table, "folder": folder})
    return _told(outcome, folder)


def _folder(output: str | None) -> str:
    if output is None or is_stdout(output):
        raise SsdlabError("-o: several files are written; name a folder: -o study")
    return output


def _phase(status: dict[str, Any]) -> str:
    left = status["remaining_s"]
    points = f"{status['finished']:,} of {status['points']:,} points"
    failed = f", {status['failed']:,} failed" if status["failed"] else ""
    return f"{points}{failed}" + (f", {seconds(left)} left" if left is not None else "")


def _told(outcome: Outcome, folder: str) -> int:
    if outcome.failed:
        rows = "row has" if outcome.failed == 1 else "rows have"
        note(f"ssdlab: {outcome.failed:,} {rows} an error; see the column error")
    if outcome.table is None:
        note(
            f"ssdlab: stopped; {outcome.finished:,} of {outcome.points:,} points are kept in "
            f"{folder}\nthe same command goes on from there"
        )
        return signals.exit_code()
    before = outcome.finished - outcome.run
    had = f" ({before:,} had finished before)" if before else ""
    note(f"ssdlab: {outcome.points:,} points{had}\nwritten: {outcome.table}")
    return 0


def _show(planned: StudyPlan, output: str | None, workers: int | None, as_json: bool) -> None:
    """Show a study's size, time and memory, and what of it is there already."""
    from ssdlab.study.sweeps.crew import at_once
    from ssdlab.study.sweeps.estimate import seconds_a_point
    from ssdlab.study.sweeps.store import finished_in

    done = finished_in(Path(output)) if output else {}
    left = planned.count - sum(each.key in done for each in planned.points())
    memory = planned.most_memory()
    processes = at_once(memory, workers)
    each = seconds_a_point(planned.samples)
    if as_json:
        print_json(
            {
                "study": planned.study.name,
                "points": planned.count,
                "left": left,
                "seeds": len(planned.study.seeds),
                "conditioned_drives": planned.shared_drives,
                "memory_bytes_a_point": memory,
                "at_once": processes,
                "seconds_a_point": each,
                "seconds": None if each is None else each * left / processes,
            }
        )
        return
    rows = [
        ("points", f"{planned.count:,}"),
        ("left to run", f"{left:,}"),
        ("seeds", f"{len(planned.study.seeds)}"),
        ("conditioned drives shared", f"{planned.shared_drives:,}"),
        ("memory a point, at most", text.size(memory)),
        ("at once", f"{processes}"),
        ("a point, about", "no point that was tried works" if each is None else seconds(each)),
        ("in all, about", "–" if each is None else seconds(each * left / processes)),
    ]
    print_table(("study", planned.study.name), rows)
