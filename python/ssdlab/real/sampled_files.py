"""The largest and the oldest files of a file system, and in how many extents each lies.

The folders are walked breadth first, without leaving the file system, for a bounded time; then
``filefrag`` (e2fsprogs), which only reads, is asked of each file. Left out: files of less than a
mebibyte, whose extents cost nothing, and what the walk does not reach in its time or cannot read.
"""

from __future__ import annotations

import heapq
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeGuard

LEAST_BYTES = 1 << 20
_BLOCK_BYTES = 512
"""Of `st_blocks`, whatever the file system's own are (inode(7))."""
_OF_EACH_KIND = 8
_WALK_S = 2.0
_FOUND = re.compile(r": (\d+) extents? found$")


@dataclass(frozen=True)
class SampledFile:
    """A file.

    Attributes
    ----------
    path
        Its name; of a captured machine a word in its place.
    size_bytes
        What it takes: holes do not count.
    extents
        In how many pieces it lies.
    """

    path: str
    size_bytes: int
    extents: int


@dataclass(frozen=True)
class FileSample:
    """What was looked at of a file system.

    Attributes
    ----------
    files
        The largest and the oldest of those that were seen.
    seen
        How many files that take at least a mebibyte were seen.
    is_whole
        The walk came to its end, and read every folder.
    """

    files: tuple[SampledFile, ...]
    seen: int
    is_whole: bool

    def to_data(self) -> dict[str, object]:
        """Return it for a capture, without the names of files.

        Examples
        --------
        >>> made = FileSample((SampledFile("/home/diary", 1 << 20, 2),), 1, True)
        >>> made.to_data()
        {'files': [[1048576, 2]], 'seen': 1, 'is_whole': True}
        >>> FileSample.from_data(made.to_data()).files[0].path
        'a file'
        """
        files = [[each.size_bytes, each.extents] for each in self.files]
        return {"files": files, "seen": self.seen, "is_whole": self.is_whole}

    @classmethod
    def from_data(cls, data: object) -> FileSample | None:
        """Read what a capture kept; None where it is something else."""
        parts = data if isinstance(data, dict) else {}
        files, seen, is_whole = (parts.get(name) for name in ("files", "seen", "is_whole"))
        if not isinstance(files, list) or not _is_count(seen) or not isinstance(is_whole, bool):
            return None
        pairs = [each for each in files if isinstance(each, list) and len(each) == 2]
        if len(pairs) < len(files) or not all(_is_count(n) for pair in pairs for n in pair):
            return None
        return cls(tuple(SampledFile("a file", *pair) for pair in pairs), int(seen), is_whole)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def sample(
    place: str,
    run: Callable[..., str | None],
    seconds: float = _WALK_S,
    now: Callable[[], float] = time.monotonic,
) -> FileSample:
    """Look at the files of a place.

    Parameters
    ----------
    place
        Where the file system is mounted.
    run
        Gives what a command prints; None where it fails.
    seconds
        How long the walk may take, and filefrag after it.
    now
        The clock.
    """
    end = now() + seconds
    largest: list[tuple[float, str]] = []
    oldest: list[tuple[float, str]] = []
    sizes: dict[str, int] = {}
    is_whole = True
    unread: list[str] = []
    for path, found in _entries(place, unread):
        if now() > end:
            is_whole = False
            break
        taken = min(found.st_size, found.st_blocks * _BLOCK_BYTES)
        if not stat.S_ISREG(found.st_mode) or taken < LEAST_BYTES:
            continue
        for heap, key in ((largest, taken), (oldest, -found.st_mtime)):
            heapq.heappush(heap, (key, path))
            if len(heap) > _OF_EACH_KIND:
                heapq.heappop(heap)
        sizes[path] = taken
    chosen = dict.fromkeys(path for _, path in sorted(largest, reverse=True) + sorted(oldest))
    files = tuple(_counted(chosen, sizes, run, now, now() + seconds))
    return FileSample(files, len(sizes), is_whole and not unread)


def _entries(place: str, unread: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Walk breadth first, and give files and folders; add to `unread` what cannot be listed."""
    try:
        device = os.stat(place).st_dev
    except OSError:
        unread.append(place)
        return
    waiting = deque([place])
    while waiting:
        folder = waiting.popleft()
        # A damaged folder can be opened, and then not be read to its end.
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    found = _status(entry)
                    if found is None or found.st_dev != device:
                        continue
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
                    yield entry.path, found
        except OSError:
            unread.append(folder)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False)
    return None


def _counted(
    paths: Iterable[str],
    sizes: Mapping[str, int],
    run: Callable[..., str | None],
    now: Callable[[], float],
    end: float,
) -> Iterator[SampledFile]:
    """Ask filefrag of each until the time is up: a drive that hangs is not asked sixteen times."""
    for path in paths:
        if now() > end:
            return
        count = _extents(path, run)
        if count is not None:
            yield SampledFile(path, sizes[path], count)


def _extents(path: str, run: Callable[..., str | None]) -> int | None:
    told = run("filefrag", path)
    found = _FOUND.search(told or "")
    return None if found is None else int(found[1])
