"""Figures that took long, kept in a file named by a hash of all that was asked for.

So an interrupted replay goes on, and a changed profile or program is run anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.parallel import Task, run_all, stop_on_interrupt
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

T = TypeVar("T")

Figures = dict[str, float]
"""What a run gave."""


def kept(
    folder: Path, name: str, requests: Sequence[RunRequest], run: Callable[[], Figures]
) -> Figures:
    """Return what a run gave, from its file if there is one.

    Parameters
    ----------
    name
        What the file's name begins with.
    requests
        All that is asked for.
    """
    asked = [
        {"request": each.to_json(), "drive": engine.show(each.drive)["parameters"]}
        for each in requests
    ]
    digest = hashlib.sha256(json.dumps([asked, engine.version()]).encode()).hexdigest()
    file = folder / f"{name.replace(' ', '-').replace('/', '-')}-{digest[:12]}.json"
    if file.exists():
        found: Figures = json.loads(file.read_text("utf-8"))
        return found
    figures = run()
    with PendingFile(file, "-o") as pending:
        pending.write(json.dumps(figures, indent=1) + "\n")
    return figures


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
