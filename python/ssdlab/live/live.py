"""A served drive second by second: samples for a page, sent to it as server-sent events.

A sample is what happened between two readings of the drive's figures, a second apart: a rate is a
difference divided by the time that really passed; write amplification is bytes programmed into
flash per byte that the host wrote in that second; percentiles of latency are those of the second
where the drive tells its histogram (``buckets``: pairs of an upper bound in nanoseconds and a
count), else those since the server began. A figure that the drive does not tell is left out. What
nobody looks at costs one reading a second; `SECONDS` of samples are kept for who comes later, and
of the blocks one by one the last reading.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from ssdlab.live.api import OPERATIONS, Served, refused
from ssdlab.live.http import WebDocument, document_of
from ssdlab.live.words import ServedFigures

SECONDS = 120
"""How many samples are kept."""
VIEWERS = 16
"""How many may look at once: others still find a thread for what they ask."""
PERCENTILES = {"p50_ns": 0.5, "p99_ns": 0.99, "p99_9_ns": 0.999}
_EVENTS = 100
_BEAT_S = 10.0
_PATIENCE_S = 2.0


def sample_of(before: ServedFigures, now: ServedFigures, seconds: float) -> dict[str, Any]:
    """Return what happened between two readings.

    Parameters
    ----------
    before, now
        What `Served.stats` told.
    seconds
        The time between them.
    """
    asked, asked_before = _part(now, "requests"), _part(before, "requests")

    def rate(key: str) -> float:
        return float(max(0, asked[key] - asked_before.get(key, 0)) / seconds)

    found: dict[str, Any] = {
        "rates": {key: rate(key) for key in OPERATIONS if key in asked},
        "bytes": {key: rate(key) for key in ("bytes_read", "bytes_written") if key in asked},
        "latency": _latencies(_part(before, "latency"), _part(now, "latency")),
        "write_amplification": _write_amplification(before, now),
    }
    for key in ("now_ns", "power", "poison", "read_only"):
        if key in now:
            found[key] = now[key]
    blocks, wear, visits = (_part(now, key) for key in ("blocks", "wear", "connections"))
    if blocks.get("total"):
        low = blocks.get("low_water")
        found["free"] = blocks["free"] / blocks["total"]
        found["low"] = None if low is None else low / blocks["total"]
        found["collecting"] = bool(blocks.get("collecting"))
    if wear:
        found["wear"] = {key: wear[key] for key in ("least", "mean", "most") if key in wear}
    if "open" in visits:
        found["connections"] = visits["open"]
    return found


def _part(figures: ServedFigures, key: str) -> ServedFigures:
    return figures.get(key) or {}


def _write_amplification(before: ServedFigures, now: ServedFigures) -> float | None:
    """Return that of the second; None where the host wrote nothing."""
    counts, counts_before = _part(now, "counters"), _part(before, "counters")
    flash, host = (
        counts.get(key, 0) - counts_before.get(key, 0)
        for key in ("nand_bytes_written", "nand_host_bytes_written")
    )
    return flash / host if host > 0 else None


def _latencies(before: ServedFigures, now: ServedFigures) -> dict[str, dict[str, float]]:
    found = {
        direction: _latency(_part(before, direction), told)
        for direction, told in now.items()
        if told
    }
    return {direction: figures for direction, figures in found.items() if figures}


def _latency(before: ServedFigures, now: ServedFigures) -> dict[str, float]:
    """Return mean and percentiles of the requests between; nothing where there were none."""
    count = now.get("count", 0) - before.get("count", 0)
    if count <= 0:
        return {}
    found = {key: now[key] for key in PERCENTILES if key in now}
    if "mean_ns" in now:
        sums = [each.get("mean_ns", 0) * each.get("count", 0) for each in (now, before)]
        found["mean_ns"] = max(0, sums[0] - sums[1]) / count
    if "buckets" in now:
        earlier = {bound: number for bound, number in before.get("buckets", ())}
        between = [(bound, number - earlier.get(bound, 0)) for bound, number in now["buckets"]]
        found |= {key: percentile(between, share) for key, share in PERCENTILES.items()}
    return found


def percentile(buckets: Sequence[tuple[float, int]], share: float) -> float:
    """Return the bound of the bucket in which a percentile lies.

    Examples
    --------
    >>> percentile([(10, 98), (20, 1), (40, 1)], 0.99)
    20
    """
    wanted = share * sum(count for _, count in buckets)
    passed = 0
    for bound, count in buckets:
        passed += count
        if count and passed >= wanted:
            return bound
    return 0


class Live:
    """Takes samples of a drive, and sends them to those who look.

    Parameters
    ----------
    drive
        What is looked at.
    every_s
        Seconds between samples.
    """

    def __init__(self, drive: Served, every_s: float = 1.0) -> None:
        self._drive = drive
        self._every_s = every_s
        self._samples: deque[dict[str, Any]] = deque(maxlen=SECONDS)
        self._events: deque[dict[str, Any]] = deque(maxlen=_EVENTS)
        self._blocks: dict[str, Any] = {}
        self._number = 0
        self._viewers = 0
        self._new = threading.Condition()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._sample_always, daemon=True)

    def start(self) -> None:
        """Take samples from now on."""
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Take no more, and let those go who look."""
        self._ends.set()
        with self._new:
            self._new.notify_all()
        if self._thread.is_alive():
            # A drive that hangs does not keep its server from ending.
            self._thread.join(_PATIENCE_S)

    def history(self) -> dict[str, Any]:
        """Return the samples that are kept, oldest first, what the model said, and the blocks."""
        with self._new:
            return {
                "samples": list(self._samples),
                "events": list(self._events),
                "blocks": self._blocks,
            }

    def stream(self) -> WebDocument:
        """Return the events for somebody who looks, if there is room."""
        with self._new:
            if self._viewers >= VIEWERS:
                told = "too many look already\nclose a page, or look at /stats"
                return document_of(refused(HTTPStatus.SERVICE_UNAVAILABLE, told))
        return WebDocument("text/event-stream", self._follow)

    def _follow(self, write: Callable[[bytes], object]) -> None:
        """Write all that there is, then what comes, until there is nobody any more."""
        with self._new:
            self._viewers += 1
            seen, first = self._number, self.history()
        try:
            write(b"retry: 1000\n\n" + _event("history", first))
            while not self._ends.is_set():
                seen, told = self._after(seen)
                # A comment finds out whether somebody is there.
                write(_event("news", told) if told["samples"] else b":\n\n")
        finally:
            with self._new:
                self._viewers -= 1

    def _after(self, seen: int) -> tuple[int, dict[str, Any]]:
        """Wait for samples after the number that was seen last; return the last, and what came."""
        with self._new:
            self._new.wait_for(lambda: self._ends.is_set() or self._number > seen, _BEAT_S)
            fresh = [each for each in self._samples if each["number"] > seen]
            words = [each for each in self._events if each["sample"] > seen]
            return self._number, {"samples": fresh, "events": words, "blocks": self._blocks}

    def _sample_always(self) -> None:
        before, read_at = None, time.monotonic()
        due = read_at
        while not self._ends.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._every_s, time.monotonic())
            # A drive that fails to tell now may tell again in a second.
            with suppress(Exception):
                now, now_at = self._drive.stats(), time.monotonic()
                if before is not None:
                    self._add(sample_of(before, now, max(now_at - read_at, 1e-9)), now)
                before, read_at = json.loads(json.dumps(now)), now_at

    def _add(self, sample: dict[str, Any], now: ServedFigures) -> None:
        with self._new:
            self._number += 1
            self._samples.append({"number": self._number, **sample})
            blocks = _part(now, "blocks")
            self._blocks = {key: blocks[key] for key in ("every", "each") if key in blocks}
            known = self._events[-1]["number"] if self._events else -1
            for each in now.get("events") or ():
                if each["number"] > known:
                    self._events.append({**each, "sample": self._number})
            self._new.notify_all()


def _event(name: str, told: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(told)}\n\n".encode()
