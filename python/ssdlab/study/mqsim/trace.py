"""MQSim's traces as fio's iolog, version 3.

A line of MQSim has five numbers: nanoseconds, device, first sector of 512 B, sectors, and 1 for a
read or 0 for a write (`ASCII_Trace_Definition.h`, snapshot 7ec40e3). fio's times are microseconds,
so each is rounded to one. Devices become one drive, as in MQSim, which ignores their number.
Left out: that MQSim wraps addresses beyond the drive around.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ssdlab.ground.errors import SsdlabError

SECTOR_BYTES = 512
FILE = "mqsim"
"""What the requests are of."""
_ACTIONS = {"0": "write", "1": "read"}
_FIELDS = 5
_MOST_LINE = 200
_MOST = 2**63 // SECTOR_BYTES
_REMEDY = "MQSim's lines are: nanoseconds device sector sectors 0|1, such as 938513000 4 26471 16 0"


@dataclass
class TraceExtent:
    """What a trace came to.

    Attributes
    ----------
    requests
        How many.
    devices
        Their numbers.
    end_bytes
        How large a drive has to be for it.
    """

    requests: int
    devices: set[str]
    end_bytes: int


def iolog(path: Path, told: TraceExtent, percent: int = 100) -> Iterator[str]:
    """Return the lines of the iolog one after the other; what was read is told.

    Parameters
    ----------
    path
        Of the trace.
    told
        What is filled in.
    percent
        How many of the requests are wanted, from the first on, rounded down.

    Raises
    ------
    SsdlabError
        The file cannot be read, or a line is none of MQSim's.
    """
    yield "fio version 3 iolog\n"
    yield f"0 {FILE} add\n"
    yield f"0 {FILE} open\n"
    now_us = 0
    most = None if percent == 100 else sum(1 for _ in _lines(path)) * percent // 100
    for number, line in islice(_lines(path), most):
        time_us, device, start, sectors, action = _request(path, number, line)
        if time_us < now_us:
            raise _refused(path, number, f"{time_us} us: is before the line above")
        now_us = time_us
        told.requests += 1
        told.devices.add(device)
        told.end_bytes = max(told.end_bytes, (start + sectors) * SECTOR_BYTES)
        yield f"{now_us} {FILE} {action} {start * SECTOR_BYTES} {sectors * SECTOR_BYTES}\n"
    if not told.requests:
        raise SsdlabError(f"{path}: there is no request in it\n{_REMEDY}")
    yield f"{now_us} {FILE} close\n"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines that are not empty, in bounded memory."""
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            number = 0
            while line := file.readline(_MOST_LINE + 1):
                number += 1
                if len(line) > _MOST_LINE:
                    raise _refused(path, number, f"is longer than {_MOST_LINE} characters")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise SsdlabError(f"{path}: cannot be read: {error.strerror}") from None


def _request(path: Path, number: int, line: str) -> tuple[int, str, int, int, str]:
    fields = line.split()
    if len(fields) != _FIELDS:
        raise _refused(path, number, f"has {len(fields)} fields, not {_FIELDS}")
    for field in fields:
        if not (field.isascii() and field.isdigit()) or int(field) > _MOST:
            raise _refused(path, number, f"{field[:40]}: must be a whole number from 0 to {_MOST}")
    time_ns, device, start, sectors, kind = fields
    if kind not in _ACTIONS:
        raise _refused(path, number, f"{kind}: must be 0 (a write) or 1 (a read)")
    if int(sectors) == 0:
        raise _refused(path, number, "0 sectors: must be 1 or more")
    return (int(time_ns) + 500) // 1000, device, int(start), int(sectors), _ACTIONS[kind]


def _refused(path: Path, number: int, what: str) -> SsdlabError:
    return SsdlabError(f"{path}, line {number}: {what}\n{_REMEDY}")
