"""Options of a load and its limits, as ``ssdlab sizing`` and ``ssdlab lifetime`` take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ssdlab.cli.json_option import result_form
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing.candidate import MOST_UNUSED
from ssdlab.study.sizing.load import Limits, parse_bytes

_Option = Callable[[Any], Any]
_MOST_YEARS = 1000

LOAD_OPTIONS = (
    click.option("--writes", metavar="AMOUNT/TIME", help="Write at this rate, such as 200GB/day."),
    click.option(
        "--bs", default="4k", show_default=True, metavar="SIZE", help="Set the size of a request."
    ),
    click.option(
        "--hours",
        type=float,
        default=24.0,
        show_default=True,
        metavar="H",
        help="Run the load in H hours of each day; the drive is idle in the others.",
    ),
    click.option("--sequential", is_flag=True, help="Send requests in order, not at random."),
    click.option(
        "--trim",
        metavar="OFTEN:SHARE",
        help="Trim a file system, of which this share is free, at one go: daily:20%, weekly:20%.",
    ),
)
"""What `sizing` and `lifetime` ask of a load alike."""

OUTPUT_OPTIONS = (
    result_form,
    click.option("--output", "-o", default="-", metavar="FILE", help="Write to FILE, not stdout."),
)
"""How both give their answer."""


def load_options(function: click.decorators.FC) -> click.decorators.FC:
    """Add the options of a plain load."""
    return _with(function, LOAD_OPTIONS)


def output_options(function: click.decorators.FC) -> click.decorators.FC:
    """Add the options of the answer."""
    return _with(function, OUTPUT_OPTIONS)


def _with(function: click.decorators.FC, options: Sequence[_Option]) -> click.decorators.FC:
    for option in reversed(options):
        function = option(function)
    return function


def read_limits(
    years: float | None,
    p99: str | None,
    read_p99: str | None,
    write_p99: str | None,
    data: str | None,
) -> Limits:
    """Read what a drive has to keep; a limit of one direction goes before that of both.

    Raises
    ------
    SsdlabError
        A limit is no time, no size, or nothing.
    """
    return Limits(
        years=parse_years(years),
        read_p99_ns=_latency(read_p99, "--read-p99") or _latency(p99, "--p99"),
        write_p99_ns=_latency(write_p99, "--write-p99") or _latency(p99, "--p99"),
        data_bytes=None if data is None else parse_bytes(data, "--data"),
    )


def parse_years(years: float | None) -> float | None:
    """Check the time that a drive has to last."""
    if years is not None and not 0 < years <= _MOST_YEARS:
        raise SsdlabError(f"--years {years:g}: must be above 0 and at most {_MOST_YEARS}")
    return years


def _latency(value: str | None, option: str) -> float | None:
    if value is None:
        return None
    limit = text.parse_time(value, option)
    if limit == 0:
        raise SsdlabError(f"{option} {value}: no request takes no time; give more than 0")
    return float(limit)


def parse_shares(value: str, option: str = "--spare") -> list[float]:
    """Read the shares that are left unused, the least first.

    Raises
    ------
    SsdlabError
        One is no share, or leaves too little of a drive.

    Examples
    --------
    >>> parse_shares("20%,0%")
    [0.0, 0.2]
    """
    shares = {text.parse_share(each.strip(), option) for each in value.split(",")}
    if not all(0 <= share <= MOST_UNUSED for share in shares):
        raise SsdlabError(f"{option} {value}: expected shares from 0% to {MOST_UNUSED:.0%}")
    return sorted(shares)
