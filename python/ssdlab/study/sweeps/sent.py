"""Files that points name, on workers that do not see the client's folders.

    a worker's place of a file = CACHE/files/SHA-256/NAME

A worker that has a file of the same contents under the same name uses that one. Else it looks in
its machine's cache, and asks the client for what is missing, which comes once a machine. The
request then names the cache's file; what comes out of the run names the client's again. A stack or
a profile that names such files is kept once more, by its new contents, with their places in it.
Left out: drive files that runs change.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.engine.policy_setting import library
from ssdlab.engine.request import RunRequest
from ssdlab.experiment import cache
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes
from ssdlab.ground.output import PendingFile
from ssdlab.study.sweeps.inside import names_in, renamed

MOST_BYTES = 64 << 20
"""The largest file that is sent: the scheduler has it in memory on its way."""
_KEPT_S = 7 * 86_400
"""So long after its last use a file stays in the cache."""
_BYTES_AT_ONCE = 1 << 20
_NAMED = re.compile(r"(=\s*)([^\s,=]+)")


@dataclass(frozen=True)
class NamedFile:
    """A file that a request names, as the client has it."""

    name: str
    sha256: str
    size_bytes: int
    is_sent: bool
    """Whether it is small enough to be sent."""
    inside: tuple[str, ...] = ()
    """The files that it names itself."""

    @property
    def kept(self) -> Path:
        """Where a worker that was sent it has it."""
        return _kept(self.sha256, self.name)


def files_of(request: RunRequest) -> set[str]:
    """Return the names of the files that a request names, and of those that these name."""
    words = " ".join((*request.layers, *request.flags, request.job_text or ""))
    named = {request.drive, *(found[2] for found in _NAMED.finditer(words))}
    if (policy := library(request.settings)) is not None:
        named.add(str(policy))
    found: set[str] = set()
    unread = [each for each in named if each and os.path.isfile(each)]
    while unread:
        name = unread.pop()
        if name not in found:
            found.add(name)
            unread += names_in(name)
    return found


def named(name: str) -> NamedFile:
    """Look at a file; its contents are hashed once as long as it stays the same.

    Raises
    ------
    SsdlabError
        It cannot be read.
    """
    try:
        figures = os.stat(name)
        found = _hash_of(name, figures.st_size, figures.st_mtime_ns)
    except OSError as error:
        raise SsdlabError(f"{name}: cannot be read: {error.strerror}") from None
    is_sent = figures.st_size <= MOST_BYTES
    return NamedFile(name, found, figures.st_size, is_sent, names_in(name))


def here(files: Sequence[NamedFile]) -> tuple[dict[str, str], list[NamedFile]]:
    """Tell a worker where files are that lie elsewhere than named, and which it does not have.

    Raises
    ------
    SsdlabError
        There is no room for a copy that names them there.
    """
    places: dict[str, str] = {}
    missing = []
    for file in files:
        if _is_same(file):
            continue
        if file.kept.exists():
            with suppress(OSError):
                os.utime(file.kept)
            places[file.name] = str(file.kept)
        else:
            missing.append(file)
    return places if missing else _with_copies(files, places), missing


def moved(request: RunRequest, places: Mapping[str, str]) -> RunRequest:
    """Return a request that names files where a worker has them."""

    def told(words: str) -> str:
        return _NAMED.sub(lambda found: found[1] + places.get(found[2], found[2]), words)

    def policy(pair: tuple[str, str]) -> tuple[str, str]:
        path = library([pair])
        place = places.get(str(path)) if path else None
        key, value = pair
        return pair if place is None else (key, place + value.strip("\"'").partition(".so")[2])

    return replace(
        request,
        drive=places.get(request.drive, request.drive),
        settings=tuple(map(policy, request.settings)),
        layers=tuple(map(told, request.layers)),
        flags=tuple(map(told, request.flags)),
        job_text=None if request.job_text is None else told(request.job_text),
    )


def contents(file: NamedFile) -> bytes:
    """Read a file that is to be sent.

    Raises
    ------
    SsdlabError
        It cannot be read, or has changed since the sweep began.
    """
    try:
        found = read_bytes(file.name, MOST_BYTES)
    except (FileNotFoundError, InputError) as error:
        raise SsdlabError(f"{file.name}: cannot be read: {error}") from None
    if hashlib.sha256(found).hexdigest() != file.sha256:
        raise SsdlabError(f"{file.name}: has changed since the sweep began\nbegin it again")
    return found


def keep(sent: Sequence[tuple[NamedFile, bytes]]) -> None:
    """Keep files on a worker's machine; those that nobody has used for a week go.

    Raises
    ------
    SsdlabError
        There is no room for them.
    """
    for file, content in sent:
        _put(file.kept, content)
    for old in (cache.folder() / "files").glob("*/*"):
        with suppress(OSError):
            if old.stat().st_mtime < time.time() - _KEPT_S:
                old.unlink()


def _with_copies(files: Sequence[NamedFile], places: Mapping[str, str]) -> dict[str, str]:
    """Add a copy of each file that names moved ones; a stack comes after the profiles it names."""
    found = dict(places)
    naming = {file.name for file in files if file.inside}
    for file in sorted(files, key=lambda file: not naming.isdisjoint(file.inside)):
        moved_inside = {name: found[name] for name in file.inside if name in found}
        if moved_inside:
            text = read_bytes(found.get(file.name, file.name), MOST_BYTES).decode()
            copy = renamed(text, moved_inside).encode()
            kept = _kept(hashlib.sha256(copy).hexdigest(), file.name)
            _put(kept, copy)
            found[file.name] = str(kept)
    return found


def _kept(sha256: str, name: str) -> Path:
    return cache.folder() / "files" / sha256 / Path(name).name


def _put(place: Path, content: bytes) -> None:
    if place.exists():
        with suppress(OSError):
            os.utime(place)
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SsdlabError(f"{place}: {error.strerror}\nset SSDLAB_CACHE for the workers") from None
    with PendingFile(place, "") as pending:
        pending.add(content)
        pending.finish()


def _is_same(file: NamedFile) -> bool:
    try:
        is_as_large = os.stat(file.name).st_size == file.size_bytes
        return is_as_large and named(file.name).sha256 == file.sha256
    except (OSError, SsdlabError):
        return False


@functools.lru_cache(maxsize=4096)
def _hash_of(name: str, _size: int, _changed: int) -> str:
    found = hashlib.sha256()
    with Path(name).open("rb") as file:
        while piece := file.read(_BYTES_AT_ONCE):
            found.update(piece)
    return found.hexdigest()
