"""Texts that are read: up to a limit, so that one without end is refused.

The engine's own reader (`crates/py/src/input.rs`) has the same limits for what it reads itself.
"""

from __future__ import annotations

import os
from pathlib import Path

TEXT_BYTES = 16 << 20
"""Job files, layouts, drive reports."""
RESULT_BYTES = 256 << 20
"""Results: with histograms and a timeline, of many jobs, they become large."""
_LOOKED_AT_BYTES = 4096


class InputError(Exception):
    """A text cannot be read; the message is the reason."""


def read_bytes(path: str | Path, limit: int = TEXT_BYTES) -> bytes:
    """Read a file, whatever is in it.

    Raises
    ------
    FileNotFoundError
        There is none.
    InputError
        It cannot be read, or is larger than the limit.
    """
    return _read_file(path, limit, is_text=False)


def read_text(path: str | Path, limit: int = TEXT_BYTES) -> str:
    """Read a text file; ``-`` is standard input.

    Raises
    ------
    FileNotFoundError
        There is none.
    InputError
        It cannot be read, is no text, or is larger than the limit.
    """
    try:
        return _read_file(path, limit, is_text=True).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("not a text file") from None


def _read_file(path: str | Path, limit: int, *, is_text: bool) -> bytes:
    try:
        if str(path) == "-":
            return _read(0, limit, is_text)
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return _read(file, limit, is_text)
        finally:
            os.close(file)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(error.strerror) from None
    except ValueError:
        raise InputError("not a file name") from None


def _read(file: int, limit: int, is_text: bool) -> bytes:
    content = bytearray()
    while piece := os.read(file, min(1 << 20, limit + 1 - len(content))):
        content += piece
        # A text has no zero byte; one without end, such as /dev/zero, shows it here.
        if is_text and b"\0" in content[:_LOOKED_AT_BYTES]:
            raise InputError("not a text file")
        if len(content) > limit:
            raise InputError(f"larger than the limit of {limit >> 20} MiB")
    return bytes(content)
