"""``ssdlab compare``: runs side by side, paired by seed."""

from __future__ import annotations

import click

from ssdlab.cli.completion import complete_file
from ssdlab.cli.console import print_json, print_table, print_text
from ssdlab.cli.drives import JSON_OPTION
from ssdlab.cli.results import loaded
from ssdlab.cli.verb import Verb
from ssdlab.comparison import Comparison, Row
from ssdlab.comparison import compare as compare_results


@click.command(
    cls=Verb,
    short_help="Compare results with the first one, paired by seed.",
    examples=(
        "ssdlab run job.fio --drive a.toml --seed 1-5 --output-format json --output a.json",
        "ssdlab run job.fio --drive b.toml --seed 1-5 --output-format json --output b.json",
        "ssdlab compare a.json b.json",
    ),
)
@click.argument(
    "results", nargs=-1, required=True, metavar="A.json B.json…", shell_complete=complete_file
)
@JSON_OPTION
def compare(results: tuple[str, ...], as_json: bool) -> None:
    """Compare results with the first one: mean difference and ratio, with 95 % confidence.

    Jobs of the same name are paired by seed, so run both sides with several seeds.
    """
    with loaded(results) as found:
        comparison = compare_results(found)
    if as_json:
        print_json(comparison.to_dict())
        return
    _print(comparison)


def _print(comparison: Comparison) -> None:
    for arm in comparison.arms[1:]:
        print_text(f"{arm} compared with {comparison.arms[0]}")
        rows = [_cells(row) for row in comparison.rows if row.arm == arm]
        headings = ("job", "figure", "baseline", "here", "difference", "ratio", "95 %", "seeds")
        print_table(headings, rows, right=(2, 3, 4, 5, 6, 7))
        print_text("")
    for remark in comparison.remarks:
        print_text(remark)


def _cells(row: Row) -> tuple[str, ...]:
    low_high = row.ratio_interval
    return (
        row.job,
        f"{row.metric.label}",
        row.metric.show(row.baseline),
        row.metric.show(row.value),
        row.metric.show_difference(row.difference),
        "" if row.ratio is None else f"{row.ratio:.3f}",
        "" if low_high is None else f"{low_high[0]:.3f} … {low_high[1]:.3f}",
        str(row.pairs),
    )
