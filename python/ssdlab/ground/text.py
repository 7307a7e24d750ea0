"""Numbers as people read them, and the few notations that people type.

Rates and drive sizes are decimal (MB is 10^6 bytes), block sizes binary (KiB is 2^10).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from ssdlab.ground.errors import SsdlabError

_MOST_DIGITS = 9
NOTHING = "–"
"""What a table shows where there is no figure."""

_NANOSECONDS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def significant(number: float, digits: int = 3) -> str:
    """Round to significant digits, without an exponent; thousands are set apart.

    Examples
    --------
    >>> significant(13308.1), significant(2.8561), significant(0.04)
    ('13,300', '2.86', '0.04')
    """
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    magnitude = math.floor(math.log10(abs(number)))
    rounded = round(number, digits - 1 - magnitude)
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if abs(rounded) >= 10_000 else text.replace(",", "")


def count(number: float | None) -> str:
    """Format a count, such as requests a second."""
    if number is None:
        return NOTHING
    return significant(number, 4) if abs(number) < 10_000 else f"{number:,.0f}"


def ratio(number: float | None, digits: int = 2) -> str:
    """Format a ratio with a fixed number of decimals."""
    return NOTHING if number is None else f"{number:.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """Format a share of one as percent.

    Examples
    --------
    >>> percent(0.285), percent(0.07, 0)
    ('28.5 %', '7 %')
    """
    return NOTHING if share is None else f"{share * 100:.{digits}f} %"


def long_time(seconds: float) -> str:
    """Write a time as people plan with it.

    Examples
    --------
    >>> long_time(20), long_time(90), long_time(7200)
    ('20 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def duration(nanoseconds: float | None, digits: int = 3) -> str:
    """Format a time with the unit that suits it.

    Examples
    --------
    >>> duration(97_100), duration(2_340_000), duration(12_000_000_000)
    ('97.1 µs', '2.34 ms', '12 s')
    """
    if nanoseconds is None:
        return NOTHING
    if nanoseconds < 1e3:
        return f"{significant(nanoseconds, digits)} ns"
    if nanoseconds < 1e6:
        return f"{significant(nanoseconds / 1e3, digits)} µs"
    if nanoseconds < 1e9:
        return f"{significant(nanoseconds / 1e6, digits)} ms"
    return f"{significant(nanoseconds / 1e9, digits)} s"


def beside(number: float, limit: float | None, write: Callable[[float, int], str]) -> str:
    """Write a number with so many digits, two at least, that it differs from its limit.

    Parameters
    ----------
    limit
        What it is compared with; None for nothing.
    write
        Writes a number with so many digits.

    Examples
    --------
    >>> beside(1_004_000, 1_000_000, duration), beside(1_504_000, 1_000_000, duration)
    ('1.004 ms', '1.5 ms')
    """
    digits = 2
    while limit is not None and number != limit and digits < _MOST_DIGITS:
        if write(number, digits) != write(limit, digits):
            break
        digits += 1
    return write(number, digits)


def size(number: float | None) -> str:
    """Format bytes with a decimal unit, as drives are sold.

    Examples
    --------
    >>> size(80_026_361_856)
    '80 GB'
    """
    if number is None:
        return NOTHING
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{significant(number / factor)} {unit}"
    return f"{number:.0f} B"


def exact_size(number: int) -> str:
    """Format bytes with the unit in which they are a round number: binary for parts, else decimal.

    Examples
    --------
    >>> exact_size(4_194_304), exact_size(16_384), exact_size(94_485_086_208)
    ('4 MiB', '16 KiB', '94.5 GB')
    """
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if number % factor == 0 and number < 1000 * factor:
            return f"{number // factor} {unit}"
    return size(number)


def rate(bytes_per_second: float | None) -> str:
    """Format a throughput in MB/s: three digits, and from 1000 MB/s on four.

    Examples
    --------
    >>> rate(63_999_611), rate(1_795_554_890)
    ('64 MB/s', '1796 MB/s')
    """
    if bytes_per_second is None:
        return NOTHING
    return f"{significant(bytes_per_second / 1e6, 3 if bytes_per_second < 1e9 else 4)} MB/s"


def quantity(number: float | None, unit: str) -> str:
    """Format a number as its unit asks for; the unit of a count is 1.

    Examples
    --------
    >>> quantity(94_485_086_208, "B"), quantity(22_527, "1"), quantity(18.107, "%")
    ('94.5 GB', '22,527', '18.1 %')
    >>> quantity(8.3333, "ms"), quantity(None, "B")
    ('8.33 ms', '–')
    """
    if number is None:
        return NOTHING
    if unit == "B":
        return exact_size(int(number))
    return count(number) if unit == "1" else f"{significant(number)} {unit}"


def with_unit(value: str, unit: str) -> str:
    """Put the unit behind a bare number; a size such as ``16 KiB`` has its own.

    Examples
    --------
    >>> with_unit("75", "µs"), with_unit("16 KiB", "B"), with_unit("none", "µs")
    ('75 µs', '16 KiB', 'none')
    >>> with_unit("0.000000001", "")
    '1e-09'
    """
    if re.fullmatch(r"0\.0{4,}\d+", value):
        value = f"{float(value):g}"
    bare = unit and not re.search(r"[A-Za-z]{2}|[A-Z]", value)
    return f"{value} {unit}" if bare else value


def years(number: float | None) -> str:
    """Format a lifetime; beyond a century the figure says nothing more."""
    if number is None:
        return NOTHING
    return "> 100" if number > 100 else significant(number, 2)


def plural(number: int | str, noun: str) -> str:
    """Put a noun behind a number, as many as it says.

    Parameters
    ----------
    number
        A count, or a figure as it is written.

    Examples
    --------
    >>> plural(1, "page"), plural(0, "page"), plural("1.5", "year")
    ('1 page', '0 pages', '1.5 years')
    """
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


def parse_share(text: str, option: str) -> float:
    """Read a share: ``0.28`` or ``28%``.

    Raises
    ------
    SsdlabError
        It is neither; or a number above 1 that a percentage was probably meant by.

    Examples
    --------
    >>> parse_share("28%", "--op"), parse_share("120%", "--op")
    (0.28, 1.2)
    """
    body, factor = (text[:-1], 0.01) if text.endswith("%") else (text, 1.0)
    try:
        share = float(body) * factor
    except ValueError:
        raise SsdlabError(f"{option} {text}: expected a share such as 0.28 or 28%") from None
    if factor == 1 and share > 1:
        raise SsdlabError(
            f"{option} {text}: is {share:.0%}; write {text}% if you mean percent, "
            f"or {share * 100:g}% if you mean that"
        )
    return share


def parse_span(text: str | None, option: str = "--span") -> float:
    """Read the share of a drive that is used; None is all of it.

    Raises
    ------
    SsdlabError
        It is not a share above 0 % and up to 100 %.

    Examples
    --------
    >>> parse_span("80%"), parse_span(None)
    (0.8, 1.0)
    """
    share = 1.0 if text is None else parse_share(text, option)
    if not 0 < share <= 1:
        raise SsdlabError(f"{option} {text}: expected more than 0% and at most 100%")
    return share


def parse_time(text: str, option: str) -> int:
    """Read a time such as ``10ms`` into nanoseconds.

    Raises
    ------
    SsdlabError
        There is no number, or no unit.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)\s*", text)
    if match is None:
        raise SsdlabError(
            f"{option}: {text!r} is not a time; write a number and ns, us, ms or s: 10ms"
        )
    return round(float(match[1]) * _NANOSECONDS[match[2]])


def parse_timeline(text: str, option: str = "--timeline") -> tuple[int, int]:
    """Read ``START,LENGTH`` into nanoseconds.

    Raises
    ------
    SsdlabError
        There are not two times, or the length is nothing.
    """
    parts = text.split(",")
    if len(parts) != 2:
        raise SsdlabError(f"{option} {text}: expected START,LENGTH, such as 10ms,2ms")
    start, length = (parse_time(part, option) for part in parts)
    if length == 0:
        raise SsdlabError(f"{option} {text}: the length is 0; use 1us or more")
    return start, length


def parse_seeds(text: str, option: str = "--seed") -> list[int]:
    """Read seeds: ``7``, ``1,2,5`` or ``1-10``.

    Raises
    ------
    SsdlabError
        It is none of these, or a seed is given twice.
    """
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,19})(?:-(\d{1,19}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first or last - first >= 10_000:
            raise SsdlabError(f"{option} {text}: expected seeds such as 1, 1,2,3 or 1-10")
        seeds.extend(range(first, last + 1))
    if len(set(seeds)) < len(seeds):
        raise SsdlabError(f"{option} {text}: a seed is given twice")
    return seeds


def parse_setting(text: str, option: str = "--set") -> tuple[str, str]:
    """Read ``KEY=VALUE``.

    Raises
    ------
    SsdlabError
        Key or value is missing.
    """
    key, equals, value = text.partition("=")
    if not (equals and key.strip() and value.strip()):
        raise SsdlabError(f"{option} {text}: expected KEY=VALUE, such as over_provisioning=0.28")
    return key.strip(), value.strip()
