"""The load of a running machine: what the kernel counts for every drive and layer meanwhile.

``/proc/diskstats`` is read at the start and at the end (Linux Documentation/admin-guide/iostats).
The counters hold numbers, bytes and times of requests; they do not tell where requests lie, how
their sizes spread, or when they came. Kernels before 4.18 count no discards, before 5.5 no flushes.
Flushes are counted in block/blk-flush.c alone, so for whole devices with a request queue and not
for partitions, device-mapper, md and bcache. Times that overflow at 32 bits are mended; a device
that appears meanwhile is left out, and so is one whose counters start again, which is told.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread
from ssdlab.real.device import SECTOR_BYTES, Device
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

_STATS = "/proc/diskstats"
_ROW = re.compile(r"\s*\d+\s+\d+\s+(\S+)((?:\s+\d{1,20})*)\s*", re.ASCII)
_KNOWN_FIELDS, _COUNTS = (11, 15, 17), "11, 15 or 17"
_SINCE_418, _SINCE_55 = 15, 17
_OVERFLOW = 1 << 32
_STEP_S = 1.0
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 7 * 86_400
_FLUSH_KINDS = frozenset({"drive", "loop", "multipath"})
"""Kinds with a request queue of their own."""


@dataclass(frozen=True)
class Requests:
    """Requests of one kind.

    Attributes
    ----------
    count
        How many were completed.
    bytes
        What they moved.
    """

    count: int
    bytes: int

    @property
    def mean_bytes(self) -> float | None:
        """Bytes a request; None without any."""
        return self.bytes / self.count if self.count else None


@dataclass(frozen=True)
class DeviceLoad:
    """What one device did meanwhile.

    Attributes
    ----------
    name, label, kind
        The device.
    seconds
        How long it was counted.
    reads, writes
        Requests that moved data.
    discards
        TRIM; None where the kernel does not count it.
    flushes
        Flushes of the cache; None where the kernel does not count them.
    busy_seconds
        How long at least one request was under way.
    request_seconds
        The times of all requests together.
    """

    name: str
    label: str
    kind: str
    seconds: float
    reads: Requests
    writes: Requests
    discards: Requests | None
    flushes: int | None
    busy_seconds: float
    request_seconds: float

    @property
    def depth(self) -> float:
        """How many requests were under way on average, over the whole time."""
        return self.request_seconds / self.seconds

    @property
    def busy_depth(self) -> float | None:
        """The same average over the time when there were any; None without any."""
        return self.request_seconds / self.busy_seconds if self.busy_seconds else None

    @property
    def discard_share(self) -> float | None:
        """Share of discards among reads, writes and discards; None where not counted."""
        total = self.reads.count + self.writes.count
        if self.discards is None:
            return None
        total += self.discards.count
        return self.discards.count / total if total else 0.0

    def per_second(self, requests: Requests) -> float:
        """Give requests a second."""
        return requests.count / self.seconds

    def gb_per_day(self, requests: Requests) -> float:
        """Give GB (10^9 bytes) a day, should it go on like this."""
        return requests.bytes / 1e9 / self.seconds * 86_400

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "device": self.label,
            "kind": self.kind,
            **_kind_to_dict(self, "read", self.reads),
            **_kind_to_dict(self, "write", self.writes),
            "depth": self.depth,
            "busy_depth": self.busy_depth,
            "discards": None if self.discards is None else self.discards.count,
            "discard_bytes": None if self.discards is None else self.discards.bytes,
            "discard_share": self.discard_share,
            "flushes": self.flushes,
        }


def _kind_to_dict(load: DeviceLoad, name: str, requests: Requests) -> dict[str, object]:
    return {
        f"{name}s": requests.count,
        f"{name}_bytes": requests.bytes,
        f"{name}_mean_bytes": requests.mean_bytes,
        f"{name}_iops": load.per_second(requests),
        f"{name}_gb_per_day": load.gb_per_day(requests),
    }


@dataclass(frozen=True)
class WriteLoad:
    """What all devices did.

    Attributes
    ----------
    seconds
        How long it was counted.
    was_stopped
        Whether that is less than was asked for.
    devices
        Drives first, then what stands on them.
    unread
        What of the machine or of the kernel's counters is not understood, and devices that are left
        out because their counters began anew.
    """

    seconds: float
    was_stopped: bool
    devices: list[DeviceLoad]
    unread: list[Unread]

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "seconds": self.seconds,
            "was_stopped": self.was_stopped,
            "devices": [device.to_dict() for device in self.devices],
            "unread": [each.to_json() for each in self.unread],
        }


@dataclass(frozen=True)
class Clock:
    """What time it is, and how to wait; a test has its own.

    Attributes
    ----------
    now
        Gives seconds of a clock that never goes back.
    sleep
        Waits for seconds.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def parse_duration(text: str, option: str = "--load") -> float:
    """Read a time such as ``30s``, ``10m`` or ``2h``, in seconds.

    Raises
    ------
    SsdlabError
        It is none, or out of range.
    """
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([smhd])\s*", text, re.ASCII)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0.1 <= seconds <= _LONGEST_S:
        raise SsdlabError(
            f"{option} {text}: expected a time from 0.1s to 7d, with its unit: 30s, 10m, 2h, 1d"
        )
    return seconds


def watch(
    system: System,
    topology: Topology,
    names: Iterable[str],
    seconds: float,
    clock: Clock | None = None,
    begun: Callable[[], None] = lambda: None,
) -> WriteLoad:
    """Count for some time; Ctrl-C (KeyboardInterrupt) ends it early and keeps what was seen.

    Parameters
    ----------
    system, topology
        The machine.
    names
        Kernel names of the devices.
    seconds
        How long.
    clock
        What waits; by default the machine's own clock.
    begun
        Called once Ctrl-C would keep what was seen.

    Raises
    ------
    SsdlabError
        The kernel's counters cannot be read.
    """
    clock = clock or Clock()
    unread = list(topology.unread)
    before, start = _counters(system, []), clock.now()
    was_stopped = False
    try:
        begun()
        while (left := start + seconds - clock.now()) > 0:
            clock.sleep(min(left, _STEP_S))
    except KeyboardInterrupt:
        was_stopped = True
    after, elapsed = _counters(system, unread), clock.now() - start
    chosen = [topology.devices[name] for name in names]
    chosen.sort(key=lambda device: (device.kind != "drive", device.name))
    found = []
    for device in chosen:
        early, late = before.get(device.name), after.get(device.name)
        change = _change(early, late)
        if change is not None:
            found.append(_load(device, max(elapsed, 1e-3), change))
        elif early is not None and late is not None:
            why = "its counters began anew meanwhile, so it is left out"
            unread.append(Unread(f"{_STATS}, {device.name}", " ".join(map(str, late)), why))
    return WriteLoad(elapsed, was_stopped, found, unread)


def _counters(system: System, unread: list[Unread]) -> dict[str, list[int]]:
    """Give the counters of every device by its name, and note rows in another form."""
    counters: dict[str, list[int]] = {}
    for row, line in enumerate((system.read(_STATS) or "").splitlines(), 1):
        found = _ROW.fullmatch(line)
        # sysfs writes a slash of a name as an exclamation mark.
        name, numbers = (found[1].replace("/", "!"), found[2].split()) if found else ("", [])
        if len(numbers) in _KNOWN_FIELDS and name not in counters:
            counters[name] = [int(each) for each in numbers]
        elif line.strip():
            why = f"two numbers, a name of its own and {_COUNTS} counters were expected"
            unread.append(Unread(f"{_STATS}, line {row}", line, why))
    if not counters:
        raise SsdlabError(f"--load: {_STATS} cannot be read; it is the kernel's count of all I/O")
    return counters


def _change(before: list[int] | None, after: list[int] | None) -> list[int] | None:
    """Give what was added; None where it was not there, or began anew."""
    if before is None or after is None or len(before) != len(after):
        return None
    change = [late - early for early, late in zip(before, after, strict=True)]
    for place, number in enumerate(change):
        if number < 0 and place in _TIMES and before[place] < _OVERFLOW:
            change[place] = number + _OVERFLOW
        elif number < 0 and place != _UNDER_WAY:
            return None
    return change


_UNDER_WAY = 8
_TIMES = (3, 7, 9, 10, 14, 16)
"""Which of the counters are milliseconds, which some kernels keep in 32 bits."""


def _load(device: Device, seconds: float, change: list[int]) -> DeviceLoad:
    discards = None
    if len(change) >= _SINCE_418:
        discards = Requests(change[11], change[13] * SECTOR_BYTES)
    counts_flushes = len(change) >= _SINCE_55 and device.kind in _FLUSH_KINDS
    return DeviceLoad(
        name=device.name,
        label=device.label,
        kind=device.kind,
        seconds=seconds,
        reads=Requests(change[0], change[2] * SECTOR_BYTES),
        writes=Requests(change[4], change[6] * SECTOR_BYTES),
        discards=discards,
        flushes=change[15] if counts_flushes else None,
        busy_seconds=change[9] / 1000,
        request_seconds=change[10] / 1000,
    )
