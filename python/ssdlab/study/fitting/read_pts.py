"""Measurements from results of the PTS: a folder of `ssdlab pts`, or the XML file of TKperf.

    iops    random 100/0, 65/35, 0/100 of 4 and 128 KiB    rate                       steady
    tp      sequential reads and writes                    rate                       filled
    lat     100/0 and 0/100 of 4 KiB at depth 1            mean, 99 %, 99.9 %         steady
    wsat    random writes of 4 KiB                         rate, write amplification  steady
    hir     the same, before its first idle time           the same                   steady

A figure is that of the measurement window. Its spread is the relative standard deviation of the
window's rounds, but at least what a figure of unknown spread has: a short job stands for the cell.
Left out: other mixes and sizes, which say hardly more and take as long to simulate; blocks below
4 KiB, whose writes depend on what the cells before them left; maxima, which one request decides;
the idle times of host idle recovery, which no job here has; parts that are not steady; write
saturation that was called steady before the drive was written twice, for it begins empty. So is the
mix at depth 1: a drive that was brought into the condition first works off a debt of collection,
which is half of a short job then (a mean of 580 µs in place of 239, on an S3500 of 4 GiB).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ssdlab import engine
from ssdlab.bench.report.reading import Measured, PartRead, blaming, not_judged
from ssdlab.bench.report.sources import read_results
from ssdlab.engine import conditions
from ssdlab.engine.request import Settings
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.measurement import (
    SPREAD,
    TAIL_SPREAD,
    Gathered,
    MeasuredLoad,
    Measurement,
)

_MIXES = (100, 65, 0)
_KIB = 1024
_SMALL, _LARGE = 4 * _KIB, 128 * _KIB
_SEQUENTIAL = (1024 * _KIB, 128 * _KIB, 64 * _KIB)
_MOST_SPREAD = 1.0
_AMPLIFICATION = "write_amplification"


@dataclass(frozen=True)
class _Chosen:
    """Which cells of a test are taken, and how they are run.

    Attributes
    ----------
    mixes, sizes
        Percent of reads, and bytes of a request.
    metrics
        What is taken of each cell.
    condition
        That the rounds leave the drive in.
    runtime
        Of the job that stands for a cell, as fio takes it.
    least_passes
        Times the capacity that the rounds have to have written.
    """

    mixes: tuple[int, ...]
    sizes: tuple[int, ...]
    metrics: tuple[str, ...]
    condition: str = conditions.BY_JOB
    runtime: str = "1"
    least_passes: float = 0.0


# Write amplification of a short job differs too much from run to run.
_SATURATED = _Chosen((0,), (_SMALL,), ("iops", _AMPLIFICATION), runtime="20", least_passes=2.0)
_CHOSEN = {
    "iops": _Chosen(_MIXES, (_SMALL, _LARGE), ("iops",), runtime="2"),
    # Both preconditioning and the rounds write in sequence.
    "tp": _Chosen(_MIXES, _SEQUENTIAL, ("mb_per_s",), condition="filled"),
    "lat": _Chosen((100, 0), (_SMALL,), ("mean_us", "p99_us", "p999_us"), runtime="4"),
    "wsat": _SATURATED,
    "hir": _SATURATED,
}
_FIELDS = {"iops": "iops", "mb_per_s": "mb_per_s", "mean_us": "mean_ns"}
_PERCENTS = {"p99_us": "99", "p999_us": "99.9"}
_NS_PER_US = 1e3


def read_pts(path: Path) -> Gathered:
    """Read what a PTS measured of a drive.

    Parameters
    ----------
    path
        A folder of `ssdlab pts`, or TKperf's XML file.

    Raises
    ------
    SsdlabError
        It is no such result, something in it is wrong, or none of its parts can be taken.
    """
    found: list[Measurement] = []
    notices: list[str] = []
    several = read_results([path])
    for measured in several:
        with blaming(measured.path):
            settings = _settings(measured, notices)
            parts = list(_taken(measured, notices))
        for part in parts:
            with blaming(f"{measured.path}: {part.plan.name}"):
                found += _of_part(measured.path, part, settings)
    for each in found:
        _check(each)
    if not found:
        raise SsdlabError(
            f"{path}: nothing in it can be fitted: {'; '.join(notices) or 'no test has a round'}\n"
            "measure again, until a part is steady"
        )
    return Gathered(found, notices, not_judged(several))


def _settings(measured: Measured, notices: list[str]) -> Settings:
    """Return what was set on a simulated drive and is no number to fit: its capacity."""
    asked = measured.asked
    if asked["layers"]:
        what = " and ".join(str(each)[:60] for each in asked["layers"])
        raise SsdlabError(f"{measured.path}: {what} lay over the drive: measure the drive alone")
    pairs = [str(each).partition("=") for each in asked["settings"]]
    others = [f"{key}={value}" for key, _, value in pairs if key != "capacity_bytes"]
    if others:
        notices.append(
            f"{measured.path}: the drive was measured with {', '.join(others)}, of which the fit "
            "is not told; give what is known with --set"
        )
    return tuple((key, value) for key, _, value in pairs if key == "capacity_bytes")


def _taken(measured: Measured, notices: list[str]) -> Iterator[PartRead]:
    """Give the parts that are taken, and say why others are not."""
    for part in measured.parts:
        place = f"{measured.path}: {part.plan.name}"
        chosen = _CHOSEN[part.test["name"]]
        if part.summary is None or not part.summary["steady"]:
            notices.append(f"{place} is left out: {part.state}")
        elif chosen.least_passes > max(_passes(part, measured.target["capacity_bytes"]), 0):
            notices.append(
                f"{place} is left out: steady before {chosen.least_passes:g} times the capacity "
                "was written, which a drive that began empty is not"
            )
        else:
            yield part


def _passes(part: PartRead, capacity_bytes: int | None) -> float:
    """Return how often rounds of one cell moved the capacity; 0 where that is not known."""
    cells = [cell for each in part.rounds for cell in each["cells"]]
    rates = [cell["both"]["iops"] for cell in cells]
    if not capacity_bytes or any(each is None for each in rates):
        return 0.0
    bytes_per_s = fmean(rates) * cells[0]["step"]["load"]["block_bytes"]
    return float(bytes_per_s * part.rounds[-1]["elapsed_s"] / capacity_bytes)


def _of_part(path: Path, part: PartRead, settings: Settings) -> Iterator[Measurement]:
    chosen, summary = _CHOSEN[part.test["name"]], part.summary
    assert summary is not None
    waits = (summary["write_cache"] or {}).get("during") == "off"
    for number, cell in enumerate(summary["cells"]):
        size, reads = cell["load"]["block_bytes"], cell["load"]["read_percent"]
        if size not in chosen.sizes or reads not in chosen.mixes:
            continue
        place = f"{path}: {part.plan.name}, {cell['name']}"
        load = _load(cell["load"], chosen, settings, waits, place)
        rounds = [part.rounds[each - 1]["cells"][number]["both"] for each in summary["window"]]
        for metric in chosen.metrics:
            if metric == _AMPLIFICATION:
                value, spread = summary[_AMPLIFICATION], SPREAD
            else:
                value = _figure(cell["both"], metric)
                spread = _spread([_figure(each, metric) for each in rounds], metric)
            if value is not None:
                yield Measurement(load, metric, value, spread, place)


def _load(
    asked: Mapping[str, Any], chosen: _Chosen, settings: Settings, waits: bool, place: str
) -> MeasuredLoad:
    """Return the short job that stands for a cell; threads become depth."""
    reads, size = asked["read_percent"], asked["block_bytes"]
    kind = {100: "read", 0: "write"}.get(reads, "rw")
    is_random = asked["pattern"] == "random"
    flags = [f"--rw={'rand' if is_random else ''}{kind}", f"--bs={size // _KIB}k"]
    flags += [f"--rwmixread={reads}"] if kind == "rw" else []
    flags += [f"--iodepth={int(asked['threads']) * int(asked['depth'])}"]
    flags += [f"--runtime={chosen.runtime}", "--time_based"]
    flags += ["--norandommap"] if is_random else []
    # With the volatile cache off each write waits for the flash.
    flags += ["--writefua=1"] if waits and reads < 100 else []
    try:
        engine.check_job(None, "job", flags)
    except SsdlabError as error:
        raise SsdlabError(f"{place}: {error}") from None
    return MeasuredLoad(tuple(flags), chosen.condition, settings=settings)


def _figure(both: Mapping[str, Any], metric: str) -> float | None:
    """Return a cell's figure in the metric's unit; None where it was not recorded."""
    if metric in _PERCENTS:
        value = both["percentiles_ns"].get(_PERCENTS[metric])
    else:
        value = both[_FIELDS[metric]]
    if value is None:
        return None
    return float(value) / (_NS_PER_US if metric.endswith("_us") else 1)


def _spread(values: Sequence[float | None], metric: str) -> float:
    """Return the relative standard deviation of rounds, within what a figure may have."""
    least = TAIL_SPREAD if metric in _PERCENTS else SPREAD
    known = [each for each in values if each is not None]
    if len(known) < 2 or not fmean(known) > 0:
        return least
    return min(max(stdev(known) / fmean(known), least), _MOST_SPREAD)


def _check(found: Measurement) -> None:
    if not (math.isfinite(found.value) and found.value > 0):
        raise SsdlabError(
            f"{found.place}: {found.metric} is {found.value:g}: must be a number above 0\n"
            "measure again, or leave this result out"
        )
