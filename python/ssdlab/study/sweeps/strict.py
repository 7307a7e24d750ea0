"""A study: a base, and the factors varied over it, read from TOML as strictly as a profile.

    constraints = [["over_provisioning", "<", 0.3]]   all of these hold; of a list of lists one does

    [base]      drives, condition, span, exact, job or jobs, settings, layers, seeds
    [factors]   KEY = [LEVEL, …] or { from, to, steps, scale = "linear" or "log" }
    [sample]    method = "sobol" or "lhs", points, seed: for ranges without steps

A KEY is what `--set` takes, ``job.OPTION``, ``layer.KIND.OPTION``, or ``condition``, ``span``,
``exact`` or ``layers``. A level that is a table sets several keys together, and its factor has a
name of its own. What is not known is refused with the nearest name. Left out: formulas.
"""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.drives import job_text
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text
from ssdlab.study.sweeps.factors import (
    METHODS,
    OPERATORS,
    Constraint,
    Factor,
    FactorRange,
    Level,
    Sample,
    Term,
)
from ssdlab.study.sweeps.inside import with_included
from ssdlab.study.sweeps.study import Study, as_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_LEVELS = 100_000
_TOP = ("constraints", "base", "factors", "sample")
_BASE = (
    *("drives", "condition", "span", "exact", "job", "jobs", "settings", "layers", "seeds"),
    "layout",
)
_FORM = "name a study: TOML with the tables base and factors, as examples/sweep-theory.toml"
_RANGE = ("from", "to", "steps", "scale")
_SAMPLE = ("method", "points", "seed")


def load(path: str | Path) -> Study:
    """Read a study.

    Raises
    ------
    SsdlabError
        It cannot be read, or something in it is not understood.
    """
    try:
        source = read_text(path)
    except FileNotFoundError:
        raise SsdlabError(f"{path}: No such file or directory\n{_FORM}") from None
    except InputError as error:
        raise SsdlabError(f"{path}: cannot be read: {error}\n{_FORM}") from None
    return parse(source, str(path))


def parse(source: str, name: str = "study") -> Study:
    """Read a study's text.

    Raises
    ------
    SsdlabError
        Something in it is not understood; the message names the file, the key and the remedy.
    """
    try:
        data = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SsdlabError(f"{name}: not TOML: {error}{_line(source, error)}\n{_FORM}") from None
    return _Reader(name).study(data, source)


def _line(source: str, error: Exception) -> str:
    """Quote the line that an error of TOML names."""
    found = re.search(r"at line (\d+)", str(error))
    lines = source.splitlines()
    if found is None or int(found[1]) > len(lines):
        return ""
    return f": {lines[int(found[1]) - 1].strip()[:60]!r}"


class _Reader:
    """Reads the tables of a file, whose name every message begins with."""

    def __init__(self, name: str) -> None:
        self._name = name

    def study(self, data: Mapping[str, Any], source: str) -> Study:
        self._known("", data, _TOP)
        base = self._table("base", data)
        given = flat(self._table("factors", data), _is_range)
        factors = tuple(self._factor(key, of) for key, of in given.items())
        keys = [key for factor in factors for key in factor.keys]
        for key in keys:
            if keys.count(key) > 1:
                raise self._wrong(f"factors.{key}", "", "two factors set it", "set it in one")
        sample = self._sample(data["sample"]) if "sample" in data else None
        self._sampled(factors, sample)
        listed = self._list("constraints", data)
        constraints = tuple(self._constraint(each, keys) for each in listed)
        bases, seeds = self._base(base)
        return Study(self._name, source, bases, seeds, factors, sample, constraints)

    def _base(self, base: Mapping[str, Any]) -> tuple[tuple[RunRequest, ...], tuple[int, ...]]:
        self._known("base.", base, _BASE)
        drives = self._texts("base.drives", base.get("drives"))
        if not drives:
            raise self._wrong("base.drives", "", "is missing", 'write drives = ["theory"]')
        settings = flat(self._table("settings", base, "base."))
        bases = tuple(
            RunRequest(
                drive=drive,
                settings=tuple((key, as_text(value)) for key, value in settings.items()),
                layers=tuple(self._texts("base.layers", base.get("layers", []))),
                condition=self.condition(base.get("condition")),
                span=text.parse_span(str(base.get("span", 1.0)), f"{self._name}: base.span"),
                exact=self._switch("base.exact", base.get("exact", False)),
                layout=self._switch("base.layout", base.get("layout", True)),
                **job,
            )
            for drive in drives
            for job in self._jobs(base)
        )
        return bases, tuple(self._seeds(base.get("seeds", 1)))

    def condition(self, value: Any) -> str | None:
        if value is not None and value not in conditions.CHOICES:
            raise self._wrong(
                "base.condition", value, "is no condition", _one_of(conditions.CHOICES)
            )
        return None if value is None else str(value)

    def _jobs(self, base: Mapping[str, Any]) -> list[dict[str, Any]]:
        if ("job" in base) == ("jobs" in base):
            remedy = 'write job = "--rw=randwrite --bs=4k" or jobs = ["file.fio"]'
            raise self._wrong("base.job", "", "one of job and jobs is wanted", remedy)
        if "jobs" in base:
            named = [(name, _whole_job(name)[0]) for name in self._texts("base.jobs", base["jobs"])]
            return [{"job_text": found, "job_name": name} for name, found in named]
        given = base["job"]
        try:
            words = shlex.split(given) if isinstance(given, str) else []
        except ValueError as error:
            raise self._wrong("base.job", given, str(error), "close the quotation") from None
        flags = [word for word in words if word.startswith("--")]
        if not words or len(words) - len(flags) > 1:
            remedy = 'write a job file, options, or both: "--rw=randwrite --bs=4k"'
            raise self._wrong("base.job", given, "is no job", remedy)
        files = [word for word in words if not word.startswith("--")]
        found, name = _whole_job(files[0]) if files else (None, "base.job")
        return [{"job_text": found, "job_name": name, "flags": tuple(flags)}]

    def _seeds(self, value: Any) -> list[int]:
        place = f"{self._name}: base.seeds"
        if isinstance(value, list):
            return text.parse_seeds(",".join(str(each) for each in value), place)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10_000:
            return list(range(1, value + 1))
        if isinstance(value, str):
            return text.parse_seeds(value, place)
        remedy = 'write how many, from 1 to 10000, or which: "1,2,5" or "1-10"'
        raise self._wrong("base.seeds", value, "is no number of seeds", remedy)

    def _factor(self, key: str, given: Any) -> Factor:
        place = f"factors.{key}"
        if isinstance(given, dict):
            return self._ranged(key, given)
        if not isinstance(given, list) or not given:
            remedy = "write a list of levels, or { from = 1, to = 64, steps = 7 }"
            raise self._wrong(place, given, "is no list of levels", remedy)
        if len(given) > MOST_LEVELS:
            raise self._wrong(place, len(given), f"more than {MOST_LEVELS} levels", "take fewer")
        levels = tuple(flat(each) if isinstance(each, dict) else {key: each} for each in given)
        for level in levels:
            self._level(place, level, levels[0])
        if len({repr(sorted(level.items())) for level in levels}) < len(levels):
            raise self._wrong(place, given, "a level is there twice", "leave one of them out")
        return Factor(key, levels)

    def _level(self, place: str, level: Level, first: Level) -> None:
        if level.keys() != first.keys() or not level:
            raise self._wrong(place, level, "sets other keys than the first", "set the same keys")
        for key, value in level.items():
            if key == "layers" and isinstance(value, list):
                self._texts(place, value)
            elif not isinstance(value, str | int | float):
                remedy = "write a text, a number, true or false"
                raise self._wrong(place, value, "is no value", remedy)

    def _ranged(self, key: str, given: Mapping[str, Any]) -> Factor:
        place = f"factors.{key}"
        self._known(f"{place}.", given, _RANGE)
        low, high = (self._number(f"{place}.{end}", given.get(end)) for end in ("from", "to"))
        scale = given.get("scale", "linear")
        if scale not in ("linear", "log"):
            raise self._wrong(f"{place}.scale", scale, "is no scale", _one_of(("linear", "log")))
        if not low < high or (scale == "log" and low <= 0):
            remedy = "write from below to, and both above 0 where the scale is log"
            raise self._wrong(place, f"{low} to {high}", "is no range", remedy)
        whole = isinstance(low, int) and isinstance(high, int)
        span = FactorRange(low, high, whole, scale == "log")
        if "steps" not in given:
            return Factor(key, span=span)
        steps = self._count(f"{place}.steps", given["steps"], MOST_LEVELS)
        return Factor(key, tuple({key: value} for value in span.steps(steps)))

    def _sample(self, given: Any) -> Sample:
        if not isinstance(given, dict):
            raise self._wrong("sample", given, "is no table", "write [sample]")
        self._known("sample.", given, _SAMPLE)
        if given.get("method") not in METHODS:
            raise self._wrong("sample.method", given.get("method"), "unknown", _one_of(METHODS))
        points = self._count("sample.points", given.get("points"), 1 << 24)
        return Sample(given["method"], points, self._count("sample.seed", given.get("seed", 1)))

    def _sampled(self, factors: Sequence[Factor], sample: Sample | None) -> None:
        open_ones = [each.name for each in factors if each.span is not None]
        if open_ones and sample is None:
            remedy = "add steps = 9 for a grid, or [sample] with method and points"
            raise self._wrong(f"factors.{open_ones[0]}", "", "has no steps", remedy)
        if sample is not None and not open_ones:
            remedy = "leave [sample] out, or the steps of a range"
            raise self._wrong("sample", "", "no range is without steps", remedy)

    def _constraint(self, given: Any, keys: Sequence[str]) -> Constraint:
        if not isinstance(given, list) or not given:
            remedy = 'write ["over_provisioning", "<", 0.3]'
            raise self._wrong("constraints", given, "is no constraint", remedy)
        several = given if isinstance(given[0], list) else [given]
        return tuple(self._term(each, keys) for each in several)

    def _term(self, given: Any, keys: Sequence[str]) -> Term:
        if not isinstance(given, list) or len(given) != 3 or given[1] not in OPERATORS:
            remedy = f'write ["KEY", "<", VALUE]; signs: {" ".join(OPERATORS)}'
            raise self._wrong("constraints", given, "is no comparison", remedy)
        key, sign, value = given
        if key not in keys:
            raise self._wrong("constraints", key, "no factor sets it", _nearest(str(key), keys))
        if sign in ("in", "not in") and not isinstance(value, list):
            raise self._wrong("constraints", given, "needs a list", "write [VALUE, VALUE]")
        return Term(key, sign, value)

    def _table(self, key: str, data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
        found = data.get(key, {})
        if not isinstance(found, dict):
            raise self._wrong(above + key, found, "is no table", f"write [{above}{key}]")
        return found

    def _list(self, key: str, data: Mapping[str, Any]) -> list[Any]:
        found = data.get(key, [])
        if not isinstance(found, list):
            raise self._wrong(key, found, "is no list", f"write {key} = [ … ]")
        return found

    def _texts(self, place: str, value: Any) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(place, value, "is no list of texts", 'write ["…", "…"]')
        return value

    def _switch(self, place: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._wrong(place, value, "is no switch", "write true or false")
        return value

    def _number(self, place: str, value: Any) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise self._wrong(place, value, "is no number", "write a number, without quotes")
        return value

    def _count(self, place: str, value: Any, most: int = 2**63) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise self._wrong(place, value, f"is no whole number from 1 to {most}", "mend it")
        return value

    def _known(self, above: str, table: Mapping[str, Any], known: Collection[str]) -> None:
        for key in table:
            if key not in known:
                raise self._wrong(above + key, "", "is not known", _nearest(key, known))

    def _wrong(self, key: str, value: Any, what: str, remedy: str) -> SsdlabError:
        place = f"{self._name}: {key}"
        shown = "" if value in ("", None) else f" {value}:"
        return SsdlabError(f"{place}:{shown} {what}\n{remedy}")


def flat(
    table: Mapping[str, Any], is_leaf: Callable[[Mapping[str, Any]], bool] = lambda _table: False
) -> dict[str, Any]:
    """Return a table whose keys are dotted, however TOML nests them.

    Examples
    --------
    >>> flat({"nand": {"channels": 2}, "ftl.gc": "fifo"})
    {'nand.channels': 2, 'ftl.gc': 'fifo'}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and not is_leaf(value):
            found |= {f"{key}.{below}": each for below, each in flat(value, is_leaf).items()}
        else:
            found[key] = value
    return found


def _whole_job(job: str) -> tuple[str | None, str]:
    """Return a job's text with what it includes, and its name: a worker has no files beside it."""
    found, name = job_text(job)
    return None if found is None else with_included(found, name), name


def _is_range(table: Mapping[str, Any]) -> bool:
    return not table or any(key in table for key in _RANGE)


def _nearest(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, known, 1, 0.6)
    return f"did you mean {close[0]}?" if close else _one_of(known)


def _one_of(names: Collection[str]) -> str:
    return f"write one of {', '.join(names)}" if names else "there is none"
