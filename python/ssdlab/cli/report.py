"""``ssdlab report``: a page from results, of the PTS, from a sweep, or of a drive in a folder."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ssdlab.cli.console import note, print_json
from ssdlab.cli.json_option import JSON_OPTION, check_json_alone
from ssdlab.cli.results import (
    are_pts_results,
    documents_of,
    ensembles_in,
    is_sweep,
    kept_drive_in,
    loaded,
    tell_unread,
    tell_what_is_wrong,
    unread_of,
)
from ssdlab.cli.verb import Verb
from ssdlab.engine.result import Result
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import is_stdout
from ssdlab.ground.unread import Unread
from ssdlab.report import write_report
from ssdlab.report.opening import Opener
from ssdlab.report.printing import check_ending


@click.command(
    cls=Verb,
    short_help="Make a self-contained HTML page or a PDF from results.",
    examples=(
        "ssdlab run job.fio --drive theory --output-format json+ --output result.json",
        "ssdlab report result.json -o report.html",
        "ssdlab report pts-intel-dc-s3500-80gb -o report.pdf",
        "ssdlab report study -o study.html",
        "ssdlab report my-drive -o my-drive.html",
    ),
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT…")
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Write the report to FILE; a name that ends in .pdf gives a PDF.",
)
@click.option("--title", help="Set the page's heading.")
@JSON_OPTION
def report(results: tuple[str, ...], output: str, title: str | None, as_json: bool) -> int:
    """Make a self-contained HTML page from results, or a PDF, which Chromium prints.

    RESULT is a result file of ssdlab or fio; the two can stand on one page. Latency distributions
    need results in --output-format json+.

    RESULT can also be a folder of `ssdlab pts`, even while the test is running, or a result file of
    TKperf (XML). The report of several of these first lists how their conditions differ and draws
    their figures together.

    Results of --ensemble get a page of their own: each figure's median and interval, what it hangs
    on, and with several of them the ratio to the first, draw by draw.

    RESULT can also be the folder of `ssdlab sweep`, even while it runs: main effects, a Pareto
    front, and parallel coordinates that can be brushed. Of a drive that `ssdlab serve` keeps in a
    folder the page has what was asked of it, what its flash did, its health and its wear.
    """
    check_ending(output)
    check_json_alone(as_json, output)
    unread: Sequence[Unread] = ()
    failures: list[str] = []
    if is_sweep(results[0]):
        if len(results) > 1:
            raise SsdlabError(
                f"{results[1]}: a sweep has a page of its own\nname the folder of one sweep"
            )
        from ssdlab.study.sweeps.report import write_sweep_report

        write_sweep_report(results[0], output, title=title)
    elif drive := kept_drive_in(results):
        _report_drive(drive, output, title)
    elif are_pts_results(results):
        from ssdlab.bench.report import write_pts_report

        unread = write_pts_report(results, output, title=title)
        tell_unread(unread)
    else:
        found = _report_runs(results, output, title)
        tell_what_is_wrong(found)
        unread = [one for each in found for one in unread_of(each)]
        failures = [f"{each.name}: {line}" for each in found for line in each.failures]
    if as_json:
        told = [each.to_json() for each in unread]
        print_json({"written": output, "failures": failures, "unread": told})
    elif not is_stdout(output):
        note(f"written: {output}")
    return worst([Exit.FINDING] * bool(failures) + [Exit.NOT_JUDGED] * bool(unread))


def _report_drive(folder: str, output: str, title: str | None) -> None:
    """Write the page of a drive in a folder; of one that is served as it is now."""
    from ssdlab.cli.served_note import shown_now, smart_document, tell_if_served
    from ssdlab.machine.health.smart_text import Parts, smart_text
    from ssdlab.report.kept_drive import write_drive_report

    shown = shown_now(folder)
    tell_if_served(folder)
    parts = Parts(information=True, health=True, attributes=True)
    smart = smart_text(smart_document(folder, shown), parts)
    write_drive_report(folder, shown, smart, output, title=title)


def _report_runs(results: Sequence[str], output: str, title: str | None) -> Sequence[Result]:
    """Write the page of runs, or of ensembles; return the runs."""
    documents = documents_of(results)
    if arms := ensembles_in(documents):
        from ssdlab.report.ensemble import write_ensemble_report

        write_ensemble_report(arms, output, title=title)
        return ()
    with loaded(documents) as found:
        write_report(found, output, title=title, opening=_opening_of(found))
    return found


def _opening_of(results: Sequence[Result]) -> Opener | None:
    """Return what the page of an experiment that ships with the package opens with."""
    if {str(result.experiment.get("name", "")) for result in results} != {"demo"}:
        return None
    from ssdlab.study.demo.opening import opening

    return opening
