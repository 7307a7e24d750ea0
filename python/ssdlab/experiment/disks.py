"""A drive that holds bytes and loses power, in virtual time: for a program's own tests.

Nothing here waits: the drive's clock moves when it is asked something. One seed gives one history.
What a loss of power may take is what the program was not promised: writes that no flush, no FUA and
no protected buffer covers. With faults the drive breaks its word, and says so. docs/howto/disk.md
is the guide.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsIndex

from ssdlab.engine import Progress, ask, ask_at_once, conditions
from ssdlab.engine.request import RunRequest, whole
from ssdlab.experiment.cache import conditioned
from ssdlab.experiment.disk_answers import Handle, LostSector, PowerCut, Stats
from ssdlab.experiment.drives import job_text, settings_of
from ssdlab.experiment.experiment import Value

Data = bytes | bytearray | memoryview
"""What a write takes; anything else with a buffer, such as an array, is taken too."""

_names = itertools.count(1)
"""Names of commands: no two of a process are the same, so none is taken for another drive's."""

_BETWEEN_CUTS = 0x9E37_79B9_7F4A_7C15
"""Two drives whose seeds are neighbours do not share what is drawn at their cuts."""


class Disk:
    """A drive with bytes; `disk` makes one.

    Offsets and lengths are bytes, and must be whole sectors. What was never written reads as
    zeroes, also where preconditioning wrote. A drive may be used by several threads, one at a time.

    Attributes
    ----------
    capacity_bytes, sector_bytes
        Its sizes.
    trim_bytes
        What a trim must cover, aligned, to have an effect; 0 where the drive has no TRIM.
    queue_depth
        Commands that may be under way at once.
    is_volatile
        Whether writes that were acknowledged may be lost until a flush.
    seed
        Where all of its chance comes from.
    """

    def __init__(self, held: Any, seed: int, cuts: int, handles: dict[int, Handle]) -> None:
        self._held = held
        self._cuts = cuts
        self._handles = handles
        self.seed = seed
        self.capacity_bytes: int
        self.sector_bytes: int
        self.trim_bytes: int
        self.queue_depth: int
        self.is_volatile: bool
        (
            self.capacity_bytes,
            self.sector_bytes,
            self.trim_bytes,
            self.queue_depth,
            self.is_volatile,
        ) = held.limits()

    def __repr__(self) -> str:
        """Name its size and its seed."""
        return f"<Disk of {self.capacity_bytes} bytes, seed {self.seed}>"

    @property
    def now_ns(self) -> int:
        """Virtual time since the drive was opened, in nanoseconds."""
        return int(self._held.now_ns())

    def write(self, offset: int, data: Data, fua: bool = False) -> int:
        """Write whole sectors, and wait until the drive says that it is done.

        Parameters
        ----------
        offset
            The first byte.
        data
            The bytes.
        fua
            Force unit access: the write is done only when no loss of power can take it.

        Returns
        -------
        int
            The number of the write, as `LostSector.write` has it.

        Raises
        ------
        DiskError
            One of its subclasses: why the drive did not.
        """
        given = _bytes(data)
        return self._perform("write", offset, len(given), given, fua)[0]

    def read(self, offset: int, length: int) -> bytes:
        """Read whole sectors.

        Parameters
        ----------
        offset
            The first byte.
        length
            How many.

        Raises
        ------
        DiskError
            As for `write`.
        """
        return self._perform("read", offset, length)[1]

    def flush(self) -> None:
        """Have all that was acknowledged outlive any loss of power."""
        self._perform("flush", 0, 0)

    def trim(self, offset: int, length: int) -> None:
        """Tell that sectors are no longer needed; they read as zeroes then.

        Only whole stretches of `trim_bytes` are trimmed; the others stay.

        Parameters
        ----------
        offset, length
            The first byte, and how many.
        """
        self._perform("trim", offset, length)

    def write_zeroes(self, offset: int, length: int) -> int:
        """Make sectors zero; return the number of the write.

        Parameters
        ----------
        offset, length
            The first byte, and how many.
        """
        return self._perform("write_zeroes", offset, length)[0]

    def submit_write(self, offset: int, data: Data, fua: bool = False) -> Handle:
        """Hand over a write as `write` does, and let it be under way."""
        given = _bytes(data)
        return self._submit("write", offset, len(given), given, fua)

    def submit_read(self, offset: int, length: int) -> Handle:
        """Hand over a read; `wait` returns the bytes."""
        return self._submit("read", offset, length)

    def submit_flush(self) -> Handle:
        """Hand over a flush, which covers what was acknowledged before."""
        return self._submit("flush", 0, 0)

    def submit_trim(self, offset: int, length: int) -> Handle:
        """Hand over a trim."""
        return self._submit("trim", offset, length)

    def submit_write_zeroes(self, offset: int, length: int) -> Handle:
        """Hand over a write of zeroes."""
        return self._submit("write_zeroes", offset, length)

    def wait(self, handle: Handle) -> bytes:
        """Let time pass until a command has ended; return what it read.

        Each command can be waited for once, on the drive that it was given to or on a clone that
        was made since. What is not waited for before the next loss of power is kept if it had
        ended.

        Parameters
        ----------
        handle
            What submitting it returned.

        Raises
        ------
        DroppedError
            The power was cut while it was under way.
        DiskError
            As for `write`; or there is no such command.
        """
        self._handles.pop(handle.name, None)
        return bytes(ask_at_once(self._held.wait, handle.name))

    def step(self) -> bool:
        """Let time pass until something happens inside; return whether anything was to come."""
        return bool(self._held.step())

    def advance(self, duration_ns: int) -> None:
        """Let time pass, in which commands end and the drive does what it does when it is idle.

        Parameters
        ----------
        duration_ns
            How long, in nanoseconds.
        """
        self._held.advance(whole("duration_ns", duration_ns))

    def power_cut(self, seed: int | None = None) -> PowerCut:
        """Cut the power and restore it; the drive is on again afterwards.

        Parameters
        ----------
        seed
            Decides which rows under program are whole; by default one that follows from the drive's
            seed and the number of its cuts so far.
        """
        self._cuts += 1
        own = (self.seed + self._cuts * _BETWEEN_CUTS) % 2**64
        drawn = own if seed is None else whole("seed", seed)
        lost, dropped, undo_dropped = self._held.power_cut(drawn)
        handles = tuple(self._handles.pop(name) for name in dropped)
        return PowerCut(tuple(LostSector(*each) for each in lost), handles, tuple(undo_dropped))

    def clone(self) -> Disk:
        """Return the same drive once more, with all that is under way; each goes its own way."""
        return Disk(ask_at_once(self._held.copy), self.seed, self._cuts, dict(self._handles))

    def stats(self) -> Stats:
        """Return what the drive is like, and what it has counted since it was opened."""
        told = json.loads(self._held.stats())
        return Stats(
            condition=str(told["condition"]),
            read_only=bool(told["read_only"]),
            write_amplification=told["write_amplification"],
            counters=dict(told["counters"]),
        )

    def _submit(
        self, what: str, offset: int, length: int, data: bytes = b"", fua: bool = False
    ) -> Handle:
        name, command = next(_names), _command(what, offset, length, fua)
        write = ask_at_once(self._held.submit, name, command, data)
        is_write = what in ("write", "write_zeroes")
        handle = Handle(name, what, command[1], command[2], write if is_write else 0)
        self._handles[name] = handle
        return handle

    def _perform(
        self, what: str, offset: int, length: int, data: bytes = b"", fua: bool = False
    ) -> tuple[int, bytes]:
        command = _command(what, offset, length, fua)
        write, read = ask_at_once(self._held.perform, next(_names), command, data)
        return write, read


def _command(what: str, offset: int, length: int, fua: bool) -> tuple[str, int, int, bool]:
    return what, _count("offset", offset), _count("length", length), bool(fua)


def _count(what: str, value: SupportsIndex) -> int:
    return whole(what, operator.index(value))


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else memoryview(data).tobytes()


def disk(
    name: str,
    settings: Mapping[str, Value] | None = None,
    *,
    faults: str | Iterable[str] = (),
    state: str | None = None,
    span: float = 1.0,
    exact: bool = False,
    job: str | Path | None = None,
    seed: int = 1,
    cache: bool = True,
    progress: Progress | None = None,
    **parameters: Value,
) -> Disk:
    """Make a drive that holds bytes.

    Parameters
    ----------
    name
        A profile's name (`profiles` lists them), a profile of your own (TOML), or a drive file.
    settings
        Dotted keys and values that differ from the profile: ``{"buffer.bytes": "1MiB"}``.
    faults
        How it breaks its word when power fails: any of ``shorn``, ``unreadable``, ``paired``,
        ``unserialized``, ``rollback``, ``lying`` and ``capacitor`` (docs/howto/disk.md).
    state
        Condition to bring the drive into first (`ssdlab.engine.conditions`); None leaves it as it
        is. span, exact
        As for `Drive.run`.
    job
        Whose writes make it ``steady:job``: a job file, its text, or the name of one that is
        included.
    seed
        The drive's one source of chance.
    cache
        Whether a preconditioned drive may be taken from the user's cache folder, or kept there.
    progress
        Called with phase and share while the drive is preconditioned; returns False to stop.
    **parameters
        Keys without a dot: ``capacity_bytes="1GB"``.

    Examples
    --------
    >>> drive = disk("intel-x25-m-g2-80gb", capacity_bytes="1GB")
    >>> drive.write(4096, b"x" * 512)
    1
    >>> drive.read(4096, 512) == b"x" * 512
    True

    Raises
    ------
    SsdlabError
        There is no such drive or fault, a setting is wrong, or the drive cannot come into the
        condition.
    Stopped
        `progress` returned False.
    """
    text, job_name = job_text(job)
    conditions.check_job_counts(state, text, ())
    request = RunRequest(
        drive=name,
        settings=settings_of(settings or {}, parameters),
        condition=state,
        span=span,
        exact=exact,
        seed=seed,
        job_text=text,
        job_name=job_name,
        cache=cache,
    )
    asked = conditioned(request, progress).to_json()
    armed = [faults] if isinstance(faults, str) else list(faults)
    held = ask(lambda engine, told: engine.Disk(asked, armed, told), progress)
    return Disk(held, seed, 0, {})
