"""What scenarios told, as tables: waiting times side by side, the drive's load, scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.ground import documents, text
from ssdlab.study.everyday import pcmark
from ssdlab.study.everyday.catalogue import PCMARK
from ssdlab.study.everyday.perform import ScenarioOutcome

BONNIE = "bonnie"


@dataclass(frozen=True)
class ScenarioTable:
    """A table for people.

    Attributes
    ----------
    headings, rows
        As text; all columns but the first are numbers.
    title
        Stands above the table; empty for none.
    """

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    title: str = ""


def tables(runs: Sequence[tuple[str, Sequence[ScenarioOutcome]]]) -> list[ScenarioTable]:
    """Return the tables of several runs, each with its label and the same scenarios in order."""
    files = [each["scenario"] for each in runs[0][1] if each["scenario"] != PCMARK]
    found = []
    if files and len(runs) > 1:
        found.append(_waiting(runs, files))
    if files:
        found += [_details(label, outcomes, files) for label, outcomes in runs]
    if BONNIE in files:
        found.append(_bonnie(runs))
    if any(each["scenario"] == PCMARK for each in runs[0][1]):
        found.append(_pcmark(runs))
    return found


def _outcome(outcomes: Sequence[ScenarioOutcome], scenario: str) -> ScenarioOutcome:
    return next(each for each in outcomes if each["scenario"] == scenario)


def _waiting(
    runs: Sequence[tuple[str, Sequence[ScenarioOutcome]]], scenarios: Sequence[str]
) -> ScenarioTable:
    def cells(scenario: str) -> list[str]:
        found = (_outcome(outcomes, scenario)["elapsed_s"] for _, outcomes in runs)
        return [text.significant(each) for each in found]

    rows = [(scenario, *cells(scenario)) for scenario in scenarios]
    return ScenarioTable(("seconds of waiting", *(label for label, _ in runs)), rows)


def _details(
    label: str, outcomes: Sequence[ScenarioOutcome], scenarios: Sequence[str]
) -> ScenarioTable:
    headings = ("scenario", "time", "CPU", "read", "written", "extents", "at most")
    rows = [(scenario, *_figures(_outcome(outcomes, scenario))) for scenario in scenarios]
    return ScenarioTable(headings, rows, label)


def _figures(outcome: ScenarioOutcome) -> tuple[str, ...]:
    """Return times, what the drive was asked, and extents: a file's on average, and the most."""
    traffic = outcome["traffic"]
    extents, most = outcome["extents_per_file"], outcome["most_extents"]
    return (
        f"{text.significant(outcome['elapsed_s'])} s",
        f"{text.significant(outcome['cpu_s'])} s",
        text.size(traffic["read_bytes"]),
        text.size(traffic["written_bytes"]),
        text.ratio(extents) if outcome["files"] else text.NOTHING,
        text.count(most) if outcome["files"] else text.NOTHING,
    )


def _bonnie(runs: Sequence[tuple[str, Sequence[ScenarioOutcome]]]) -> ScenarioTable:
    found = [bonnie_rates(_outcome(outcomes, BONNIE)) for _, outcomes in runs]
    rows = [
        (name, *(text.significant(each[name]) for each in found))
        for name in ("write, MB/s", "rewrite, MB/s", "read, MB/s", "seeks a second")
    ]
    return ScenarioTable(("Bonnie++'s stand-in", *(label for label, _ in runs)), rows)


def bonnie_rates(outcome: ScenarioOutcome) -> dict[str, float]:
    """Return what Bonnie++ reports: bytes of the file over time, and places a second.

    Parameters
    ----------
    outcome
        What the scenario ``bonnie`` told: steps of writing, rewriting, reading, seeking, writing
        back.
    """
    write, rewrite, read, seek, back = outcome["steps"]
    rates = {
        f"{name}, MB/s": step["program_bytes"] / step["elapsed_s"] / 1e6
        for name, step in (("write", write), ("rewrite", rewrite), ("read", read))
    }
    places = seek["program_bytes"] / _CHUNK_BYTES
    return {**rates, "seeks a second": places / (seek["elapsed_s"] + back["elapsed_s"])}


_CHUNK_BYTES = 8192
"""What Bonnie++ reads at a place (its manual page)."""


def _pcmark(runs: Sequence[tuple[str, Sequence[ScenarioOutcome]]]) -> ScenarioTable:
    found = [_outcome(outcomes, PCMARK) for _, outcomes in runs]
    rows = [
        (f"{task}, MB/s", *(text.significant(each["tasks_mb_per_s"][task]) for each in found))
        for task in pcmark.READS_PERCENT
    ]
    score = tuple(text.significant(each["score_mb_per_s"]) for each in found)
    points = tuple(f"{each['points']:,.0f}" for each in found)
    rows += [("score: geometric mean, MB/s", *score), ("score: points", *points)]
    return ScenarioTable(("PCMark's stand-in, disk suite", *(label for label, _ in runs)), rows)


def pcmark_notes() -> list[str]:
    """Return what the points are, and what the disk weighs in the overall score."""
    weights, published = pcmark.weights(), documents.figure("anandtech", "fresh_hdd")
    aged, used = (documents.figure("anandtech", f"{each}_hdd") for each in ("recipe", "long_used"))
    pairs = "; ".join(
        f"{text.ratio(each.value)} by the drive {each.drive} (overall {text.percent(each.overall)} "
        f"left, disk suite {text.percent(each.disk)})"
        for each in weights
    )
    most = max(each.value for each in weights)
    return [
        f"Points: {published.document} gives a fresh Intel X25-M {published.value:,.0f} points. It "
        "has as many here by definition; other drives score in proportion to their MB/s. In the "
        f"document the drive aged by the recipe has {aged.value:,.0f} points, the drive in long "
        f"use {used.value:,.0f}.",
        "The overall score is not computed, since most of PCMark's tests do not test the disk. If "
        f"it were a weighted geometric mean, the disk's weight would be {pairs}. The two do not "
        f"agree, and neither gives the disk more than {text.percent(most, 0)}.",
    ]
