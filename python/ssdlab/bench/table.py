"""The result as tables for people, made from what `summary` returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.ground import text

_UNITS = {"iops": "IOPS", "mb_per_s": "MB/s", "mean_ns": "mean response time"}


@dataclass(frozen=True)
class Table:
    """A table of text: what it shows, its headings, rows, and columns of numbers."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...]


def tables(result: Mapping[str, Any]) -> Iterator[Table]:
    """Give the tables of a result: how each part went, then each test's figures."""
    parts = [(test, part) for test in result["tests"] for part in test["parts"]]
    if parts:
        yield _overview(parts)
    for test, part in parts:
        yield from _KINDS[test["name"]](test, part)


def heading(part: Mapping[str, Any], title: str) -> str:
    """Return a title with what a reader must not miss: not steady, not purged."""
    remarks = "".join(f", {each.upper()}" for each in part["remarks"])
    return f"{title}{remarks}"


def state(part: Mapping[str, Any]) -> str:
    """Say whether a part is steady, and what else a reader must not miss."""
    return ", ".join([*(["steady"] if part["steady"] else []), *part["remarks"]])


def _overview(parts: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Table:
    headings = ("part", "state", "rounds", "average", "range", "line", "WA", "time", "written")
    rows = [_overview_row(part) for _, part in parts]
    title = "Steady state: range of the window (at most 20 %), rise of its line (at most 10 %)"
    return Table(title, headings, tuple(rows), right=(2, 3, 4, 5, 6, 7, 8))


def _overview_row(part: Mapping[str, Any]) -> tuple[str, ...]:
    judged = part["judged"]
    average, spread, rise = "", "", ""
    if judged is not None:
        average = tracked(part)
        spread, rise = shares(judged)
    return (
        part["name"],
        state(part),
        str(part["rounds"]),
        average,
        spread,
        rise,
        text.ratio(part["write_amplification"]),
        text.long_time(part["elapsed_s"]),
        text.size(part["written_bytes"]),
    )


def shares(judged: Mapping[str, Any]) -> tuple[str, str]:
    """Return the window's range and the rise of its line as shares of its average."""
    average = judged["average"]
    found = (judged[name] / average if average else None for name in ("data_range", "excursion"))
    spread, rise = map(text.percent, found)
    return spread, rise


def tracked(part: Mapping[str, Any]) -> str:
    """Return the average of the tracking variable in the window by which a part was judged."""
    figure, average = part["tracking"]["figure"], part["judged"]["average"]
    if figure == "mean_ns":
        return text.duration(average)
    return f"{text.count(round(average))} {_UNITS[figure]}"


def _iops(_test: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Table]:
    title = heading(part, "IOPS by block size and reads/writes")
    yield _matrix(part, title, lambda cell: text.count(round(cell["both"]["iops"])))


def _tp(_test: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Table]:
    title = heading(part, "Throughput in MB/s, sequential")
    yield _matrix(part, title, lambda cell: f"{cell['both']['mb_per_s']:.1f}")


def _lat(_test: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Table]:
    for title, times in _TIMES:
        if any(times(cell) is not None for cell in part["cells"]):
            title = heading(part, f"{title} response time, one request at a time")
            yield _matrix(part, title, lambda cell, times=times: text.duration(times(cell)))


def five_nines(cell: Mapping[str, Any]) -> float | None:
    """Return the standard's "five nines" response time; None where the record has none."""
    value: float | None = cell["both"]["percentiles_ns"].get("99.999")
    return value


_TIMES: tuple[tuple[str, Callable[[Mapping[str, Any]], float | None]], ...] = (
    ("Mean", lambda cell: cell["both"]["mean_ns"]),
    ("99.999 %", five_nines),
    ("Maximum", lambda cell: cell["both"]["max_ns"]),
)


def _wsat(_test: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Table]:
    values = part["tracking"]["values"]
    places = sorted({round(share * (len(values) - 1) / 8) for share in range(9)})
    rows = [(str(place + 1), text.count(round(values[place]))) for place in places]
    title = heading(part, "Write saturation: IOPS of 4 KiB random writes")
    yield Table(title, ("round", "IOPS"), tuple(rows), right=(0, 1))


def _hir(test: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Table]:
    rows = [
        (
            each["name"].partition(", ")[2],
            text.count(round(each["iops_at_work"])),
            text.duration(each["mean_ns"]),
        )
        for each in part["afterwards"]
    ]
    title = heading(part, "Host idle recovery: 4 KiB random writes after steady state")
    yield Table(title, ("step", "IOPS while writing", "mean"), tuple(rows), right=(1, 2))


def _matrix(part: Mapping[str, Any], title: str, show: Any) -> Table:
    """Small blocks on top, writes on the left, as in the reports of the standard."""
    cells = {(_size(cell), _mix(cell)): cell for cell in part["cells"]}
    sizes = list(dict.fromkeys(size for size, _ in cells))[::-1]
    mixes = list(dict.fromkeys(mix for _, mix in cells))[::-1]
    rows = [
        (size, *(show(cells[size, mix]) if (size, mix) in cells else "" for mix in mixes))
        for size in sizes
    ]
    return Table(title, ("", *mixes), tuple(rows), tuple(range(1, len(mixes) + 1)))


def _size(cell: Mapping[str, Any]) -> str:
    return f"{cell['load']['block_bytes'] / 1024:g} KiB"


def _mix(cell: Mapping[str, Any]) -> str:
    reads = cell["load"]["read_percent"]
    return f"{reads}/{100 - reads}"


_KINDS = {"iops": _iops, "tp": _tp, "lat": _lat, "wsat": _wsat, "hir": _hir}
