"""A tool of this machine: run to read what it prints, within a time and a size.

What is asked may hang with the drive it asks, or print without end; both are given up, with all
that the tool started. `answer_of` wants only what a tool prints, `run_to_end` also how it ended and
what it complained of.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ssdlab.ground import signals
from ssdlab.ground.errors import Stopped

LONGEST_ANSWER = 16 << 20
"""Bytes. What smartctl says of a drive with every log is well under one MiB."""
_GRACE_S = 1.0
_LOOK_S = 0.2
_PIECE = 1 << 16


class GaveUp(Exception):
    """A tool was given up; the message says why."""


@dataclass(frozen=True)
class Ended:
    """How a tool ended.

    Attributes
    ----------
    words
        What was run.
    code
        Its exit code; negative: the signal that ended it.
    output, errors
        What it printed, without the blanks around it.
    """

    words: tuple[str, ...]
    code: int
    output: str
    errors: str

    @property
    def complaint(self) -> str:
        """What it said last of what went wrong, in one line."""
        lines = [line.strip() for line in (self.errors or self.output).splitlines()]
        said = [line for line in lines if line]
        how = f"exit code {self.code}" if self.code >= 0 else f"ended by signal {-self.code}"
        return said[-1] if said else how


def run_to_end(
    words: Sequence[str],
    timeout_s: float | None,
    go_on: Callable[[], bool] = lambda: True,
    seen: Callable[[bytes], None] = lambda _printed: None,
) -> Ended:
    """Run a tool until it ends.

    Parameters
    ----------
    words
        The program and its arguments.
    timeout_s
        Seconds after which it is given up; None: never.
    go_on
        Asked a few times a second; the tool is ended where it says no.
    seen
        Is handed all that it has printed, each time before `go_on` is asked.

    Raises
    ------
    GaveUp
        It did not end in time.
    Stopped
        `go_on` said no; the tool was ended.
    KeyboardInterrupt
        A signal came; the tool was ended.
    OSError
        It cannot be started.
    """
    with signals.raising():
        process = subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        try:
            output, errors = _finish(process, timeout_s, go_on, seen)
        except BaseException:
            # Ctrl-C too: a tool in a session of its own does not hear of it.
            _end(process)
            raise
    return Ended(tuple(words), process.returncode, _text(output), _text(errors))


def _finish(
    process: subprocess.Popen[bytes],
    timeout_s: float | None,
    go_on: Callable[[], bool],
    seen: Callable[[bytes], None],
) -> tuple[bytes, bytes]:
    """Collect what a tool prints until it ends."""
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        try:
            return process.communicate(timeout=_LOOK_S)
        except subprocess.TimeoutExpired as not_yet:
            seen(not_yet.stdout or b"")
        if end is not None and time.monotonic() > end:
            raise GaveUp(f"no end within {timeout_s:g} s")
        if not go_on():
            raise Stopped


def _text(content: bytes) -> str:
    return content.decode(errors="replace").strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a tool to end as Ctrl-C does, and end it where it does not; what it prints is lost."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_GRACE_S)
    _kill(process)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def answer_of(
    words: Sequence[str],
    timeout_s: float,
    *,
    longest: int = LONGEST_ANSWER,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Give what a tool prints; how it ends is not asked.

    Parameters
    ----------
    words
        The program and its arguments.
    timeout_s
        Seconds after which it is given up.
    longest
        Bytes after which it is given up.
    environment
        Of the tool; by default ours.

    Raises
    ------
    GaveUp
        It did not end in time, or printed too much.
    OSError
        It cannot be started.
    """
    with signals.raising():
        return _answer_of(words, timeout_s, longest, environment)


def _answer_of(
    words: Sequence[str], timeout_s: float, longest: int, environment: Mapping[str, str] | None
) -> bytes:
    process = subprocess.Popen(
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    )
    try:
        answer = _read(process, timeout_s, longest)
    except BaseException:
        # Ctrl-C too: a tool in a session of its own does not hear of it.
        _kill(process)
        raise
    finally:
        if process.stdout:
            process.stdout.close()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        _kill(process)
    return answer


def _read(process: subprocess.Popen[bytes], timeout_s: float, longest: int) -> bytes:
    """Read until the tool closes its output; at most one piece beyond the limit."""
    end = time.monotonic() + timeout_s
    answer = bytearray()
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        # One that prints without pause is ready at any time, so the clock is asked as well.
        while time.monotonic() < end and selector.select(max(0.0, end - time.monotonic())):
            piece = os.read(process.stdout.fileno(), _PIECE)
            if not piece:
                return bytes(answer)
            answer += piece
            if len(answer) > longest:
                raise GaveUp(f"more than {longest >> 20} MiB of answer, given up")
    raise GaveUp(f"no answer within {timeout_s:g} s")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a tool and what it started, without waiting for one that hangs in the kernel."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
