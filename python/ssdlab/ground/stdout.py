"""Standard output whose reader may leave, as ``head`` does: the rest of it is dropped.

The command goes on to its end, since its exit code is asked for as well. Left out: any other
trouble of standard output, which is an error.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LEFT: list[int] = []


def let_readers_leave() -> None:
    """Have standard output drop what nobody reads any more, from now on."""
    stream = sys.stdout
    if stream is not sys.__stdout__ or not isinstance(stream, io.TextIOWrapper):
        return  # It is not the process's own, or was made so before.
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Dropping(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def reader_has_left() -> bool:
    """Whether something was dropped: what would print for ever ends."""
    return bool(_LEFT)


def write_all(piece: bytes) -> None:
    """Write bytes to standard output, behind the text that was printed."""
    sys.stdout.flush()
    rest = memoryview(piece)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        _drop(1)


def give_up() -> None:
    """Forget what could not be written, lest the interpreter try it again at its end."""
    with suppress(OSError, ValueError):
        _to_nowhere(sys.stdout.fileno())


class _Dropping(io.FileIO):
    """A file that takes everything once its reader has left."""

    def write(self, piece: ReadableBuffer) -> int:
        """Write what there is a reader for."""
        try:
            return super().write(piece)
        except BrokenPipeError:
            _drop(self.fileno())
            return memoryview(piece).nbytes


def _drop(descriptor: int) -> None:
    _LEFT.append(descriptor)
    _to_nowhere(descriptor)


def _to_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
