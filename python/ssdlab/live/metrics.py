"""A drive's figures for Prometheus, in its text format (version 0.0.4).

What only grows is a counter and ends in ``_total``; what goes up and down is a gauge. Counters are
those since the server began: Prometheus knows that they start again. Units are its own: seconds and
bytes. Left out: what the drive does not tell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.live.api import OPERATIONS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_NANO = 1e-9
_QUANTILES = {"p50_ns": "0.5", "p99_ns": "0.99", "p99_9_ns": "0.999"}
_REFUSALS = ("too_many", "broke_protocol", "too_slow")

Labels = Mapping[str, str]


@dataclass(frozen=True)
class MetricFamily:
    """A metric: name, kind, a sentence, and its values by suffix of the name and labels."""

    name: str
    kind: str
    meaning: str
    values: Sequence[tuple[str, Labels, float]]


def exposition(told: Mapping[str, Any]) -> str:
    """Return what `Served.stats` tells in Prometheus's text format."""
    lines: list[str] = []
    for metric in _metrics(told):
        if metric.values:
            lines.append(f"# HELP {metric.name} {_escaped(metric.meaning)}")
            lines.append(f"# TYPE {metric.name} {metric.kind}")
            lines += [
                f"{metric.name}{suffix}{_labels(labels)} {_number(value)}"
                for suffix, labels, value in metric.values
            ]
    return "\n".join(lines) + "\n"


def _metrics(told: Mapping[str, Any]) -> Iterator[MetricFamily]:
    yield from _state(told)
    yield from _counters(told.get("counters") or {})
    yield from _requests(told.get("requests") or {}, told.get("connections") or {})
    yield from _latency(told.get("latency") or {})
    yield from _flash(told.get("blocks") or {}, told.get("wear") or {})


def _state(told: Mapping[str, Any]) -> Iterator[MetricFamily]:
    keys = ("name", "version", "folder", "condition", "seed", "pace", "durable")
    named = {key: str(told[key]) for key in keys if key in told}
    yield MetricFamily(
        "ssdlab_drive_info", "gauge", "What the drive is; always 1.", [("", named, 1)]
    )
    flags = (
        ("power_on", "Whether the power is on.", _flag(told, "power", lambda it: it == "on")),
        ("poisoned", "Whether the image failed, so that writes fail.", _flag(told, "poison", bool)),
        ("read_only", "Whether the spare is used up.", _flag(told, "read_only", bool)),
    )
    for name, meaning, values in flags:
        yield _gauge(name, meaning, values)
    yield _gauge("virtual_time_seconds", "The drive's clock.", _one(told, "now_ns", _NANO))
    yield _gauge("capacity_bytes", "Bytes that the host sees.", _one(told, "capacity_bytes"))
    yield _gauge("held_bytes", "Memory that requests and answers take.", _one(told, "bytes_held"))
    yield _gauge(
        "write_amplification",
        "Bytes programmed into flash per byte that the host wrote, since the server began.",
        _one(told, "write_amplification"),
    )


def _counters(counts: Mapping[str, Any]) -> Iterator[MetricFamily]:
    for key, value in counts.items():
        if re.fullmatch(r"[a-z][a-z0-9_]*", key):
            is_time = key.endswith("_ns")
            name = f"{key.removesuffix('_ns')}_seconds" if is_time else key
            meaning = f"The drive's counter {key}, since the server began."
            yield _counter(name, meaning, [("", {}, value * _NANO if is_time else value)])


def _requests(asked: Mapping[str, Any], visits: Mapping[str, Any]) -> Iterator[MetricFamily]:
    by_operation = [
        ("", {"operation": name}, asked[key]) for key, name in OPERATIONS.items() if key in asked
    ]
    yield _counter("requests", "Requests that clients sent.", by_operation)
    yield _counter("requests_failed", "Requests that failed.", _one(asked, "failed"))
    by_direction = [
        ("", {"operation": name}, asked[key])
        for key, name in (("bytes_read", "read"), ("bytes_written", "write"))
        if key in asked
    ]
    yield _counter("request_bytes", "Bytes of reads and writes.", by_direction)
    yield _gauge("connections", "Connections that are open.", _one(visits, "open"))
    yield _counter("connections_taken", "Connections so far.", _one(visits, "taken"))
    refused = [("", {"reason": key}, visits[key]) for key in _REFUSALS if key in visits]
    yield _counter("connections_refused", "Connections that were hung up on.", refused)


def _latency(latency: Mapping[str, Any]) -> Iterator[MetricFamily]:
    values: list[tuple[str, Labels, float]] = []
    most: list[tuple[str, Labels, float]] = []
    for direction, found in latency.items():
        if not found:
            continue
        of: Labels = {"operation": direction}
        for key, quantile in _QUANTILES.items():
            if key in found:
                values.append(("", {**of, "quantile": quantile}, found[key] * _NANO))
        if {"mean_ns", "count"} <= found.keys():
            values.append(("_sum", of, found["mean_ns"] * found["count"] * _NANO))
            values.append(("_count", of, found["count"]))
        if "max_ns" in found:
            most.append(("", of, found["max_ns"] * _NANO))
    meaning = "Latency of the drive's commands on its own clock, since the server began."
    yield MetricFamily("ssdlab_latency_seconds", "summary", meaning, values)
    yield _gauge("latency_max_seconds", "The longest so far.", most)


def _flash(blocks: Mapping[str, Any], wear: Mapping[str, Any]) -> Iterator[MetricFamily]:
    yield _gauge("blocks", "Blocks of the flash.", _one(blocks, "total"))
    yield _gauge("blocks_free", "Blocks that are erased and not open.", _one(blocks, "free"))
    meaning = "Free blocks of a pool at which garbage collection begins, of all pools together."
    yield _gauge("blocks_low_water", meaning, _one(blocks, "low_water"))
    collecting = _flag(blocks, "collecting", bool)
    yield _gauge("collecting", "Whether garbage collection is under way.", collecting)
    erases = [("", {"of": key}, wear[key]) for key in ("least", "mean", "most") if key in wear]
    yield _gauge("block_erases", "Erases of the least worn block, on average, most.", erases)
    yield _gauge("block_erases_rated", "Erases a block is rated for.", _one(wear, "rated"))


def _counter(name: str, meaning: str, values: Sequence[tuple[str, Labels, float]]) -> MetricFamily:
    return MetricFamily(f"ssdlab_{name}_total", "counter", meaning, values)


def _gauge(name: str, meaning: str, values: Sequence[tuple[str, Labels, float]]) -> MetricFamily:
    return MetricFamily(f"ssdlab_{name}", "gauge", meaning, values)


def _one(
    figures: Mapping[str, Any], key: str, factor: float = 1
) -> Sequence[tuple[str, Labels, float]]:
    """Return a figure's value; none where it is not told."""
    value = figures.get(key)
    return [] if value is None else [("", {}, value * factor)]


def _flag(figures: Mapping[str, Any], key: str, is_set: Any) -> list[tuple[str, Labels, float]]:
    return [("", {}, int(is_set(figures[key])))] if key in figures else []


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    inside = (f'{name}="{_escaped(value, quotes=True)}"' for name, value in labels.items())
    return "{" + ",".join(inside) + "}"


def _escaped(text: str, quotes: bool = False) -> str:
    r"""Escape as the format asks for.

    Examples
    --------
    >>> print(_escaped('a"b\\c\nd', quotes=True))
    a\"b\\c\nd
    """
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if quotes else escaped


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")
