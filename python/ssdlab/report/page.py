"""The page: results in, one self-contained HTML document out. Nothing is loaded from a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.engine.result import Result
from ssdlab.ground import pages, text
from ssdlab.ground.errors import SsdlabError
from ssdlab.report import charts, conditions, limits
from ssdlab.report.notebook import summary_table
from ssdlab.report.opening import Opener, Opening
from ssdlab.report.parameters import KINDS, drives_of, kinds_in_words
from ssdlab.report.runs import Run, by_job, collect
from ssdlab.report.stack import HEADINGS, stacks_of
from ssdlab.report.troubles import troubles_of

_TITLE = "What the drive does"


def _opening(runs: Sequence[Run]) -> Opening:
    drives = ", ".join(dict.fromkeys(run.first.profile or "fio on a real drive" for run in runs))
    return Opening(_TITLE, f"Drives: {drives}.", charts.overview(runs))


def _per_job(runs: Sequence[Run]) -> list[dict[str, Any]]:
    colours = charts.colours_of(runs)
    lots = [lot for name, members in by_job(runs).items() for lot in _lots(name, members)]
    return [
        {
            "name": name,
            "time": charts.over_time(f"{order}", members, colours),
            "latency": charts.latencies(f"{order}", members, colours),
            "commit": charts.commits(f"{order}", members, colours),
        }
        for order, (name, members) in enumerate(lots)
    ]


def _lots(name: str, runs: Sequence[Run]) -> list[tuple[str, Sequence[Run]]]:
    """As many runs as a chart can hold, chart by chart; several charts are numbered."""
    most = charts.MOST_LINES // max(1, *(len(run.first.directions) for run in runs))
    lots = [runs[at : at + most] for at in range(0, len(runs), most)]
    if len(lots) == 1:
        return [(name, runs)]
    return [(f"{name} ({number} of {len(lots)})", lot) for number, lot in enumerate(lots, 1)]


def _timelines(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """One where several jobs ran together, since they share the drive and its timeline."""
    drawn: list[tuple[str, str]] = []
    shown: list[Any] = []
    for order, run in enumerate(runs):
        operations = run.lab.get("timeline")
        if operations and (run.label, operations) not in shown:
            shown.append((run.label, operations))
            if drawing := charts.timeline(run, f"timeline-{order}"):
                drawn.append((run.title, drawing))
    return drawn


def _most_worn(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """One histogram a drive: that of its most worn run."""
    worst: dict[str | None, Run] = {}
    for run in runs:
        if run.lab.get("wear"):
            known = worst.setdefault(run.first.profile, run)
            if _mean_erases(run) > _mean_erases(known):
                worst[run.first.profile] = run
    return [
        (run.title, drawing)
        for order, run in enumerate(worst.values())
        if (drawing := charts.wear(run, f"wear-{order}"))
    ]


def _mean_erases(run: Run) -> float:
    return float(run.lab["wear"]["erase_counts"]["mean"])


def _wear_rows(runs: Sequence[Run]) -> list[list[str]]:
    rows = []
    for run in runs:
        wear: Mapping[str, Any] = run.lab.get("wear") or {}
        if not wear:
            continue
        counts, rated = wear["erase_counts"], wear.get("rated_cycles")
        used = counts["mean"] / rated if rated else None
        erases = [text.significant(counts[key]) for key in ("min", "mean", "max")]
        rows.append(
            [run.title, *erases, text.count(rated), text.percent(used, 2), str(wear["bad_blocks"])]
        )
    return rows


def _clocks(runs: Sequence[Run]) -> str:
    """Say in whose time latencies are."""
    made = {bool(run.lab) for run in runs}
    if made == {True, False}:
        return "in virtual time for simulated drives and in real time for those that fio measured"
    return "in virtual time" if True in made else "in real time"


def _footer(runs: Sequence[Run]) -> list[tuple[str, str]]:
    drive = next((run.first.profile for run in runs if run.first.profile), "intel-dc-s3500-80gb")
    return [
        ("your own job, a fio job file", f"ssdlab run your-job.fio --drive {drive} --state steady"),
        (
            f"your own drive, a TOML file such as profiles/{drive}.toml in the sources",
            "ssdlab run your-job.fio --drive your-drive.toml --state steady",
        ),
        (
            "your own policy, beginning with the example in the sources",
            "cargo run --release --manifest-path examples/victim-policy/Cargo.toml",
        ),
    ]


def build_html(
    results: Sequence[Result], title: str | None = None, opening: Opener | None = None
) -> str:
    """Return the page as text.

    Parameters
    ----------
    results
        In the order in which they shall appear.
    title
        The heading; by default that of the opening.
    opening
        Makes what the page opens with; without it, that is an overview of the runs.

    Raises
    ------
    SsdlabError
        There is nothing to report.
    """
    runs = collect(results)
    if not runs:
        names = ", ".join(result.name for result in results) or "none given"
        raise SsdlabError(f"no jobs in the results: {names}")
    opens = _opening(runs) if opening is None else opening(results)
    return pages.render(
        "ssdlab.report",
        css=pages.embedded("ssdlab.report", "page.css"),
        title=title or opens.title,
        opening=opens,
        versions=", ".join(
            dict.fromkeys(str(run.lab["version"]) for run in runs if run.lab.get("version"))
        ),
        troubles=troubles_of(results),
        summary=summary_table(runs),
        clocks=_clocks(runs),
        condition_headings=conditions.HEADINGS,
        condition_rows=conditions.rows_of(runs),
        jobs=_per_job(runs),
        utilization=charts.where_the_time_went(runs),
        timelines=_timelines(runs),
        stack_headings=HEADINGS,
        stacks=stacks_of(runs),
        wear_rows=_wear_rows(runs),
        wear_charts=_most_worn(runs),
        drives=drives_of(runs),
        kinds=KINDS,
        kinds_in_words=kinds_in_words,
        limits=[*limits.of_these(runs), *limits.ALWAYS],
        footer=_footer(runs),
    )
