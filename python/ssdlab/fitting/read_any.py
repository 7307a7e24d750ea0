"""Measurements from any file or folder that `ssdlab fit` takes, told apart by what is in it.

A folder is a result of `ssdlab pts`, as is its result.json with the folder around it; a file that
begins with "<" is TKperf's XML (`read_pts`). One that begins with "{", or that is named .json, is
fio's JSON (`read_fio`), with its logs (`read_log`). Everything else is a table (`read_csv`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ssdlab.errors import SsdlabError
from ssdlab.fitting.measurement import Measurement
from ssdlab.fitting.read_csv import read_csv
from ssdlab.fitting.read_fio import read_fio
from ssdlab.fitting.read_pts import read_pts

_LOOKED_AT_BYTES = 4096
_PTS = re.compile(r'\{\s*"schema_version"\s*:\s*\d+\s*,\s*"(?:standard|asked)"')


def read_all(paths: Sequence[str], state: str | None) -> tuple[list[Measurement], list[str]]:
    """Read measurements.

    Parameters
    ----------
    paths
        Files and folders.
    state
        Condition in which fio measured the drive; None where it is not given.

    Returns
    -------
    tuple
        The measurements in order, and notices of what was left out, a sentence each.

    Raises
    ------
    SsdlabError
        One is of no known kind, something in one is wrong, or a state is given for one that tells
        it itself.
    """
    found: list[Measurement] = []
    notices: list[str] = []
    for path in map(Path, paths):
        kind = _kind(path)
        if kind == "fio":
            found += read_fio(path, state)
            continue
        if state is not None:
            raise SsdlabError(
                f"--state {state}: is for fio's JSON; {path} says it {_SAYS[kind]}\n"
                "leave --state out"
            )
        if kind == "table":
            found += read_csv(path)
        else:
            measurements, more = read_pts(path.parent if kind == "result" else path)
            found += measurements
            notices += more
    return found, notices


_SAYS = {
    "table": "in its column condition",
    "folder": "by its tests",
    "result": "by its tests",
    "tkperf": "by its tests",
}


def _kind(path: Path) -> str:
    if path.is_dir():
        return "folder"
    beginning = _beginning(path)
    if beginning.startswith("<"):
        return "tkperf"
    if _PTS.match(beginning):
        return "result"
    # fio may have printed lines before the object.
    return "fio" if beginning.startswith("{") or path.suffix == ".json" else "table"


def _beginning(path: Path) -> str:
    """Return how a file begins; nothing where looking would consume it, or it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LOOKED_AT_BYTES).decode(errors="replace").lstrip("\ufeff \t\r\n")
    except (OSError, ValueError):
        return ""
