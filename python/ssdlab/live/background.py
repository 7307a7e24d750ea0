"""A process of ``ssdlab`` in the background, and the word that it is ready.

The process is told a pipe. It writes a line of JSON into it once it is ready and closes it; one
that ends before has written nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssdlab.ground.errors import SsdlabError

_MOST_SHOWN = 4000
_started: list[subprocess.Popen[bytes]] = []
"""Processes that go on when this one ends; Python warns of one that nobody holds."""


def tell_ready(pipe: int, told: Mapping[str, Any]) -> None:
    """Tell who started this process that it is ready.

    Parameters
    ----------
    pipe
        A file descriptor, which is closed.
    told
        What there is to tell.
    """
    with os.fdopen(pipe, "w") as ready:
        json.dump(told, ready)


def start(words: Sequence[str], log: Path) -> dict[str, Any]:
    """Start a command in the background; return what it tells once it is ready.

    Parameters
    ----------
    words
        The verb and what it takes, without ``--ready-fd``.
    log
        A new file that takes what the process says.

    Raises
    ------
    SsdlabError
        It ended; in its own words.
    """
    ready, told = os.pipe()
    command = [sys.executable, "-m", "ssdlab", *words, "--ready-fd", str(told)]
    taken = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=taken,
            stderr=taken,
            pass_fds=[told],
            start_new_session=True,
        )
    finally:
        os.close(taken)
        os.close(told)
    with os.fdopen(ready) as pipe:
        line = pipe.read()
    if line:
        _started.append(process)
        found: dict[str, Any] = json.loads(line)
        return found
    process.wait()
    words_of_it = log.read_text(errors="replace")[-_MOST_SHOWN:].strip()
    raise SsdlabError(words_of_it.removeprefix("ssdlab: ") or f"see {log}: the server ended")
