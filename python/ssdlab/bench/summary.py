"""What follows from the rounds: the window, what it is judged by, the figures over it.

As the standard reports it, a figure is the average of the rounds in the window. Maxima are those of
all rounds; percentiles come from the bins of all rounds. Write amplification is bytes programmed
per byte that hosts wrote, by the drive's own log, over the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from ssdlab.bench.ending import limit_reached, steadiness, tracked
from ssdlab.bench.measurement import figures
from ssdlab.bench.plan import Part, Plan, Test
from ssdlab.bench.store import PartStore, Store

DIRECTIONS = ("read", "write", "both")
_PURGE_REMARKS = {True: (), False: ("not purged",), None: ("purge not checked",)}


def summary(plan: Plan, store: Store, capacity_bytes: int) -> dict[str, Any]:
    """Return the result: every test with its parts; those that have not ended are left out."""
    tests = [_test(test, store, capacity_bytes) for test in plan.tests]
    numbered = plan.to_data()["deviations"]
    return {"standard": plan.standard, "deviations": numbered, "tests": tests}


def _test(test: Test, store: Store, capacity_bytes: int) -> dict[str, Any]:
    parts = [part_summary(part, store.part(part.name), capacity_bytes) for part in test.parts]
    known = [part for part in parts if part is not None]
    return {"name": test.name, "title": test.title, "parts": known}


def part_summary(part: Part, store: PartStore, capacity_bytes: int) -> dict[str, Any] | None:
    """Return what a part's rounds say; None where there is no round yet."""
    rounds, beginning = store.rounds(), store.beginning()
    if not rounds or beginning is None:
        return None
    limit = limit_reached(part, rounds, capacity_bytes)
    judged = judged_part(part, rounds, beginning, limit)
    return {
        **judged,
        "cells": _cells(store, judged["window"]),
        "afterwards": [_figures_of(each) for each in store.afterwards()],
    }


def judged_part(
    part: Part, rounds: Sequence[Mapping[str, Any]], beginning: Mapping[str, Any], limit: str | None
) -> dict[str, Any]:
    """Return what rounds say of the drive's state.

    Parameters
    ----------
    part, rounds, beginning
        What was to be done, and what was; at least one round.
    limit
        What ended the rounds if the drive did not become steady.
    """
    judged = steadiness(part, rounds)
    steady = judged is not None and judged.steady
    window = _window(part, len(rounds))
    purge_remark = _PURGE_REMARKS[beginning["purge"]["proved"]]
    remarks = [*([] if steady else ["not steady"]), *purge_remark]
    return {
        "name": part.name,
        "remarks": remarks,
        "steady": steady,
        "ended_by": "steady state" if steady else limit,
        "rounds": len(rounds),
        "elapsed_s": rounds[-1]["elapsed_s"],
        "written_bytes": rounds[-1]["written_bytes"],
        "purge": beginning["purge"],
        "write_cache": beginning["write_cache"],
        "conditioning": conditioning_of(beginning),
        "tracking": {**asdict(part.tracking), "values": tracked(part, rounds)},
        "judged": None if judged is None else asdict(judged),
        "window": window,
        "write_amplification": _amplification(rounds, beginning, window),
    }


def _window(part: Part, rounds: int) -> list[int]:
    """Numbers of the rounds that figures are taken from; fewer where there are too few."""
    stop = part.stop
    sampled = [number for number in range(1, rounds + 1) if number % stop.stride == 0]
    return (sampled or [rounds])[-stop.window :]


def conditioning_of(beginning: Mapping[str, Any]) -> dict[str, Any] | None:
    """Say what was to be written, what was, and what the drive's log counted for it."""
    done = beginning["conditioning"]
    if done is None:
        return None
    before, after = beginning["counters_before"], beginning["counters_after"]
    counted = _difference(before, after) if before and after else None
    load = done["step"]["load"]
    return {
        "passes": done["step"]["passes"],
        "block_bytes": load["block_bytes"],
        "threads": load["threads"],
        "depth": load["depth"],
        "written_bytes": done["write"]["total_bytes"],
        "seconds": done["seconds"],
        "by_the_log": counted,
    }


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    host = after["host_bytes_written"] - before["host_bytes_written"]
    if after["nand_bytes_written"] is None or before["nand_bytes_written"] is None:
        return {"host_bytes_written": host, "nand_bytes_written": None, "source": after["source"]}
    nand = after["nand_bytes_written"] - before["nand_bytes_written"]
    return {"host_bytes_written": host, "nand_bytes_written": nand, "source": after["source"]}


def _amplification(
    rounds: Sequence[Mapping[str, Any]], beginning: Mapping[str, Any], window: Sequence[int]
) -> float | None:
    def counters_after(number: int) -> Any:
        if number == 0:
            return beginning["counters_after"]
        return rounds[number - 1]["cells"][-1]["counters"]

    spans = [(counters_after(number - 1), counters_after(number)) for number in window]
    if any(before is None or after is None for before, after in spans):
        return None
    counted = [_difference(before, after) for before, after in spans]
    if any(each["nand_bytes_written"] is None for each in counted):
        return None
    host = sum(each["host_bytes_written"] for each in counted)
    return sum(each["nand_bytes_written"] for each in counted) / host if host else None


def _cells(store: PartStore, window: Sequence[int]) -> list[dict[str, Any]]:
    rounds = [each for each in (store.round(number) for number in window) if each is not None]
    return [_cell([each["cells"][place] for each in rounds]) for place in _places(rounds)]


def _places(rounds: Sequence[Mapping[str, Any]]) -> range:
    return range(len(rounds[0]["cells"]) if rounds else 0)


def _cell(same: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of one cell over the rounds of the window."""
    cell: dict[str, Any] = {"name": same[0]["name"], "load": same[0]["step"]["load"]}
    for direction in DIRECTIONS:
        means = [each[direction] for each in same]
        blocks = [job[name] for each in same for job in each["raw"] for name in _of(direction)]
        seconds = sum(each["seconds"] for each in same)
        merged = figures(blocks, seconds)
        cell[direction] = {
            **asdict(merged),
            "iops": fmean(each["iops"] for each in means),
            "mb_per_s": fmean(each["mb_per_s"] for each in means),
            "mean_ns": average([each["mean_ns"] for each in means]),
        }
    return cell


def _of(direction: str) -> tuple[str, ...]:
    return ("read", "write") if direction == "both" else (direction,)


def average(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _figures_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step after steady state; its rate counts over the time in which it worked."""
    pauses = data["step"]["pauses"]
    share = pauses["work_s"] / (pauses["work_s"] + pauses["idle_s"]) if pauses else 1.0
    return {
        "name": data["name"],
        "pauses": pauses,
        "seconds": data["seconds"],
        "iops": data["both"]["iops"],
        "iops_at_work": data["both"]["iops"] / share,
        "mean_ns": data["both"]["mean_ns"],
        "max_ns": data["both"]["max_ns"],
    }
