"""A tool of this machine: run to read what it prints, within a time and a size.

What is asked may hang with the drive it asks, or print without end; both are given up, with all
that the tool started. Needs nothing but Python.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ssdlab import signals

LONGEST_ANSWER = 16 << 20
"""Bytes. What smartctl says of a drive with every log is well under one MiB."""
_GRACE_S = 1.0
_PIECE = 1 << 16


class GaveUp(Exception):
    """A tool was given up; the message says why."""


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
