"""The command that runs one point again, and how a page holds ten thousand of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ssdlab.engine.request import RunRequest


def words(request: RunRequest) -> list[str]:
    """Return the words of the command that runs a request.

    Examples
    --------
    >>> " ".join(words(RunRequest("theory", (("ftl.gc", "fifo"),), flags=("--rw=read",), seed=2)))
    'ssdlab run --rw=read --drive theory --set ftl.gc=fifo --seed 2'
    """
    told = ["ssdlab run"]
    if request.job_text is not None:
        told.append(shlex.quote(request.job_name))
    told += [shlex.quote(flag) for flag in request.flags]
    told.append(f"--drive {shlex.quote(request.drive)}")
    told += [f"--layer {shlex.quote(layer)}" for layer in request.layers]
    told += [f"--set {shlex.quote(f'{key}={value}')}" for key, value in request.settings]
    if request.condition is not None:
        told.append(f"--state {request.condition}")
    if request.span != 1.0:
        told.append(f"--span {request.span}")
    told += ["--exact"] * request.exact + ["--no-layout"] * (not request.layout)
    return [*told, f"--seed {request.seed}"]


def packed(commands: Iterable[list[str]]) -> tuple[list[str], list[list[int]]]:
    """Return each word once, and each command as places among them.

    Examples
    --------
    >>> packed([["run", "a"], ["run", "b"]])
    (['run', 'a', 'b'], [[0, 1], [0, 2]])
    """
    places: dict[str, int] = {}
    found = [[places.setdefault(word, len(places)) for word in command] for command in commands]
    return list(places), found
