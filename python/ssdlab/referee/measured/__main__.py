"""``python -m ssdlab.referee.measured``: three measured drives replayed, judged, shown as tables.

What has run is kept in the folder, so an interrupted replay goes on. The exit code is 1 where what
is asked of the predictions is not met.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from ssdlab.experiment.kept import Figures, performed
from ssdlab.experiment.parallel import Task
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.referee.measured import judge, rows, table, transient
from ssdlab.referee.measured.judge import JudgedFigure
from ssdlab.referee.measured.replay import Replay
from ssdlab.study.twin.patterns import UNIFORM

_PARTS = 16
"""Slices of four dies: within half a per cent of eight, and twice as fast."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where all is met, 1 where not, 2 for what the user can mend."""
    try:
        options = _options(arguments)
        Path(options.output).mkdir(parents=True, exist_ok=True)
        return _replayed(options)
    except (SsdlabError, OSError) as error:
        print(f"ssdlab.referee.measured: {error}", file=sys.stderr)
        return 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ssdlab.referee.measured", description=__doc__)
    parser.add_argument(
        "--drives",
        default=",".join(rows.DRIVES),
        help="replay only these profiles, separated by commas",
    )
    parser.add_argument(
        "--scale", type=int, default=_PARTS, help="run on 1/SCALE of each drive's dies"
    )
    parser.add_argument(
        "--patterns", default="", help="replay only these patterns, separated by commas"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="write only this share of what was written, as a trial",
    )
    parser.add_argument("--no-latency", action="store_true", help="skip the latencies")
    parser.add_argument("-o", "--output", required=True, help="keep the results in this folder")
    options = parser.parse_args(arguments)
    _check(options)
    return options


def _check(options: argparse.Namespace) -> None:
    """Refuse what names nothing that was measured, and slices and shares that are none."""
    _among("--drives", options.drives.split(","), rows.DRIVES)
    measured = {row.pattern for drive in rows.DRIVES for row in rows.rows(drive)}
    _among("--patterns", [each for each in options.patterns.split(",") if each], sorted(measured))
    if options.scale < 1:
        raise SsdlabError(f"--scale {options.scale}: must be a whole number from 1")
    if not 0 < options.share <= 1:
        raise SsdlabError(f"--share {options.share}: must be above 0, and 1 at most")


def _among(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for each in given:
        if each not in known:
            message = f"{option} {each}: was not measured"
            raise SsdlabError(f"{message}\nthese were: {', '.join(known)}")


def _replayed(options: argparse.Namespace) -> int:
    drives = options.drives.split(",")
    replay = Replay(Path(options.output), options.scale, options.share)
    asked = [row for drive in drives for row in rows.rows(drive) if _is_asked(row, options)]
    done = performed(_pieces(replay, asked))
    rates = [judge.judge_rate(row, done[_name(row)]["rate"]) for row in asked]
    dips = _transients(replay, [row for row in asked if row.pattern == UNIFORM])
    latencies = [] if options.no_latency else _latencies(replay, drives)
    with PendingFile(replay.folder / "measured.md", "-o") as pending:
        pending.write(table.document(rates, dips, latencies))
    print(table.document(rates, dips, latencies))
    failed = judge.failures(rates, dips, latencies)
    print("\n".join(failed) or "all that is asked of the predictions is met")
    return 1 if failed else 0


def _is_asked(row: rows.MeasuredRow, options: argparse.Namespace) -> bool:
    return not options.patterns or row.pattern in options.patterns.split(",")


def _name(row: rows.MeasuredRow) -> str:
    return f"{row.drive}, {row.pattern}"


def _pieces(replay: Replay, asked: Sequence[rows.MeasuredRow]) -> list[tuple[str, Task[Figures]]]:
    return [(_name(row), functools.partial(replay.pattern, row)) for row in asked]


def _transients(replay: Replay, asked: Sequence[rows.MeasuredRow]) -> list[JudgedFigure]:
    pieces = [
        (f"{row.drive}, transient", functools.partial(replay.transient, row)) for row in asked
    ]
    found = performed(pieces)
    return [
        judged
        for row in asked
        for judged in judge.judge_transient(
            rows.transient(row.drive),
            rows.stretch(row.drive, transient.QUARTER),
            rows.stretch(row.drive, transient.HALF),
            capacity_bytes(row.drive),
            found[f"{row.drive}, transient"],
        )
    ]


def _latencies(replay: Replay, drives: Sequence[str]) -> list[JudgedFigure]:
    loads = {drive: (*rows.FITTED_LOADS, rows.HALF_LOADS[drive]) for drive in drives}
    pieces = [
        (f"{drive}, latency", functools.partial(replay.latencies, drive, loads[drive]))
        for drive in drives
    ]
    found = performed(pieces)
    return [
        judged
        for drive in drives
        for load, figures in zip(loads[drive], found[f"{drive}, latency"], strict=True)
        for judged in judge.judge_latency(
            rows.latency(drive, load), figures, load in rows.FITTED_LOADS
        )
    ]


if __name__ == "__main__":
    sys.exit(main())
