"""``ssdlab compare``: runs side by side, paired by seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ssdlab.cli.console import note, print_filled, print_json, print_list, print_table, print_text
from ssdlab.cli.ensemble import MODEL_ERROR_NOTE
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.results import are_pts_results, documents_of, ensembles_in, exit_code_of, loaded
from ssdlab.cli.verb import Verb
from ssdlab.experiment.comparison import ComparedFigure, Comparison
from ssdlab.experiment.comparison import compare as compare_results
from ssdlab.experiment.ensemble import pairing
from ssdlab.experiment.ensemble.document import Arm
from ssdlab.ground import text
from ssdlab.ground.exit_codes import Exit

if TYPE_CHECKING:
    from ssdlab.bench.report.overlay import Overlay

_NARROW = 80
_MOST_OF_LABELS = 30
"""Signs of all drives' names together, from which on they are numbered."""


@click.command(
    cls=Verb,
    short_help="Compare results with the first one, paired by seed.",
    examples=(
        "ssdlab run job.fio --drive a.toml --seed 1-5 --output-format json --output a.json",
        "ssdlab run job.fio --drive b.toml --seed 1-5 --output-format json --output b.json",
        "ssdlab compare a.json b.json",
        "ssdlab run job.fio --drive a.toml --drive b.toml --ensemble 32 --output-format json "
        "--output drawn.json",
        "ssdlab compare drawn.json",
        "ssdlab compare pts-intel-dc-s3500-80gb pts-nvme1n1",
        "ssdlab compare pts-nvme1n1 tkperf.xml",
    ),
)
@click.argument("results", nargs=-1, required=True, metavar="A B…")
@JSON_OPTION
def compare(results: tuple[str, ...], as_json: bool) -> int:
    """Compare results with the first one: mean difference and ratio, with 95 % confidence.

    Jobs of the same name are paired by seed, so run both sides with several seeds.

    Results of `ssdlab run --ensemble` and `ssdlab season --ensemble` are paired by draw, since a
    draw assumes the same on both sides: median and 5 to 95 % of the ratio, and beside it how wide
    the ratio would be if the draws were independent. Run both sides with the same --seed.

    Folders of `ssdlab pts` and XML files of TKperf are compared part by part and cell by cell:
    first the conditions that differ, then figures and ratios. `ssdlab report` draws them in the
    same charts.
    """
    if are_pts_results(results):
        return _compare_pts(results, as_json)
    documents = documents_of(results)
    if arms := ensembles_in(documents):
        _compare_ensembles(arms, as_json)
        return Exit.DONE
    with loaded(documents) as found:
        comparison = compare_results(found)
    if as_json:
        print_json(comparison.to_dict())
    else:
        _print(comparison)
    return exit_code_of(found)


def _compare_pts(results: Sequence[str], as_json: bool) -> Exit:
    from ssdlab.bench.report.overlay import overlay
    from ssdlab.bench.report.reading import not_judged
    from ssdlab.bench.report.sources import read_results

    measured = read_results([Path(result) for result in results])
    found, unread = overlay(measured, pictures=False), not_judged(measured)
    if as_json:
        print_json({**asdict(found), "unread": [each.to_json() for each in unread]})
    else:
        _print_pts(found)
        print_list("not judged:", [each.told() for each in unread])
    return Exit.NOT_JUDGED if unread else Exit.DONE


def _print_pts(found: Overlay) -> None:
    print_text("What differs in the conditions")
    fits = sum(map(len, found.labels)) <= _MOST_OF_LABELS
    names = found.labels if fits else tuple(str(n) for n in range(1, len(found.labels) + 1))
    conditions = found.differing if fits else [("drive", *found.labels), *found.differing]
    _print_conditions(names, conditions)
    for each in found.comparisons:
        print_text("")
        headings = (each.headings[0], *names, *each.headings[1 + len(names) :])
        print_table(headings, each.rows, right=range(1, len(headings)))


def _print_conditions(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table where it is narrow, else the drives of each condition below each other."""
    widths = (max(map(len, column)) for column in zip(("", *names), *rows, strict=True))
    if sum(width + 2 for width in widths) <= _NARROW:
        print_table(("", *names), rows)
        return
    most = max(map(len, names))
    for what, *cells in rows:
        print_filled(what)
        for name, cell in zip(names, cells, strict=True):
            print_filled(cell or text.NOTHING, f"  {name:<{most}}  ")


def _compare_ensembles(arms: Sequence[Arm], as_json: bool) -> None:
    found = pairing.compare(arms)
    if as_json:
        print_json(found.to_dict())
        return
    for arm in found.arms[1:]:
        print_text(f"{arm} compared with {found.arms[0]}, draw by draw")
        rows = [pairing.cells(row) for row in found.rows if row.arm == arm]
        print_table(pairing.HEADINGS, rows, right=range(2, len(pairing.HEADINGS)))
        print_text("")
    for remark in found.remarks:
        print_text(remark)
    note(MODEL_ERROR_NOTE)


def _print(comparison: Comparison) -> None:
    before = [*comparison.failures, *comparison.said]
    for each in before:
        print_filled(each)
    if before:
        print_text("")
    for arm in comparison.arms[1:]:
        print_text(f"{arm} compared with {comparison.arms[0]}")
        rows = [_cells(row) for row in comparison.rows if row.arm == arm]
        headings = ("job", "figure", "baseline", "here", "difference", "ratio", "95 %", "seeds")
        print_table(headings, rows, right=(2, 3, 4, 5, 6, 7))
        print_text("")
    for remark in comparison.remarks:
        print_text(remark)
    print_list("not judged:", [each.told() for each in comparison.unread])


def _cells(row: ComparedFigure) -> tuple[str, ...]:
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
