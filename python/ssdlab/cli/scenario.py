"""``ssdlab run --scenario``: everyday work in place of a job, on one drive or several."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import filled, is_terminal, note, print_json_text, table_text
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.tasks import carry_out
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile
from ssdlab.study.everyday.catalogue import NAMES, PCMARK, resolve

ScenarioRun = tuple[str, list[dict[str, Any]]]
"""A label, and what came of each scenario."""


def scenario_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that put everyday work in a job's place."""
    function = click.option(
        "--scenario-set",
        "values",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set a scenario parameter, such as state=fragmented; may be repeated.",
    )(function)
    return click.option(
        "--scenario",
        "scenarios",
        multiple=True,
        metavar="NAME[,NAME]",
        help=f"Run everyday work instead of a job: {', '.join(NAMES)}.",
    )(function)


def check_alone(scenarios: Sequence[str], output_format: str, given: Mapping[str, object]) -> None:
    """Refuse what only a job can have.

    Parameters
    ----------
    scenarios
        As ``--scenario`` was given.
    output_format
        ``normal`` and ``json`` are there.
    given
        Every option and argument of a job, by what it is called; empty or False where not given.

    Raises
    ------
    SsdlabError
        One of them was given.
    """
    asked = f"--scenario {','.join(scenarios)}"
    for name, value in given.items():
        if value:
            raise SsdlabError(f"{asked}: {name} belongs to a job, not to a scenario; leave it out")
    if output_format not in ("normal", "json"):
        raise SsdlabError(
            f"{asked}: --output-format {output_format}: the formats are normal and json"
        )


def run_scenarios(
    scenarios: Sequence[str],
    values: Settings,
    requests: Sequence[tuple[str, RunRequest]],
    output_format: str,
    output: str,
    *,
    shows_progress: bool,
) -> int:
    """Run scenarios and write what came of them.

    Parameters
    ----------
    scenarios
        As ``--scenario`` was given.
    values
        What differs from each, by dotted key.
    requests
        A label and a drive in its condition each.
    output_format, output
        ``normal`` or ``json``, and where it goes.

    Returns
    -------
    int
        The exit code.
    """
    names = resolve(scenarios)
    if values and PCMARK in names:
        raise SsdlabError("--scenario-set: pcmark is a job and has no files; leave it out")
    with PendingFile(output) as pending:
        finished, stopped = _perform(names, values, requests, shows_progress)
        if not finished:
            raise Stopped
        _write(finished, output_format, pending)
    code = worst((tell_not_steady(_not_steady(finished)), _tell_failed(finished)))
    if stopped:
        share = f"{len(finished[0][1])} of {len(names)} scenarios"
        note(f"ssdlab: stopped; kept the {share} that had finished on every drive")
        return signals.exit_code()
    return code


def _not_steady(runs: Sequence[ScenarioRun]) -> list[tuple[str, str | None]]:
    return [(label, outcome["not_steady"]) for label, told in runs for outcome in told]


def _tell_failed(runs: Sequence[ScenarioRun]) -> Exit:
    """Say what drives failed; return the exit code."""
    failed = [(label, each) for label, told in runs for each in told if "failure" in each]
    for label, each in failed:
        note(f"ssdlab: {label}, {each['scenario']}: {each['failure']}")
    return Exit.FINDING if failed else Exit.DONE


def _without_failed(runs: Sequence[ScenarioRun]) -> list[ScenarioRun]:
    """Leave out the scenarios that failed on some drive: they cannot stand side by side."""
    failed = {each["scenario"] for _, told in runs for each in told if "failure" in each}
    kept = [
        (label, [each for each in told if each["scenario"] not in failed]) for label, told in runs
    ]
    return [(label, told) for label, told in kept if told]


def _perform(
    names: Sequence[str],
    values: Settings,
    requests: Sequence[tuple[str, RunRequest]],
    shows_progress: bool,
) -> tuple[list[ScenarioRun], bool]:
    """Return every drive with the scenarios that finished on all, and whether some did not."""
    from ssdlab.study.everyday.perform import StartingDrive

    with tempfile.TemporaryDirectory(prefix="ssdlab-scenario-") as folder:
        benches = [
            StartingDrive(request, f"{folder}/{number}.ssd")
            for number, (_, request) in enumerate(requests)
        ]
        tasks = [
            lambda progress, bench=bench, name=name: bench.perform(name, values, progress)
            for bench in benches
            for name in names
        ]
        labels = [f"{label}, {name}" for label, _ in requests for name in names]
        results, _ = carry_out(labels, tasks, shows_progress=shows_progress)
    told = [results[at : at + len(names)] for at in range(0, len(results), len(names))]
    kept = _finished_on_all(told)
    finished = [(label, each) for (label, _), each in zip(requests, kept, strict=True) if each]
    return finished, not all(results)


def _finished_on_all(
    told: Sequence[Sequence[dict[str, Any] | None]],
) -> list[list[dict[str, Any]]]:
    """Return of each drive's outcomes those of the scenarios that finished on every drive."""
    whole = [place for place in range(len(told[0])) if all(each[place] for each in told)]
    return [[outcome for place in whole if (outcome := each[place])] for each in told]


def _write(runs: Sequence[ScenarioRun], output_format: str, pending: PendingFile) -> None:
    if output_format == "json":
        document = json.dumps(_as_data(runs), indent=2, ensure_ascii=False)
        if pending.is_stdout:
            print_json_text(document)
        else:
            pending.write(document + "\n")
    else:
        pending.write(_normal(runs, pending.is_stdout and is_terminal(sys.stdout)))


def _as_data(runs: Sequence[ScenarioRun]) -> dict[str, Any]:
    """Return what programs read: each scenario's outcome, and the weights where PCMark ran."""
    from ssdlab.study.everyday import pcmark

    outcomes = [each for _, told in runs for each in told]
    data: dict[str, Any] = {"version": engine.version(), "scenarios": outcomes}
    if any(each["scenario"] == PCMARK for each in outcomes):
        weights = {each.drive: round(each.value, 4) for each in pcmark.weights()}
        data["pcmark_overall_weight_of_disk"] = weights
    return data


def _normal(runs: Sequence[ScenarioRun], on_terminal: bool) -> str:
    """Return what people read: tables, and what is to be known of them."""
    from ssdlab.study.everyday.tables import pcmark_notes, tables

    runs = _without_failed(runs)
    if not runs:
        return ""
    parts = []
    for table in tables(runs):
        right = range(1, len(table.headings))
        drawn = table_text(table.headings, table.rows, right=right, fold=0, terminal=on_terminal)
        parts.append(f"{table.title}\n{drawn}" if table.title else drawn)
    for label, told in runs:
        if told[0]["conditioned_by"] is not None:
            missed = "NOT STEADY, " if told[0]["not_steady"] else ""
            parts.append(filled(f"{label}: {missed}written before by {told[0]['conditioned_by']}."))
    if any(each["scenario"] == PCMARK for each in runs[0][1]):
        parts.extend(map(filled, pcmark_notes()))
    return "\n\n".join(parts) + "\n"
