"""A client of the NBD protocol, as much of it as the bench needs beside fio's own.

It asks an export for its size and block sizes, reads and writes samples, and discards: what proves
a purge, and what tells whether an export is empty. The load itself is fio's (``--ioengine=nbd``).

Source: the NBD protocol (NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle handshake with
``NBD_OPT_GO``, simple replies. Left out: TLS, structured replies, servers without that option.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from ssdlab.ground.errors import SsdlabError

SCHEMES = ("nbd", "nbd+unix")
DEFAULT_PORT = 10809
_TIMEOUT_S = 30.0
_MAGIC, _OPTION_MAGIC, _REPLY_MAGIC = b"NBDMAGIC", b"IHAVEOPT", 0x3E889045565A9
_REQUEST_MAGIC, _ANSWER_MAGIC = 0x25609513, 0x67446698
_FIXED_NEWSTYLE, _NO_ZEROES = 1, 2
_GO, _ACK, _INFO, _ERROR = 7, 1, 3, 1 << 31
_INFO_EXPORT, _INFO_BLOCK_SIZE = 0, 3
_READ, _WRITE, _DISCONNECT, _FLUSH, _TRIM = 0, 1, 2, 3, 4
_READ_ONLY, _SEND_FLUSH, _SEND_TRIM = 1 << 1, 1 << 2, 1 << 5
_LONGEST_OPTION = 1 << 16
_LARGEST_TRIM = 1 << 30


@dataclass(frozen=True)
class Export:
    """An export.

    Attributes
    ----------
    size_bytes
        Its size.
    smallest_bytes
        The smallest request that its server takes.
    is_read_only, flushes, trims
        What the server says of it.
    """

    size_bytes: int
    smallest_bytes: int
    is_read_only: bool
    flushes: bool
    trims: bool


class ExportClient:
    """A connection to an export.

    Parameters
    ----------
    uri
        ``nbd://HOST[:PORT]/NAME`` or ``nbd+unix:///NAME?socket=PATH``.

    Raises
    ------
    SsdlabError
        The URI is none, or the server cannot be reached or does not give the export.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._socket, name = _connect(uri)
        try:
            self.export = self._negotiate(name)
        except BaseException:
            self._socket.close()
            raise

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes.

        Raises
        ------
        SsdlabError
            The server refused, or went away.
        """
        self._request(_READ, offset, length)
        self._answer("read", offset)
        return self._receive(length)

    def write(self, offset: int, content: bytes) -> None:
        """Write bytes.

        Raises
        ------
        SsdlabError
            As `read`.
        """
        self._request(_WRITE, offset, len(content), content)
        self._answer("write", offset)

    def flush(self) -> None:
        """Make what was written last; nothing where the server has no cache.

        Raises
        ------
        SsdlabError
            As `read`.
        """
        if self.export.flushes:
            self._request(_FLUSH, 0, 0)
            self._answer("flush", 0)

    def trim(self) -> None:
        """Discard the whole export.

        Raises
        ------
        SsdlabError
            As `read`.
        """
        for offset in range(0, self.export.size_bytes, _LARGEST_TRIM):
            length = min(_LARGEST_TRIM, self.export.size_bytes - offset)
            self._request(_TRIM, offset, length)
            self._answer("trim", offset)

    def close(self) -> None:
        """Say goodbye."""
        try:
            self._request(_DISCONNECT, 0, 0)
        except SsdlabError:
            pass
        self._socket.close()

    def __enter__(self) -> ExportClient:
        """Return the client."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Say goodbye."""
        self.close()

    def _negotiate(self, name: bytes) -> Export:
        """Ask for an export, and read what the server says of it."""
        self._ask_for(name)
        size, its_flags, smallest = 0, 0, 1
        for kind, content in self._told():
            if kind == _INFO_EXPORT:
                size, its_flags = struct.unpack(">QH", content[:10])
            elif kind == _INFO_BLOCK_SIZE:
                smallest = struct.unpack(">I", content[:4])[0]
        return Export(
            size,
            smallest,
            is_read_only=bool(its_flags & _READ_ONLY),
            flushes=bool(its_flags & _SEND_FLUSH),
            trims=bool(its_flags & _SEND_TRIM),
        )

    def _ask_for(self, name: bytes) -> None:
        if self._receive(8) != _MAGIC or self._receive(8) != _OPTION_MAGIC:
            raise SsdlabError(f"{self.uri}: answers, but not as an NBD server of today does")
        (offered,) = struct.unpack(">H", self._receive(2))
        if not offered & _FIXED_NEWSTYLE:
            raise SsdlabError(f"{self.uri}: the server is too old: no fixed newstyle handshake")
        data = struct.pack(">I", len(name)) + name + struct.pack(">HH", 1, _INFO_BLOCK_SIZE)
        flags = _FIXED_NEWSTYLE | (offered & _NO_ZEROES)
        header = struct.pack(">I", flags) + _OPTION_MAGIC + struct.pack(">II", _GO, len(data))
        self._send(header + data)

    def _told(self) -> Iterator[tuple[int, bytes]]:
        """Give what the server tells of the export, until it says that this is all."""
        while True:
            magic, _, kind, length = struct.unpack(">QIII", self._receive(20))
            if magic != _REPLY_MAGIC or length > _LONGEST_OPTION:
                raise SsdlabError(f"{self.uri}: the server's answer is not NBD's")
            content = self._receive(length)
            if kind == _ACK:
                return
            if kind & _ERROR:
                said = content.decode(errors="replace").strip() or f"error {kind - _ERROR}"
                raise SsdlabError(f"{self.uri}: the server does not give this export: {said}")
            if kind == _INFO and length >= 2:
                yield struct.unpack(">H", content[:2])[0], content[2:]

    def _request(self, kind: int, offset: int, length: int, content: bytes = b"") -> None:
        header = struct.pack(">IHHQQI", _REQUEST_MAGIC, 0, kind, 0, offset, length)
        self._send(header + content)

    def _answer(self, what: str, offset: int) -> None:
        magic, error, _ = struct.unpack(">IIQ", self._receive(16))
        if magic != _ANSWER_MAGIC:
            raise SsdlabError(f"{self.uri}: the server's answer to a {what} is not NBD's")
        if error:
            raise SsdlabError(f"{self.uri}: {what} at byte {offset}: {os.strerror(error)}")

    def _send(self, content: bytes) -> None:
        try:
            self._socket.sendall(content)
        except OSError as error:
            raise self._gone(error) from None

    def _receive(self, length: int) -> bytes:
        received = bytearray()
        while len(received) < length:
            try:
                piece = self._socket.recv(length - len(received))
            except OSError as error:
                raise self._gone(error) from None
            if not piece:
                raise SsdlabError(f"{self.uri}: the server closed the connection")
            received += piece
        return bytes(received)

    def _gone(self, error: OSError) -> SsdlabError:
        return SsdlabError(f"{self.uri}: {error.strerror or error}")


def _connect(uri: str) -> tuple[socket.socket, bytes]:
    """Connect, and give the export's name."""
    parts = urlsplit(uri)
    if parts.scheme not in SCHEMES:
        raise SsdlabError(f"{uri}: expected nbd://HOST[:PORT]/NAME or nbd+unix:///NAME?socket=PATH")
    # The slash that begins the path is not part of the name.
    name = unquote(parts.path.removeprefix("/")).encode()
    try:
        if parts.scheme == "nbd":
            return socket.create_connection(_address(uri), _TIMEOUT_S), name
        return _by_path(_socket_path(uri)), name
    except OSError as error:
        raise SsdlabError(
            f"{uri}: cannot be reached: {error.strerror or error}\nstart its server first"
        ) from None


def _socket_path(uri: str) -> str:
    place = parse_qs(urlsplit(uri).query).get("socket")
    if not place:
        raise SsdlabError(f"{uri}: names no socket: nbd+unix:///NAME?socket=PATH")
    return place[0]


def _by_path(place: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_TIMEOUT_S)
    try:
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection


def _address(uri: str) -> tuple[str, int]:
    parts = urlsplit(uri)
    try:
        return parts.hostname or "localhost", parts.port or DEFAULT_PORT
    except ValueError:
        raise SsdlabError(f"{uri}: its port is no number from 1 to 65535") from None
