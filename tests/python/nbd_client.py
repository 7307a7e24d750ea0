"""A client of NBD for tests: requests under way on one connection, simple replies, nothing else."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

READ, WRITE, FLUSH, TRIM = 0, 1, 3, 4
FUA = 1
_GREETING = b"NBDMAGICIHAVEOPT"
_REQUEST = struct.Struct(">IHHQQI")
_REPLY = struct.Struct(">IIQ")


class GoneError(Exception):
    """The server has gone."""


class NbdClient:
    """A connection.

    Parameters
    ----------
    path
        The server's unix socket.
    """

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(str(path))
        assert self._take(18)[:16] == _GREETING
        # Fixed newstyle, no zeroes; then the default export by name.
        self._socket.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self.capacity_bytes = struct.unpack(">QH", self._take(10))[0]
        self._lengths: dict[int, int] = {}
        self._cookie = 0

    def submit(
        self, what: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> int:
        """Send a request; return its cookie."""
        self._cookie += 1
        head = _REQUEST.pack(0x25609513, flags, what, self._cookie, offset, length or len(data))
        self._lengths[self._cookie] = length if what == READ else 0
        try:
            self._socket.sendall(head + data)
        except OSError as error:
            raise GoneError from error
        return self._cookie

    def answer(self) -> tuple[int, int, bytes]:
        """Wait for the next answer: its cookie, its error, what was read."""
        magic, error, cookie = _REPLY.unpack(self._take(_REPLY.size))
        assert magic == 0x67446698
        length = self._lengths.pop(cookie)
        return cookie, error, b"" if error else self._take(length)

    def read(self, offset: int, length: int) -> bytes:
        """Read, with nothing else under way."""
        self.submit(READ, offset, length)
        _, error, data = self.answer()
        assert error == 0
        return data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _take(self, length: int) -> bytes:
        taken = b""
        while len(taken) < length:
            try:
                part = self._socket.recv(length - len(taken))
            except OSError as error:
                raise GoneError from error
            if not part:
                raise GoneError
            taken += part
        return taken
