"""Which measurement would tell most: candidates ranked by how much of the spread they explain.

All candidates, and the loads that were measured already, run on drives drawn from the ranges. Their
emulators give the figures of many more drives, and with them the rank correlations C of unknowns x
and figures y. A measurement y with relative noise r leaves of the unknowns (linear-Gaussian update)

    C' = C − C·y (C·y)ᵀ / (1 + r²),    explained = Σ (C·y)²ᵢ / (1 + r²)   of Σ Cᵢᵢ over the unknowns

and what was measured already is taken into account first, in the same way. Its values play no part:
only what it can tell. Left out: two candidates that tell more together than each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ssdlab.engine import conditions
from ssdlab.study.fitting.emulator import Emulator
from ssdlab.study.fitting.measurement import SPREAD, MeasuredLoad, Measurement
from ssdlab.study.fitting.posterior import MODEL_ERROR
from ssdlab.study.fitting.unknowns import FloatArray, Space

_DRIVES = 4096
_LEAST_TOLD = 0.15
_RANDOM = ("--bs=4k", "--time_based", "--norandommap")


@dataclass(frozen=True)
class PossibleMeasurement:
    """A measurement that could be made.

    Attributes
    ----------
    load
        What would be run.
    metrics
        What it would give.
    """

    load: MeasuredLoad
    metrics: tuple[str, ...]

    def measurements(self) -> list[Measurement]:
        """Return them without values; what they say is not known yet."""
        return [Measurement(self.load, each, 1.0, SPREAD, "plan") for each in self.metrics]


def _load(*flags: str, condition: str | None = None, span: float = 1.0) -> MeasuredLoad:
    return MeasuredLoad(tuple(f"--{each}" for each in flags), condition, span=span)


def _random(*flags: str, condition: str | None = None, span: float = 1.0) -> MeasuredLoad:
    named = tuple(each.removeprefix("--") for each in _RANDOM)
    return _load(*flags, *named, condition=condition, span=span)


_STEADY = conditions.BY_JOB
_LATENCIES = ("mean_us", "p99_us")
CANDIDATES = (
    PossibleMeasurement(_random("rw=randwrite", "iodepth=1", "runtime=1"), _LATENCIES),
    PossibleMeasurement(_random("rw=randwrite", "iodepth=32", "runtime=2"), ("iops",)),
    PossibleMeasurement(
        _load("rw=write", "bs=128k", "iodepth=32", "runtime=2", "time_based"), ("mb_per_s",)
    ),
    PossibleMeasurement(
        _load("rw=read", "bs=128k", "iodepth=32", "runtime=1", "time_based"), ("mb_per_s",)
    ),
    PossibleMeasurement(
        _random("rw=randread", "iodepth=1", "runtime=1", condition=_STEADY), _LATENCIES
    ),
    PossibleMeasurement(
        _random("rw=randread", "iodepth=32", "runtime=1", condition=_STEADY), ("iops",)
    ),
    PossibleMeasurement(
        _random("rw=randread", "iodepth=256", "runtime=1", condition=_STEADY), ("iops",)
    ),
    PossibleMeasurement(
        _random("rw=randwrite", "iodepth=32", "runtime=4", condition=_STEADY),
        ("iops", "write_amplification"),
    ),
    PossibleMeasurement(
        _random("rw=randwrite", "iodepth=32", "runtime=4", "size=80%", condition=_STEADY, span=0.8),
        ("iops", "write_amplification"),
    ),
    PossibleMeasurement(
        _random("rw=randrw", "rwmixread=70", "iodepth=32", "runtime=4", condition=_STEADY),
        ("read_iops", "read_p99_us"),
    ),
    PossibleMeasurement(
        _random("rw=randrw", "rwmixread=95", "iodepth=4", "runtime=4", condition=_STEADY),
        ("read_mean_us", "read_p99_us", "write_p99_us"),
    ),
)
"""Short jobs; write amplification is what the drive's own counters tell."""


@dataclass(frozen=True)
class Ranked:
    """What a candidate would tell.

    Attributes
    ----------
    candidate
        Which.
    explained
        Share of the spread of all unknowns that is left.
    of
        Share of each unknown's own, the largest first.
    """

    candidate: PossibleMeasurement
    explained: float
    of: dict[str, float]

    def tells_of(self) -> dict[str, float]:
        """Return the unknowns that it tells much of."""
        return {name: share for name, share in self.of.items() if share >= _LEAST_TOLD}


def rank(
    space: Space,
    candidates: Sequence[tuple[PossibleMeasurement, Sequence[Emulator]]],
    measured: Sequence[tuple[Measurement, Emulator]],
    seed: int,
) -> list[Ranked]:
    """Rank candidates, the one that tells most first.

    Parameters
    ----------
    space
        Of the unknowns.
    candidates
        Each with the emulators of its metrics.
    measured
        What was measured already, with its emulators.
    seed
        Of the drives that are looked at.
    """
    features = space.features(space.sobol(_DRIVES, seed))
    columns = [(each, measurement.spread) for measurement, each in measured]
    columns += [(each, SPREAD) for _, emulators in candidates for each in emulators]
    found = [_figure(each, features, spread) for each, spread in columns]
    relation = _relation(features, [figure for figure, _ in found])
    noises = [noise for _, noise in found]
    count, begun = features.shape[1], features.shape[1] + len(measured)
    for index in range(count, begun):
        relation = _told(relation, index, noises[index - count])
    ranked = []
    for candidate, emulators in candidates:
        after = relation
        for index in range(begun, begun + len(emulators)):
            after = _told(after, index, noises[index - count])
        begun += len(emulators)
        ranked.append(_ranked(space, candidate, relation, after))
    return sorted(ranked, key=lambda each: -each.explained)


def _figure(emulator: Emulator, features: FloatArray, spread: float) -> tuple[FloatArray, float]:
    """Return a figure over the drives, and its noise as a variance in units of its own."""
    mean, variance = emulator.predict(features)
    noise = spread**2 + MODEL_ERROR**2 + float(variance.mean())
    return mean, noise / max(float(mean.var()), 1e-12)


def _relation(features: FloatArray, figures: Sequence[FloatArray]) -> FloatArray:
    """Return the rank correlations of all unknowns and figures."""
    # Unknowns are drawn independently: what correlates among them does so by chance.
    columns = np.column_stack([features, *figures])
    found = np.nan_to_num(np.corrcoef(rankdata(columns, axis=0), rowvar=False))
    count = features.shape[1]
    found[:count, :count] = np.eye(count)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def _told(relation: FloatArray, index: int, noise: float) -> FloatArray:
    """Return what is left when a figure was measured."""
    column = relation[:, index]
    return np.asarray(relation - np.outer(column, column) / (relation[index, index] + noise), float)


def _ranked(
    space: Space, candidate: PossibleMeasurement, before: FloatArray, after: FloatArray
) -> Ranked:
    count = len(space.unknowns)
    open_before, open_after = np.diag(before)[:count], np.diag(after)[:count]
    shares = (open_before - open_after) / np.maximum(open_before, 1e-9)
    names = [each.name for each in space.unknowns]
    of = sorted(zip(names, map(float, shares), strict=True), key=lambda pair: -pair[1])
    explained = float((open_before - open_after).sum() / open_before.sum())
    return Ranked(candidate, explained, dict(of))
