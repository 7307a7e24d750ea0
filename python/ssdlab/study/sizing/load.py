"""What is asked: a load and its limits, in bytes, seconds and shares.

A load is a fio job, which may replay a trace, or plain: one block size, uniform over the drive or
in order, a mix of reads and writes, that comes at a rate for so many hours a day. With R requests a
second, a share w of writes, B bytes each and h hours

    bytes written a day = R · w · B · 3600 · h

so that either of rate and bytes follows from the other; where both are given, the rate is that of
the busy time, and the bytes are what wears. A fio job runs as it stands, at its own pace; what it
writes a day has to be told. What a drive does in the idle hours: `sizing/nights.py`.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.text import parse_share

_DECIMAL = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15}
_BINARY = {"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40, "pib": 2.0**50}
_DAYS = {"d": 1.0, "day": 1.0, "week": 7.0, "w": 7.0, "year": 365.25, "y": 365.25}
_AMOUNT = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([kmgtp]i?b)", re.IGNORECASE)
_BLOCK = re.compile(r"(\d{1,9})(k|kib|m|mib|b|)", re.IGNORECASE)
_BLOCK_UNITS = {"": 1, "b": 1, "k": 2**10, "kib": 2**10, "m": 2**20, "mib": 2**20}
_OFTEN = {"daily": 1.0, "weekly": 7.0}
MOST_FREE = 0.8
_SECTOR_BYTES = 512
_MOST_BLOCK_BYTES = 2**24
_MOST_IOPS = 1_000_000_000
_SECONDS_PER_HOUR = 3600.0
_ROUNDING = 1.001
"""What is written by hand may differ by so much before it contradicts itself."""


@dataclass(frozen=True)
class HostLoad:
    """What the host does.

    Attributes
    ----------
    iops
        Requests a second while it works; None where a job's own pace is all that is asked.
    read_share
        Reads among the requests, from 0 up to but not including 1; not known of a job.
    block_bytes
        Of a request.
    bytes_per_day
        What the host writes.
    sequential
        Whether requests follow each other in order; else they are uniform over the drive.
    trimmed
        Share of the drive that is free and trimmed at any time.
    hours
        Of a day, in which it comes; the drive is idle in the others.
    free, trim_days
        Share of the drive that is free and trimmed at one go, each so many days.
    job, job_name
        The text of a fio job file that takes the place of all this, and where it came from.
    stationary
        Any stretch of the job is like any other.
    scales
        It works on the same share of any drive.
    """

    iops: float | None
    read_share: float
    block_bytes: int
    bytes_per_day: float
    sequential: bool = False
    trimmed: float = 0.0
    hours: float = 24.0
    free: float = 0.0
    trim_days: float = 1.0
    job: str | None = None
    job_name: str = "sizing"
    stationary: bool = False
    scales: bool = False

    @property
    def write_share(self) -> float:
        """Writes among the requests."""
        return 1.0 - self.read_share

    @property
    def rate(self) -> float:
        """Requests a second of a plain load, which always has a rate."""
        assert self.iops is not None
        return self.iops

    def times(self, factor: float) -> HostLoad:
        """Return so many times the load, as rate and as bytes a day."""
        iops = None if self.iops is None else self.iops * factor
        return replace(self, iops=iops, bytes_per_day=self.bytes_per_day * factor)

    def to_dict(self) -> dict[str, Any]:
        """Return the load as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """What a drive has to keep; None is no limit.

    Attributes
    ----------
    years
        At the bytes a day, until the cells are worn to their rating.
    read_p99_ns, write_p99_ns
        Latency that 99 % of the reads, or writes, do not exceed.
    data_bytes
        What has to find room.
    """

    years: float | None = None
    read_p99_ns: float | None = None
    write_p99_ns: float | None = None
    data_bytes: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as plain data."""
        return asdict(self)


def plain(
    *, writes: str | None, iops: float | None, mix: str, bs: str, hours: float, sequential: bool
) -> HostLoad:
    """Read a plain load as it is typed.

    Parameters
    ----------
    writes
        Such as ``200GB/day``.
    iops
        Reads and writes a second, together.
    mix
        Reads and writes in percent: ``70/30``.
    bs
        Block size: ``4k``.
    hours
        Of a day, in which the load comes.
    sequential
        In order.

    Raises
    ------
    SsdlabError
        A notation is wrong, nothing says how much is written, or two options contradict.
    """
    read_share, block = parse_mix(mix), parse_block(bs)
    if not 0 < hours <= 24:
        raise SsdlabError(f"--hours {hours:g}: a day has more than 0 and at most 24 of them")
    _check_rate(iops)
    if writes is None and iops is None:
        raise SsdlabError("no load: add --writes 200GB/day, --iops 3000, or both")
    written_a_request = (1.0 - read_share) * block * hours * _SECONDS_PER_HOUR
    amount = None if writes is None else parse_amount_per_day(writes)
    rate = iops if iops is not None else (amount or 0.0) / written_a_request
    most = rate * written_a_request
    if amount is not None and amount > most * _ROUNDING:
        raise SsdlabError(
            f"--writes {writes}: more than {rate:g} IOPS write in {hours:g} h a day "
            f"({most / 1e9:.4g} GB)\nraise --iops or --hours, or leave --iops out"
        )
    per_day = most if amount is None else amount
    return HostLoad(rate, read_share, block, per_day, sequential, hours=hours)


def of_job(
    text: str,
    name: str,
    *,
    writes: str | None,
    iops: float | None,
    stationary: bool = False,
    scales: bool = False,
) -> HostLoad:
    """Return a fio job as a load.

    Parameters
    ----------
    text, name
        The job file's text, and where it came from.
    writes
        What the host writes in a time, which the job does not say.
    iops
        Reads and writes a second that are asked; None where the job sets its own pace.
    stationary, scales
        As `engine.check_job` tells of the job.

    Raises
    ------
    SsdlabError
        Nothing says how much is written, or a notation is wrong.
    """
    if writes is None:
        raise SsdlabError(f"{name}: does not say what is written a day; add --writes 200GB/day")
    _check_rate(iops)
    per_day = parse_amount_per_day(writes)
    kind = {"stationary": stationary, "scales": scales}
    return HostLoad(iops, 0.0, 0, per_day, job=text, job_name=name, **kind)


def with_trims(load: HostLoad, text: str) -> HostLoad:
    """Return a load whose file system is trimmed as it is typed: ``daily:20%``.

    Parameters
    ----------
    text
        How often, as ``fstrim`` is run, and the share of the drive that is free.

    Raises
    ------
    SsdlabError
        The notation is wrong, or the load leaves nothing that trims would change.
    """
    often, _, share = text.partition(":")
    days = _OFTEN.get(often.strip().lower())
    if days is None or not share:
        raise SsdlabError(f"--trim {text}: expected daily or weekly and the free share: daily:20%")
    free = parse_share(share.strip(), "--trim")
    if not 0 < free <= MOST_FREE:
        raise SsdlabError(
            f"--trim {text}: expected a free share above 0% and up to {MOST_FREE:.0%}"
        )
    if load.sequential:
        raise SsdlabError(
            f"--trim {text}: writes in order copy next to nothing, trimmed or not\nleave it out"
        )
    return replace(load, free=free, trim_days=days)


def _check_rate(iops: float | None) -> None:
    if iops is not None and not 0 < iops <= _MOST_IOPS:
        raise SsdlabError(f"--iops {iops:g}: must be above 0 and at most {_MOST_IOPS}")


def parse_amount_per_day(text: str, option: str = "--writes") -> float:
    """Read bytes a day.

    Raises
    ------
    SsdlabError
        It is not an amount of bytes in a time.

    Examples
    --------
    >>> parse_amount_per_day("200GB/day"), parse_amount_per_day("7 TiB/week") == 2.0**40
    (200000000000.0, True)
    """
    amount, slash, time = text.partition("/")
    days = _DAYS.get(time.strip().lower())
    if not slash or days is None or not _AMOUNT.fullmatch(amount.strip()):
        raise SsdlabError(
            f"{option} {text}: expected bytes in a time, such as 200GB/day, 200GiB/d or 2TB/week"
        )
    return parse_bytes(amount, option) / days


def parse_bytes(text: str, option: str) -> float:
    """Read an amount of bytes, such as ``400GB``.

    Raises
    ------
    SsdlabError
        It is none, or zero.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise SsdlabError(f"{option} {text}: expected an amount such as 400GB or 372GiB, above 0")
    return float(match[1]) * (_DECIMAL | _BINARY)[match[2].lower()]


def parse_mix(text: str, option: str = "--mix") -> float:
    """Read reads and writes in percent, and return the share of reads.

    Examples
    --------
    >>> parse_mix("70/30")
    0.7
    """
    match = re.fullmatch(r"\s*(\d{1,3})\s*/\s*(\d{1,3})\s*", text)
    if match is None or int(match[1]) + int(match[2]) != 100:
        raise SsdlabError(
            f"{option} {text}: expected reads and writes in percent, such as 70/30, 100 together"
        )
    if int(match[2]) == 0:
        raise SsdlabError(f"{option} {text}: nothing is written, so no drive wears; use 99/1 or so")
    return int(match[1]) / 100


def parse_block(text: str, option: str = "--bs") -> int:
    """Read a block size; as in fio, k is 1024 bytes.

    Examples
    --------
    >>> parse_block("4k")
    4096
    """
    match = _BLOCK.fullmatch(text.strip())
    size = int(match[1]) * _BLOCK_UNITS[match[2].lower()] if match else 0
    if not 0 < size <= _MOST_BLOCK_BYTES or size % _SECTOR_BYTES:
        raise SsdlabError(
            f"{option} {text}: expected a block size such as 4k, a multiple of 512 bytes and at "
            "most 16m"
        )
    return size
