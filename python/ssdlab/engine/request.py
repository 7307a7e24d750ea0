"""What a run is asked for: an option is a field here, one in Rust, and one on the command line.

A request crosses to the engine as JSON, and is read strictly there (`crates/lab/src/request.rs`):
each of its fields is one of the engine's, but for `OWN`. The defaults are here alone.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from ssdlab.engine import conditions
from ssdlab.engine.policy_setting import own
from ssdlab.ground.errors import SsdlabError

Settings = tuple[tuple[str, str], ...]
"""Pairs of dotted key and value, as `--set` takes them."""

OWN = ("cache",)
"""What the engine is not told."""

_LARGEST = 2**64 - 1
"""The largest whole number that the engine holds."""


@dataclass(frozen=True)
class RunRequest:
    """One run: a job on a drive, or what brings a drive into a condition.

    Attributes
    ----------
    drive
        A profile's name, a profile or a stack (TOML), or a drive file.
    settings
        Dotted keys and values that differ from the profile.
    layers
        What lies over the drive, bottom up, as `--layer` takes it.
    scale
        A smaller drive in place of a large one, as `--scale` takes it: ``blocks:N``, ``dies:N`` or
        ``dies:N,whole-link`` (`crates/lab/src/scale.rs`); of a stack each drive.
    start_over
        How the drive is started over first, as `ssdlab season --start-over` takes it.
    condition
        The drive is then preconditioned to it (`ssdlab.engine.conditions`), ``steady`` by its full
        name; None leaves the drive as it is.
    span
        Share of the exported range that preconditioning uses.
    exact
        The whole drive is preconditioned, even where a scale model can be used.
    seed
        The run's one source of chance.
    job_text
        The text of a fio job file; None where the flags alone make the job.
    job_name
        Where the text came from, for messages.
    flags
        fio options, each as ``--name=value`` or ``--name``.
    layout
        A read job on a fresh drive first writes what it will read.
    timeline
        Start and length, in nanoseconds, of the stretch whose single operations are recorded.
    json_plus
        Keep the latency histograms.
    save
        Where the drive is kept afterwards.
    must_be_new
        A file that has appeared at `save` by then is left as it is, and refused.
    cache
        Whether a preconditioned drive may be taken from the user's cache folder, or kept there.
    """

    drive: str
    settings: Settings = ()
    layers: tuple[str, ...] = ()
    scale: str | None = None
    start_over: str | None = None
    condition: str | None = None
    span: float = 1.0
    exact: bool = False
    seed: int = 1
    job_text: str | None = None
    job_name: str = "command line"
    flags: tuple[str, ...] = ()
    layout: bool = True
    timeline: tuple[int, int] | None = None
    json_plus: bool = False
    save: str | None = None
    must_be_new: bool = False
    cache: bool = True

    def __post_init__(self) -> None:
        """Give the condition its full name."""
        object.__setattr__(self, "condition", conditions.named(self.condition))

    def on(self, file: str) -> RunRequest:
        """Return the same run on a drive file that is in the condition already.

        A policy of the user's own is named again: a file does not say which code is run.

        Parameters
        ----------
        file
            What preconditioning this request's drive left.
        """
        return replace(
            self,
            drive=file,
            settings=own(self.settings),
            scale=None,
            start_over=None,
            condition=None,
            span=1.0,
            exact=False,
        )

    def to_json(self) -> str:
        """Return what the engine reads.

        Raises
        ------
        SsdlabError
            A value that JSON, or the engine's numbers, would not hold.
        """
        told = (field.name for field in fields(self) if field.name not in OWN)
        given = {name: _plain(name, getattr(self, name)) for name in told}
        return json.dumps(given, ensure_ascii=False)


def _plain(name: str, value: Any) -> Any:
    """Return a value as JSON has it; a number of a library such as NumPy becomes Python's."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple | list):
        return [_plain(name, each) for each in value]
    if isinstance(value, Integral):
        return whole(name, int(value))
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise SsdlabError(f"{name} {value}: must be a text, a finite number, or a list of them")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SsdlabError(f"{value!a}: not UTF-8; give another name") from None
    return value


def whole(name: str, value: int, largest: int = _LARGEST) -> int:
    """Return a number that the engine's own holds.

    Raises
    ------
    SsdlabError
        It is below 0 or too large.
    """
    if not 0 <= value <= largest:
        raise SsdlabError(f"{name} {value}: must be a whole number from 0 to {largest}")
    return value
