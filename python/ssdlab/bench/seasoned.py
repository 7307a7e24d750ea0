"""What a recipe did to a drive, and how it is known that it is done.

A fill is known by its bytes: those asked for, and what fio, the kernel and the drive's own log
counted. Rounds are known by the window that is steady, with its numbers, or by the limit that ends
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ssdlab.bench.ending import limit_reached, steadiness, tracked
from ssdlab.bench.plan import Part, Plan
from ssdlab.bench.steady import Steadiness
from ssdlab.bench.store import PartStore, Store
from ssdlab.bench.summary import conditioning_of
from ssdlab.ground import text
from ssdlab.ground.exit_codes import Exit


def seasoned(plan: Plan, store: Store, capacity_bytes: int) -> dict[str, Any]:
    """Return the record of a recipe that has ended.

    Parameters
    ----------
    plan
        The recipe's (`recipes.plan`).
    store
        The folder.
    capacity_bytes
        The drive's.
    """
    (test,) = plan.tests
    (part,) = test.parts
    kept = store.part(part.name)
    beginning, rounds = kept.beginning() or {}, kept.rounds()
    fill = _fill(beginning, capacity_bytes)
    result: dict[str, Any] = {
        "recipe": part.name,
        "title": test.title,
        "source": plan.standard,
        "purge": beginning["purge"],
        "write_cache": beginning["write_cache"],
        "fill": fill,
        "rounds": None,
    }
    if rounds:
        result["rounds"] = _rounds(part, kept, rounds, capacity_bytes)
    return {**result, "known_by": list(_known_by(result))}


def _fill(beginning: Mapping[str, Any], capacity_bytes: int) -> dict[str, Any]:
    found = conditioning_of(beginning)
    assert found is not None
    by_kernel = _by_kernel([beginning["conditioning"]])
    return {
        **found,
        "asked_bytes": round(found["passes"] * capacity_bytes),
        "bytes_written_by_kernel": by_kernel,
    }


def _rounds(
    part: Part, kept: PartStore, rounds: Sequence[Mapping[str, Any]], capacity_bytes: int
) -> dict[str, Any]:
    judged = steadiness(part, rounds) if part.stop.until_steady else None
    is_steady = judged is not None and judged.steady
    limit = limit_reached(part, rounds, capacity_bytes)
    whole = [each for number in range(1, len(rounds) + 1) if (each := kept.round(number))]
    return {
        "count": len(rounds),
        "ended_by": "steady state" if is_steady else limit,
        "is_steady": is_steady if part.stop.until_steady else None,
        "seconds": rounds[-1]["elapsed_s"],
        "written_bytes": rounds[-1]["written_bytes"],
        "bytes_written_by_kernel": _by_kernel([cell for each in whole for cell in each["cells"]]),
        "iops": tracked(part, rounds),
        "judged": None if judged is None else asdict(judged),
    }


def _by_kernel(steps: Sequence[Mapping[str, Any]]) -> int | None:
    """Add up what the kernel counted as written; None where it did not count."""
    name = "bytes_written_by_kernel"  # A simulated drive has no kernel over it.
    counts = [job["ssdlab"].get(name) for step in steps for job in step["raw"]]
    return None if None in counts else sum(counts)


def _known_by(result: Mapping[str, Any]) -> Iterator[str]:
    fill, rounds = result["fill"], result["rounds"]
    yield f"fill: {_counted(fill)}, of {fill['asked_bytes']:,} bytes that were asked for"
    if rounds is not None:
        yield f"{_rounds_of(rounds['count'])}: {_counted(rounds)}, in {rounds['seconds']:,.0f} s"
        yield _end(rounds)


def _rounds_of(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"


def _counted(done: Mapping[str, Any]) -> str:
    by_kernel = done["bytes_written_by_kernel"]
    if by_kernel is None:
        return f"{done['written_bytes']:,} bytes written"
    return f"{done['written_bytes']:,} bytes written by fio's count, {by_kernel:,} by the kernel's"


def _end(rounds: Mapping[str, Any]) -> str:
    if rounds["judged"] is None:
        return f"ended after {rounds['ended_by']}"
    judged = Steadiness(**rounds["judged"])
    state = "steady" if judged.steady else f"NOT STEADY, ended after {rounds['ended_by']}"
    return (
        f"{state}: over rounds {judged.rounds[0]} to {judged.rounds[-1]} the IOPS average "
        f"{judged.average:,.0f}; their range is {_share(judged, judged.data_range)} of that "
        f"(at most {_share(judged, judged.allowed_range)}), and their line changes by "
        f"{_share(judged, judged.excursion)} (at most {_share(judged, judged.allowed_excursion)})"
    )


def exit_code(record: Mapping[str, Any]) -> Exit:
    """Return the code: whether a recipe that ends with a steady window reached it."""
    missed = record["rounds"] is not None and record["rounds"]["is_steady"] is False
    return Exit.NOT_IN_CONDITION if missed else Exit.DONE


def _share(judged: Steadiness, number: float) -> str:
    return text.percent(number / judged.average if judged.average else None)
