"""HTTP for a served drive: over a unix socket, and over TCP for a browser.

Whoever may open the unix socket (mode 0600) may ask everything. Over TCP anybody on the machine may
look, also a page of a stranger that runs in a browser here, so there

- the ``Host`` must be an address, ``localhost`` or the name that was asked for: a stranger's name
  that now leads to this machine (DNS rebinding) is refused, and so is what a browser says comes
  from another site;
- a POST needs the token.

Bounds: of each socket at most `CLIENTS` at once, each a thread; a request is there within
`TO_ASK_S` and has at most `MOST_BYTES`; an answer is taken within `TO_TAKE_S`. Left out: TLS,
compression.
"""

from __future__ import annotations

import hmac
import io
import ipaddress
import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from ssdlab.live import unix
from ssdlab.live.api import Api, ApiAnswer, refused

CLIENTS = 32
MOST_BYTES = 96 << 10
MOST_BODY = 16 << 10
TO_ASK_S = 10.0
TO_TAKE_S = 30.0
TO_LEAVE_S = 1.0
MOST_LEFT = 1 << 20
TOKEN_HEADER = "X-Ssdlab-Token"
_JSON = "application/json"
_TOO_MANY = json.dumps({"error": "too many clients at once\ncome again later"}).encode()
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_TOO_MANY), _TOO_MANY)
)


@dataclass(frozen=True)
class WebDocument:
    """Something to look at.

    Attributes
    ----------
    content_type
        As the header says it.
    content
        Bytes, or a function that gives out pieces until it is hung up on.
    headers
        More headers.
    status
        Of HTTP.
    """

    content_type: str
    content: bytes | Callable[[Callable[[bytes], object]], None]
    headers: Mapping[str, str] = field(default_factory=dict)
    status: HTTPStatus = HTTPStatus.OK


def document_of(answer: ApiAnswer) -> WebDocument:
    """Return an answer of the API as it is sent."""
    return WebDocument(_JSON, json.dumps(answer.document).encode(), status=answer.status)


Documents = Mapping[str, Callable[[], WebDocument]]
"""By path what there is beside the API."""


@dataclass(frozen=True)
class Guard:
    """Who may ask over a socket that others can reach.

    Attributes
    ----------
    token
        What a POST needs.
    name
        The host's name that was asked for.
    """

    token: str
    name: str = "localhost"

    def refusal(self, request: BaseHTTPRequestHandler) -> ApiAnswer | None:
        """Say why a request is refused; None where it is not."""
        hosts = request.headers.get_all("Host") or []
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            told = "this host has another name\nopen the address that ssdlab serve printed"
            return refused(HTTPStatus.MISDIRECTED_REQUEST, told)
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            told = "another site asks\nopen the address that ssdlab serve printed"
            return refused(HTTPStatus.FORBIDDEN, told)
        given = request.headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        if request.command != "GET" and not hmac.compare_digest(given, self.token.encode()):
            told = (
                f"the token is missing or wrong\nsend what ssdlab serve printed as {TOKEN_HEADER}"
            )
            return refused(HTTPStatus.FORBIDDEN, told)
        return None

    def _is_ours(self, host: str) -> bool:
        """Tell whether a Host, but for its port, is an address, or a name of ours."""
        name = host.strip().lower()
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") == 1:
            name = name.partition(":")[0]
        if name in ("localhost", self.name.lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class HttpServer:
    """Serves an API, and documents beside it, at any number of sockets.

    Parameters
    ----------
    api
        What answers.
    documents
        What else there is.
    """

    def __init__(self, api: Api, documents: Documents | None = None) -> None:
        self._api = api
        self._documents = documents or {}
        self._doors: list[_Door] = []

    def listen_unix(self, path: Path) -> None:
        """Serve at a path, for its owner alone.

        Raises
        ------
        OSError
            Somebody else does, or the machine refuses.
        """
        self._open(_Door(unix.bound(path), self._api, self._documents, None, path))

    def listen_tcp(self, host: str, port: int, guard: Guard) -> tuple[str, int]:
        """Serve at an address; return it, with the port that the machine chose for 0.

        Raises
        ------
        OSError
            The machine refuses.
        """
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[
            0
        ]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
        except BaseException:
            made.close()
            raise
        self._open(_Door(made, self._api, self._documents, guard))
        found = made.getsockname()
        return str(found[0]), int(found[1])

    def close(self) -> None:
        """Hang up on everybody."""
        for door in self._doors:
            door.close()
        self._doors.clear()

    def _open(self, door: _Door) -> None:
        self._doors.append(door)
        door.open()


class _Door(socketserver.ThreadingMixIn, socketserver.BaseServer):
    """A socket, and a thread for each of those who come, as many as are let in."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        listener: socket.socket,
        api: Api,
        documents: Documents,
        guard: Guard | None,
        path: Path | None = None,
    ) -> None:
        super().__init__(listener.getsockname(), _Request)
        self.api, self.documents, self.guard = api, documents, guard
        self._listener, self._path = listener, path
        self._places = threading.BoundedSemaphore(CLIENTS)
        self._inside: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True)

    def open(self) -> None:
        """Let clients in from now on."""
        self._listener.listen(CLIENTS)
        self._thread.start()

    def close(self) -> None:
        """Hang up on everybody, and let nobody in any more."""
        self.shutdown()
        self._thread.join()
        self._listener.close()
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()
        with self._lock:
            for each in self._inside:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def fileno(self) -> int:
        """Return the socket's descriptor, which is waited for."""
        return self._listener.fileno()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Let the next one in."""
        try:
            found, address = self._listener.accept()
        except OSError:
            # Where descriptors have run out, who waits makes the socket ready again at once.
            time.sleep(0.05)
            raise
        if found.family != socket.AF_UNIX:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a client a thread, if there is room."""
        if not self._places.acquire(blocking=False):
            with suppress(OSError):
                request.setblocking(False)
                request.send(_BUSY)
            _hang_up(request, patience_s=0)
            return
        with self._lock:
            self._inside.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._leave(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a client until it leaves."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._leave(request)

    def shutdown_request(self, request: Any) -> None:
        """Hang up."""
        _hang_up(request, TO_LEAVE_S)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that vanish or are late; anything else is a fault of ours."""
        import sys

        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def _leave(self, request: socket.socket) -> None:
        with self._lock:
            self._inside.discard(request)
        self._places.release()


def _hang_up(connection: socket.socket, patience_s: float) -> None:
    """Close a connection, once what is still being sent has been read, for a while and a bit of it.

    Where something is unread, the kernel takes back the answer that is on its way.
    """
    left, end = MOST_LEFT, time.monotonic() + patience_s
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while left > 0:
            connection.settimeout(max(0.0, end - time.monotonic()))
            count = len(connection.recv(min(left, 1 << 16)))
            left -= count
            if count == 0:
                break
    connection.close()


class _Timely(io.RawIOBase):
    """What a client sends: each request within its time, and within its bytes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.begin()

    def begin(self) -> None:
        """Give the next request its time and bytes."""
        self._end = time.monotonic() + TO_ASK_S
        self._left = MOST_BYTES

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there."""
        left_s = self._end - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        if self._left == 0:
            raise ConnectionAbortedError("too long a request")
        self._connection.settimeout(left_s)
        count = self._connection.recv_into(memoryview(buffer)[: self._left])
        self._left -= count
        return count


class _Request(BaseHTTPRequestHandler):
    """One client: its requests, one after the other."""

    protocol_version = "HTTP/1.1"
    server_version = "ssdlab"
    sys_version = ""
    server: _Door

    def setup(self) -> None:
        """Read in time."""
        super().setup()
        self.rfile.close()
        self._timely = _Timely(self.connection)
        self.rfile = io.BufferedReader(self._timely)

    def handle_one_request(self) -> None:
        """Answer the next request."""
        self._timely.begin()
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read a request, if it is of HTTP/1: older answers have no headers, so no end either."""
        if not super().parse_request():
            return False
        if self.request_version == "HTTP/0.9":
            self.send_error(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
            return False
        return True

    def do_GET(self) -> None:
        """Answer a question."""
        self._answer()

    def do_POST(self) -> None:
        """Carry something out."""
        self._answer()

    def _answer(self) -> None:
        guard = self.server.guard
        path, _, query = self.path.partition("?")
        refusal = guard.refusal(self) if guard is not None else None
        if refusal is None and query:
            refusal = refused(
                HTTPStatus.BAD_REQUEST, "there is no query here\nleave out ? and more"
            )
        body = b""
        if refusal is None:
            refusal, body = self._body()
        if refusal is not None:
            # The body may not have been read.
            self.close_connection = True
            self._send(document_of(refusal))
        elif self.command == "GET" and path in self.server.documents:
            self._send(self.server.documents[path]())
        else:
            self._send(document_of(self.server.api.answer(self.command, path, body)))

    def _body(self) -> tuple[ApiAnswer | None, bytes]:
        """Read the body, or say why it is not read."""
        lengths = self.headers.get_all("Content-Length") or []
        if "Transfer-Encoding" in self.headers or (self.command == "POST" and not lengths):
            told = "the body has no length\nsend Content-Length"
            return refused(HTTPStatus.LENGTH_REQUIRED, told), b""
        if not lengths:
            return None, b""
        length = lengths[0].strip()
        if len(lengths) > 1 or not (length.isascii() and length.isdigit() and len(length) < 20):
            return refused(HTTPStatus.BAD_REQUEST, "Content-Length is no number\nmend it"), b""
        if int(length) > MOST_BODY:
            told = f"{length} bytes are too many\nsend at most {MOST_BODY}"
            return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told), b""
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return refused(HTTPStatus.BAD_REQUEST, "the body is cut short\nsend all of it"), b""
        return None, body

    def _send(self, document: WebDocument) -> None:
        self.connection.settimeout(TO_TAKE_S)
        content = document.content
        self.send_response(document.status)
        self.send_header("Content-Type", document.content_type)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in document.headers.items():
            self.send_header(name, value)
        if isinstance(content, bytes):
            self.send_header("Content-Length", str(len(content)))
        else:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if isinstance(content, bytes):
            self.wfile.write(content)
        else:
            content(self.wfile.write)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not even HTTP."""
        self.close_connection = True
        status = HTTPStatus(code)
        self.request_version = self.protocol_version
        told = f"{message or status.phrase}\nsend a GET or a POST of HTTP/1.1"
        self._send(document_of(refused(status, told)))

    def log_message(self, format: str, *values: Any) -> None:
        """Keep quiet: what clients do is counted elsewhere."""
