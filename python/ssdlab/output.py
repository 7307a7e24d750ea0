"""Files that are written: whole or not at all, and nothing else is destroyed.

A regular file is written beside its place, synced, renamed, and its folder synced. ``-`` and
``/dev/stdout`` are standard output. A symbolic link is followed: the file that it leads to is
replaced, beside its own place. Anything else (device node, pipe, folder, socket) is refused
without being opened. The place is tried before a long run, so that no one loses an hour's result
to a typing error. What the engine writes itself goes through `crates/py/src/output.rs`, which does
the same.
"""

from __future__ import annotations

import atexit
import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ssdlab.errors import SsdlabError

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device node"),
    (stat.S_ISCHR, "a device node"),
)


def is_stdout(path: str | Path) -> bool:
    """Tell whether a name means standard output.

    Examples
    --------
    >>> is_stdout("-"), is_stdout("result.json")
    (True, False)
    """
    return str(path) in _STDOUT


class PendingFile:
    """A file that appears in one step, or standard output.

    Parameters
    ----------
    path
        Where it shall be.
    option
        What the user called it by, for messages.

    Raises
    ------
    SsdlabError
        It cannot be written there.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "result.json"
    >>> with PendingFile(place) as pending:
    ...     pending.write("{}")
    >>> place.read_text()
    '{}'
    """

    def __init__(self, path: str | Path, option: str = "--output") -> None:
        self._called = f"{option} {path}"
        self._part: Path | None = None
        self.is_stdout = is_stdout(path)
        self.path = Path(path) if self.is_stdout else Path(os.path.realpath(path))
        if self.is_stdout:
            return
        try:
            # Not the resolved name: what leads to an open pipe looks like a link to no file.
            _check_replaceable(Path(path))
            os.close(self._begin())
        except OSError as error:
            raise SsdlabError(
                f"{self._called}: {error.strerror}; nothing was done\n"
                "name a file in a folder you can write to"
            ) from None
        finally:
            self.discard()

    def write(self, content: str) -> None:
        """Write all of it, and put it in its place.

        Raises
        ------
        SsdlabError
            The device is full, the folder is gone, or something else is in the place by now.
        """
        if self.is_stdout:
            sys.stdout.write(content)
            return
        try:
            self._replace(content.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise SsdlabError(f"{self._called}: {error.strerror}") from None
        finally:
            self.discard()

    def _replace(self, content: bytes) -> None:
        _check_replaceable(self.path)
        with os.fdopen(self._begin(), "wb") as file:
            if self.path.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(self.path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        assert self._part is not None
        os.replace(self._part, self.path)
        _sync_folder(self.path.parent)

    def _begin(self) -> int:
        self._part = self.path.with_name(f"{_part_prefix()}{secrets.token_hex(4)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        # A signal may end the process before it comes to a `finally`.
        atexit.register(self.discard)
        return os.open(self._part, flags, 0o666)

    def discard(self) -> None:
        """Leave nothing unfinished behind; after `write` this does nothing."""
        atexit.unregister(self.discard)
        if self._part is not None:
            _remove(self._part)
            self._part = None

    def __enter__(self) -> PendingFile:
        """Return the pending file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what was not finished."""
        self.discard()


def check_writable(path: str | Path, option: str) -> None:
    """Try a place that the engine will write to.

    Raises
    ------
    SsdlabError
        It cannot be written there.
    """
    place = PendingFile(path, option)
    if not place.is_stdout:
        atexit.register(_remove_parts, place.path.parent)


def _part_prefix() -> str:
    return f".ssdlab-{os.getpid()}-"


def _remove_parts(folder: Path) -> None:
    """Remove what the engine had begun when the process was told to end."""
    for part in folder.glob(f"{_part_prefix()}*.part"):
        _remove(part)


def _remove(part: Path) -> None:
    with suppress(OSError):
        part.unlink()


def _check_replaceable(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"is {name}, and only a regular file is replaced")
    # A file that its owner has made read-only is not to be replaced.
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot, and need not.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
