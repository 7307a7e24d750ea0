"""fio as a program: its version, its engines, and one run of it.

A run that fails is an error in fio's words. What fio says besides, while it succeeds, are notices:
a warning loses no round.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence

from ssdlab.bench.real.fio_output import FioError, Output, read_output
from ssdlab.bench.real.fio_words import shown
from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp, run_to_end

ENGINES = ("io_uring", "libaio")
"""Asynchronous engines of Linux, the better one first: each keeps many requests outstanding."""
_SHORT_S = 60.0
_LATE_S = 900.0
"""So long after its time a command is given up; a kernel's own time-outs are shorter."""
GoOn = Callable[[], bool]


def always() -> bool:
    """Go on."""
    return True


class Fio:
    """The program.

    Parameters
    ----------
    program
        Its name or path.
    """

    def __init__(self, program: str = "fio") -> None:
        self._program = program
        self._version = ""

    @property
    def version(self) -> str:
        """Its version, such as ``fio-3.33``."""
        if not self._version:
            self._version = self._run(["--version"], _SHORT_S).output.strip()
        return self._version

    def engines(self) -> frozenset[str]:
        """Name the engines that it was built with, and those that it loads."""
        return frozenset(re.findall(r"[\w-]+", self._run(["--enghelp"], _SHORT_S).output))

    def working_engine(self, path: str, block_bytes: int) -> str:
        """Find the engine that can read a device on this kernel: one block is read.

        Raises
        ------
        FioError
            None can.
        """
        known = self.engines()
        reasons = []
        for engine in ENGINES:
            if engine not in known:
                reasons.append(f"{engine}: not in this {self.version}")
                continue
            try:
                self.perform(_probe(engine, path, block_bytes), _SHORT_S)
            except FioError as error:
                reasons.append(f"{engine}: {str(error).splitlines()[0]}")
            else:
                return engine
        raise FioError(
            f"{path}: fio cannot read it with many requests outstanding; " + "; ".join(reasons)
        )

    def perform(self, words: Sequence[str], seconds: float | None, go_on: GoOn = always) -> Output:
        """Carry out a command.

        Parameters
        ----------
        words
            Without the program.
        seconds
            How long it is to last; None where it ends when it has moved its bytes.
        go_on
            Asked a few times a second; fio is ended where it says no.

        Raises
        ------
        FioError
            fio failed; in its own words.
        Stopped
            `go_on` said no.
        """
        late_s = None if seconds is None else seconds + _LATE_S
        ended = self._ended_well(words, late_s, go_on)
        try:
            output = read_output(ended.output)
        except FioError as error:
            said = f"; it said: {ended.errors}" if ended.errors else ""
            raise FioError(f"{error}{said}\nthe command was: {shown(words)}") from None
        notices = [line.strip() for line in ended.errors.splitlines() if line.strip()]
        return Output(output.version, output.jobs, (*output.notices, *notices))

    def printed(self, words: Sequence[str], progress: Progress, before: Sequence[str] = ()) -> str:
        """Carry out a user's job of any length, and return all that fio printed.

        Parameters
        ----------
        words
            Without the program, and without where its output goes.
        progress
            Hears a few times a second what the job does, and how much of it is done.
        before
            What fio is started by.

        Raises
        ------
        FioError
            fio failed; in its own words.
        Stopped
            `progress` said no.
        """
        now = ("fio", 0.0)

        def look(printed: bytes) -> None:
            nonlocal now
            now = status(printed[-_STATUS_BYTES:].decode(errors="replace")) or now

        # Beside JSON on stdout fio tells nothing of how far it is.
        words = [*words, "--output=/proc/self/fd/2", "--eta=always"]
        started = [*leash(os.getpid()), *before]
        ended = self._run(words, None, lambda: progress(*now), started, look)
        return _checked(ended, words).errors

    def _ended_well(
        self,
        words: Sequence[str],
        timeout_s: float | None,
        go_on: GoOn,
    ) -> Ended:
        return _checked(self._run(words, timeout_s, go_on, leash(os.getpid())), words)

    def _run(
        self,
        words: Sequence[str],
        timeout_s: float | None,
        go_on: GoOn = always,
        before: Sequence[str] = (),
        seen: Callable[[bytes], None] = lambda _printed: None,
    ) -> Ended:
        if shutil.which(self._program) is None:
            raise SsdlabError(
                f"{self._program} was not found; it loads real drives\ninstall it: apt install fio"
            )
        try:
            return run_to_end([*before, self._program, *words], timeout_s, go_on, seen)
        except OSError as error:
            raise SsdlabError(f"{self._program}: {error.strerror}") from None
        except GaveUp as reason:
            raise FioError(
                f"fio: {reason}; the drive does not answer\nsee the kernel's log: journalctl -k"
            ) from None


def _checked(ended: Ended, words: Sequence[str]) -> Ended:
    if ended.code != 0:
        raise FioError(f"{_said(ended)}\nthe command was: {shown(words)}")
    return ended


_STATUS_BYTES = 1024
"""The last of what was printed: a line a second has at most a few hundred."""
_STATUS = re.compile(r"\[(\d+(?:\.\d+)?)%\].*\[([rwt]=[^\]]+) IOPS\]")


def status(printed: str) -> tuple[str, float] | None:
    """Read what fio says of a job that runs, and the share of it that is done.

    Examples
    --------
    >>> status("Jobs: 1 (f=1): [r(1)][75.0%][r=832MiB/s][r=213k IOPS][eta 00m:01s]")
    ('fio: r=213k IOPS', 0.75)
    """
    lines = [_STATUS.search(line) for line in printed.rstrip("\r").rpartition("\r")[::2]]
    found = next((line for line in reversed(lines) if line is not None), None)
    return None if found is None else (f"fio: {found[2]} IOPS", float(found[1]) / 100)


_UNLESS_ORPHANED = 'test "$PPID" = "$1" || exit; shift; exec "$@"'


def leash(owner: int) -> list[str]:
    """Give what ends fio with its owner, however that ends: it might go on writing for hours.

    By SIGKILL, since a job in the background ignores SIGINT. The kernel tells of an owner's end
    only from the moment it is asked to; an owner that has ended before is no longer the parent, and
    then fio does not begin.
    """
    if shutil.which("setpriv") is None:
        return []
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _UNLESS_ORPHANED, "sh", str(owner)]


def _probe(engine: str, path: str, block_bytes: int) -> list[str]:
    words = ["--name=probe", f"--ioengine={engine}", f"--filename={path}", "--readonly"]
    words += ["--direct=1", "--rw=read", f"--bs={block_bytes}", f"--size={block_bytes}"]
    # A thread, as in every load: the leash ends fio, and not a process that fio has forked.
    return [*words, "--thread", "--iodepth=1", "--output-format=json", "--eta=never"]


def _said(ended: Ended) -> str:
    """Give fio's own words on what went wrong, on stderr or beside its JSON."""
    lines = [*ended.errors.splitlines(), *ended.output.splitlines()]
    own = [line.strip() for line in lines if re.match(r"\s*fio: ", line)]
    if not own:
        own = [line.strip() for line in ended.errors.splitlines() if line.strip()]
    how = f"exit code {ended.code}" if ended.code >= 0 else f"ended by signal {-ended.code}"
    return "fio failed: " + ("; ".join(dict.fromkeys(own)) or how)
