"""Files that are written: whole or not at all, and nothing else is destroyed.

A regular file is written beside its place, synced, renamed, and its folder synced. ``-`` and
``/dev/stdout`` are standard output. A symbolic link is followed: the file that it leads to is
replaced, beside its own place. Anything else (device node, pipe, folder, socket) is refused
without being opened. The place is tried before a long run, so that no one loses an hour's result
to a typing error. The engine hands over what it writes, a piece at a time: nothing else opens a
file for writing.
"""

from __future__ import annotations

import atexit
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ssdlab.ground import stdout
from ssdlab.ground.errors import SsdlabError

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_BYTES_PER_SYNC = 64 << 20
"""Added between two syncs, so that none of them takes long."""
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


class Nowhere:
    """A place as `PendingFile` for what nobody wants to keep."""

    def __init__(self, path: str | Path, option: str = "", must_be_new: bool = False) -> None:
        del path, option, must_be_new

    def add(self, piece: bytes) -> None:
        """Let a piece go."""

    def finish(self) -> None:
        """Be done with it."""

    def discard(self) -> None:
        """Be done with it, too."""


class PendingFile:
    """A file that appears in one step, or standard output.

    Parameters
    ----------
    path
        Where it shall be.
    option
        What the user called it by, for messages; may be empty.
    must_be_new
        A file that has appeared there by the end is left as it is, and refused.

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

    def __init__(
        self, path: str | Path, option: str = "--output", must_be_new: bool = False
    ) -> None:
        self._called = f"{option} {path}".strip()
        self._must_be_new = must_be_new
        self._part: Path | None = None
        self._file: BinaryIO | None = None
        self._unsynced_bytes = 0
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
        self.add(content.encode("utf-8", "surrogateescape"))
        self.finish()

    def add(self, piece: bytes) -> None:
        """Write a part of it; nothing is in the place before `finish`.

        Raises
        ------
        SsdlabError
            As `write`.
        OSError
            Standard output is closed, or its reader has gone.
        """
        if self.is_stdout:
            stdout.write_all(piece)
            return
        with self._told():
            file = self._opened()
            file.write(piece)
            self._unsynced_bytes += len(piece)
            if self._unsynced_bytes >= _BYTES_PER_SYNC:
                self._sync(file)

    def finish(self) -> None:
        """Put what was added in its place.

        Raises
        ------
        SsdlabError
            As `write`.
        """
        if self.is_stdout:
            return
        with self._told():
            file = self._opened()
            self._sync(file)
            file.close()
            self._put_in_place()
            _sync_folder(self.path.parent)
        self.discard()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            _check_replaceable(self.path)
            self._file = os.fdopen(self._begin(), "wb")
            if self.path.exists():
                os.fchmod(self._file.fileno(), stat.S_IMODE(self.path.stat().st_mode))
        return self._file

    def _begin(self) -> int:
        self._part = self.path.with_name(f".ssdlab-{os.getpid()}-{os.urandom(4).hex()}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        # A signal may end the process before it comes to a `finally`.
        atexit.register(self.discard)
        return os.open(self._part, flags, 0o666)

    def _sync(self, file: BinaryIO) -> None:
        file.flush()
        os.fsync(file.fileno())
        self._unsynced_bytes = 0

    def _put_in_place(self) -> None:
        assert self._part is not None
        if self._must_be_new and _is_linked(self._part, self.path):
            self._part.unlink()
            return
        os.replace(self._part, self.path)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what it was that could not be written, and leave nothing of it."""
        try:
            yield
        except OSError as error:
            self.discard()
            raise SsdlabError(f"{self._called}: {error.strerror}") from None
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Leave nothing unfinished behind; after `finish` and `write` this does nothing."""
        atexit.unregister(self.discard)
        if self._part is not None:
            with suppress(OSError):
                self._part.unlink()
            self._part = None
        if self._file is not None:
            # What a full device still has to take is given up, and what a signal finds half added.
            with suppress(OSError, RuntimeError):
                self._file.close()
            self._file = None

    def __enter__(self) -> PendingFile:
        """Return the pending file."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove what was not finished."""
        self.discard()


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left unfinished in a folder and in those below it."""
    for part in folder.rglob(".ssdlab-*.part"):
        if not _is_alive(part.name.split("-")[1]):
            part.unlink(missing_ok=True)


def _is_alive(process: str) -> bool:
    """Whether a process of that number is there; what is no number is nobody's to remove."""
    if not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def check_writable(path: str | Path, option: str) -> None:
    """Try a place that the engine will write to.

    Raises
    ------
    SsdlabError
        It cannot be written there.
    """
    PendingFile(path, option)


def _is_linked(part: Path, path: Path) -> bool:
    """Give a file its name, where no file has appeared there; else the name is only claimed."""
    try:
        os.link(part, path)
    except FileExistsError:
        text = "another file has appeared there meanwhile, and is left as it is"
        raise OSError(errno.EEXIST, text) from None
    except OSError:
        # A file system without links: an empty file claims the place, or meets another one there.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        return False
    return True


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
