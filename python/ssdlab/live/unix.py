"""Paths of unix sockets, which may be longer than the kernel's 107 bytes.

A long path is named from its folder, by a descriptor: ``/proc/self/fd/5/ctl.sock``.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_MOST_BYTES = 107


@contextmanager
def address(path: Path) -> Iterator[str]:
    """Give a name for a socket that the kernel takes, good while the block runs."""
    if len(os.fsencode(path)) <= _MOST_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def connected(path: Path, timeout_s: float) -> socket.socket:
    """Return a connection to who listens at a path.

    Raises
    ------
    OSError
        Nobody does, or it is not allowed.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(timeout_s)
        with address(path) as name:
            made.connect(name)
    except BaseException:
        made.close()
        raise
    return made


def bound(path: Path) -> socket.socket:
    """Return a socket bound to a path, for its owner alone; nobody can come before it listens.

    One that nobody listens at any more is replaced.

    Raises
    ------
    OSError
        Somebody listens there, the path is something else, or the machine refuses.
    """
    if _is_left_over(path):
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with address(path) as name:
            made.bind(name)
        path.chmod(0o600)
    except BaseException:
        made.close()
        raise
    return made


def _is_left_over(path: Path) -> bool:
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return False
        with closing(connected(path, 1.0)):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
