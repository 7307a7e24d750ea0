"""The summary table: of a page, and of a result in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ssdlab.engine.result import Result
from ssdlab.experiment.comparison import mean_interval
from ssdlab.ground import text
from ssdlab.report.runs import Run, collect

_ALWAYS = ("job", "run", "IOPS", "throughput", "mean", "p50", "p99", "p99.9", "WA")


def _iops(run: Run, direction: str) -> str:
    figures = [job.known_iops(direction) for job in run.jobs]
    known = [each for each in figures if each is not None]
    if len(known) < len(figures):
        return text.NOTHING
    mean, interval = mean_interval(known)
    if interval is None:
        return text.count(mean)
    return f"{text.count(mean)} ± {text.significant(interval[1] - mean, 2)}"


def _latency(run: Run, direction: str, percent: float) -> str:
    return text.duration(run.mean(lambda job: job.percentile_ns(percent, direction)))


def _row(run: Run, direction: str) -> list[str]:
    several = len(run.first.directions) > 1
    return [
        f"{run.name} ({direction}s)" if several else run.name,
        run.label,
        _iops(run, direction),
        text.rate(run.mean(lambda job: job.known_bandwidth(direction))),
        text.duration(run.mean(lambda job: job.mean_ns(direction))),
        *(_latency(run, direction, percent) for percent in (50.0, 99.0, 99.9)),
        text.ratio(run.mean(lambda job: job.write_amplification)),
    ]


def _commits(run: Run) -> list[str]:
    """Return the row of what flushes took."""
    return [
        f"{run.name} (commits)",
        run.label,
        text.count(run.mean(lambda job: job.commits_per_s)),
        "",
        text.duration(run.mean(lambda job: job.mean_ns("sync"))),
        *(_latency(run, "sync", percent) for percent in (50.0, 99.0, 99.9)),
        "",
    ]


def _rows(run: Run) -> list[list[str]]:
    # A job that did nothing has a row without figures.
    rows = [_row(run, direction) for direction in run.first.directions or ("read",)]
    return [*rows, _commits(run)] if run.first.commits else rows


def _extras(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """Columns that say something only where runs differ in them: drive and number of seeds."""
    drives = [run.first.profile or "measured by fio" for run in runs]
    seeds = [str(len(run.jobs)) for run in runs]
    extras = [("drive", drives)] if len(set(drives)) > 1 else []
    return [*extras, ("seeds", seeds)] if set(seeds) != {"1"} else extras


def summary_table(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a row per run and direction, as text."""
    extras = _extras(runs)
    headings = [*_ALWAYS, *(heading for heading, _ in extras)]
    rows = [
        [*row, *(cells[place] for _, cells in extras)]
        for place, run in enumerate(runs)
        for row in _rows(run)
    ]
    return headings, rows


def summary_html(results: Sequence[Result]) -> str:
    """Return the summary table as plain HTML."""
    headings, rows = summary_table(collect(results))
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in _not_steady(results))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _not_steady(results: Sequence[Result]) -> list[str]:
    told = ((result.name, result.not_steady) for result in results)
    return [f"{name}: NOT STEADY: {reason}" for name, reason in told if reason]


Result.drawn = staticmethod(lambda result: summary_html([result]))
