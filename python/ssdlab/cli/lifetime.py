"""``ssdlab lifetime``: how long a drive lasts under a load, and what would change it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

import click

from ssdlab.cli.arguments import SEED_OPTION
from ssdlab.cli.console import filled, is_terminal, note, table_text
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.ensemble import MODEL_ERROR_NOTE, parse_count
from ssdlab.cli.formats import write_document
from ssdlab.cli.load_options import load_options, output_options, parse_shares, parse_years
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.ground import signals, text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile
from ssdlab.study.sizing import answer, shown
from ssdlab.study.sizing.candidate import sheet
from ssdlab.study.sizing.closed_form import under_warranty
from ssdlab.study.sizing.intervals import DrawnInterval, drawn
from ssdlab.study.sizing.lifetime import Case, Years, cases, drawn_runs, key, runs
from ssdlab.study.sizing.load import Limits, plain, with_trims
from ssdlab.study.sizing.nights import remarks
from ssdlab.study.sizing.ratings import OWN, Rating, read_ratings
from ssdlab.study.sizing.simulate import DrawnDrive, LoadFigures

_HEADINGS = ("case", "WA", "TBW of the cells", "years", "by")
_SPREAD_HEADINGS = ("median, 5 to 95 %", "draws", "WA", "", "TBW", "", "years", "")


@click.command(
    cls=Verb,
    short_help="Tell how long a DRIVE lasts under a load.",
    terms=(
        ("WA", "bytes programmed for each byte that the host writes, in steady state"),
        ("TBW", "terabytes that the host can write until the cells are worn to their rating"),
    ),
    examples=(
        "ssdlab lifetime intel-dc-s3500-80gb --writes 20GB/day",
        "ssdlab lifetime intel-dc-s3500-80gb --writes 20GB/day --spare 20% --years 5",
        "ssdlab lifetime intel-dc-s3500-80gb --writes 20GB/day --rated-tbw 45TB",
        "ssdlab lifetime samsung-990-pro-1tb --writes 200GB/day",
    ),
)
@click.argument("drive")
@load_options
@click.option(
    "--spare", default="0%", show_default=True, metavar="SHARE", help="Leave this share unused."
)
@click.option("--years", type=float, metavar="N", help="Say whether the cells last N years.")
@click.option(
    "--rated-tbw",
    metavar="SIZE",
    help="Set the data sheet's TBW, such as 45TB (default: where it is known, that).",
)
@click.option(
    "--ensemble",
    metavar="N",
    help="Draw N drives from the plausible ranges of assumed numbers, for an interval of each.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Run the whole drive in place of a few dies; it takes minutes and gigabytes of memory.",
)
@SEED_OPTION
@output_options
def lifetime(
    drive: str,
    writes: str | None,
    bs: str,
    hours: float,
    sequential: bool,
    trim: str | None,
    spare: str,
    years: float | None,
    rated_tbw: str | None,
    ensemble: str | None,
    exact: bool,
    seed: int,
    output_format: str,
    output: str,
) -> int:
    """Tell how long a DRIVE lasts under a load, and what would change it.

    The write amplification is that of this load in steady state, from a run, of a few dies if the
    drive is large; a row shows each change. A drive lasts as long as its cells and its warranty
    both allow. The drive is a profile that ssdlab drives lists. Exits with 3 where that is less
    than --years, with 5 where a drive did not become steady.
    """
    if writes is None:
        raise SsdlabError("no load: add --writes, such as --writes 200GB/day")
    load = plain(writes=writes, iops=None, mix="0/100", bs=bs, hours=hours, sequential=sequential)
    load = load if trim is None else with_trims(load, trim)
    sheet(drive)
    unused, *more = parse_shares(spare)
    if more:
        raise SsdlabError(f"--spare {spare}: give one share; ssdlab sizing compares several")
    wanted = parse_years(years)
    given = [] if rated_tbw is None else [rated_tbw]
    rated = read_ratings(given, [drive]).get(drive)
    count = 0 if ensemble is None else parse_count(ensemble)
    asked = cases(drive, unused, load)
    draws = drawn(asked[0].candidate, count, seed) if count else []
    with PendingFile(output) as pending:
        found, stopped = _run(asked, draws, seed, exact)
        if not found or found[0].case.name != "as asked":
            raise Stopped
        said = _sentences(found, wanted, rated)
        if output_format == "json":
            written = _json(found, rated, said, seed, exact)
        else:
            on_terminal = pending.is_stdout and is_terminal(sys.stdout)
            written = _normal(found, said, terminal=on_terminal)
        write_document(written, output_format, pending)
    for remark in remarks([drive], load):
        note(f"ssdlab: {remark}")
    if any(each.drawn for each in found):
        note(MODEL_ERROR_NOTE)
    if stopped:
        note("ssdlab: stopped; the table has what had finished")
    steady = tell_not_steady((f"{drive}, {each.case.name}", each.not_steady) for each in found)
    if stopped:
        return signals.exit_code()
    is_short = wanted is not None and _lasts(found[0], rated) < wanted
    return worst([Exit.FINDING if is_short else Exit.DONE, steady])


def _lasts(first: Years, rated: Rating | None) -> float:
    """Return the years that both cells and warranty allow."""
    warranty = under_warranty(first.case.candidate, first.case.load, rated)
    return first.years if warranty is None else min(first.years, warranty)


def _run(
    asked: Sequence[Case], draws: Sequence[DrawnDrive], seed: int, exact: bool
) -> tuple[list[Years], bool]:
    """Run each case on the profile, then on what is drawn of it."""
    by_key = runs(asked, seed, exact=exact)
    names = {each: next(case.name for case in asked if key(case, seed) == each) for each in by_key}
    results, stopped = carry_out(list(names.values()), list(by_key.values()))
    figures = dict(zip(by_key, results, strict=True))
    worked = dict[str, list[LoadFigures]]()
    if draws and not stopped:
        labels = [f"{name}, draw {n + 1}" for name in names.values() for n in range(len(draws))]
        wanted = [task for each in by_key for task in drawn_runs(asked, each, draws, seed)]
        of_draws, stopped = carry_out(labels, wanted)
        for place, each in enumerate(by_key):
            part = of_draws[place * len(draws) : (place + 1) * len(draws)]
            worked[each] = [outcome for outcome in part if isinstance(outcome, LoadFigures)]
    pairs = [(case, key(case, seed)) for case in asked]
    found = [(case, figures[each], worked.get(each, [])) for case, each in pairs]
    return [Years(case, each, drawn) for case, each, drawn in found if each is not None], stopped


def _sentences(found: Sequence[Years], wanted: float | None, rated: Rating | None) -> list[str]:
    first = found[0]
    limits = Limits(years=wanted)
    per_day = first.case.load.bytes_per_day
    lasts = text.plural(shown.years(first.years, limits), "year")
    said = [
        f"The cells of {first.case.candidate.drive} last {lasts} at {text.size(per_day)} a day."
    ]
    if first.drawn:
        drawn = first.intervals()["years"]
        said.append(
            f"From what the profile assumes, {text.years(drawn.low)} to {text.years(drawn.high)} "
            f"years (5 to 95 % of {len(first.drawn)} draws)."
        )
    if rated is None:
        said.append("Rated TBW: not known of this drive; --rated-tbw takes it.")
    else:
        said.append(_of_warranty(first, rated, limits))
    if wanted is not None:
        years = _lasts(first, rated)
        word = "longer" if years >= wanted else "shorter"
        which = "The cells last" if years == first.years else "The warranty lasts"
        said.append(f"{which} {word} than the {text.plural(f'{wanted:g}', 'year')} asked.")
    return said + answer.not_steady([each.case.name for each in found if each.not_steady])


def _of_warranty(first: Years, rated: Rating, limits: Limits) -> str:
    until = shown.years(under_warranty(first.case.candidate, first.case.load, rated), limits)
    times = text.significant(first.figures.bytes_written / rated.bytes_written)
    known = "" if rated.kind == OWN else f" ({rated.kind}: {rated.source})"
    return (
        f"The rated {text.size(rated.bytes_written)}{known} are written in "
        f"{text.plural(until, 'year')}; under this load the cells take {times} times as much."
    )


def _normal(found: Sequence[Years], said: Sequence[str], *, terminal: bool) -> str:
    rows = [
        (
            each.case.name,
            text.ratio(each.figures.programmed),
            text.size(each.figures.bytes_written),
            text.years(each.years),
            each.figures.way_told,
        )
        for each in found
    ]
    tables = [table_text(_HEADINGS, rows, right=(1, 2, 3), terminal=terminal)]
    spreads = [(each.case.name, len(each.drawn), each.intervals()) for each in found]
    if any(intervals for _, _, intervals in spreads):
        intervals_of = [_spread_row(*each) for each in spreads if each[2]]
        right = range(1, len(_SPREAD_HEADINGS))
        tables.append(table_text(_SPREAD_HEADINGS, intervals_of, right=right, terminal=terminal))
    return "\n\n".join([*tables, filled(" ".join(said))]) + "\n"


def _spread_row(name: str, draws: int, intervals: Mapping[str, DrawnInterval]) -> tuple[str, ...]:
    """Write the median and 5 to 95 % of each figure."""
    shows = {"programmed": text.ratio, "bytes_written": text.size, "years": text.years}
    cells = [
        cell
        for figure, show in shows.items()
        for each in [intervals[figure]]
        for cell in (show(each.median), f"{show(each.low)} … {show(each.high)}")
    ]
    return (name, str(draws), *cells)


def _json(
    found: Sequence[Years], rated: Rating | None, said: Sequence[str], seed: int, exact: bool
) -> str:
    written = {
        "drive": found[0].case.candidate.drive,
        "seed": seed,
        "rated_bytes": None if rated is None else rated.bytes_written,
        "rated": None if rated is None else rated.to_dict(),
        "cases": [each.to_dict(seed, exact=exact) for each in found],
        "answer": list(said),
    }
    return json.dumps({"lifetime": written}, indent=2, ensure_ascii=False)
