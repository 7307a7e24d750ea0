"""What NVMe hosts did to the drive of a folder, as the folder keeps it: errors and self-tests.

The server writes ``nvme-logs.json`` before it tells a host what is in it, so the file holds for a
drive that is being served, too. A folder without one is a drive to which hosts have done nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.ground import json_once
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text

FILE = "nvme-logs.json"
_MOST_BYTES = 1 << 20
_REMEDY = (
    "remove it, and the drive forgets its errors, self-tests and sanitize; "
    "or restore it from a copy"
)
_LARGEST = {"number": 1 << 64, "queue": 1 << 16, "command": 1 << 16, "status": 1 << 16}
_LARGEST |= {"sector": 1 << 64, "count": 1 << 64, "code": 1 << 4}


@dataclass(frozen=True)
class FailedCommand:
    """A command that failed, as NVMe's error log has it.

    Attributes
    ----------
    number
        Counted from 1.
    queue, command
        Of which queue, and its identifier there.
    status
        The status field of its completion, phase tag 0.
    sector
        The first that it named.
    """

    number: int
    queue: int
    command: int
    status: int
    sector: int


@dataclass(frozen=True)
class NvmePast:
    """What hosts did.

    Attributes
    ----------
    errors
        Commands that failed, all of them.
    failed
        Those that are kept, the last one in front.
    self_tests
        NVMe's code (1 short, 2 extended), and whether it passed; the last one in front.
    """

    errors: int = 0
    failed: tuple[FailedCommand, ...] = ()
    self_tests: tuple[tuple[int, bool], ...] = ()


def past_of(folder: str) -> NvmePast:
    """Read what a folder keeps; nothing of what is no folder.

    Raises
    ------
    SsdlabError
        The file cannot be read, or something in it is not understood.
    """
    path = Path(folder) / FILE
    if not path.parent.is_dir():
        return NvmePast()
    try:
        content = read_text(path, _MOST_BYTES)
        return _past(json_once.loads(content))
    except FileNotFoundError:
        return NvmePast()
    except (InputError, RecursionError, ValueError) as error:
        raise SsdlabError(f"{path}: {error}\n{_REMEDY}") from None


def _past(content: Any) -> NvmePast:
    whole = _object(content, "it", ("errors", "self_tests", "sanitize"))
    errors = _object(whole["errors"], "errors", ("count", "entries"))
    fields = ("number", "queue", "command", "status", "sector")
    failed = []
    for place, entry in _entries(errors["entries"], "errors.entries"):
        told = _object(entry, place, fields)
        failed.append(FailedCommand(**{name: _number(told, name, place) for name in fields}))
    tests = []
    for place, entry in _entries(whole["self_tests"], "self_tests"):
        told = _object(entry, place, ("code", "passed"))
        if not isinstance(told["passed"], bool):
            raise ValueError(f"{place}.passed: {told['passed']!r} is neither true nor false")
        tests.append((_number(told, "code", place), told["passed"]))
    return NvmePast(_number(errors, "count", "errors"), tuple(failed), tuple(tests))


def _object(value: Any, place: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Give an object that has these fields, and no others."""
    if not isinstance(value, dict):
        raise ValueError(f"{place}: {value!r:.60} is no object")
    for name in value:
        if name not in names:
            raise ValueError(f"{place}: the field {name!r:.60} is not known")
    for name in names:
        if name not in value:
            raise ValueError(f"{place}: the field {name} is not there")
    return value


def _entries(value: Any, place: str) -> list[tuple[str, Any]]:
    if not isinstance(value, list):
        raise ValueError(f"{place}: {value!r:.60} is no list")
    return [(f"{place}[{number}]", entry) for number, entry in enumerate(value)]


def _number(told: Mapping[str, Any], name: str, place: str) -> int:
    value, limit = told[name], _LARGEST[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise ValueError(f"{place}.{name}: {value!r:.60} is no whole number from 0 to {limit - 1}")
    return value
