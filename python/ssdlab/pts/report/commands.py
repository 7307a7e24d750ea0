"""The commands that make the same measurement again: of this target, and of a simulated drive."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ssdlab.pts.report.reading import Measured
from ssdlab.pts.shorter import BOOK_S

PROFILE = "PROFILE"
DEVICE = "/dev/DEVICE"


def commands(measured: Measured) -> list[tuple[str, str]]:
    """Return what each command is for, and the command."""
    asked, target = measured.asked, str(measured.asked["target"])
    with_version = f"this measurement again (with ssdlab {asked['version']})"
    if measured.target["kind"] == "simulated":
        return [
            (
                f"{with_version}; the result is the same, byte for byte",
                _words(asked, target, simulated=True),
            ),
            (
                f"the same on a real drive, which is overwritten: replace {DEVICE} by its name",
                _words(asked, DEVICE, simulated=False),
            ),
        ]
    profile, what = _profile(str(measured.target["model"]))
    on_simulated = f"the same on a simulated drive: {what}", _words(asked, profile, simulated=True)
    if asked.get("program") is not None:
        real = _words(asked, DEVICE, simulated=False)
        return [
            ("the command that TKperf recorded", asked["command"] or "none"),
            (
                f"the same with ssdlab, which overwrites the drive: replace {DEVICE} by its name",
                real,
            ),
            on_simulated,
        ]
    return [
        (f"{with_version}; the drive is overwritten", _words(asked, target, simulated=False)),
        on_simulated,
    ]


def _profile(model: str) -> tuple[str, str]:
    """Find the profile of a model; where there is none, the user has to choose."""
    from ssdlab import engine

    words = {word.lower() for word in model.split()}
    for each in engine.profiles():
        title = {word.lower() for word in str(each.get("title") or "").split()}
        if title and title <= words | {"gb", "ssd"}:
            return str(each["name"]), f"profile {each['name']}, by its model"
    return (
        PROFILE,
        f"no profile has this model; replace {PROFILE} by one that `ssdlab drives` lists",
    )


def _words(asked: Mapping[str, Any], target: str, simulated: bool) -> str:
    words = ["ssdlab", "pts", target]
    if not simulated:
        words += ["--destroy", target]
        words += ["--purge", str(asked["purge"])] if asked.get("purge", "best") != "best" else []
    if simulated:
        for setting in asked["settings"]:
            words += ["--set", str(setting)]
        for layer in asked["layers"]:
            words += ["--layer", str(layer)]
    words += ["--tests", ",".join(asked["tests"])]
    words += ["--threads", str(asked["threads"]), "--depth", str(asked["depth"])]
    words += ["--quick"] if asked["quick"] else []
    seconds = asked.get("cell_seconds", BOOK_S)
    words += ["--cell-seconds", f"{seconds:g}"] if seconds != BOOK_S else []
    words += ["--seed", str(asked["seed"]), "-o", "again"]
    return shlex.join(words)
