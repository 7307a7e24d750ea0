"""The commands that make the same measurement again: of this target, and of a simulated drive."""

from __future__ import annotations

from ssdlab.bench.command import command
from ssdlab.bench.report.reading import Measured

PROFILE = "PROFILE"
DEVICE = "/dev/DEVICE"
_FOLDER = "again"


def commands(measured: Measured) -> list[tuple[str, str]]:
    """Return what each command is for, and the command."""
    asked, target = measured.asked, str(measured.asked["target"])
    with_version = f"this measurement again (with ssdlab {asked['version']})"
    if measured.target["kind"] == "simulated":
        return [
            (
                f"{with_version}; the result is the same, byte for byte",
                command(asked, target, is_real=False, output=_FOLDER),
            ),
            (
                f"the same on a real drive, which is overwritten: replace {DEVICE} by its name",
                command(asked, DEVICE, is_real=True, output=_FOLDER),
            ),
        ]
    profile, what = _profile(str(measured.target["model"]))
    on_simulated = (
        f"the same on a simulated drive: {what}",
        command(asked, profile, is_real=False, output=_FOLDER),
    )
    if asked.get("program") is not None:
        real = command(asked, DEVICE, is_real=True, output=_FOLDER)
        return [
            ("the command that TKperf recorded", asked["command"] or "none"),
            (
                f"the same with ssdlab, which overwrites the drive: replace {DEVICE} by its name",
                real,
            ),
            on_simulated,
        ]
    return [
        (
            f"{with_version}; the drive is overwritten",
            command(asked, target, is_real=True, output=_FOLDER),
        ),
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
