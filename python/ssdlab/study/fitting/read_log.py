"""How much a rate varies over time, from the logs that fio writes beside its JSON.

    write_iops_log, write_bw_log    NAME_iops.1.log, NAME_bw.1.log
    a line                          ms, value, direction, block size[, offset[, priority[, issue]]]

The spread of a rate is the relative standard deviation of its means over a second each, over the
second half of the log, where the beginning has no part in it. With `log_avg_msec` a line is the
mean of an interval; without it a line is a request, and the lines of each second are counted. Logs
of several workers are added up. Left out: logs of latency, whose means the JSON has; logs that are
shared by jobs whose numbers the JSON does not tell; logs in another folder than the JSON.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from statistics import fmean, stdev

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import RESULT_BYTES, InputError, read_text

_KINDS = {"write_iops_log": "iops", "write_bw_log": "bw"}
"""The first that is there is read."""
_DIRECTIONS = ("read", "write", "trim")
_SECOND_MS = 1000
_MOST_MS = 30 * 24 * 3600 * _SECOND_MS
_LATER_COLUMNS = ("block size", "offset", "priority", "issue time")
_MOST_COLUMNS = 3 + len(_LATER_COLUMNS)
_WHOLE = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
_DIGITS = re.compile(r"\d{1,20}")
_PLAIN = re.compile(r"\d{1,20}(\.\d{1,20})?")
_FEWEST = 5
"""Seconds that a spread is taken from."""
_LEAST_SPREAD, _MOST_SPREAD = 0.005, 1.0
_REMEDY = "give the log as fio wrote it, or take it away: the spread is then that of no log"

Rates = dict[int, float]
"""By interval; in the unit of the log."""


def spreads_of(path: Path, jobs: Sequence[Mapping[str, str]], number: int) -> dict[str, float]:
    """Return the spread of a job's rate by direction; empty where no log tells it.

    Parameters
    ----------
    path
        The JSON, beside which logs are looked for.
    jobs
        The options of all of its jobs, global ones among them.
    number
        Which of them, from 0.

    Returns
    -------
    dict
        Relative standard deviations, from 0.5 % to 100 %.

    Raises
    ------
    SsdlabError
        A log is damaged; file, line and value are named.
    """
    for option, kind in _KINDS.items():
        files = _files(path, option, kind, jobs, number)
        if files:
            return _spreads(files, _averaged_ms(path, jobs[number]))
    return {}


def _files(
    path: Path, option: str, kind: str, jobs: Sequence[Mapping[str, str]], number: int
) -> list[Path]:
    """Return the logs of a job: all of a name that is its own, else that of its number."""
    if option not in jobs[number]:
        return []
    prefix = _prefix(option, jobs[number])
    shared = [each for each in jobs if option in each and _prefix(option, each) == prefix]
    if len(shared) > 1 and any("group_reporting" in each for each in shared):
        return []
    numbers = str(number + 1) if len(shared) > 1 else r"\d{1,6}"
    wanted = re.compile(rf"{re.escape(prefix)}_{kind}\.(?:{numbers}\.)?log")
    try:
        beside = [each for each in path.parent.iterdir() if wanted.fullmatch(each.name)]
        return sorted(each for each in beside if each.is_file())
    except OSError:
        return []


def _prefix(option: str, options: Mapping[str, str]) -> str:
    """Return how a job's logs are called, without a folder; fio takes the job's name for none."""
    return PurePath(options[option] or options.get("name", "")).name


def _averaged_ms(path: Path, options: Mapping[str, str]) -> int:
    """Return the interval of each line; 0 where a line is a request."""
    value = options.get("log_avg_msec") or "0"
    found = re.fullmatch(r"(\d{1,9})(ms|s)?", value)
    if not found:
        raise SsdlabError(f"{path}: log_avg_msec {value}: must be milliseconds\n{_REMEDY}")
    return int(found[1]) * (_SECOND_MS if found[2] == "s" else 1)


def _spreads(files: Sequence[Path], averaged_ms: int) -> dict[str, float]:
    interval_ms = max(averaged_ms, _SECOND_MS)
    read = [_rates(each, interval_ms, averaged=averaged_ms > 0) for each in files]
    found = {}
    for direction in _DIRECTIONS:
        several = [each[direction] for each in read if direction in each]
        spread = _spread(_added(several)) if several else None
        if spread is not None:
            found[direction] = spread
    return found


def _rates(path: Path, interval_ms: int, *, averaged: bool) -> dict[str, Rates]:
    """Return a log's rates by direction and interval."""
    values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for milliseconds, value, direction in _lines(path):
        values[direction][milliseconds // interval_ms].append(value)
    if averaged:
        return {
            direction: {place: fmean(each) for place, each in of.items()}
            for direction, of in values.items()
        }
    last = max((max(of) for of in values.values()), default=0)
    return {
        direction: {place: float(len(of.get(place, ()))) for place in range(last + 1)}
        for direction, of in values.items()
    }


def _added(several: Sequence[Rates]) -> Rates:
    """Add up the rates of workers in the intervals that all of them have."""
    common = set.intersection(*(set(each) for each in several))
    return {place: sum(each[place] for each in several) for place in common}


def _spread(rates: Rates) -> float | None:
    """Return the spread of the second half; None where it is too short, or nothing was done.

    The last interval is not whole.
    """
    places = sorted(rates)
    if not places:
        return None
    half = [rates[place] for place in places[:-1] if place >= places[-1] / 2]
    if len(half) < _FEWEST or not fmean(half) > 0:
        return None
    return min(max(stdev(half) / fmean(half), _LEAST_SPREAD), _MOST_SPREAD)


def _lines(path: Path) -> Iterator[tuple[int, float, str]]:
    """Give each line's milliseconds, value and direction."""
    try:
        text = read_text(path, RESULT_BYTES)
    except (FileNotFoundError, InputError) as error:
        raise SsdlabError(f"{path}: cannot be read: {error}\n{_REMEDY}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _line(f"{path}:{number}", line.split(","))


def _line(place: str, cells: Sequence[str]) -> tuple[int, float, str]:
    if len(cells) < 4:
        raise SsdlabError(
            f"{place}: {len(cells)} values, not ms, value, direction, size\n{_REMEDY}"
        )
    if len(cells) > _MOST_COLUMNS:
        raise SsdlabError(
            f"{place}: {len(cells)} values; fio 3.42 writes at most {_MOST_COLUMNS}\n{_REMEDY}"
        )
    for name, cell in zip(_LATER_COLUMNS, cells[3:], strict=False):
        if not _WHOLE.fullmatch(cell.strip()):
            shown = cell.strip()[:40] or "(empty)"
            raise SsdlabError(f"{place}: {name} {shown}: must be a whole number\n{_REMEDY}")
    milliseconds = _number(place, "ms", cells[0], _MOST_MS)
    direction = _number(place, "direction", cells[2], len(_DIRECTIONS) - 1)
    value = _number(place, "value", cells[1], form=_PLAIN)
    return int(milliseconds), value, _DIRECTIONS[int(direction)]


def _number(
    place: str, what: str, text: str, most: float = 1e15, form: re.Pattern[str] = _DIGITS
) -> float:
    number = float(text) if form.fullmatch(text.strip()) else math.nan
    if not 0 <= number <= most:
        shown = " ".join(text.split())[:40] or "(empty)"
        raise SsdlabError(
            f"{place}: {what} {shown}: must be a number from 0 to {most:g}\n{_REMEDY}"
        )
    return number
