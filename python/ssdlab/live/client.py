"""Asks the server of a folder, over the folder's ``ctl.sock``."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ssdlab.ground.errors import SsdlabError
from ssdlab.live import unix

SOCKET = "ctl.sock"
"""The name of the socket in the folder."""
_PATIENCE_S = 600.0
"""An erase or a checkpoint of a large drive takes its time."""

Answered = TypeVar("Answered")


class _Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        """Connect."""
        self.sock = unix.connected(self._path, _PATIENCE_S)


class Client:
    """A connection to the server of a folder.

    Parameters
    ----------
    folder
        As it is named in errors.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._path = Path(folder) / SOCKET
        self._connection = _Connection(self._path)

    def connect(self) -> None:
        """Connect, so that the next request has nothing to wait for.

        Raises
        ------
        SsdlabError
            The folder is not served, or not for you.
        """
        if self._connection.sock is not None:
            return
        try:
            self._connection.connect()
        except OSError as error:
            raise self._why_not(error) from None

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def get(self, path: str) -> dict[str, Any]:
        """Ask for something; see `post`."""
        return self._ask("GET", path, None)

    def post(self, path: str, **fields: Any) -> dict[str, Any]:
        """Have something changed; fields that are None are left out.

        Raises
        ------
        SsdlabError
            The folder is not served, the server refuses, or it has gone meanwhile.
        """
        given = {name: value for name, value in fields.items() if value is not None}
        return self._ask("POST", path, given)

    def _ask(self, method: str, path: str, fields: Mapping[str, Any] | None) -> dict[str, Any]:
        self.connect()
        body = None if fields is None else json.dumps(fields).encode()
        try:
            self._connection.request(method, path, body)
            answer = self._connection.getresponse()
            status, told = answer.status, json.loads(answer.read())
            if not isinstance(told, dict):
                raise ValueError
        except TimeoutError:
            self.close()
            raise SsdlabError(
                f"{self.folder}: its server has not answered for {_PATIENCE_S:.0f} s\n"
                "see whether it is stopped, or its disk hangs"
            ) from None
        except (OSError, http.client.HTTPException):
            self.close()
            raise SsdlabError(
                f"{self.folder}: its server hung up\n"
                f"if it has ended, start it again: ssdlab serve {self.folder}"
            ) from None
        except (ValueError, RecursionError):
            self.close()
            raise SsdlabError(
                f"{self._path}: who answers there is no server of ssdlab\n"
                f"end it, and start: ssdlab serve {self.folder}"
            ) from None
        if status >= http.client.BAD_REQUEST:
            raise SsdlabError(f"{self.folder}: {told.get('error', status)}")
        return told

    def _why_not(self, error: OSError) -> SsdlabError:
        """Say why there is no connection, and what to do."""
        folder, start = self.folder, f"ssdlab serve {self.folder}"
        if isinstance(error, PermissionError):
            return SsdlabError(
                f"{self._path}: {error.strerror}\nbe the user who serves it{_owner(Path(folder))}"
            )
        if isinstance(error, ConnectionRefusedError):
            return SsdlabError(
                f"{folder}: its server has ended without a word\nstart it again: {start}"
            )
        if not Path(folder).exists():
            return SsdlabError(
                f"{folder}: no such folder\nmake a drive there: ssdlab serve DRIVE -o {folder}"
            )
        if not Path(folder).is_dir():
            return SsdlabError(f"{folder}: is no folder\nname the folder of a served drive")
        if isinstance(error, FileNotFoundError):
            return SsdlabError(f"{folder}: is not being served\nstart it: {start}")
        return SsdlabError(
            f"{self._path}: {error.strerror or error}\nis it being served? start it: {start}"
        )


def _owner(folder: Path) -> str:
    with suppress(OSError, KeyError, ImportError):
        import pwd

        return f": {pwd.getpwuid(folder.stat().st_uid).pw_name}"
    return ""


def at_once(
    clients: Sequence[Client], ask: Callable[[Client], Answered]
) -> list[Answered | SsdlabError]:
    """Ask several servers at the same instant, as nearly as may be; nobody is asked unless all are.

    Parameters
    ----------
    clients
        Of the servers.
    ask
        Asks one.

    Returns
    -------
    list
        What each has told, or why it has not.

    Raises
    ------
    SsdlabError
        One of them cannot be reached: then none was asked.
    """
    for client in clients:
        client.connect()
    together = threading.Barrier(len(clients))
    told: list[Answered | SsdlabError] = [SsdlabError("not asked")] * len(clients)

    def wait_and_ask(place: int) -> None:
        together.wait()
        try:
            told[place] = ask(clients[place])
        except SsdlabError as error:
            told[place] = error

    threads = [
        threading.Thread(target=wait_and_ask, args=(place,), daemon=True)
        for place in range(len(clients))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def spread_ns(cuts: Sequence[Mapping[str, Any]]) -> int:
    """Return within how many nanoseconds of each other cuts were, at most.

    Examples
    --------
    >>> spread_ns([{"monotonic_ns": [10, 15]}, {"monotonic_ns": [12, 19]}])
    9
    """
    instants = [cut["monotonic_ns"] for cut in cuts]
    return int(max(end for _, end in instants) - min(begin for begin, _ in instants))
