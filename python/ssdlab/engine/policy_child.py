"""A command with a library as victim policy runs in a child process: what kills it kills no more.

The child is the same command, and tells how it gets on (`ssdlab.engine.guarded`). Where the engine
does not get on for ``SSDLAB_POLICY_TIMEOUT`` seconds (60), the child is ended; where it crashes, it
is gone. Either way the parent names the policy, and removes what was unfinished. Left out: a
library that a program loads by itself (`Drive.run`), whose crash is the program's.
"""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from ssdlab.engine.guarded import PIPE
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError

TIMEOUT_S = 60.0
"""Without progress for so long, a policy is taken for one that never answers."""

_TIMEOUT = "SSDLAB_POLICY_TIMEOUT"
_LOOK_EVERY_S = 0.2
_BY_SIGNAL = {128 + number for number in signals.SIGNALS}


def run(policy: str, arguments: Sequence[str]) -> int:
    """Run the command in a child process; return its exit code.

    Parameters
    ----------
    policy
        The library, as the user named it.
    arguments
        The command line, without the program's name.

    Raises
    ------
    SsdlabError
        The policy has crashed, has ended the process, or does not answer.
    """
    timeout_s = _timeout_s()
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        child, pipe = _start(arguments, folder)
        try:
            with _forwarding(child):
                ended, is_stuck = _follow(child, pipe, timeout_s)
        finally:
            os.close(pipe)
            _tidy(child.pid, arguments)
    if is_stuck:
        raise SsdlabError(
            f"policy {policy}: no progress for {timeout_s:g} s: it does not answer\n"
            f"mend it, or allow more with {_TIMEOUT}=SECONDS in the environment"
        )
    if child.returncode < 0:
        name = signal.Signals(-child.returncode).name
        raise SsdlabError(
            f"policy {policy}: crashed ({name}); nothing was written\n"
            "mend the library; a debugger shows where: gdb --args python -m ssdlab …"
        )
    if not ended and child.returncode not in _BY_SIGNAL:
        raise SsdlabError(
            f"policy {policy}: ended the process with code {child.returncode}\n"
            "answer a negative number for an error (docs/howto/policy.md)"
        )
    return child.returncode


def _timeout_s() -> float:
    text = os.environ.get(_TIMEOUT, str(TIMEOUT_S))
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise SsdlabError(f"{_TIMEOUT}={text}: must be a number of seconds above 0, such as 60")
    return seconds


def _start(arguments: Sequence[str], folder: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the same command; in a session of its own, so that a Ctrl-C reaches it once."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from ssdlab.__main__ import entry_point"
    read, write = os.pipe()
    os.set_blocking(write, False)
    child = subprocess.Popen(
        [sys.executable, "-c", f"{code}; entry_point()", *arguments],
        env={**os.environ, PIPE: str(write), "TMPDIR": folder},
        pass_fds=[write],
        start_new_session=True,
    )
    os.close(write)
    return child, read


def _follow(child: subprocess.Popen[bytes], pipe: int, timeout_s: float) -> tuple[bool, bool]:
    """Wait for the end; tell whether the command came to it, and whether it had to be ended."""
    ended, working, heard = False, 0, time.monotonic()
    while child.poll() is None:
        if select.select([pipe], [], [], _LOOK_EVERY_S)[0]:
            signs = os.read(pipe, 1 << 16)
            working += signs.count(b"+") - signs.count(b"-")
            ended = ended or b"e" in signs
            heard = time.monotonic()
            if not signs:
                # The end of the pipe: the process is about to end.
                child.wait()
        elif working > 0 and time.monotonic() - heard > timeout_s:
            child.kill()
            child.wait()
            return False, True
    while select.select([pipe], [], [], 0)[0] and (signs := os.read(pipe, 1 << 16)):
        ended = ended or b"e" in signs
    return ended, False


@contextmanager
def _forwarding(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand signals on while the block runs: the child knows what to keep."""

    def forward(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            child.send_signal(number)

    with signals.handling(forward):
        yield


def _tidy(child: int, arguments: Iterable[str]) -> None:
    """Remove files that a killed child had begun, beside those that its command names."""
    named = (Path(each.rpartition("=")[2]) for each in arguments)
    for folder in {place for path in named for place in (path, path.parent)}:
        with suppress(OSError):
            for part in folder.glob(f".ssdlab-{child}-*.part"):
                part.unlink(missing_ok=True)
