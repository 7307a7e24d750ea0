"""A row of the table: what a point gave, in flat columns whose names carry the unit.

A point gives one row, or one for each job of its job file. Figures that a run does not have (write
amplification of reads, percentiles of a direction that was not used) are empty, never 0. Left out:
histograms and series, which fio's JSON of the point has (``--keep-fio``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.engine.result import DIRECTIONS, Job

Row = dict[str, Any]

TIMES = ("cpu_s", "wall_s")
"""Columns that the clock gives: of the run and of what brought its drive into its condition."""

_PERCENTILES = {"p50_us": 50, "p99_us": 99, "p99_9_us": 99.9}
_PER_DIRECTION = {
    "iops": "float64",
    "mb_per_s": "float64",
    "mean_us": "float64",
    **dict.fromkeys(_PERCENTILES, "float64"),
}

COLUMNS: dict[str, str] = {
    "key": "string",
    "profile": "string",
    "job": "string",
    "seed": "uint64",
    "iops": "float64",
    "mb_per_s": "float64",
    **{f"{way}_{name}": kind for way in DIRECTIONS for name, kind in _PER_DIRECTION.items()},
    "write_amplification": "float64",
    "unit_write_amplification": "float64",
    "erases_a_block_mean": "float64",
    "erases_a_block_most": "float64",
    "wear_share": "float64",
    "bad_blocks": "int64",
    "condition": "string",
    "conditioned_by": "string",
    "steady_reached": "bool",
    "drifts": "bool",
    "virtual_s": "float64",
    "cpu_s": "float64",
    "wall_s": "float64",
    "error": "string",
}
"""Columns that every table has, with their types; the factors stand before them."""


def rows_of(key: str, seed: int, jobs: Sequence[Job], cpu_s: float, wall_s: float) -> list[Row]:
    """Return the rows of a point that has ended.

    Parameters
    ----------
    key, seed
        The point's.
    jobs
        What it gave.
    cpu_s, wall_s
        What the engine took for it, in seconds, preconditioning included.
    """
    times = {"cpu_s": cpu_s, "wall_s": wall_s, "error": None}
    return [{"key": key, "seed": seed, **_figures(job), **times} for job in jobs]


def row_of_error(key: str, seed: int, error: str, cpu_s: float = 0.0, wall_s: float = 0.0) -> Row:
    """Return the row of a point that gave nothing, with the reason."""
    empty = dict.fromkeys(COLUMNS)
    told = {"key": key, "seed": seed, "cpu_s": cpu_s, "wall_s": wall_s, "error": error}
    return {**empty, **told}


def _figures(job: Job) -> Row:
    lab = job.lab
    return {
        "profile": job.profile,
        "job": job.name,
        "iops": job.iops(),
        "mb_per_s": job.bandwidth() / 1e6,
        **{name: value for way in DIRECTIONS for name, value in _direction(job, way)},
        "write_amplification": job.write_amplification,
        "unit_write_amplification": job.unit_write_amplification,
        **_wear(lab.get("wear") or {}),
        "condition": job.condition,
        "conditioned_by": job.conditioned_by,
        "steady_reached": lab.get("steady_reached"),
        "drifts": job.drift.get("changes"),
        "virtual_s": None if "virtual_time_ns" not in lab else lab["virtual_time_ns"] / 1e9,
    }


def _direction(job: Job, way: str) -> Iterator[tuple[str, float | None]]:
    if way not in job.directions:
        yield from ((f"{way}_{name}", None) for name in _PER_DIRECTION)
        return
    yield f"{way}_iops", job.iops(way)
    yield f"{way}_mb_per_s", job.bandwidth(way) / 1e6
    yield f"{way}_mean_us", _us(job.mean_ns(way))
    for name, percent in _PERCENTILES.items():
        yield f"{way}_{name}", _us(job.percentile_ns(percent, way))


def _us(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e3


def _wear(wear: Mapping[str, Any]) -> Row:
    counts, rated = wear.get("erase_counts") or {}, wear.get("rated_cycles")
    mean = counts.get("mean")
    return {
        "erases_a_block_mean": mean,
        "erases_a_block_most": counts.get("max"),
        "wear_share": mean / rated if rated and mean is not None else None,
        "bad_blocks": wear.get("bad_blocks"),
    }
