"""Whether the figures of a result are figures: asked when a file is read, and told with the place.

Looked at is what everything else computes with. A figure that is missing is no error: fio leaves
out what it did not measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, TypeGuard

_DIRECTIONS = ("read", "write", "trim", "mixed", "sync")
_RATES = ("total_ios", "io_bytes", "io_kbytes", "iops", "bw", "bw_bytes", "runtime")
_LATENCIES = ("slat_ns", "clat_ns", "lat_ns", "slat", "clat", "lat")
_MOMENTS = ("N", "min", "max", "mean", "stddev")
_OF_JOBS = ("error", "total_err", "first_error", "job_runtime")
_PARAMETER = "FIO_IO_U_"
"""How names begin that are parameters of a table of bins, in fio 2.2.12 to 2.19."""
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
        where = f"jobs[{number}] ({str(job.get('jobname', ''))[:_SHOWN_SIGNS]})"
        for place, value in _expected_numbers(job):
            if value is not None and not (_is_figure(value) and value >= 0):
                return f"{where}: {place} is {_shown(value)}"
        for place, value in _all_numbers(job, ""):
            if not _is_figure(value):
                return f"{where}: {place} is {_shown(value)}"
    return None


def _expected_numbers(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give what has to be a number that is not negative, whatever stands there."""
    yield from ((key, job.get(key)) for key in _OF_JOBS)
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
    found = parent.get(key)
    if isinstance(found, Mapping):
        return found
    if found is not None:
        yield place, str(found)
    return {}


def _table(
    block: Mapping[str, Any], place: str, name: str, read: Callable[[str], float]
) -> Iterator[tuple[str, Any]]:
    """Give the numbers of a table whose keys are numbers too, but for its own parameters."""
    table = yield from _object(block, name, f"{place}.{name}")
    for key, value in table.items():
        try:
            if not key.startswith(_PARAMETER):
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
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, value


def _is_figure(value: object) -> TypeGuard[float]:
    try:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _shown(value: object) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    shown = "an object" if isinstance(value, (Mapping, list)) else repr(value)
    return shown if len(shown) <= _SHOWN_SIGNS else f"{shown[:_SHOWN_SIGNS]}…"
