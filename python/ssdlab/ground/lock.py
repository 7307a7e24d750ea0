"""One at a time: a lock on a file, for processes and threads of one machine.

The kernel lets go of it when its holder ends, however it ends, so no lock is ever left over. The
file is empty, and is removed by whoever let go last. Left out: machines that share a folder over a
network whose file system keeps locks to itself.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOOK_EVERY_S = 0.05


@contextmanager
def locked(path: Path, waits: Callable[[], bool] | None = None) -> Iterator[bool]:
    """Hold the lock of a file while the block runs.

    Parameters
    ----------
    path
        The file; its folder exists.
    waits
        Asked while somebody else holds it; the block then runs without it once this is False.
        None does not wait at all.

    Yields
    ------
    bool
        Whether it is held.

    Raises
    ------
    OSError
        The file cannot be made.
    """
    file = _taken(path)
    while file is None and waits is not None and waits():
        time.sleep(_LOOK_EVERY_S)
        file = _taken(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            # While it is held: who opened it meanwhile finds that it has gone, and opens anew.
            with suppress(OSError):
                path.unlink()
            os.close(file)


def _taken(path: Path) -> int | None:
    """Open and lock the file; None where somebody else holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), os.stat(path)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None
