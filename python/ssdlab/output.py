"""Files that are whole or absent: written beside their place, then renamed.

The place is tried before a long run, so that no one loses an hour's result to a typing error.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from ssdlab.errors import SsdlabError


def _refusal(path: Path, option: str, reason: str) -> SsdlabError:
    return SsdlabError(
        f"{option} {path}: {reason}; nothing was done\nname a file in a folder you can write to"
    )


def _is_special(path: Path) -> bool:
    """Tell a device or a pipe, which can be written to but not replaced."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


class PendingFile:
    """A file that appears in one step.

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
        self.path = Path(os.path.realpath(path))
        if self.path.is_dir():
            raise _refusal(self.path, option, "is a folder")
        self._option = option
        self._direct = _is_special(self.path)
        self._temporary = self.path
        if not self._direct:
            self._temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._open()

    def _open(self) -> None:
        flags = os.O_WRONLY if self._direct else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        try:
            if not self._direct and self.path.exists() and not os.access(self.path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            self._file = os.fdopen(os.open(self._temporary, flags, 0o666), "w", encoding="utf-8")
        except OSError as error:
            raise _refusal(self.path, self._option, str(error.strerror)) from None

    def write(self, content: str) -> None:
        """Write all of it, and put it in its place.

        Raises
        ------
        SsdlabError
            The device is full, or the folder is gone.
        """
        try:
            with self._file as file:
                file.write(content)
            if not self._direct:
                os.replace(self._temporary, self.path)
        except OSError as error:
            self.discard()
            raise SsdlabError(f"{self._option} {self.path}: {error.strerror}") from None

    def discard(self) -> None:
        """Leave nothing behind; after `write` this does nothing."""
        self._file.close()
        if not self._direct:
            self._temporary.unlink(missing_ok=True)

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
    """Try a place that someone else will write to.

    Raises
    ------
    SsdlabError
        It cannot be written there.
    """
    PendingFile(path, option).discard()
