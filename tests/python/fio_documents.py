"""fio's JSON as tests need it: recorded, in the form of older versions, and changed in one place.

``fio/3.33-*.json`` and ``fio/3.41-*.json`` were printed by those versions with the null engine; the
others are from public threads, in the versions that their names say. Older forms are made of the
newest one by the rules of fio's history (`ssdlab.engine.fio_json.version`).
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIO = Path(__file__).parent / "fio"
DIRECTIONS = ("read", "write", "trim")
_FIGURES = ("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios")
_NEW_IN_JOBS: dict[str, tuple[int, ...]] = {
    "job_start": (3, 36),
    "sync": (3, 4),
    "job_runtime": (3, 8),
    "latency_ns": (2, 99),
}
_NEW_IN_JOBS |= {"iodepth_submit": (3, 9), "iodepth_complete": (3, 9), "job options": (2, 3)}
_NEW_IN_JOBS |= {"eta": (2, 2, 9), "elapsed": (2, 2, 9), "latency_depth": (2, 1, 5)}
_NEW_IN_JOBS |= {f"latency_{each}": (2, 1, 5) for each in ("target", "percentile", "window")}
_NEW_IN_DIRECTIONS: dict[str, tuple[int, ...]] = {
    "bw_bytes": (3, 2),
    "io_kbytes": (2, 21),
    "bw_samples": (2, 99),
}
_NEW_IN_DIRECTIONS |= {
    f"iops_{each}": (2, 99) for each in ("min", "max", "mean", "stddev", "samples")
}
_NEW_IN_DIRECTIONS |= {f"{each}_ios": (2, 1, 14) for each in ("total", "short", "drop")}


def recorded(name: str) -> str:
    return (FIO / name).read_text()


def drive_job(**more: Any) -> dict[str, Any]:
    """Make a result of the newest version, as of a drive: 40,000 reads in 10 s at 2 ms."""
    document: dict[str, Any] = json.loads(recorded("3.41-mix.json"))
    job = document["jobs"][0]
    times: dict[str, Any] = {
        "min": 1_000_000,
        "max": 9_000_000,
        "mean": 2_000_000.0,
        "stddev": 5000.0,
    }
    for name in DIRECTIONS:
        count = {"read": 40_000, "write": 20_000, "trim": 0}[name]
        job[name] |= {
            "io_bytes": count * 4096,
            "io_kbytes": count * 4,
            "bw_bytes": count * 4096 // 10,
            "bw": count * 4096 // 10 // 1024,
            "iops": count / 10,
            "runtime": 10_000 if count else 0,
            "total_ios": count,
        }
        for kind in ("slat_ns", "clat_ns", "lat_ns"):
            block: dict[str, Any] = (
                {**times, "N": count} if count else {**dict.fromkeys(times, 0), "N": 0}
            )
            if kind == "slat_ns" and count:
                block |= {"min": 1000, "max": 9000, "mean": 2000.0, "stddev": 3.0}
            if kind == "clat_ns" and count:
                block["percentile"] = {"50.000000": 2_000_000, "99.000000": 4_000_000}
                block["percentile"]["99.900000"] = 8_000_000
                slow, slowest = count // 80 - count // 800, count // 800
                block["bins"] = {"2000000": count - slow - slowest, "4000000": slow}
                block["bins"]["8000000"] = slowest
            job[name][kind] = block
    document.update(more)
    return document


def as_version(document: dict[str, Any], number: tuple[int, ...]) -> dict[str, Any]:
    """Return a document as an older version would have written it."""
    made = copy.deepcopy(document)
    made["fio version"] = "fio-" + ".".join(map(str, number))
    for name in ("timestamp", "timestamp_ms", "time"):
        if number < (2, 2, 5):
            made.pop(name, None)
    for job in made["jobs"]:
        for name, since in _NEW_IN_JOBS.items():
            if number < since:
                job.pop(name, None)
        for name in DIRECTIONS:
            _age(job[name], number)
        if "sync" in job and number < (3, 18):
            job["sync"]["lat_ns"].pop("N")
    return made


def _age(direction: dict[str, Any], number: tuple[int, ...]) -> None:
    for name, since in _NEW_IN_DIRECTIONS.items():
        if number < since:
            direction.pop(name, None)
    if number < (2, 21):
        direction["io_bytes"] //= 1024
    if number < (2, 2, 6):
        direction["iops"] = int(direction["iops"])
    for kind in ("slat", "clat", "lat"):
        block = direction.pop(f"{kind}_ns")
        if number < (3, 18):
            block.pop("N")
        if number < (3, 13) and kind == "clat":
            block.setdefault("percentile", {})
        if number < (3, 4) and kind == "clat":
            block["percentile"]["0.00"] = 0
        if number < (2, 2, 12):
            block.pop("bins", None)
        if number < (2, 99):
            _to_microseconds(block)
        direction[f"{kind}_ns" if number >= (2, 99) else kind] = block


def _to_microseconds(block: dict[str, Any]) -> None:
    for name in ("min", "max", "mean", "stddev"):
        block[name] = block[name] / 1000 if name in ("mean", "stddev") else block[name] // 1000
    if "percentile" in block:
        block["percentile"] = {key: value // 1000 for key, value in block["percentile"].items()}
    if "bins" in block:
        block["bins"] = {str(int(key) // 1000): value for key, value in block["bins"].items()}


def changes(document: dict[str, Any], seed: int) -> Iterator[tuple[str, str]]:
    """Give the document with one change at every place, each with what was changed."""
    chance = random.Random(seed)
    for path in _places(document):
        kinds = ["added", "renamed", "gone", "type", "unit"]
        chance.shuffle(kinds)
        for kind in kinds[:2]:
            made = copy.deepcopy(document)
            parent = made
            for key in path[:-1]:
                parent = parent[key]
            told = f"{kind}: {'.'.join(map(str, path))}"
            if _change(parent, path[-1], kind, chance):
                yield told, json.dumps(made, indent=1)
    for version in ("fio-4.0", "fio-9.9", "fio-3.99", "fio-1.50", "3.33", "", None, 3.33, ["fio"]):
        yield f"version: {version}", json.dumps({**document, "fio version": version}, indent=1)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in entries:
        yield (*path, key)
        # What ssdlab adds, and fio's distributions and options, have names of their own.
        if isinstance(each, (dict, list)) and key not in _INSIDE_FREE:
            yield from _places(each, (*path, key))


_INSIDE_FREE = (
    *("ssdlab", "job options", "global options", "disk_util", "steadystate", "bins"),
    *("iodepth_level", "iodepth_submit", "iodepth_complete"),
    *("latency_ns", "latency_us", "latency_ms"),
)


def _change(parent: Any, key: Any, kind: str, chance: random.Random) -> bool:
    value = parent[key]
    if kind == "added":
        name = chance.choice(["throughput", "iops_total", "units", "lat_s", "bw_mib"])
        if isinstance(parent, list):
            return False
        parent[name] = chance.choice([5, "MiB", {"mean": 3}, None])
    elif kind == "renamed":
        if isinstance(parent, list):
            return False
        parent[f"{key}_new"] = parent.pop(key)
    elif kind == "gone":
        del parent[key]
    elif kind == "type":
        parent[key] = chance.choice(["12", [], {"value": value}, None, True, "12 ms"])
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value:
        factor = chance.choice([1000, 1 / 1000, 1e6, 1024])
        parent[key] = value * factor if isinstance(value, float) else int(value * factor)
    else:
        return False
    return True
