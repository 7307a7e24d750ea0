"""Measurements from any file or folder that `ssdlab fit` takes, told apart by what is in it.

A folder is a result of `ssdlab pts`, as is its result.json with the folder around it; a file that
begins with "<" is TKperf's XML (`read_pts`). One that begins with "{", or that is named .json, is
fio's JSON (`read_fio`), with its logs (`read_log`). Everything else is a table (`read_csv`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.recognise import what_the_file_is
from ssdlab.study.fitting.measurement import Gathered
from ssdlab.study.fitting.read_csv import read_csv
from ssdlab.study.fitting.read_fio import read_fio
from ssdlab.study.fitting.read_pts import read_pts

_LOOKED_AT_BYTES = 4096
_PTS = re.compile(r'\{\s*"schema_version"\s*:\s*\d+\s*,\s*"(?:standard|asked)"')


def read_all(paths: Sequence[str], state: str | None) -> Gathered:
    """Read measurements.

    Parameters
    ----------
    paths
        Files and folders.
    state
        Condition in which fio measured the drive; None where it is not given.

    Raises
    ------
    SsdlabError
        One is of no known kind, something in one is wrong, or a state is given for one that tells
        it itself.
    """
    found = Gathered()
    for path in map(Path, paths):
        more = _read(path, state)
        found.measurements += more.measurements
        found.notices += more.notices
        found.unread += more.unread
    return found


def _read(path: Path, state: str | None) -> Gathered:
    kind = _kind(path)
    if kind == "fio":
        return read_fio(path, state)
    if kind == "foreign":
        what = what_the_file_is(path)
        assert what is not None
        raise SsdlabError(
            f"{path}: no measurements that are read here: {what.told(str(path))}\n{_TAKES}"
        )
    if state is not None:
        raise SsdlabError(
            f"--state {state}: is for fio's JSON; {path} says it {_SAYS[kind]}\nleave --state out"
        )
    if kind == "table":
        return Gathered(read_csv(path))
    if kind == "result" and not (path.parent / "plan.json").is_file():
        raise SsdlabError(
            f"{path}: stands without its folder of `ssdlab pts`: there is no plan.json beside it\n"
            "name the folder that was written by: ssdlab pts TARGET -o DIR"
        )
    return read_pts(path.parent if kind == "result" else path)


_TAKES = (
    "give fio's JSON, a folder of ssdlab pts, TKperf's XML, or a table with the columns job, "
    "condition, metric, value"
)
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
    if _PTS.match(beginning):
        return "result"
    what = what_the_file_is(path)
    name = "" if what is None else what.name
    if beginning.startswith("<"):
        return "tkperf"  # What else it is, is told where it is refused.
    # fio may have printed lines before the object.
    if name in _OF_FIO or beginning.startswith("{") or (path.suffix == ".json" and what is None):
        return "fio"
    return "table" if what is None or name in _TABLES else "foreign"


_OF_FIO = ("fio's JSON", "fio's JSON of several clients")
_TABLES = (
    "a table of measurements", "a table (CSV)", "an empty file",
    "a table whose columns stand apart by ; or tabs",
)  # fmt: skip


def _beginning(path: Path) -> str:
    """Return how a file begins; nothing where looking would consume it, or it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LOOKED_AT_BYTES).decode(errors="replace").lstrip("\ufeff \t\r\n")
    except (OSError, ValueError):
        return ""
