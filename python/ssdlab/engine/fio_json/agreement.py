"""Figures of a job that have to agree, by how fio makes them: what does not was not understood.

    iops        total_ios / runtime                 bw_bytes    io_bytes / runtime
    bw          bw_bytes / 1024                     io_kbytes   io_bytes / 1024
    latencies   min <= mean <= max, percentiles rise and lie between (bins are 1.6 % wide);
                lat is about slat + clat, and N about total_ios

Run times are whole milliseconds, so that rates agree within one or two of them. A figure in another
unit is off by a thousand. Left out: whether latencies agree with the rate, which the depth decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.engine.fio_json.version import COUNTS, Version
from ssdlab.ground.unread import Unread

_SHARE = 0.002
_ROUNDED_MS = 2.0
_BIN = 0.02
_FEWER = 4
"""Times fewer samples of latencies than requests, at most."""
_APART = 8
_KIB = 1024


def disagreements(
    raw: Mapping[str, Any], made: Mapping[str, Any], place: str, version: Version
) -> Iterator[Unread]:
    """Give the figures of a direction that contradict the others.

    Parameters
    ----------
    raw
        The direction as it stands.
    made
        As the newest version would write it.
    place
        Its own.
    version
        That wrote it.
    """
    if not made.get("total_ios"):
        yield from _of_nothing(made, place)
        return
    yield from _of_rates(raw, made, place, version)
    for name in ("slat_ns", "clat_ns", "lat_ns"):
        if made.get(name):
            yield from _of_latencies(made[name], f"{place}.{name}")
            yield from _of_samples(made[name].get("N"), made["total_ios"], f"{place}.{name}.N")
    yield from _of_totals(made, place)


def _of_nothing(made: Mapping[str, Any], place: str) -> Iterator[Unread]:
    """Of a direction without requests nothing may be above 0."""
    for name in ("io_bytes", "bw_bytes", "iops"):
        if made.get(name):
            why = "there are no requests (total_ios) that it could be of"
            yield Unread(f"{place}.{name}", f"{made[name]:g}", why)


def _of_rates(
    raw: Mapping[str, Any], made: Mapping[str, Any], place: str, version: Version
) -> Iterator[Unread]:
    runtime = made.get("runtime")
    whole = 1.0 if version.number < COUNTS else 0.0  # Rates are cut, and counts worked out of them.
    pairs: list[tuple[str, str, float | None, float]] = [
        ("bw", "bw_bytes / 1024", _per(made.get("bw_bytes"), _KIB), 1.5),
        ("io_kbytes", "io_bytes / 1024", _per(made.get("io_bytes"), _KIB), 1.5),
    ]
    share = _SHARE
    if runtime:
        share += _ROUNDED_MS / runtime
        seconds = runtime / 1e3
        pairs += [
            ("iops", "total_ios / runtime", _per(made.get("total_ios"), seconds), 1.0 + whole),
            ("bw_bytes", "io_bytes / runtime", _per(made.get("io_bytes"), seconds), _KIB),
        ]
    for name, rule, expected, step in pairs:
        value = raw.get(name)
        if value and expected is not None and abs(value - expected) > share * expected + step:
            why = f"{rule} is {expected:,.0f}, so one of them is in another unit or wrong"
            yield Unread(f"{place}.{name}", f"{value:g}", why)


def _of_samples(samples: float | None, requests: float, place: str) -> Iterator[Unread]:
    if samples and not requests / _FEWER <= samples <= requests * (1 + _SHARE) + 1:
        why = f"there are {requests:g} requests (total_ios)"
        yield Unread(place, f"{samples:g}", why)


def _of_totals(made: Mapping[str, Any], place: str) -> Iterator[Unread]:
    """Compare the total latency with those of submission and completion, which make it up."""
    parts = [(made.get(f"{kind}_ns") or {}).get("mean") or 0 for kind in ("slat", "clat")]
    total = (made.get("lat_ns") or {}).get("mean") or 0
    if total and parts[1] and not sum(parts) / _APART <= total <= sum(parts) * _APART + _KIB:
        why = f"slat and clat together are {sum(parts):g}, so one of them is in another unit"
        yield Unread(f"{place}.lat_ns.mean", f"{total:g}", why)


def _per(value: float | None, by: float) -> float | None:
    return None if value is None else value / by


def _of_latencies(block: Mapping[str, Any], place: str) -> Iterator[Unread]:
    low, mean, high = (block.get(name) for name in ("min", "mean", "max"))
    if not block.get("N") or low is None or mean is None or high is None:
        return
    if not low * (1 - _SHARE) - 1 <= mean <= high * (1 + _SHARE) + 1:
        why = f"it is not between min ({low:g}) and max ({high:g})"
        yield Unread(f"{place}.mean", f"{mean:g}", why)
    before = 0.0
    for percent, value in sorted(
        (block.get("percentile") or {}).items(), key=lambda each: float(each[0])
    ):
        is_within = low * (1 - _BIN) - 1 <= value <= high * (1 + _BIN) + 1
        if not (is_within and value >= before):
            why = f"it is below the one before it, or not between min ({low:g}) and max ({high:g})"
            yield Unread(f"{place}.percentile.{percent}", f"{value:g}", why)
        before = max(before, value)
