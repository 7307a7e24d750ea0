"""A point of a study: a run, and the key that it is known by.

    key = SHA-256 of the request as the engine reads it, the compiled engine, and the contents of
          every file that the request names (drive, stack, policy, job's trace, a layer's drive)

so that a point is either the same, and need not be run again, or another one. Where a conditioned
drive comes from, the cache or not, changes no result and is no part of it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.engine.request import RunRequest
from ssdlab.experiment.cache import engine_hash
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.factors import combinations
from ssdlab.study.sweeps.sent import files_of, named
from ssdlab.study.sweeps.study import Study, as_text

_KEY_DIGITS = 24


@dataclass(frozen=True)
class Point:
    """One run of a study.

    Attributes
    ----------
    number
        Its place in the study, from 0.
    request
        What is run.
    factors
        The values that were varied, by key.
    """

    number: int
    request: RunRequest
    factors: Mapping[str, Any]

    @functools.cached_property
    def key(self) -> str:
        """What it is known by."""
        hashes = (named(file).sha256 for file in sorted(self.files))
        told = [engine_hash(), self.request.to_json(), *hashes]
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:_KEY_DIGITS]

    @property
    def files(self) -> set[str]:
        """The files that the request names."""
        return files_of(self.request)


def points(study: Study) -> Iterator[Point]:
    """Give the points of a study: combinations, each on every drive, with every job and seed.

    Raises
    ------
    SsdlabError
        A factor cannot be applied to the base, such as that of a layer that is not there.
    """
    number = 0
    for factors in combinations(study.factors, study.sample, study.constraints):
        for base in study.bases:
            request = applied(base, factors, study.name)
            for seed in study.seeds:
                yield Point(number, replace(request, seed=seed), factors)
                number += 1


def applied(base: RunRequest, factors: Mapping[str, Any], where: str = "study") -> RunRequest:
    """Return a request with values set on it.

    Parameters
    ----------
    base
        The request before.
    factors
        Values by key, as a study's factors have them.
    where
        The study's name, for messages.

    Raises
    ------
    SsdlabError
        A key that the request has no place for.
    """
    for key, value in factors.items():
        first, _, rest = key.partition(".")
        if key in ("condition", "span", "exact"):
            base = replace(base, **{key: value})
        elif key == "layers":
            base = replace(base, layers=tuple(value))
        elif first == "job":
            base = replace(base, flags=_with_flag(base.flags, rest, value))
        elif first == "layer":
            base = replace(base, layers=_with_option(base.layers, rest, as_text(value), where))
        else:
            kept = tuple(pair for pair in base.settings if pair[0] != key)
            base = replace(base, settings=(*kept, (key, as_text(value))))
    return base


def _with_flag(flags: tuple[str, ...], name: str, value: Any) -> tuple[str, ...]:
    kept = tuple(flag for flag in flags if flag.partition("=")[0] != f"--{name}")
    return (*kept, f"--{name}={int(value) if isinstance(value, bool) else as_text(value)}")


def _with_option(layers: tuple[str, ...], option: str, value: str, where: str) -> tuple[str, ...]:
    """Set an option of the layer of a kind, such as ``raid.disks``."""
    kind, _, name = option.partition(".")
    kinds = [layer.partition(":")[0] for layer in layers]
    if kinds.count(kind) != 1 or not name:
        raise SsdlabError(
            f"{where}: factors.layer.{option}: one layer {kind!r} is wanted, "
            f"{kinds.count(kind)} are in base.layers\nadd it there, or vary layers as a whole"
        )
    at = kinds.index(kind)
    options = [each for each in layers[at].partition(":")[2].split(",") if each]
    kept = [each for each in options if each.partition("=")[0] != name]
    changed = f"{kind}:{','.join([*kept, f'{name}={value}'])}"
    return (*layers[:at], changed, *layers[at + 1 :])
