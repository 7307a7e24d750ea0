"""Whether the figures of a result are figures: asked when a file is read, and told with the place.

Looked at is what everything else computes with. A figure that is missing is no error: fio leaves
out what it did not measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

_DIRECTIONS = ("read", "write", "trim")
_RATES = ("total_ios", "io_bytes", "iops", "bw", "bw_bytes", "runtime")
_LATENCIES = ("slat_ns", "clat_ns", "lat_ns")
_MOMENTS = ("N", "min", "max", "mean", "stddev")
_LAB = ("seed", "write_amplification")
_SHOWN_SIGNS = 40


def wrong_figure(document: Mapping[str, Any]) -> str | None:
    """Name the first figure that is none, with its place and value; None where all are.

    Examples
    --------
    >>> wrong_figure({"jobs": [{"jobname": "a", "write": {"iops": float("nan")}}]})
    'jobs[0] (a): write.iops is NaN'
    """
    for number, job in enumerate(document.get("jobs") or []):
        for place, value in (*_expected_numbers(job), *_all_numbers(job, "")):
            if value is not None and not _is_figure(value):
                return f"jobs[{number}] ({job.get('jobname', '')}): {place} is {_shown(value)}"
    return None


def _expected_numbers(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give what has to be a number, whatever stands there."""
    for name in _DIRECTIONS:
        direction = yield from _object(job, name, name)
        for key in _RATES:
            yield f"{name}.{key}", direction.get(key)
        for key in _LATENCIES:
            place = f"{name}.{key}"
            block = yield from _object(direction, key, place)
            yield from ((f"{place}.{moment}", block.get(moment)) for moment in _MOMENTS)
            yield from _table(block, place, "percentile", float)
            yield from _table(block, place, "bins", int)
    lab = yield from _object(job, "ssdlab", "ssdlab")
    yield from ((f"ssdlab.{key}", lab.get(key)) for key in _LAB)


def _object(
    parent: Mapping[str, Any], key: str, place: str
) -> Generator[tuple[str, Any], None, Mapping[str, Any]]:
    """Return an object, empty where there is none; give what else stands in its place."""
    found = parent.get(key) or {}
    if isinstance(found, Mapping):
        return found
    yield place, str(found)
    return {}


def _table(
    block: Mapping[str, Any], place: str, name: str, read: Callable[[str], float]
) -> Iterator[tuple[str, Any]]:
    """Give the numbers of a table whose keys are numbers too."""
    table = yield from _object(block, name, f"{place}.{name}")
    for key, value in table.items():
        try:
            read(key)
        except ValueError:
            yield f"{place}.{name}", key
        yield f"{place}.{name}.{key}", value if value is not None else "null"


def _all_numbers(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Give every number, whatever it is for."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _all_numbers(each, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _all_numbers(each, f"{place}[{number}]")
    elif isinstance(value, (int, float)):
        yield place, value


def _is_figure(value: object) -> bool:
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def _shown(value: object) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    shown = "an object" if isinstance(value, (Mapping, list)) else repr(value)
    return shown if len(shown) <= _SHOWN_SIGNS else f"{shown[:_SHOWN_SIGNS]}…"
