"""Before the first run: how many points there are, whether they can work, and what they take.

All points are counted. Of each level of each factor the first points are checked by the engine,
which knows every parameter and option: a level that none of them can have is an error now, one that
only some of them cannot have is those points' error later. A conditioned drive goes through the
cache where several points share it; one that a single point wants would only fill the disk.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ssdlab import engine
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.point import Point, points
from ssdlab.study.sweeps.study import Study

_CHECKED_A_LEVEL = 3
_MOST_BYTES_ASKED = 4096
"""Footprints that are remembered: those of points that differ by their seed alone."""


@dataclass
class StudyPlan:
    """What a study comes to.

    Attributes
    ----------
    study
        What is asked for.
    count
        How many points it has.
    drives
        How many points share a conditioned drive, by what shapes it.
    samples
        Some of the points, spread over the study.
    """

    study: Study
    count: int = 0
    drives: Counter[int] = field(default_factory=Counter)
    samples: list[Point] = field(default_factory=list)

    @property
    def shared_drives(self) -> int:
        """How many conditioned drives several points share."""
        return sum(count > 1 for count in self.drives.values())

    def points(self) -> Iterator[Point]:
        """Give the points, each told whether its drive is worth keeping."""
        for point in points(self.study):
            is_shared = self.drives[_drive(point.request)] > 1
            yield replace(point, request=replace(point.request, cache=is_shared))

    def most_memory(self) -> int:
        """Return what the largest of the samples takes of memory, in bytes."""
        return max((memory_bytes(each.request) for each in self.samples), default=0)


def columns_of(study: Study) -> dict[str, str]:
    """Return the columns that tell a study's points apart, with their types."""
    found = {"drive": "string"}
    if len({base.job_name for base in study.bases}) > 1:
        found["job_file"] = "string"
    for factor in study.factors:
        for key in factor.keys:
            kinds = {type(level[key]) for level in factor.levels}
            if factor.span is not None:
                kinds = {int if factor.span.whole else float}
            found[key] = _type(kinds)
    return found


def plan(study: Study) -> StudyPlan:
    """Count a study's points, and check them.

    Raises
    ------
    SsdlabError
        It has no points, or a level that cannot be.
    """
    found = StudyPlan(study)
    levels: dict[tuple[str, Any], list[Point]] = {}
    for point in points(study):
        found.count += 1
        found.drives[_drive(point.request)] += 1
        for level in _levels(study, point):
            seen = levels.setdefault(level, [])
            if len(seen) < _CHECKED_A_LEVEL:
                seen.append(point)
    if not found.count:
        raise SsdlabError(f"{study.name}: no point is left\nloosen the constraints")
    _check(study, levels)
    found.samples = list({each.number: each for seen in levels.values() for each in seen}.values())
    return found


def memory_bytes(request: RunRequest) -> int:
    """Return what a run takes of memory at most; 0 where there is no such drive."""
    return _memory_bytes(request.drive, request.settings, request.layers)


@functools.lru_cache(maxsize=_MOST_BYTES_ASKED)
def _memory_bytes(drive: str, settings: Any, layers: Any) -> int:
    try:
        return engine.memory_bytes(drive, settings, layers)
    except SsdlabError:
        return 0


def _levels(study: Study, point: Point) -> Iterator[tuple[str, Any]]:
    """Give what a point stands for: its drive and job, and the level of each factor."""
    yield "base", (point.request.drive, point.request.job_name)
    for factor in study.factors:
        if factor.span is not None:
            yield factor.name, None
        else:
            values = tuple(str(point.factors[key]) for key in factor.keys)
            yield factor.name, values


def _check(study: Study, levels: dict[tuple[str, Any], list[Point]]) -> None:
    """Refuse a study with a level that none of its first points can have."""
    wrong = [(key, value, _reason(seen)) for (key, value), seen in levels.items()]
    refused = [(key, value, reason) for key, value, reason in wrong if reason is not None]
    if not refused:
        return
    # A level that is wrong spoils the points of others: the one to blame is the one that is named.
    blamed = [each for each in refused if each[0].rpartition(".")[2] in each[2]]
    key, value, reason = (blamed or refused)[0]
    shown = "" if value is None or key == "base" else f" {', '.join(value)}:"
    place = key if key == "base" else f"factors.{key}"
    raise SsdlabError(f"{study.name}: {place}:{shown} {reason}")


def _reason(seen: list[Point]) -> str | None:
    """Say why none of the points can be run; None where one can."""
    reasons = []
    for point in seen:
        try:
            _check_run(point.request)
            return None
        except SsdlabError as error:
            reasons.append(str(error))
    return reasons[0]


def _check_run(request: RunRequest) -> None:
    _check_drive(request.drive, request.settings, request.layers)
    _check_job(request.job_text, request.job_name, request.flags)


@functools.lru_cache(maxsize=_MOST_BYTES_ASKED)
def _check_drive(drive: str, settings: Any, layers: Any) -> None:
    engine.show(drive, settings, layers)


@functools.lru_cache(maxsize=_MOST_BYTES_ASKED)
def _check_job(job_text: str | None, job_name: str, flags: tuple[str, ...]) -> None:
    engine.check_job(job_text, job_name, flags)
    for flag in flags:
        if flag.startswith("--write_") and "log" in flag:
            raise SsdlabError(f"{flag}: all points would write the same file\nleave it out")


def _drive(request: RunRequest) -> int:
    """Return a number for what shapes the conditioned drive of a run."""
    jobs = (request.job_text, request.flags) if request.condition == conditions.BY_JOB else None
    shapes = (request.drive, request.settings, request.condition, request.span, request.seed)
    return hash((shapes, jobs, request.exact, request.layers))


def _type(kinds: set[type]) -> str:
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    return "float64" if kinds <= {int, float} else "string"
