"""The page of a kept drive: what was done to it, its health, its wear, what it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.ground import pages, text
from ssdlab.report import charts, limits
from ssdlab.report.parameters import KINDS, kinds_in_words, row_of


def build_html(place: str, shown: Mapping[str, Any], smart: str, title: str | None = None) -> str:
    """Return the page as text.

    Parameters
    ----------
    place
        What the drive is called.
    shown
        The drive as ``engine.show`` gives it; its health may be newer than the rest.
    smart
        Its health as `ssdlab smart` prints it.
    title
        The heading; by default the drive's place.
    """
    counters, wear = shown["health"]["counters"], shown["wear"]
    parameters = [row_of(each) for each in shown["parameters"]]
    asked, done = (list(_counts(counters, is_host)) for is_host in (True, False))
    return pages.render(
        "ssdlab.report.kept_drive",
        css=pages.embedded("ssdlab.report", "page.css"),
        title=title or f"The drive in {place}",
        sentence=_sentence(shown),
        asked=asked,
        done=done,
        smart=smart,
        wear=_wear(shown),
        wear_chart=charts.erases(
            wear["erase_counts"]["histogram"], "wear", f"erases per block, {place}"
        ),
        parameters=parameters,
        in_words=kinds_in_words(Counter(kind for _, _, kind, _, _ in parameters)),
        kinds=KINDS,
        limits=limits.ALWAYS,
        place=place,
    )


def _sentence(shown: Mapping[str, Any]) -> str:
    counters = shown["health"]["counters"]
    asked, programmed = counters["nand_host_bytes_written"], counters["nand_bytes_written"]
    written = f"{text.size(counters['host_bytes_written'])} were written to it"
    if asked:
        written += f", {text.significant(programmed / asked)} times as much was programmed"
    return f"{shown['title']}, {shown['condition']} at its beginning; {written}."


def _counts(counters: Mapping[str, int], is_host: bool) -> Iterator[tuple[str, str]]:
    """Give what is not zero, by the counter's own words."""
    for name, value in counters.items():
        if value and name.startswith("host_") == is_host:
            told = text.size(value) if "_bytes_" in name else text.count(value)
            yield name.replace("_", " "), told


def _wear(shown: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Give erases of the blocks, and how much of what they are rated for that is."""
    wear, health = shown["wear"], shown["health"]
    erases = wear["erase_counts"]
    return [
        (
            *(text.significant(erases[key]) for key in ("min", "mean", "max")),
            text.count(wear["rated_cycles"]),
            f"{health['used_percent']} %",
            f"{health['spare_percent']} %",
            str(wear["bad_blocks"]),
        )
    ]
