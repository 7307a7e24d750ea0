"""A result of TKperf as a report needs it: judged anew, with what TKperf does differently.

Steady state is judged by our rule from the figures of all rounds; what TKperf itself states is told
beside it. Where TKperf departs from the standard is known from its source (see `document`); each
such point is a deviation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssdlab.bench.plan import Deviation, Part, Plan, Test
from ssdlab.bench.report.reading import Measured, PartRead
from ssdlab.bench.summary import average, judged_part
from ssdlab.bench.tkperf.document import TestRead, TkperfDocument, read_document
from ssdlab.bench.tkperf.rounds import measured_test

KIND = "result of TKperf"
STANDARD = "SNIA Solid State Storage Performance Test Specification, enterprise class, by TKperf"
_PATTERNS = {
    "model": r"(?:Model Number|Device Model|ID_MODEL|Model)\s*[:=]\s*(.+)",
    "serial": r"(?:Serial Number|ID_SERIAL_SHORT)\s*[:=]\s*(.+)",
    "firmware": r"(?:Firmware Revision|Firmware Version|ID_REVISION)\s*[:=]\s*(.+)",
}
_BYTES = r"Device Size \(bytes\):\s*(\d{1,18})\b"
_MEGABYTES = r"device size with M = 1000\*1000:\s*(\d{1,12}) MBytes"
_SECTOR = r"Device Logical Sector Size: (\d{1,6})\b"
_CACHE = r"write-caching\s*=\s*\d\s*\((on|off)\)"
_DEVIATIONS = (
    Deviation(
        "each step has its own offsets",
        "fio is called without a seed, so it chooses the same random offsets in each step",
    ),
    Deviation(
        "the purge is checked, and preconditioning is counted",
        "the result file records neither",
    ),
    Deviation("the volatile write cache is off", "it stays as it was found"),
)
_OVERLAPPING = Deviation(
    "preconditioning writes the capacity twice",
    "each of several jobs writes the whole drive twice",
)
_SAME_DATA = Deviation(
    "each request writes new random data",
    "--refill_buffers was not given, so fio fills its buffers once and writes them again",
)
_UNCONDITIONED = Deviation(
    "throughput is preconditioned and judged for each block size",
    "TKperf preconditions nothing, judges 1024 KiB only and gives the other block sizes as many "
    "rounds; it does not measure 128 KiB",
)
_AVERAGED = Deviation(
    "the minimum and maximum of a mix are those of all requests",
    "TKperf averages those of reads and those of writes, so they are left out here",
)
_NO_RULE = Deviation(
    "write saturation ends when it is steady",
    "TKperf does not judge it; it ends at 4 × the capacity written or after 24 hours",
)
_TRACKS_8K = Deviation(
    "IOPS and LAT track blocks of 4 KiB",
    "this drive has no blocks of 512 bytes, so TKperf tracks 8 KiB; the judgement here is of 4 KiB",
)


def read_tkperf(path: Path) -> Measured:
    """Read a result file.

    Raises
    ------
    SsdlabError
        It is no result of TKperf on an SSD, or it is damaged.
    """
    document = read_document(path)
    read = [(test, *measured_test(path, test)) for test in document.tests]
    plan = _plan(document, [test for _, test, _ in read])
    cache = _found(_CACHE, document.device) or "not recorded"
    parts = [
        _part_read(test, part, rounds, source, cache)
        for source, test, all_rounds in read
        for part, rounds in zip(test.parts, all_rounds, strict=True)
    ]
    return Measured(
        label=str(path),
        path=path,
        asked=_asked(document, plan),
        target=_target(document),
        plan={**plan.to_data(), "seed": "fio's own"},
        runs=(),
        parts=parts,
        agrees=None,
        unread=document.unread,
    )


def _plan(document: TkperfDocument, tests: Sequence[Test]) -> Plan:
    """Return the plan that was carried out; threads and depth are those of all tests but LAT."""
    loaded = next((test for test in document.tests if test.name != "lat"), document.tests[0])
    deviations = tuple(_deviations(document, tests))
    return Plan(STANDARD, tuple(tests), loaded.jobs, loaded.depth, 0, False, deviations)


def _deviations(document: TkperfDocument, tests: Sequence[Test]) -> list[Deviation]:
    found = {test.name: test for test in document.tests}
    times = sorted({test.runtime_s for test in document.tests} - {60.0})
    deviations = [
        Deviation("each cell lasts one minute (PTS-E 1.1, 7.2)", f"SHORTENED: {seconds:g} s")
        for seconds in times
    ]
    deviations += _DEVIATIONS
    if "tp" in found and found["tp"].ramp_s > 0:
        deviations.append(
            Deviation(
                "a cell of throughput is measured from its first request",
                f"TKperf writes for {found['tp'].ramp_s:g} s before it measures",
            )
        )
    if any(test.jobs > 1 for test in document.tests):
        deviations.append(_OVERLAPPING)
    if not all(_refills(test) for test in document.tests):
        deviations.append(_SAME_DATA)
    of_tests = {"tp": _UNCONDITIONED, "lat": _AVERAGED, "writesat": _NO_RULE}
    deviations += [each for name, each in of_tests.items() if name in found]
    if any(_lacks_small_blocks(test) for test in tests):
        deviations.append(_TRACKS_8K)
    return deviations


def _refills(test: TestRead) -> bool:
    return any("refill_buffers" in option for option in test.options)


def _lacks_small_blocks(test: Test) -> bool:
    sizes = {cell.load.block_bytes for cell in test.parts[0].cells}
    return test.name in ("iops", "lat") and min(sizes) > 512


def _asked(document: TkperfDocument, plan: Plan) -> dict[str, Any]:
    fresh = all(_refills(test) for test in document.tests)
    data = "random, new data in every request" if fresh else "fio's buffers, filled once"
    return {
        "target": str(document.path),
        "settings": [],
        "layers": [],
        "tests": [test.name for test in plan.tests],
        "threads": plan.threads,
        "depth": plan.depth,
        "quick": False,
        "cell_seconds": document.tests[0].runtime_s,
        "seed": 1,
        "program": "TKperf",
        "version": document.version or "of unknown version",
        "command": document.command,
        "data_pattern": f"{data}; the same offsets in every step",
    }


def _target(document: TkperfDocument) -> dict[str, Any]:
    words = document.device
    versions = dict.fromkeys(test.fio for test in document.tests if test.fio)
    told = {name: _found(pattern, words) for name, pattern in _PATTERNS.items()}
    exact, rounded = _found(_BYTES, words), _found(_MEGABYTES, words)
    capacity = int(exact) if exact else int(rounded) * 1_000_000 if rounded else None
    sector = _found(_SECTOR, words)
    return {
        "kind": KIND,
        "name": str(document.path),
        **told,
        "capacity_bytes": capacity,
        "sector_bytes": int(sector) if sector else None,
        "surroundings": {
            "date": document.date,
            "kernel": document.kernel,
            "fio": ", ".join(versions),
            "device, as TKperf describes it": " ".join(words.split()),
        },
    }


def _found(pattern: str, words: str) -> str:
    found = re.search(pattern, words)
    return found[1].strip() if found else ""


def _part_read(
    test: Test, part: Part, rounds: Sequence[Mapping[str, Any]], source: TestRead, cache: str
) -> PartRead:
    beginning = _beginning(part, cache)
    summary = judged_part(part, rounds, beginning, limit=None)
    same = [
        [rounds[number - 1]["cells"][place] for number in summary["window"]]
        for place in range(len(part.cells))
    ]
    summary |= {
        "ended_by": f"TKperf, after {len(rounds)} rounds",
        "cells": [_over_window(each) for each in same],
        "afterwards": [],
        "stated": _stated(part, source),
    }
    return PartRead({"name": test.name, "title": test.title}, part, rounds, beginning, summary)


def _beginning(part: Part, cache: str) -> dict[str, Any]:
    """Say what TKperf does before the rounds; it records none of it."""
    done = part.conditioning
    step = None if done is None else {"load": asdict(done.load), "passes": done.passes}
    unknown = {"total_bytes": None}
    return {
        "purge": {
            "asked": "as TKperf purges the device: secure erase or format",
            "answered": "not recorded",
            "checked": "the drive was not looked at",
            "proved": None,
        },
        "write_cache": {"found": cache, "during": "left so"},
        "conditioning": step and {"step": step, "write": unknown, "seconds": None},
        "counters_before": None,
        "counters_after": None,
    }


def _stated(part: Part, source: TestRead) -> str:
    """Tell TKperf's own verdict on steady state."""
    verdict = source.verdict
    if verdict is None or (source.name == "tp" and part.name != "tp-1024k"):
        return "not judged"
    window = ", ".join(map(str, verdict.rounds))
    return f"{'reached' if verdict.steady else 'NOT reached'}, in rounds {window or 'unknown'}"


def _over_window(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average a cell over the rounds of the window; its extremes are those of all rounds."""
    means = [each["both"] for each in same]
    both = {
        name: average([each[name] for each in means]) for name in ("iops", "mb_per_s", "mean_ns")
    }
    least = [each["min_ns"] for each in means if each["min_ns"] is not None]
    most = [each["max_ns"] for each in means if each["max_ns"] is not None]
    return {
        "name": same[0]["name"],
        "load": same[0]["step"]["load"],
        "both": {
            **same[0]["both"],
            **both,
            "min_ns": min(least, default=None),
            "max_ns": max(most, default=None),
        },
    }
