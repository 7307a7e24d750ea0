"""``ssdlab run --ensemble N``: figures with the interval that a profile's assumptions leave.

What draws and judges is loaded when an ensemble is run: every `ssdlab run` loads this module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab.cli.console import is_terminal, list_text, note, table_text
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.formats import write_document
from ssdlab.cli.tasks import carry_out
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment.ensemble.model_error import LEFT_OUT, MODEL_ERROR
from ssdlab.ground import signals, text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import PendingFile

if TYPE_CHECKING:
    from ssdlab.experiment.ensemble import document
    from ssdlab.experiment.ensemble.runs import Ensemble, RunOrReason
    from ssdlab.experiment.ensemble.summary import DrawnFigure

_LEAST, _MOST = 8, 4096
MODEL_ERROR_NOTE = (
    f"ssdlab: intervals of rates and write amplification hold the model's own error "
    f"({MODEL_ERROR:.1%}, docs/explanation/validation.md, Measured drives); {LEFT_OUT}"
).replace("%,", " %,")
_HEADINGS = ("drive", "job", "figure", "profile", "median", "5 to 95 %", "hangs on")


def parse_count(value: str) -> int:
    """Read how many drives are drawn."""
    if not value.isascii() or not value.isdecimal() or not _LEAST <= int(value) <= _MOST:
        raise SsdlabError(f"--ensemble {value}: must be a whole number from {_LEAST} to {_MOST}")
    return int(value)


def run_ensembles(
    requests: Sequence[RunRequest],
    count: int,
    output_format: str,
    output: str,
    *,
    shows_progress: bool,
) -> int:
    """Run a job on each drive and on as many as are drawn of it; return the exit code."""
    if output_format not in ("normal", "json"):
        raise SsdlabError(f"--output-format {output_format}: an ensemble prints normal or json")
    from ssdlab.experiment.ensemble.runs import ensemble

    drives = [ensemble(request, count) for request in requests]
    tasks = [task for each in drives for task in each.tasks()]
    names = [name for each in drives for name in names_of(each)]
    with PendingFile(output) as pending:
        outcomes, stopped = carry_out(names, tasks, shows_progress=shows_progress)
        parts = _parts(drives, outcomes)
        found = [(each, part, each.figures(part)) for each, part in zip(drives, parts, strict=True)]
        check_any(found, stopped)
        on_terminal = pending.is_stdout and is_terminal(sys.stdout)
        written = _json(found, count) if output_format == "json" else _normal(found, on_terminal)
        write_document(written, output_format, pending)
    tell(found, stopped)
    code = _tell_not_steady(drives, parts)
    return signals.exit_code() if stopped else code


def _tell_not_steady(
    drives: Sequence[Ensemble], parts: Sequence[Sequence[RunOrReason | None]]
) -> Exit:
    """Say which profiles, and how many of their draws, are not in the condition asked for."""
    reasons = []
    for each, (point, *draws) in zip(drives, parts, strict=True):
        short = sum(isinstance(draw, Result) and draw.not_steady is not None for draw in draws)
        if short:
            note(f"ssdlab: {each.request.drive}: NOT STEADY: {short} of {len(draws)} draws")
        reasons.append((each.request.drive, getattr(point, "not_steady", None)))
    return tell_not_steady(reasons)


def names_of(drives: Ensemble) -> list[str]:
    """Return what progress calls the profile and its draws."""
    name = drives.request.drive
    return [name, *(f"{name}, draw {number}" for number in range(1, len(drives.requests) + 1))]


def _parts(
    drives: Sequence[Ensemble], outcomes: Sequence[RunOrReason | None]
) -> list[Sequence[RunOrReason | None]]:
    each = len(outcomes) // len(drives)
    return [outcomes[number * each : (number + 1) * each] for number in range(len(drives))]


def check_any(found: document.DrawnDrives, stopped: bool) -> None:
    """Refuse to show nothing.

    Raises
    ------
    SsdlabError
        No drive that was drawn can work.
    Stopped
        No draw had ended.
    """
    if any(figures for _, _, figures in found):
        return
    if stopped:
        raise Stopped
    from ssdlab.experiment.ensemble import document

    reasons = [reason for _, outcomes, _ in found for reason in document.left_out(outcomes)]
    said = reasons[0] if reasons else "no run ended"
    raise SsdlabError(f"--ensemble: no drive that was drawn can work; the first said:\n{said}")


def _normal(found: document.DrawnDrives, on_terminal: bool) -> str:
    if on_terminal:
        return "\n".join(_narrow(found)) + "\n"
    rows = [
        (drives.request.drive, figure.job, *cells(drives, figure))
        for drives, _, figures in found
        for figure in figures
    ]
    return table_text(_HEADINGS, rows, right=(3, 4, 5)) + "\n"


def _narrow(found: document.DrawnDrives) -> Iterator[str]:
    """Give each drive and job a table of its own, so that 80 columns do."""
    for drives, _, figures in found:
        for job in dict.fromkeys(figure.job for figure in figures):
            yield f"== {drives.request.drive}: {job}"
            rows = [cells(drives, figure) for figure in figures if figure.job == job]
            yield figures_text(rows, terminal=True)


def figures_text(rows: Sequence[Sequence[str]], *, terminal: bool) -> str:
    """Return figures as `cells` gives them; on a terminal, what they hang on stands below."""
    headings = _HEADINGS[2:]
    if not terminal:
        return table_text(headings, rows, right=(1, 2, 3))
    short = [row[:-1] for row in rows]
    table = table_text(headings[:-1], short, right=(1, 2, 3), terminal=True)
    hang_on = [f"{row[0]}: {row[-1]}" for row in rows if row[-1]]
    return "\n".join([table, list_text("They hang on:", hang_on)] if hang_on else [table])


def cells(drives: Ensemble, figure: DrawnFigure) -> tuple[str, ...]:
    """Return a figure's name, the profile's value, median, interval, and what it hangs on."""
    names = {each.key: each.upwards() for each in drives.uncertain}
    show = figure.metric.show
    return (
        figure.metric.label,
        show(figure.point),
        show(figure.median),
        f"{show(figure.low)} … {show(figure.high)}",
        ", ".join(f"{names[key]} {r:+.2f}" for key, r in figure.hangs_on().items()),
    )


def _json(found: document.DrawnDrives, count: int) -> str:
    from ssdlab.experiment.ensemble import document

    return json.dumps(document.written(found, count), indent=2, ensure_ascii=False)


def tell(found: document.DrawnDrives, stopped: bool) -> None:
    """Say what the figures stand for, and what is missing."""
    from ssdlab.experiment.ensemble import document

    for each, outcomes, _ in found:
        left_out = document.left_out(outcomes)
        ended = sum(outcome is not None for outcome in outcomes[1:]) - len(left_out)
        note(
            f"ssdlab: {each.request.drive}: {text.count(ended)} draws of "
            f"{len(each.uncertain)} assumed numbers; what was fitted is not drawn"
        )
        if left_out:
            note(f"ssdlab: {len(left_out)} draws make no drive that works, such as:\n{left_out[0]}")
    note(MODEL_ERROR_NOTE)
    if stopped:
        note("ssdlab: stopped; the figures cover the draws that had finished")
