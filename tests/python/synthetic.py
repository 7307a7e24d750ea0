"""Results made up for the tests: the shape of fio's JSON, with figures that a test can predict."""

from __future__ import annotations

import json
from typing import Any

from ssdlab.engine.result import Result

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


def latency_block(median_ns: int, requests: int, bins: bool = True) -> dict[str, Any]:
    """Half the requests at the median, the slowest in a thousand fifty times slower."""
    counts = {median_ns // 2: 20, median_ns: 60, 2 * median_ns: 15, 8 * median_ns: 4}
    counts[50 * median_ns] = 1
    listing, total = {}, sum(counts.values())
    for percent in PERCENTILES:
        seen = 0
        for value, weight in counts.items():
            seen += weight
            if seen >= total * percent / 100:
                listing[f"{percent:.6f}"] = value
                break
    block: dict[str, Any] = {
        "min": median_ns // 2,
        "max": 50 * median_ns,
        "mean": sum(value * weight for value, weight in counts.items()) / total,
        "stddev": 0.0,
        "N": requests,
        "percentile": listing,
    }
    if bins:
        block["bins"] = {str(value): weight * requests // total for value, weight in counts.items()}
    return block


def direction(iops: float, block_bytes: int, median_ns: int, requests: int) -> dict[str, Any]:
    block = (
        latency_block(median_ns, requests)
        if requests
        else {**dict.fromkeys(("min", "max", "N"), 0), "mean": 0.0}
    )
    return {
        "io_bytes": requests * block_bytes,
        "bw_bytes": round(iops * block_bytes),
        "bw": round(iops * block_bytes / 1024),
        "iops": iops,
        "runtime": round(1000 * requests / iops) if iops else 0,
        "total_ios": requests,
        "clat_ns": block,
        "lat_ns": block,
    }


def series(iops: float, write_amplification: float | None, intervals: int = 40) -> dict[str, Any]:
    """Falling to `iops`, while write amplification rises; the last interval is half as long."""
    requests = [round(iops * (1 + 2 / (1 + index / 4)) / 20) for index in range(intervals)]
    nothing = [0] * intervals
    written = nothing if write_amplification is None else requests
    rising = [
        1 + ((write_amplification or 1) - 1) * index / intervals for index in range(intervals)
    ]
    return {
        "start_ns": 0,
        "end_ns": 50_000_000 * intervals - 25_000_000,
        "interval_ns": 50_000_000,
        "reads": nothing if written is requests else requests,
        "read_bytes": nothing,
        "read_latency_sum_ns": nothing,
        "writes": written,
        "write_bytes": [4096 * each for each in written],
        "write_latency_sum_ns": nothing,
        "trims": nothing,
        "trim_bytes": nothing,
        "trim_latency_sum_ns": nothing,
        "latency_max_ns": nothing,
        "host_pages_written": written,
        "nand_pages_written": [
            round(each * factor) for each, factor in zip(written, rising, strict=True)
        ],
    }


PARAMETERS = [
    {
        "key": key,
        "value": value,
        "text": text,
        "unit": unit,
        "kind": kind,
        "source": source,
        "about": about,
    }
    for key, value, text, unit, kind, source, about in (
        ("capacity_bytes", 80_000_000_000, "80 GB", "B", "datasheet", "product brief", "Exported."),
        ("over_provisioning", 0.18, "0.18", "", "assumed", "raw NAND 96 GB", "Spare share."),
        ("nand.channels", 8, "8", "", "published", "teardown", "Buses."),
        ("nand.read_us", 50, "50", "µs", "assumed", "typical 20 nm MLC", "tR."),
        ("ftl.gc", "greedy", "greedy", "", "assumed", "default", "Victims."),
    )
]


def lab_object(
    iops: float, write_amplification: float | None, seed: int, profile: str, condition: str
) -> dict[str, Any]:
    return {
        "schema_version": 2,
        "write_amplification": write_amplification,
        "host_pages_written": 1000,
        "nand_pages_written": round(1000 * (write_amplification or 0)),
        "blocks_erased": 12,
        "unmapped_reads": 0,
        "virtual_time_ns": 2_000_000_000,
        "wall_s": 0.5,
        "cpu_s": 0.5,
        "steady_reached": True if condition.startswith("steady") else None,
        "seed": seed,
        "profile": profile,
        "version": "0.1.0",
        "condition": condition,
        "counters": {
            "host_pages_written": 1000,
            "nand_pages_written": 3000,
            "gc_pages_moved": 2000,
        },
        "utilization": {
            "die_host_read": 0.1,
            "die_host_write": 0.3,
            "die_move": 0.35,
            "die_erase": 0.05,
            "channel_host": 0.2,
            "channel_move": 0.25,
            "link": 0.15,
            "controller": 0.1,
        },
        "time_series": series(iops, write_amplification),
        "wear": {
            "erase_counts": {
                "min": 2,
                "mean": 3.1,
                "max": 6,
                "histogram": [[2, 40], [3, 120], [4, 30], [5, 7], [6, 3]],
            },
            "bad_blocks": 1,
            "rated_cycles": 3000,
        },
        "parameters": PARAMETERS,
        "season": {"rounds": [2.0, 2.9, 2.8, 2.75, 2.75]},
        "timeline": [
            {
                "die": die,
                "kind": kind,
                "start_ns": 1000 * step + 90 * die,
                "end_ns": 1000 * step + 900,
            }
            for die in range(4)
            for step, kind in enumerate(("sensing", "writing", "gathering", "erasing"))
        ],
    }


def job(
    name: str = "randwrite",
    *,
    iops: float = 8000.0,
    rw: str = "randwrite",
    block_bytes: int = 4096,
    write_amplification: float | None = 2.75,
    seed: int = 1,
    profile: str = "intel-dc-s3500-80gb",
    condition: str = "fresh",
    requests: int = 100_000,
) -> dict[str, Any]:
    """One job; a mix is split half and half."""
    share = {"read": (1, 0), "write": (0, 1), "rw": (0.5, 0.5)}[rw.removeprefix("rand")]
    read, write = (
        direction(iops * part, block_bytes, round(16e9 / iops), round(requests * part))
        for part in share
    )
    return {
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "job options": {"name": name, "rw": rw, "bs": str(block_bytes), "iodepth": "16"},
        "read": read,
        "write": write,
        "trim": direction(0, block_bytes, 0, 0),
        "ssdlab": lab_object(
            iops, write_amplification if share[1] else None, seed, profile, condition
        ),
    }


def document(*jobs: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"fio version": "fio-3.33-ssdlab-0.1.0", "timestamp": 0, **extra, "jobs": list(jobs)}


def result(*jobs: dict[str, Any], name: str = "result", **extra: Any) -> Result:
    return Result(document(*jobs, **extra), name)


def text(*jobs: dict[str, Any], **extra: Any) -> str:
    return json.dumps(document(*jobs, **extra), indent=2)
