"""The layers of a stack: what each was asked, and what it made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ssdlab.ground import text
from ssdlab.report.runs import Run

HEADINGS = ("device", "reads", "writes", "trims", "flushes", "of its own")

DeviceRow = tuple[str, str, str, str, str, str]
"""One device: its name, what it was asked, what else it counted."""

_INDENT = "\N{NO-BREAK SPACE}" * 4


def stacks_of(runs: Sequence[Run]) -> list[tuple[str, list[DeviceRow]]]:
    """Return the devices of each run's stack, from the top down; runs without layers have none."""
    return [(run.title, list(_rows(run.lab["layers"], 0))) for run in runs if run.lab.get("layers")]


def _rows(device: Mapping[str, Any], depth: int) -> Iterator[DeviceRow]:
    name = _INDENT * depth + str(device["name"])
    if "taken" not in device:
        yield (name, *_of_drive(device["counters"]), _own_of_drive(device))
        return
    taken = device["taken"]
    yield (
        name,
        _amount(taken["reads"], taken["read_bytes"]),
        # Zeroes are written, whoever makes them.
        _amount(
            taken["writes"] + taken["write_zeroes"], taken["written_bytes"] + taken["zeroed_bytes"]
        ),
        _amount(taken["trims"], taken["trimmed_bytes"]),
        text.count(taken["flushes"]),
        _own(device["counts"]),
    )
    for below in device["below"]:
        yield from _rows(below, depth + 1)


def _of_drive(counters: Mapping[str, int]) -> tuple[str, str, str, str]:
    def amount(requests: str, size: str) -> str:
        return _amount(counters.get(requests, 0), counters.get(size, 0))

    return (
        amount("host_reads", "host_bytes_read"),
        amount("host_writes", "host_bytes_written"),
        amount("host_trims", "host_bytes_trimmed"),
        text.count(counters.get("host_flushes", 0)),
    )


def _own_of_drive(drive: Mapping[str, Any]) -> str:
    amplification = drive.get("write_amplification")
    return "" if amplification is None else f"write amplification {text.ratio(amplification)}"


def _amount(requests: int, size: int) -> str:
    return f"{text.count(requests)} · {text.size(size)}" if requests else "none"


def _own(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {_value(name, value)}" for name, value in counts.items() if value)


def _value(name: str, value: int) -> str:
    if name.endswith("_ns"):
        return text.duration(value)
    return text.size(value) if name.endswith("_bytes") else text.count(value)
