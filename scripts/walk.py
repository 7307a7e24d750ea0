"""Prints the files of the package that a run's request passes from the command to the engine.

Run it with ``.venv/bin/python scripts/walk.py``. A stay in a folder is a line.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import ssdlab
from ssdlab import engine
from ssdlab.cli import main

PACKAGE = Path(ssdlab.__file__).parent
JOB = ("run", "--drive=theory", "--rw=randwrite", "--size=1g", "--number_ios=1")


class Watched:
    """The compiled engine, which notes who calls `run`."""

    def __init__(self, compiled: Any, walk: list[str]) -> None:
        self._compiled = compiled
        self._walk = walk

    def __getattr__(self, name: str) -> Any:
        """Give what the engine has."""
        if name == "run" and not self._walk:
            self._walk.extend(files_above())
        return getattr(self._compiled, name)


def files_above() -> list[str]:
    """Return the package's files on the stacks of the command and of its thread."""
    frames = sys._current_frames()
    main_thread, own = threading.main_thread().ident, threading.get_ident()
    stacks = [frames[each] for each in dict.fromkeys((main_thread, own)) if each in frames]
    files = [file for frame in stacks for file in reversed([*_files(frame)])]
    return [file for file, _ in groupby(files) if file != "__main__.py"]


def _files(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            yield str(path.relative_to(PACKAGE))
        frame = frame.f_back


def walk() -> list[str]:
    """Return the files that a request passes."""
    found: list[str] = []
    compiled = engine.load()
    engine.load = lambda: Watched(compiled, found)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([*JOB])
    return found


if __name__ == "__main__":
    for folder, files in groupby(walk(), lambda file: file.partition("/")[0]):
        print(f"{folder}: {', '.join(files)}")
