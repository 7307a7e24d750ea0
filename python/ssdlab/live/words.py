"""What happens in a served drive, in the words of the model: told from figures a second apart."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.ground import text

_KEPT = 100
_MUCH = 0.5

ServedFigures = Mapping[str, Any]
"""What `Served.stats` told."""


class Story:
    """What happened so far, the last hundred events of it."""

    def __init__(self) -> None:
        self._before: ServedFigures | None = None
        self._events: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._number = 0
        self._lock = threading.Lock()

    def go_on(self, now: ServedFigures) -> None:
        """Hear of the drive as it is now."""
        with self._lock:
            before, self._before = self._before, now
            for words in () if before is None else happened(before, now):
                self._number += 1
                self._events.append(
                    {"number": self._number, "at_ns": now.get("now_ns"), "text": words}
                )

    def told(self) -> list[dict[str, Any]]:
        """Return the events."""
        with self._lock:
            return list(self._events)


def happened(before: ServedFigures, now: ServedFigures) -> Iterator[str]:
    """Tell what happened between two readings of `Served.stats`.

    Examples
    --------
    >>> list(happened({"power": "on"}, {"power": "off"}))
    ['the power failed']
    """
    yield from _power(before, now)
    yield from _collection(before, now)
    yield from _trims(before, now)
    if now.get("read_only") and not before.get("read_only"):
        yield "the drive became read-only: its spare is used up"
    if now.get("poison") and not before.get("poison"):
        yield f"the storage under the drive failed: {now['poison']}; nothing is promised any more"


def _power(before: ServedFigures, now: ServedFigures) -> Iterator[str]:
    if before.get("power") == "on" and now.get("power") == "off":
        yield "the power failed"
    if before.get("power") == "off" and now.get("power") == "on":
        yield "the power is back; clients have to connect anew"


def _counted(figures: ServedFigures, name: str) -> int:
    return int(figures.get("counters", {}).get(name, 0))


def _moved(before: ServedFigures, now: ServedFigures) -> int:
    return _counted(now, "gc_pages_moved") - _counted(before, "gc_pages_moved")


def _collection(before: ServedFigures, now: ServedFigures) -> Iterator[str]:
    blocks = now.get("blocks", {})
    if not blocks.get("total"):
        return
    free = text.percent(blocks["free"] / blocks["total"])
    if _moved(before, now) > 0 and _counted(before, "gc_pages_moved") == 0:
        yield (
            f"collection began: {free} of blocks are free; "
            "what is still valid in a victim is moved before it is erased"
        )


def _trims(before: ServedFigures, now: ServedFigures) -> Iterator[str]:
    trimmed = _counted(now, "host_bytes_trimmed") - _counted(before, "host_bytes_trimmed")
    capacity = now.get("capacity_bytes")
    if capacity and trimmed >= _MUCH * capacity:
        yield (
            f"the host trimmed {text.size(trimmed)}: the drive is as good as fresh "
            "(mkfs does that unless it is told not to: -E nodiscard, -K)"
        )
