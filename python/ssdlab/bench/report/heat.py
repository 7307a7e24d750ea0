"""Heat and throttling of a real drive, from the raw record of every step.

A simulated drive has neither. What the drive does not count cannot be said to be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.bench.report.reading import Measured
from ssdlab.bench.store import Store

_WITHOUT = {"simulated": "a simulated drive has none", "result of TKperf": "not recorded"}


def heat(measured: Measured) -> list[tuple[str, str]]:
    """Return rows: highest temperature of each sensor, and whether throttling was seen."""
    if (none := _WITHOUT.get(measured.target["kind"])) is not None:
        return [("temperature, throttling", none)]
    highest: dict[str, float] = {}
    throttled: set[Any] = set()
    for record in _records(measured):
        for sensor, degrees in (record.get("temperatures_celsius") or {}).items():
            highest[sensor] = max(degrees, highest.get(sensor, degrees))
        throttled.add((record.get("throttling") or {}).get("throttled"))
    shown = ", ".join(f"{sensor} up to {degrees:g} °C" for sensor, degrees in highest.items())
    return [
        ("temperature", shown or "not reported by the drive"),
        ("throttling", _verdict(throttled)),
    ]


def _verdict(throttled: set[Any]) -> str:
    if True in throttled:
        return "SEEN: throttling counters grew during the measurement"
    if throttled and None not in throttled:
        return "not seen: throttling counters did not grow"
    return "not known: neither drive nor processor counts it"


def _records(measured: Measured) -> Iterator[Mapping[str, Any]]:
    store = Store(measured.path)
    for part in measured.begun_parts:
        for each in part.rounds:
            for cell in (store.part(part.plan.name).round(each["round"]) or {})["cells"]:
                yield from (job.get("ssdlab") or {} for job in cell["raw"])
