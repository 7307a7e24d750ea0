"""``ssdlab twin``: a profile from what a long test of a drive gave, by a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.console import note, print_json, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION, check_json_alone
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.experiment.parallel import Task
from ssdlab.ground import text
from ssdlab.ground.errors import Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import PendingFile, is_stdout
from ssdlab.report.printing import check_ending

if TYPE_CHECKING:
    from ssdlab.study.twin.twin import Twin


@click.command(
    cls=Verb,
    short_help="Make a profile from a long test of a drive.",
    examples=(
        "ssdlab twin mine.csv --drive sk-hynix-pe8110-960gb -o mine.toml",
        "ssdlab twin mine.csv --drive wd-dc-960gb -o mine.toml --predict zipf-0.8",
        "ssdlab run --rw=randwrite --bs=4k --drive mine.toml --state steady",
    ),
)
@click.argument("figures", metavar="FIGURES.csv")
@click.option(
    "--drive",
    required=True,
    metavar="BASE",
    help="Start from this profile, the closest to your drive.",
)
@click.option(
    "--output", "-o", required=True, metavar="FILE.toml", help="Write the profile to this file."
)
@click.option(
    "--predict",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Also predict this write pattern, such as zipf-0.8; may be repeated.",
)
@JSON_OPTION
def twin(figures: str, drive: str, output: str, patterns: tuple[str, ...], as_json: bool) -> int:
    """Make a profile from a long test of a drive, number by number.

    FIGURES.csv has the columns figure and value: the rate of a fresh drive (fresh_mib_per_s), what
    it writes after a fill until its rate collapses (knee_drive_writes), and its steady rate
    (uniform); better also the data sheet's, other patterns and latencies. Each number of the
    profile is fitted to the figure that tells of it, by runs of a few dies, for some minutes; the
    other figures are predicted. Where a figure is out of reach, the command says so, writes no
    profile, and exits with 1. After Ctrl-C the same command goes on.
    """
    from ssdlab.experiment import cache
    from ssdlab.study.twin import recipe
    from ssdlab.study.twin.goals import asked, read_goals
    from ssdlab.study.twin.profile import profile_text
    from ssdlab.study.twin.runs import SliceRuns, parts_of
    from ssdlab.study.twin.solve import OutOfReach
    from ssdlab.study.twin.twin import Twin

    check_ending(output, (".toml",), "a profile")
    check_json_alone(as_json, output)
    goals = read_goals(Path(figures))
    wanted = [asked(each) for each in patterns]
    found = Twin(drive)
    runs = SliceRuns(drive, parts_of(drive), cache.folder() / "twin")
    with PendingFile(output) as pending:
        try:
            recipe.derive(goals, found, runs, _perform)
        except OutOfReach as error:
            note(f"ssdlab: {error}")
            if as_json:
                print_json({"reached": False, "why": str(error)})
            return Exit.ATTENTION
        rates = recipe.predict(goals, wanted, found, runs, _perform)
        pending.write(profile_text(found, figures))
    if as_json:
        print_json({"reached": True, **_as_data(found, rates)})
    elif not is_stdout(output):
        _show(found, rates)
    return Exit.DONE


def _perform(labels: Sequence[str], tasks: Sequence[Task[Any]]) -> list[Any]:
    found, stopped = carry_out(labels, tasks)
    if stopped:
        raise Stopped
    return found


def _show(found: Twin, rates: dict[str, float]) -> None:
    numbers = [(each.key, each.value, each.source) for each in found.numbers.values()]
    print_table(("number", "twin", "from"), numbers, right=(1,))
    print_text("")
    rows = [
        (
            each.goal.label,
            text.significant(each.goal.value, 4),
            text.significant(each.twin, 4),
            f"{each.difference * 100:+.1f} %",
            each.how,
        )
        for each in found.compared
    ]
    rows += [(name, "", text.significant(rate, 4), "", "predicted") for name, rate in rates.items()]
    print_table(("figure", "measured", "twin", "difference", ""), rows, right=(1, 2, 3))


def _as_data(found: Twin, rates: dict[str, float]) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "numbers": [vars(each) for each in found.numbers.values()],
        "figures": [
            {
                "figure": each.goal.name,
                "rate": each.goal.rate or None,
                "place": each.goal.place,
                "measured": each.goal.value,
                "twin": each.twin,
                "how": each.how,
            }
            for each in found.compared
        ],
        "policies": found.evidence,
        "predicted": rates,
    }
