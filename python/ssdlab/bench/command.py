"""The command that repeats a measurement, from what a result keeps of how it was asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.bench.shorter import BOOK_S


def command(
    asked: Mapping[str, Any], target: str, *, is_real: bool, output: str | None = None
) -> str:
    """Return the command.

    Parameters
    ----------
    asked
        As ``plan.json`` keeps it; the output folder and the format do not matter.
    target
        What is to be measured, which may be another target.
    is_real
        Whether that is a real drive, which has no settings and no layers, but is overwritten.
    output
        The folder for the result; None leaves it out.
    """
    words = ["ssdlab", "pts", target, *(_for_real(asked, target) if is_real else _drive(asked))]
    words += ["--tests", ",".join(asked["tests"])]
    words += ["--threads", str(asked["threads"]), "--depth", str(asked["depth"])]
    words += ["--quick"] if asked["quick"] else []
    seconds = asked.get("cell_seconds", BOOK_S)
    words += ["--cell-seconds", f"{seconds:g}"] if seconds != BOOK_S else []
    rounds = asked.get("most_rounds")
    words += ["--most-rounds", str(rounds)] if rounds is not None else []
    words += ["--seed", str(asked["seed"])]
    words += ["-o", output] if output is not None else []
    return shlex.join(words)


def _for_real(asked: Mapping[str, Any], target: str) -> Iterator[str]:
    yield from ("--destroy", target)
    if asked.get("purge", "best") != "best":
        yield from ("--purge", str(asked["purge"]))


def _drive(asked: Mapping[str, Any]) -> Iterator[str]:
    for setting in asked["settings"]:
        yield from ("--set", str(setting))
    for layer in asked["layers"]:
        yield from ("--layer", str(layer))
