"""What can be asked of a served drive: method and path, and the call that answers.

Requests and answers are JSON objects. A GET changes nothing; what changes something is a POST, one
at a time, so that a checkpoint and an erase do not meet. Wrong input is answered with
``{"error": …}``, whose first line says what is wrong and whose second what to do. Nothing here
knows sockets: `ssdlab.live.http` has them.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from ssdlab.ground.errors import SsdlabError

ERASES = ("secure-erase", "crypto-erase", "trim", "overwrite")
"""Ways to empty a drive."""
FAULTS = (*("shorn", "unreadable", "paired", "unserialized", "rollback", "lying", "capacitor"),)
"""What may go wrong at a power cut (docs/howto/disk.md)."""
OPERATIONS = {
    "reads": "read",
    "writes": "write",
    "flushes": "flush",
    "trims": "trim",
    "write_zeroes": "write_zeroes",
}
"""What clients ask for: by how `Served.stats` counts it, what one is called."""
MOST_CYCLES = 10**7
"""No profile has more."""
MOST_COUNT = 10**9
"""Of what a log counts: the width of the narrowest field that tells it."""
SNAPSHOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""It becomes a part of a file's name."""
_MOST = 2**64 - 1
_SHOWN = 60


class Served(Protocol):
    """A drive that is served; called from several threads, changes one at a time."""

    def stats(self) -> dict[str, Any]:
        """Tell how the drive is and what it has done since the server began."""

    def power_cut(self, seed: int | None) -> dict[str, Any]:
        """Cut the power; tell what that took."""

    def power_on(self) -> None:
        """Turn the power on again."""

    def lost(self) -> dict[str, Any] | None:
        """Tell what the last cut took."""

    def checkpoint(self) -> None:
        """Write down what the drive is like."""

    def erase(self, how: str) -> dict[str, Any]:
        """Empty the drive in one of the `ERASES`; tell how long it took."""

    def age(self, aging: Mapping[str, int]) -> dict[str, Any]:
        """Let it have lived before, as some of `AGING` say; tell what its health log says then."""

    def inject_media_error(self, offset: int, length: int) -> None:
        """Let bytes be unreadable until they are written again."""

    def hold_back(self, latency_ns: int, count: int | None, *, hangs: bool) -> None:
        """Let requests take so much longer, `count` of them or all, or let none go on."""

    def arm(self, faults: Sequence[str]) -> None:
        """Let these faults happen at cuts from now on, and no others."""

    def snapshot(self, name: str) -> None:
        """Keep the drive as it is."""

    def restore(self, name: str) -> None:
        """Go back to what was kept."""


@dataclass(frozen=True)
class ApiAnswer:
    """What is sent back.

    Attributes
    ----------
    status
        Of HTTP.
    document
        A JSON object.
    """

    status: HTTPStatus
    document: dict[str, Any]


class _WrongInput(SsdlabError):
    pass


FieldReader = Callable[[str, Any], Any]


def _whole_number(low: int) -> FieldReader:
    def read(name: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= _MOST:
            return value
        raise _WrongInput(f"{name} {_shown(value)}: must be a whole number\ngive {low} to {_MOST}")

    return read


def _nothing_or_whole_number(name: str, value: Any) -> int | None:
    return None if value is None else int(_whole_number(0)(name, value))


def _within(low: int, high: int, what: str) -> FieldReader:
    def read(name: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise _WrongInput(f"{name} {_shown(value)}: {what}\ngive {low} to {high}")

    return read


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _WrongInput(f"{name} {_shown(value)}: must be true or false\nwrite true or false")


def _way_to_erase(name: str, value: Any) -> str:
    if isinstance(value, str) and value in ERASES:
        return value
    raise _WrongInput(f"{name} {_shown(value)}: no such way\nthere are {', '.join(ERASES)}")


def _faults(name: str, value: Any) -> list[str]:
    if isinstance(value, list) and all(each in FAULTS for each in value):
        return value
    raise _WrongInput(
        f"{name} {_shown(value)}: is no list of faults\nthere are {', '.join(FAULTS)}"
    )


def _snapshot_name(name: str, value: Any) -> str:
    if isinstance(value, str) and SNAPSHOT_NAME.fullmatch(value):
        return value
    raise _WrongInput(
        f"{name} {_shown(value)}: is no name for a snapshot\n"
        "write at most 64 letters, digits, dots, dashes and underscores, a letter or digit first"
    )


@dataclass(frozen=True)
class Route:
    """What answers a path.

    Attributes
    ----------
    call
        Is given the drive and the fields of the request.
    needs
        Fields that must be there, and what reads each.
    takes
        Fields that may be there.
    """

    call: Callable[[Served, Mapping[str, Any]], Mapping[str, Any] | None]
    needs: Mapping[str, FieldReader] = field(default_factory=dict)
    takes: Mapping[str, FieldReader] = field(default_factory=dict)


def _cut(drive: Served, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Cut the power, and tell between which instants, on a clock that all servers here share."""
    before = time.monotonic_ns()
    told = drive.power_cut(asked.get("seed"))
    return {**told, "monotonic_ns": [before, time.monotonic_ns()]}


def _make_unreadable(drive: Served, asked: Mapping[str, Any]) -> None:
    length = asked.get("length") or drive.stats().get("sector_bytes", 512)
    drive.inject_media_error(asked["offset"], length)


def _age(drive: Served, aging: Mapping[str, Any]) -> Mapping[str, Any]:
    if not aging:
        raise _WrongInput(f"age: nothing is named\nname some of {', '.join(AGING)}")
    if len({"cycles", "used_percent"} & aging.keys()) > 1:
        raise _WrongInput("cycles, used_percent: both say the wear\ngive one of them")
    return drive.age(aging)


_NAMED = {"name": _snapshot_name}
AGING: dict[str, FieldReader] = {
    "cycles": _within(1, MOST_CYCLES, "no flash endures as many"),
    "used_percent": _within(1, 1000, "no flash lives so long"),
    "spare_percent": _within(0, 100, "is no share of the spare in percent"),
    "read_only": _truth,
    "media_errors": _within(1, MOST_COUNT, "is no number of errors"),
    "unsafe_shutdowns": _within(1, MOST_COUNT, "is no number of shutdowns"),
    "celsius": _within(-40, 150, "is no temperature that a drive tells"),
    "power_on_hours": _within(0, MOST_COUNT, "is no number of hours"),
    "power_cycles": _within(0, MOST_COUNT, "is no number of power cycles"),
    "capacitor_failed": _truth,
}
"""What a life before can have done to a drive, and what reads each."""
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/stats"): Route(lambda drive, _: drive.stats()),
    ("GET", "/lost"): Route(lambda drive, _: {"cut": drive.lost()}),
    ("POST", "/power-cut"): Route(_cut, takes={"seed": _nothing_or_whole_number}),
    ("POST", "/power-on"): Route(lambda drive, _: drive.power_on()),
    ("POST", "/checkpoint"): Route(lambda drive, _: drive.checkpoint()),
    ("POST", "/erase"): Route(lambda drive, at: drive.erase(at["how"]), {"how": _way_to_erase}),
    ("POST", "/age"): Route(_age, takes=AGING),
    ("POST", "/inject/media-error"): Route(
        _make_unreadable, {"offset": _whole_number(0)}, {"length": _whole_number(1)}
    ),
    ("POST", "/inject/latency"): Route(
        lambda drive, at: drive.hold_back(at["latency_ns"], at.get("count"), hangs=False),
        {"latency_ns": _whole_number(1)},
        {"count": _nothing_or_whole_number},
    ),
    ("POST", "/inject/hang"): Route(lambda drive, _: drive.hold_back(0, None, hangs=True)),
    ("POST", "/inject/nothing"): Route(lambda drive, _: drive.hold_back(0, None, hangs=False)),
    ("POST", "/faults"): Route(lambda drive, at: drive.arm(at["faults"]), {"faults": _faults}),
    ("POST", "/snapshot"): Route(lambda drive, at: drive.snapshot(at["name"]), _NAMED),
    ("POST", "/restore"): Route(lambda drive, at: drive.restore(at["name"]), _NAMED),
}
"""Everything that can be asked."""


class Api:
    """Answers requests to one drive.

    Parameters
    ----------
    drive
        What is asked.
    """

    def __init__(self, drive: Served) -> None:
        self._drive = drive
        self._changing = threading.Lock()

    def answer(self, method: str, path: str, body: bytes) -> ApiAnswer:
        """Answer a request; never raises.

        Parameters
        ----------
        method
            ``GET`` or ``POST``.
        path
            Without a query.
        body
            A JSON object, or nothing.
        """
        route = ROUTES.get((method, path))
        if route is None:
            return _unknown(method, path)
        try:
            asked = _fields(route, body)
            if method == "GET":
                return ApiAnswer(HTTPStatus.OK, dict(route.call(self._drive, asked) or {}))
            with self._changing:
                return ApiAnswer(HTTPStatus.OK, dict(route.call(self._drive, asked) or {}))
        except _WrongInput as error:
            return refused(HTTPStatus.BAD_REQUEST, str(error))
        except SsdlabError as error:
            return refused(HTTPStatus.CONFLICT, str(error))
        except Exception as error:
            what = f"the server failed: {type(error).__name__}: {error}"
            return refused(HTTPStatus.INTERNAL_SERVER_ERROR, f"{what}\nreport it, please")


def refused(status: HTTPStatus, error: str) -> ApiAnswer:
    """Return an answer that says why there is none."""
    return ApiAnswer(status, {"error": error})


def _unknown(method: str, path: str) -> ApiAnswer:
    ways = [way for way, known in ROUTES if known == path]
    if ways:
        told = f"{path} is no {method}\nask it by {ways[0]}"
        return refused(HTTPStatus.METHOD_NOT_ALLOWED, told)
    known = ", ".join(dict.fromkeys(each for _, each in ROUTES))
    return refused(HTTPStatus.NOT_FOUND, f"{_shown(path)}: nothing is there\nthere are {known}")


def _fields(route: Route, body: bytes) -> dict[str, Any]:
    given = _object(body)
    readers = {**route.needs, **route.takes}
    for name in given:
        if name not in readers:
            known = ", ".join(readers) or "none"
            raise _WrongInput(f"{_shown(name)}: unknown field\nfields: {known}")
    for name in route.needs:
        if name not in given:
            raise _WrongInput(f"{name}: is missing\ngive it in the JSON object that is sent")
    return {name: readers[name](name, value) for name, value in given.items()}


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise _WrongInput('the body is no JSON\nsend an object: {"seed": 7}') from None
    if not isinstance(given, dict):
        raise _WrongInput('the body is no JSON object\nsend one: {"seed": 7}')
    return given


def _shown(value: Any) -> str:
    """Return what was given, as JSON that fits a line; JSON escapes what would move a cursor."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
