"""How ``ssdlab sizing`` shows what it found: a table, intervals, sentences, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ssdlab.cli.console import filled, note, table_text
from ssdlab.cli.ensemble import MODEL_ERROR_NOTE
from ssdlab.ground import text
from ssdlab.study.sizing import answer, shown
from ssdlab.study.sizing.intervals import CandidateSpread
from ssdlab.study.sizing.jobs import REQUESTS
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import Rating
from ssdlab.study.sizing.search import Asked
from ssdlab.study.sizing.simulate import Morning
from ssdlab.study.sizing.verdict import CLOSED_FORM, CandidateVerdict

_HEADINGS = (
    *("drive", "unused", "layout", "verdict", "IOPS", "p99 write", "p99 read", "WA", "years"),
    *("warranty", "limited by", "decided by", "price"),
)
_MORNING_HEADINGS = ("unused", "layout", "IOPS", "p99 write", "p99 read")
_NUMBERS = (1, 4, 5, 6, 7, 8, 9, 12)
_SPREAD_HEADINGS = (
    *("5 to 95 %", "unused", "layout", "meets in", "IOPS", "p99 write", "p99 read", "WA", "years"),
)


def normal(
    found: Sequence[CandidateVerdict],
    spreads: Sequence[CandidateSpread],
    asked: Asked,
    *,
    terminal: bool,
) -> str:
    """Write the table, the intervals and the sentences; columns without figures are left out."""
    rows = [_row(each, asked.load, asked.limits) for each in answer.brief(found)]
    columns = [
        column
        for column in range(len(_HEADINGS))
        if any(row[column] not in ("", text.NOTHING) for row in rows)
    ]
    headings = [_HEADINGS[column] for column in columns]
    shown = [[row[column] for column in columns] for row in rows]
    right = [place for place, column in enumerate(columns) if column in _NUMBERS]
    tables = [table_text(headings, shown, right=right, terminal=terminal)]
    if mornings := [_morning_row(each, asked.load) for each in found if _morning(each)]:
        headings = [f"after {24 - asked.load.hours:g} h idle", *_MORNING_HEADINGS]
        tables.append(table_text(headings, mornings, right=(1, 3, 4, 5), terminal=terminal))
    if spreads:
        drawn = [_spread_row(each) for each in spreads]
        tables.append(table_text(_SPREAD_HEADINGS, drawn, terminal=terminal))
    sentences = map(filled, answer.sentences(found, asked.load, asked.limits))
    return "\n\n".join([*tables, "\n".join(sentences)]) + "\n"


def _row(verdict: CandidateVerdict, load: HostLoad, limits: Limits) -> tuple[str, ...]:
    candidate, figures = verdict.candidate, verdict.figures
    start = (candidate.drive, text.percent(candidate.unused, 0), candidate.layout.name)
    warranty = shown.years(verdict.warranty_years(load), limits)
    end = (
        warranty + ("*" if _assumed(verdict.rating) else ""),
        ", ".join(verdict.limited_by),
        verdict.decided_by,
        text.NOTHING if verdict.price is None else f"{verdict.price:,.2f}",
    )
    if figures is None:
        bounds = verdict.bounds
        least = (
            shown.times(None if load.iops is None else bounds.iops / load.iops, "≤ "),
            *(text.NOTHING, text.NOTHING),
            f"≥ {text.ratio(bounds.write_amplification)}",
            f"≤ {shown.years(bounds.years, limits)}".replace("≤ >", ">"),
        )
        verdict_word = "meets" if verdict.meets else "misses" if verdict.is_judged else "unknown"
        return (*start, verdict_word, *least, *end)
    percentiles = shown.percentiles(figures, limits)
    return (
        *start,
        "meets" if verdict.meets else "misses",
        shown.times(figures.headroom(load)),
        percentiles["write"],
        percentiles["read"],
        text.ratio(figures.write_amplification),
        shown.years(figures.years(load.bytes_per_day), limits),
        *end,
    )


def _morning(verdict: CandidateVerdict) -> Morning | None:
    return None if verdict.figures is None else verdict.figures.morning


def _morning_row(verdict: CandidateVerdict, load: HostLoad) -> tuple[str, ...]:
    """Write what the first requests after idle hours find; of a verdict that has it."""
    candidate, found = verdict.candidate, _morning(verdict)
    assert found is not None
    return (
        candidate.drive,
        text.percent(candidate.unused, 0),
        candidate.layout.name,
        shown.times(found.iops / load.rate),
        text.duration(found.write_p99_ns, 2),
        text.duration(found.read_p99_ns, 2),
    )


def _spread_row(found: CandidateSpread) -> tuple[str, ...]:
    """Write 5 to 95 % of each figure."""
    shows = {
        "headroom": shown.times,
        "write_p99_ns": lambda value: text.duration(value, 2),
        "read_p99_ns": lambda value: text.duration(value, 2),
        "write_amplification": text.ratio,
        "years": text.years,
    }
    intervals = found.intervals
    return (
        found.candidate.drive,
        text.percent(found.candidate.unused, 0),
        found.candidate.layout.name,
        f"{found.kept} of {found.draws}",
        *(
            f"{show(intervals[name].low)} … {show(intervals[name].high)}"
            if name in intervals
            else text.NOTHING
            for name, show in shows.items()
        ),
    )


def as_json(
    found: Sequence[CandidateVerdict],
    spreads: Sequence[CandidateSpread],
    asked: Asked,
    not_tried: Mapping[str, str],
) -> str:
    """Write all figures, the commands that repeat them, and why what was never tried."""
    written = {
        "load": asked.load.to_dict(),
        "limits": asked.limits.to_dict(),
        "seed": asked.seed,
        "rows": [each.to_dict(asked.load) for each in found],
        "not_tried": [{"drive": name, "reason": why} for name, why in not_tried.items()],
        "ensembles": [each.to_dict() for each in spreads],
        "answer": answer.sentences(found, asked.load, asked.limits),
    }
    return json.dumps({"sizing": written}, indent=2, ensure_ascii=False)


def tell(
    found: Sequence[CandidateVerdict],
    spreads: Sequence[CandidateSpread],
    not_tried: Mapping[str, str],
    stopped: bool,
) -> None:
    """Say what the figures stand for."""
    if spreads:
        note(MODEL_ERROR_NOTE)
    if any(each.figures is not None for each in found):
        note(
            "ssdlab: years are those of the cells at the rated cycles of a profile; what a profile "
            "assumes shifts all figures: --ensemble"
        )
    _tell_ratings(found)
    if any("dies" in each.decided_by for each in found):
        note(
            "ssdlab: of large drives a few dies were run, with their part of the load; --exact "
            "runs whole drives, and docs/howto/sizing.md says how far the two differ"
        )
    if any(_morning(each) for each in found):
        note(
            f"ssdlab: after idle hours: of the first {REQUESTS:,} requests; IOPS without a pause, "
            "p99 at the rate that is asked"
        )
    if any(each.decided_by == CLOSED_FORM for each in found):
        note("ssdlab: closed form: ≤ and ≥ are bounds that no run can pass")
    for each in found:
        if each.reason:
            note(f"ssdlab: {each.candidate.label}: cannot be judged: {each.reason}")
    for name, why in not_tried.items():
        note(f"ssdlab: not tried: {name}: {why}")
    if stopped:
        note("ssdlab: stopped; the table has what had finished")


def _tell_ratings(found: Sequence[CandidateVerdict]) -> None:
    """Say where the years under warranty come from, and of which drives they are not known."""
    drives = {each.candidate.drive: each.rating for each in found}
    assumed = [
        f"{name} ({rating.source})"
        for name, rating in drives.items()
        if rating is not None and _assumed(rating)
    ]
    unknown = [name for name, rating in drives.items() if rating is None]
    if len(unknown) < len(drives):
        note(
            "ssdlab: warranty: years until the rated TBW is written (docs/howto/sizing.md lists it)"
        )
    if assumed:
        note(f"ssdlab: * a rating that no data sheet here says: {'; '.join(assumed)}")
    if unknown:
        note(f"ssdlab: rated TBW not known, so not judged: {', '.join(unknown)}; --rated-tbw")


def _assumed(rating: Rating | None) -> bool:
    return rating is not None and rating.kind == "assumed"
