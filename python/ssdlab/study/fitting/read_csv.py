"""Measurements from a table: a line each, with its job, the drive's condition, a figure, its value.

    job,condition,metric,value,spread
    --rw=randread --bs=4k --iodepth=1 --runtime=2 --time_based,steady,mean_us,140,
    write.fio,steady,iops,9100,0.01

A job is fio's options, or a job file beside the table. Optional are the columns `spread` (relative
standard deviation, 2 % where it is empty), `settings` (``key=value key=value``, what was set on the
drive for it) and `span` (the share of the drive that was used before). Left out: job files with
several jobs, whose figures could not be told apart by a line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from ssdlab import engine
from ssdlab.engine import conditions
from ssdlab.ground import text
from ssdlab.ground.csv_table import number, rows
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text
from ssdlab.study.fitting.measurement import METRICS, SPREAD, MeasuredLoad, Measurement

_NEEDED = ("job", "condition", "metric", "value")
_OPTIONAL = ("spread", "settings", "span")
_MOST_SPREAD = 1.0


def read_csv(path: Path) -> list[Measurement]:
    """Read a table of measurements.

    Raises
    ------
    SsdlabError
        Something in it is wrong; file, line and value are named.
    """
    return [
        _measurement(path.parent, place, row)
        for place, row in rows(path, _NEEDED, _OPTIONAL, "measurements")
    ]


def _measurement(folder: Path, place: str, row: Mapping[str, str]) -> Measurement:
    return Measurement(
        _load(folder, place, row),
        _metric(place, row["metric"]),
        number(place, "value", row["value"]),
        number(place, "spread", row["spread"] or str(SPREAD), _MOST_SPREAD),
        place,
    )


def _load(folder: Path, place: str, row: Mapping[str, str]) -> MeasuredLoad:
    job, name, flags = _job(folder, place, row["job"])
    try:
        checked = engine.check_job(job, name, flags)
        settings = [text.parse_setting(each, "settings") for each in shlex.split(row["settings"])]
        span = text.parse_span(row["span"] or None, "span")
    except (SsdlabError, ValueError) as error:
        raise SsdlabError(f"{place}: {error}") from None
    if len(checked["jobs"]) != 1:
        raise SsdlabError(
            f"{place}: {row['job']}: has {len(checked['jobs'])} jobs\n"
            "name a file with one job, so that it is clear which one was measured"
        )
    return MeasuredLoad(
        flags, condition_of(row["condition"], place), job, name, tuple(settings), span
    )


def _job(folder: Path, place: str, job: str) -> tuple[str | None, str, tuple[str, ...]]:
    """Return a job file's text, its name, and flags; the text is None where there are flags."""
    if job.startswith("-"):
        try:
            return None, "job", tuple(shlex.split(job))
        except ValueError as error:
            raise SsdlabError(f"{place}: job {job}: {error}\nclose the quotation") from None
    try:
        return read_text(folder / job), job, ()
    except FileNotFoundError:
        said = "no such job file"
    except InputError as error:
        said = str(error)
    raise SsdlabError(
        f"{place}: job {job or '(empty)'}: {said}\n"
        "give fio's options, such as --rw=randread --bs=4k, or a job file beside the table"
    )


def condition_of(name: str, place: str) -> str | None:
    """Read a condition; fresh, or nothing, is None.

    Raises
    ------
    SsdlabError
        There is no such condition.
    """
    if name not in ("", *conditions.CHOICES):
        raise SsdlabError(
            f"{place}: condition {name}: there is none of that name\n"
            f"give one of {', '.join(conditions.CHOICES)}, or leave it empty for fresh"
        )
    return None if name in ("", "fresh") else conditions.named(name)


def _metric(place: str, name: str) -> str:
    if name not in METRICS:
        raise SsdlabError(
            f"{place}: metric {name or '(empty)'}: there is none of that name\n"
            f"give one of {', '.join(METRICS)}"
        )
    return name
