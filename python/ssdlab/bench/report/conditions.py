"""The header of each page: what was measured, how its state came about, in what drives differ.

Rows are pairs of text: what it is, and what it is here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.bench.report.charts import block_size
from ssdlab.bench.report.heat import heat
from ssdlab.bench.report.reading import Measured, PartRead
from ssdlab.ground import text

ConditionRows = list[tuple[str, str]]
_TOLD_BY_HAND = ("parameters", "settings", "layers")
NOT_TOLD = "not reported"
_DATA_PATTERN = "random, new data in every request; new offsets in every step"
_PURGE_SHOWN = {True: "proved", False: "NOT PURGED", None: "NOT CHECKED"}


def drive_rows(measured: Measured) -> ConditionRows:
    """Say what was measured, by what, and in which environment."""
    target, plan = measured.target, measured.plan
    asked = measured.asked
    return [
        ("target", f"{target['name']} ({target['kind']})"),
        ("model", target["model"] or NOT_TOLD),
        ("serial number", target["serial"] or NOT_TOLD),
        ("firmware", target["firmware"] or NOT_TOLD),
        ("capacity", _bytes(target["capacity_bytes"], with_unit=True)),
        ("logical block", _bytes(target["sector_bytes"])),
        ("settings", _settings(asked) or "none"),
        ("standard", plan["standard"]),
        ("tests", ", ".join(test["name"] for test in plan["tests"])),
        ("load", f"threads: {plan['threads']}, depth: {plan['depth']}; LAT: 1 and 1"),
        ("active range", "0 to 100 % of the capacity"),
        ("data pattern", asked.get("data_pattern", _DATA_PATTERN)),
        ("seed", str(plan["seed"])),
        ("measured by", f"{asked.get('program', 'ssdlab')} {asked['version']}"),
        *heat(measured),
        *_surroundings(target["surroundings"]),
        *_runs(measured.runs),
        ("check", _check(measured)),
    ]


def _bytes(number: int | None, with_unit: bool = False) -> str:
    if number is None:
        return NOT_TOLD
    return f"{text.size(number)} ({number:,} bytes)" if with_unit else f"{number} bytes"


def _settings(asked: Mapping[str, Any]) -> str:
    return ", ".join([*asked["settings"], *(f"layer {layer}" for layer in asked["layers"])])


def _surroundings(known: Mapping[str, Any]) -> ConditionRows:
    rows: ConditionRows = []
    for name, value in known.items():
        if name not in _TOLD_BY_HAND and value not in ("", None, {}, []):
            rows.append((name.replace("_", " "), _in_words(value)))
    below = [each for each in known.get("layers") or [] if isinstance(each, Mapping)]
    return rows + [("stands on", _in_words(each)) for each in below]


def _in_words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_in_words(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_in_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _runs(runs: Sequence[Mapping[str, Any]]) -> ConditionRows:
    if not runs:
        return []
    again = [
        f"{each['began']}, rounds saved: {sum(each['rounds_before'].values())}" for each in runs
    ]
    rows = [("started", f"{runs[0]['began']} on {runs[0]['system']}")]
    return [*rows, ("resumed", "; ".join(again[1:]) or "never")]


def _check(measured: Measured) -> str:
    if measured.asked.get("program") is not None:
        return "the figures are computed from the rounds in the file, and judged anew"
    if measured.agrees is None:
        return "the run has not ended; the figures are computed from the rounds so far"
    if measured.agrees:
        return "result.json agrees with the figures, which were computed anew from the rounds"
    return "RESULT.JSON DIFFERS from the figures computed from the rounds, which this page shows"


def part_rows(part: PartRead) -> ConditionRows:
    """Say how a part's drive was brought into its state, and how its rounds ended."""
    beginning, summary = part.beginning, part.summary
    assert beginning is not None and summary is not None, "there is a round"
    purge = beginning["purge"]
    load = part.plan.cells[0].load
    return [
        ("purge, request", purge["asked"]),
        ("purge, answer", purge["answered"]),
        ("purge, check", f"{purge['checked']}: {_PURGE_SHOWN[purge['proved']]}"),
        ("preconditioning", _conditioning(summary)),
        ("write cache", _write_cache(beginning["write_cache"])),
        ("load", f"threads: {load.threads}, depth: {load.depth}"),
        ("a round", f"cells: {len(part.plan.cells)}, of {part.plan.cells[0].seconds:g} s each"),
        ("rounds", f"{summary['rounds']}, in {text.long_time(summary['elapsed_s'])}"),
        ("written in rounds", text.size(summary["written_bytes"])),
        ("ended by", _ended(summary)),
        ("window", ", ".join(map(str, summary["window"]))),
        ("write amplification in the window", text.ratio(summary["write_amplification"])),
    ]


def _write_cache(cache: Mapping[str, str]) -> str:
    if cache["found"] == "none":
        return "none"
    return f"found {cache['found']}, {cache['during']} during the test"


def _ended(summary: Mapping[str, Any]) -> str:
    if summary["ended_by"] is None:
        return "not ended: rounds are in progress"
    under_way = (
        "; steps after steady state are in progress" if "unfinished" in summary["remarks"] else ""
    )
    return f"{summary['ended_by']}{under_way}"


def _conditioning(summary: Mapping[str, Any]) -> str:
    done = summary["conditioning"]
    if done is None:
        return "none in this test"
    asked = f"{done['passes']:g} × the capacity in {block_size(done['block_bytes'])} writes"
    if done["written_bytes"] is None:
        return f"{asked}; the bytes were not recorded"
    counted = done["by_the_log"]
    told = "no log counted them"
    if counted:
        source = {"drive": "drive's own log", "kernel": "kernel"}.get(
            counted["source"], counted["source"]
        )
        told = f"the {source} counted {counted['host_bytes_written']:,} bytes"
    return f"{asked}; {done['written_bytes']:,} bytes were written; {told}"


def differing(several: Sequence[Measured]) -> list[tuple[str, ...]]:
    """Return the conditions in which drives differ: a row each, with what each drive has."""
    counts = Counter(part.plan.name for each in several for part in each.begun_parts)
    shared = {name for name, count in counts.items() if count > 1}
    headers = [dict(_conditions(each, shared)) for each in several]
    names = dict.fromkeys(name for header in headers for name in header)
    rows = [(name, *(header.get(name, text.NOTHING) for header in headers)) for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def _conditions(measured: Measured, shared: set[str]) -> ConditionRows:
    rows = [row for row in drive_rows(measured) if row[0] not in ("started", "check")]
    cells = {
        str(cell["seconds"])
        for t in measured.plan["tests"]
        for p in t["parts"]
        for cell in p["cells"]
    }
    rows.append(("seconds of a cell", ", ".join(sorted(cells))))
    deviations = [each["clause"] + ": " + each["instead"] for each in measured.plan["deviations"]]
    rows.append(("deviations", "; ".join(deviations) or "none"))
    for part in (each for each in measured.begun_parts if each.plan.name in shared):
        found = dict(part_rows(part))
        for name in ("purge, request", "purge, check", "preconditioning", "write cache", "load"):
            rows.append((f"{part.plan.name}: {name}", found[name]))
        rows.append((f"{part.plan.name}: state", part.state))
    return rows
