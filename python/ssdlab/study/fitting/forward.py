"""The forward model: each load run on each drive that is drawn, and the figures of these runs.

A drive that has to be preconditioned is made smaller first, by fewer blocks a die; the engine sees
to its write amplification (`crates/lab/src/session/smaller.rs`). Where the engine has a quick way
(its scale model: uniform writes of one size over the whole drive) a die keeps up to 768 blocks,
which take hardly longer. A fresh drive keeps its size, for it costs only what is written; so does
one whose job names places or amounts, which would mean something else on a small drive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ssdlab import engine
from ssdlab.engine import Progress, conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.engine.shown import parameters, sizes
from ssdlab.experiment import runner
from ssdlab.experiment.ensemble.runs import RunOrReason
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.measurement import MeasuredLoad, Measurement, figure
from ssdlab.study.fitting.unknowns import FloatArray, Space

_SMALL, _LARGE = 192, 768
"""Blocks a die: the long way into the condition, and by the engine's scale model."""
_GRAIN_BYTES = 2**20
_UNIFORM = re.compile(
    r"^--(?:(?:rw|readwrite)=rand(?:read|write|rw)|bs=\d+k?|norandommap(?:=1)?|time_based(?:=1)?"
    r"|(?:iodepth|runtime|rwmixread|rwmixwrite|numjobs)=\w+)$"
)
_QUICK = {
    "ftl.slc_cache": ("none",),
    "ftl.striping": ("per-die",),
    "ftl.mapping_cache_bytes": ("none",),
    "ftl.gc": ("greedy", "cost-benefit", "fifo"),
    "controller.compression": ("false",),
}
"""Drives that the scale model holds for; elsewhere the engine would go the long way (slower)."""
_NAMES_AN_AMOUNT = re.compile(
    r"^(?:--)?\s*(?:size|filesize|io_size|io_limit|offset\w*|number_ios|loops|zone\w*|read_iolog"
    r"|random_distribution)\s*(?:=|$)(?!\s*\d+%)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Wave:
    """Drives and their figures.

    Attributes
    ----------
    places
        A row a drive.
    figures
        A row a drive, a column a measurement; NaN where a run gave none.
    """

    places: FloatArray
    figures: FloatArray


def tasks_of(
    space: Space, drives: Sequence[Settings], runs: Sequence[MeasuredLoad], seed: int
) -> list[Callable[[Progress], RunOrReason]]:
    """Return the runs of a wave: all loads on the first drive, then on the next."""
    asked = [
        request(space, load, settings, seed + number)
        for number, settings in enumerate(drives)
        for load in runs
    ]
    return [partial(_run, each) for each in asked]


def figures_of(
    outcomes: Sequence[RunOrReason | None],
    runs: Sequence[MeasuredLoad],
    measurements: Sequence[Measurement],
) -> FloatArray:
    """Return what `tasks_of` gave as a row a drive and a column a measurement."""
    drives = [outcomes[start : start + len(runs)] for start in range(0, len(outcomes), len(runs))]
    columns = [runs.index(each.load) for each in measurements]
    rows = [
        [_figure(drive[column], each) for column, each in zip(columns, measurements, strict=True)]
        for drive in drives
    ]
    return np.array(rows, dtype=float).reshape(len(drives), len(measurements))


def request(space: Space, load: MeasuredLoad, settings: Settings, seed: int) -> RunRequest:
    """Return a load on a drive, made smaller where that changes nothing but the time it takes."""
    asked = replace(load.request(space.drive, settings), seed=seed)
    if load.condition in (None, "fresh") or _names_an_amount(load):
        return asked
    try:
        quick = _is_uniform(load) and _is_quick(space.drive, asked.settings)
        capacity = _capacity_bytes(space.drive, asked.settings, _LARGE if quick else _SMALL)
    except SsdlabError:
        return asked  # There is no such drive, which the run itself will say.
    if capacity is None:
        return asked
    smaller = {**dict(asked.settings), "capacity_bytes": str(capacity)}
    return replace(asked, settings=tuple(smaller.items()), exact=not quick)


def _capacity_bytes(drive: str, settings: Settings, most: int) -> int | None:
    """Return the capacity of a drive with so many blocks a die; None where it has fewer.

    No scale of the engine's: that states the spare as well, which here follows from the capacity.
    """
    found = sizes(engine.show(drive, settings))
    blocks = found.flash.blocks_per_die
    if blocks <= most:
        return None
    return found.capacity_bytes * most // blocks // _GRAIN_BYTES * _GRAIN_BYTES


def _is_uniform(load: MeasuredLoad) -> bool:
    """Tell whether a load writes one size all over the drive, each place whenever it is drawn."""
    if not conditions.is_steady(load.condition) or load.span != 1 or load.job_text:
        return False
    drawn = any(each.startswith(("--norandommap", "--rw=randread")) for each in load.flags)
    return drawn and all(_UNIFORM.match(each) for each in load.flags)


def _is_quick(drive: str, settings: Settings) -> bool:
    values = parameters(engine.show(drive, settings))
    return all(str(values[key]) in allowed for key, allowed in _QUICK.items())


def _names_an_amount(load: MeasuredLoad) -> bool:
    return bool(_NAMES_AN_AMOUNT.search("\n".join([*load.flags, load.job_text or ""])))


def _figure(outcome: RunOrReason | None, measurement: Measurement) -> float:
    """Return a figure above 0, or NaN: figures are fitted by their logarithms."""
    if not isinstance(outcome, Result):
        return np.nan
    found = figure(outcome.job(), measurement.metric)
    return found if found is not None and found > 0 else np.nan


def _run(asked: RunRequest, progress: Progress) -> RunOrReason:
    try:
        return runner.run(asked, progress)
    except SsdlabError as error:
        return str(error)
