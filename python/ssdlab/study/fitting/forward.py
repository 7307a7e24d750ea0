"""The forward model: each load run on each drive that is drawn, and the figures of these runs.

A drive that has to be preconditioned is made smaller first, by fewer blocks a die
(`reproduce.experiment`, "Scale"). Blocks in which nothing is written as a victim is chosen do not
shrink with the others (`_spare_alone`), or write amplification would be too high: by 3 % on an
80 GB S3500 with 192 blocks a die. Where the engine has a quick way (its scale model: uniform writes
of one size over the whole drive) a die keeps up to 768 blocks, which take hardly longer. A fresh
drive keeps its size, for it costs only what is written; so does one whose job names places or
amounts, which would mean something else on a small drive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ssdlab import engine
from ssdlab.engine import Progress, conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.engine.shown import parameters, sizes
from ssdlab.experiment import runner
from ssdlab.experiment.ensemble.runs import RunOrReason
from ssdlab.experiment.experiment import Scale, data_share
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting.measurement import MeasuredLoad, Measurement, figure
from ssdlab.study.fitting.unknowns import Array, Space

SMALL = Scale("fit", 192, (1,))
"""The long way into the condition."""
LARGE = Scale("fit", 768, (1,))
"""By the engine's scale model."""
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

_SPARE, _BAD_SHARE = "over_provisioning", "reliability.factory_bad_share"


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

    places: Array
    figures: Array


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
) -> Array:
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
        capacity = (LARGE if quick else SMALL).capacity_bytes(space.drive, asked.settings)
    except SsdlabError:
        return asked  # There is no such drive, which the run itself will say.
    if capacity is None:
        return asked
    smaller = {
        "capacity_bytes": str(capacity),
        "ftl.spare_counts": "collected",
        **_spare_alone(space.drive, asked.settings, capacity),
    }
    settings = tuple({**dict(asked.settings), **smaller}.items())
    return replace(asked, settings=settings, exact=not quick)


def _is_uniform(load: MeasuredLoad) -> bool:
    """Tell whether a load writes one size all over the drive, each place whenever it is drawn."""
    if not conditions.is_steady(load.condition) or load.span != 1 or load.job_text:
        return False
    drawn = any(each.startswith(("--norandommap", "--rw=randread")) for each in load.flags)
    return drawn and all(_UNIFORM.match(each) for each in load.flags)


def _is_quick(drive: str, settings: Settings) -> bool:
    values = parameters(engine.show(drive, settings))
    return all(str(values[key]) in allowed for key, allowed in _QUICK.items())


def _spare_alone(drive: str, settings: Settings, capacity_bytes: int) -> dict[str, str]:
    """Return the spare of a smaller drive that collects as many blocks in proportion.

    It has no bad blocks, of which chance decides the number among few, and none of what parity
    takes of the spare: where only collected blocks count as spare, parity comes on top. With *F*
    physical / exported blocks, *X* exported blocks a die, *k* times as large a drive::

        F' = F - (kept free + open) / X + open * k / X

    for blocks that stay free come on top, too, and those that are open for writing do not.
    """
    shown = engine.show(drive, settings)
    values, found = parameters(shown), sizes(shown)
    good = 1 - float(values[_BAD_SHARE])
    factor = (1 + float(values[_SPARE])) * good * data_share(values)
    exported = found.flash.blocks_per_die * good / factor
    kept, unwritten = _kept_free(values), _unwritten(values)
    factor += (unwritten * (found.capacity_bytes / capacity_bytes - 1) - kept) / exported
    return {_SPARE: f"{factor - 1:.6g}", _BAD_SHARE: "0"}


def _kept_free(values: Mapping[str, Any]) -> int:
    """Return the blocks a die that stay free and are part of the spare."""
    if values["ftl.spare_counts"] != "all":
        return 0
    return 1 if values["ftl.frontiers"] == "single" else int(values["ftl.gc_low_blocks"])


def _unwritten(values: Mapping[str, Any]) -> float:
    """Return how much of a die's open blocks is empty as it chooses a victim, in blocks.

    One open block is full then. Of two, collection's is half empty; the host's is full where it
    waits for a batch, and half empty where collection keeps pace with it.
    """
    if values["ftl.frontiers"] == "single":
        return 0.0
    return 1.0 if values["ftl.gc_pace"] == "smooth" else 0.5


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
        return runner.whole(engine.run(asked, progress), asked.job_name)
    except SsdlabError as error:
        return str(error)
