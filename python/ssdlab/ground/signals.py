"""What Ctrl-C, SIGTERM and SIGHUP do to the command.

By default they end it at once, with one line and nothing left behind: an exception could be raised
in any destructor or half-loaded library, where Python drops it or makes another error of it. Two
kinds of work ask for more: `raising` where something has to be put away (a tool that was started,
a file on a mount), `ssdlab.experiment.parallel.stop_on_interrupt` where results are kept. A signal
that the command was started to ignore (nohup, a job in the background) stays ignored.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Handler = Callable[[int, FrameType | None], None]

_received: list[int] = []


def exit_code() -> int:
    """Return what the command ends with: 128 and the last signal's number, after Ctrl-C 130."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def leave(number: int, _frame: FrameType | None = None) -> None:
    """End the process at once; what is unfinished is removed."""
    _received.append(number)
    try:
        os.write(2, b"\nssdlab: stopped; nothing had finished\n")
    except OSError:
        pass
    # Files begun and temporary folders are removed there; a second signal does not wait for it.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    atexit._run_exitfuncs()
    os._exit(exit_code())


def leave_on_signals() -> None:
    """Let signals end the command at once, from now on."""
    _handle(leave)


@contextmanager
def raising() -> Iterator[None]:
    """Raise KeyboardInterrupt where the block is, so that its `finally` clauses are carried out."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        _received.append(number)
        raise KeyboardInterrupt

    with handling(interrupt):
        yield


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Answer signals with a handler while the block runs; in the main thread, which hears them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _handle(handler)
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, old)


def received(number: int) -> None:
    """Note the signal that the exit code tells of."""
    _received.append(number)


def _handle(handler: Handler) -> list[tuple[signal.Signals, Callable[..., object] | int]]:
    found = ((number, signal.getsignal(number)) for number in SIGNALS)
    before = [(number, old) for number, old in found if old not in (signal.SIG_IGN, None)]
    for number, _ in before:
        signal.signal(number, handler)
    return [(number, old) for number, old in before if old is not None]
