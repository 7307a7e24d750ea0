"""What runs gave, kept as JSON in files named by a hash of all that was asked for.

So interrupted work goes on, and what a changed profile or engine would give otherwise is run anew.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.cache import engine_hash
from ssdlab.experiment.parallel import Task, run_all, stop_on_interrupt
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

T = TypeVar("T")

_NO_NAME = re.compile(r"[^\w.-]+")

Figures = dict[str, float]
"""What a run gave."""


@dataclass(frozen=True)
class Kept:
    """Files in a folder, which is made when there is something to keep.

    What was asked for is anything that JSON takes; the engine is added to it.
    """

    folder: Path

    def find(self, name: str, asked: Any) -> Any:
        """Return what is kept; None where nothing is, or not the whole of it."""
        try:
            return json.loads(self._file(name, asked).read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def keep(self, name: str, asked: Any, found: Any) -> None:
        """Keep what was found.

        Raises
        ------
        SsdlabError
            The folder cannot be written to.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with PendingFile(self._file(name, asked), "-o") as pending:
            pending.write(json.dumps(found, ensure_ascii=False) + "\n")

    def remove(self, name: str, asked: Any) -> None:
        """Keep it no longer, nor the folder where it is empty then."""
        self._file(name, asked).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _file(self, name: str, asked: Any) -> Path:
        digest = hashlib.sha256(json.dumps([asked, engine_hash()]).encode()).hexdigest()
        return self.folder / f"{_NO_NAME.sub('-', name)}-{digest[:12]}.json"


@cache
def parameters_of(drive: str) -> Any:
    """Return the parameters of a drive, with which what it gives changes."""
    return engine.show(drive)["parameters"]


def kept(
    folder: Path, name: str, requests: Sequence[RunRequest], run: Callable[[], Figures]
) -> Figures:
    """Return what runs gave, from their file if there is one.

    Parameters
    ----------
    name
        What the file's name begins with.
    requests
        All that is asked for.
    """
    asked = [[each.to_json(), parameters_of(each.drive)] for each in requests]
    found: Figures | None = Kept(folder).find(name, asked)
    if found is None:
        found = run()
        Kept(folder).keep(name, asked, found)
    return found


def performed(pieces: Sequence[tuple[str, Task[T]]]) -> dict[str, T]:
    """Run pieces on the cores there are, and tell of each by its name; each keeps what it gave.

    Raises
    ------
    SsdlabError
        It was stopped.
    """

    def told(index: int, _found: T) -> None:
        print(pieces[index][0], file=sys.stderr, flush=True)

    with stop_on_interrupt() as stop:
        found = run_all([run for _, run in pieces], stop=stop, finished=told)
    if any(each is None for each in found):
        raise SsdlabError("stopped; the same command goes on")
    named = zip(pieces, found, strict=True)
    return {name: each for (name, _), each in named if each is not None}
