"""What ``ctl`` shows of a served drive's figures; one that the server does not tell is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.ground import text
from ssdlab.live.api import OPERATIONS

_LATENCIES = (("mean_ns", "mean"), ("p50_ns", "p50"), ("p99_ns", "p99"), ("p99_9_ns", "p99.9"))


def rows_of(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the rows of a table: what a figure is called, and how much it is.

    Parameters
    ----------
    told
        What the server has answered to ``GET /stats``.
    """
    yield from _drive(told)
    yield from _work(told)
    yield from _flash(told)
    yield from _clients(told)


def _drive(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in (("name", "drive"), ("condition", "condition at the start"), ("seed", "seed")):
        if key in told:
            yield name, str(told[key])
    if "capacity_bytes" in told:
        yield "capacity", text.size(told["capacity_bytes"])
    for place in told.get("addresses") or ():
        yield "address", str(place)
    if "power" in told:
        yield "power", str(told["power"])
    if told.get("poison"):
        yield "poisoned", str(told["poison"])
    if told.get("log_error"):
        yield "its log", f"has ended: {told['log_error']}"
    injected = told.get("injected") or {}
    if injected.get("hangs"):
        yield "injected", "it hangs"
    elif injected.get("latency_ns") and injected.get("left") != 0:
        yield "injected", f"{text.duration(injected['latency_ns'])} for each request"
    if told.get("read_only"):
        yield "read-only", "yes: its spare is used up"
    for key, name in (("pace", "pace"), ("durable", "flushed data outlive the")):
        if key in told:
            yield name, str(told[key])
    if "now_ns" in told:
        yield "its clock", text.duration(told["now_ns"])


def _work(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    asked = told.get("requests") or {}
    for key in (*OPERATIONS, "failed"):
        if key in asked:
            yield key.replace("_", " "), f"{asked[key]:,}"
    for key, name in (("bytes_read", "bytes read"), ("bytes_written", "bytes written")):
        if key in asked:
            yield name, text.size(asked[key])
    for direction, found in (told.get("latency") or {}).items():
        if found and found.get("count", 1):
            shown = [
                f"{name} {text.duration(found[key])}" for key, name in _LATENCIES if key in found
            ]
            yield f"{direction} latency", ", ".join(shown)


def _flash(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "write_amplification" in told:
        yield "write amplification", text.ratio(told["write_amplification"])
    blocks, wear = told.get("blocks") or {}, told.get("wear") or {}
    if "free" in blocks and blocks.get("total"):
        share = text.percent(blocks["free"] / blocks["total"])
        collecting = "; collecting" if blocks.get("collecting") else ""
        yield "free blocks", f"{blocks['free']:,} of {blocks['total']:,}, {share}{collecting}"
    if {"least", "mean", "most"} <= wear.keys():
        rated = f"; rated {wear['rated']:,}" if wear.get("rated") else ""
        shown = f"{wear['least']:,} to {wear['most']:,}, mean {text.significant(wear['mean'])}"
        yield "erases a block", f"{shown}{rated}"


def _clients(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    visits = told.get("connections") or {}
    if "open" in visits:
        yield "connections", f"{visits['open']:,} open, {visits.get('taken', 0):,} so far"
    turned = sum(visits.get(key, 0) for key in ("too_many", "broke_protocol", "too_slow"))
    if turned:
        yield "hung up on", f"{turned:,}"
    if "bytes_held" in told:
        yield "memory for requests", text.size(told["bytes_held"])
