"""``ssdlab sizing``: which drive, with how much spare, in which layout, meets a load."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import redirect_stdout

import click

from ssdlab import engine, signals, text
from ssdlab.cli.arguments import SEED_OPTION
from ssdlab.cli.completion import complete_drive
from ssdlab.cli.console import note, print_filled, print_table, print_text
from ssdlab.cli.formats import write_document
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine import Progress
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.output import PendingFile
from ssdlab.parallel import Task
from ssdlab.sizing import answer
from ssdlab.sizing.candidate import MOST_UNUSED, SINGLE, Layout, layout, sheet
from ssdlab.sizing.load import Limits, Load, parse_bytes, plain
from ssdlab.sizing.prices import read_prices
from ssdlab.sizing.search import Asked, ranked, search
from ssdlab.sizing.verdict import CLOSED_FORM, Verdict

_HEADINGS = (
    *("drive", "unused", "layout", "verdict", "IOPS", "p99 write", "p99 read", "WA", "years"),
    *("limited by", "decided by", "price"),
)
_NUMBERS = (1, 4, 5, 6, 7, 8, 11)
_MOST_YEARS = 1000
_DEFAULT_SPARE = "0%,10%,20%,30%"

LOAD_OPTIONS = (
    click.option("--writes", metavar="AMOUNT/TIME", help="The host writes this: 200GB/day."),
    click.option("--bs", default="4k", show_default=True, help="Set the size of a request."),
    click.option(
        "--hours",
        type=float,
        default=24.0,
        show_default=True,
        metavar="H",
        help="The load comes in so many hours a day; the drive idles in the others.",
    ),
    click.option("--sequential", is_flag=True, help="Requests follow each other in order."),
)
"""What `sizing` and `lifetime` ask of a load alike."""


def load_options(function: click.decorators.FC) -> click.decorators.FC:
    """Add the options of a plain load."""
    for option in reversed(LOAD_OPTIONS):
        function = option(function)
    return function


@click.command(
    cls=Verb,
    short_help="Find which drives meet a load, with how much spare.",
    terms=(
        ("IOPS", "what the drive does without a pause, in multiples of what is asked"),
        ("WA", "bytes programmed for each byte that a drive receives, in steady state"),
        ("years", "until the cells are worn to their rating"),
        ("capacity, throughput, tail, wear", "the limits that a drive may miss"),
    ),
    examples=(
        "ssdlab sizing --writes 200GB/day --mix 70/30 --iops 3000 --years 5 --p99 1ms",
        "ssdlab sizing --writes 2TB/week --hours 10 --years 5 --drive intel-dc-s3500-80gb",
        "ssdlab sizing --iops 9000 --mix 70/30 --p99 2ms --layout raid:level=5,disks=4 "
        "--drive intel-dc-s3500-80gb",
    ),
)
@load_options
@click.option(
    "--mix",
    default="0/100",
    show_default=True,
    metavar="READS/WRITES",
    help="Set reads and writes in percent.",
)
@click.option(
    "--iops", type=float, metavar="N", help="Reads and writes come at this rate, together."
)
@click.option("--years", type=float, metavar="N", help="The cells must last so long.")
@click.option("--p99", metavar="TIME", help="Limit the 99th percentile of reads and writes: 1ms.")
@click.option("--read-p99", metavar="TIME", help="Limit that of reads.")
@click.option("--write-p99", metavar="TIME", help="Limit that of writes.")
@click.option("--data", metavar="SIZE", help="So much data must have room: 400GB.")
@click.option(
    "--drive",
    "drives",
    multiple=True,
    metavar="DRIVE",
    help="Consider this drive; may be repeated (default: all SSDs).",
    shell_complete=complete_drive,
)
@click.option(
    "--spare",
    default=_DEFAULT_SPARE,
    show_default=True,
    metavar="SHARE,…",
    help="Leave these shares of a drive unused, the least that meets.",
)
@click.option(
    "--layout",
    "layouts",
    multiple=True,
    default=(SINGLE,),
    show_default=True,
    metavar="LAYOUT",
    help="Consider single drives, or a RAID such as raid:level=5,disks=4; may be repeated.",
)
@click.option("--prices", metavar="FILE.csv", help="Take prices from this table: drive,price.")
@SEED_OPTION
@click.option(
    "--output-format",
    type=click.Choice(("normal", "json")),
    default="normal",
    show_default=True,
    help="Print a table, or JSON with all figures and the commands that repeat them.",
)
@click.option("--output", "-o", default="-", metavar="FILE", help="Write to FILE, not stdout.")
def sizing(
    writes: str | None,
    bs: str,
    hours: float,
    sequential: bool,
    mix: str,
    iops: float | None,
    years: float | None,
    p99: str | None,
    read_p99: str | None,
    write_p99: str | None,
    data: str | None,
    drives: tuple[str, ...],
    spare: str,
    layouts: tuple[str, ...],
    prices: str | None,
    seed: int,
    output_format: str,
    output: str,
) -> int:
    """Find which drives meet a load, with how much spare, in which layout.

    Closed forms rule out what cannot work; the rest is run in steady state, and the table says
    which is which. Of each drive, the least share left unused that meets the limits is looked for.
    """
    load = plain(writes=writes, iops=iops, mix=mix, bs=bs, hours=hours, sequential=sequential)
    limits = _limits(years, p99, read_p99, write_p99, data)
    asked = Asked(load, limits, {} if prices is None else read_prices(prices), seed)
    considered = _drives(drives)
    wanted = [layout(each) for each in dict.fromkeys(layouts)]
    pairs = [(drive, each) for drive in considered for each in wanted]
    with PendingFile(output) as pending:
        found, stopped = _search(asked, pairs, _shares(spare))
        if not found:
            raise Stopped
        written = _json(found, asked) if output_format == "json" else _normal(found, asked)
        write_document(written, output_format, pending)
    _tell(found, stopped)
    return signals.exit_code() if stopped else 0


def _limits(
    years: float | None,
    p99: str | None,
    read_p99: str | None,
    write_p99: str | None,
    data: str | None,
) -> Limits:
    read, write = read_p99 or p99, write_p99 or p99
    return Limits(
        years=parse_years(years),
        read_p99_ns=None if read is None else _latency(read, "--read-p99" if read_p99 else "--p99"),
        write_p99_ns=None
        if write is None
        else _latency(write, "--write-p99" if write_p99 else "--p99"),
        data_bytes=None if data is None else parse_bytes(data, "--data"),
    )


def parse_years(years: float | None) -> float | None:
    """Check the time that a drive has to last."""
    if years is not None and not 0 < years <= _MOST_YEARS:
        raise SsdlabError(f"--years {years:g}: must be above 0 and at most {_MOST_YEARS}")
    return years


def _latency(value: str, option: str) -> float:
    limit = text.parse_time(value, option)
    if limit == 0:
        raise SsdlabError(f"{option} {value}: no request takes no time; give more than 0")
    return float(limit)


def _shares(value: str) -> list[float]:
    shares = sorted({text.parse_share(each.strip(), "--spare") for each in value.split(",")})
    if not 0 <= shares[0] <= shares[-1] <= MOST_UNUSED:
        raise SsdlabError(f"--spare {value}: expected shares from 0% to {MOST_UNUSED:.0%}")
    return shares


def _drives(named: tuple[str, ...]) -> list[str]:
    """Return the drives to consider; `theory` is no drive that can be bought."""
    if named:
        for each in dict.fromkeys(named):
            sheet(each)
        return list(dict.fromkeys(named))
    profiles = [each for each in engine.profiles() if each["over_provisioning"] is not None]
    return [str(each["name"]) for each in profiles if each["name"] != "theory"]


def _search(
    asked: Asked, pairs: Sequence[tuple[str, Layout]], shares: Sequence[float]
) -> tuple[list[Verdict], bool]:
    """Search each drive and layout, and the best array with a drive less."""
    found: dict[tuple[str, Layout, float], Verdict] = {}

    def keep(verdict: Verdict) -> None:
        candidate = verdict.candidate
        found[candidate.drive, candidate.layout, candidate.unused] = verdict

    def searched(drive: str, each: Layout) -> Task[bool]:
        def task(progress: Progress) -> bool:
            return search(asked, drive, each, shares, keep, progress)

        return task

    def carried_out(wanted: Sequence[tuple[str, Layout]]) -> bool:
        labels = [f"{drive}, {each.name}" for drive, each in wanted]
        return carry_out(labels, [searched(*each) for each in wanted])[1]

    stopped = carried_out(pairs)
    chosen = answer.best(list(found.values()))
    smaller = None if chosen is None else chosen.candidate.layout.smaller()
    if not stopped and chosen is not None and smaller is not None:
        pair = (chosen.candidate.drive, smaller)
        stopped = pair not in pairs and carried_out([pair])
    return ranked(list(found.values())), stopped


def _normal(found: Sequence[Verdict], asked: Asked) -> str:
    rows = [_row(each, asked.load) for each in found]
    columns = [
        column
        for column in range(len(_HEADINGS))
        if any(row[column] not in ("", text.NOTHING) for row in rows)
    ]
    written = io.StringIO()
    with redirect_stdout(written):
        print_table(
            [_HEADINGS[column] for column in columns],
            [[row[column] for column in columns] for row in rows],
            right=[place for place, column in enumerate(columns) if column in _NUMBERS],
            fold=0,
        )
        print_text("")
        for sentence in answer.sentences(found, asked.load, asked.limits):
            print_filled(sentence)
    return written.getvalue()


def _row(verdict: Verdict, load: Load) -> tuple[str, ...]:
    candidate, figures = verdict.candidate, verdict.figures
    start = (candidate.drive, text.percent(candidate.unused, 0), candidate.layout.name)
    end = (
        ", ".join(verdict.limited_by),
        verdict.decided_by,
        text.NOTHING if verdict.price is None else f"{verdict.price:,.2f}",
    )
    if figures is None:
        bounds = verdict.bounds
        least = (
            f"≤ {text.significant(bounds.iops / load.iops, 2)} ×",
            *(text.NOTHING, text.NOTHING),
            f"≥ {text.ratio(bounds.write_amplification)}",
            f"≤ {text.years(bounds.years)}".replace("≤ >", ">"),
        )
        return (*start, "misses", *least, *end)
    return (
        *start,
        "meets" if verdict.meets else "misses",
        f"{text.significant(figures.iops / load.iops, 2)} ×",
        text.duration(figures.write_p99_ns, 2),
        text.duration(figures.read_p99_ns, 2),
        text.ratio(figures.write_amplification),
        text.years(figures.years(load.bytes_per_day)),
        *end,
    )


def _json(found: Sequence[Verdict], asked: Asked) -> str:
    written = {
        "load": asked.load.to_dict(),
        "limits": asked.limits.to_dict(),
        "seed": asked.seed,
        "rows": [each.to_dict(asked.load) for each in found],
        "answer": answer.sentences(found, asked.load, asked.limits),
    }
    return json.dumps({"sizing": written}, indent=2, ensure_ascii=False)


def _tell(found: Sequence[Verdict], stopped: bool) -> None:
    """Say what the figures stand for."""
    if any(each.figures is not None for each in found):
        note(
            "ssdlab: years are those of the cells at the rated cycles of a profile; rated TBW: not "
            "known, since profiles have none"
        )
    if any("scale model" in each.decided_by for each in found):
        note(
            "ssdlab: scale model: write amplification and IOPS within 0.3 % of the whole drive "
            "(docs/validation.md, section 7)"
        )
    if any(each.decided_by == CLOSED_FORM for each in found):
        note("ssdlab: closed form: ≤ and ≥ are bounds that no run can pass")
    for each in found:
        if each.reason:
            note(f"ssdlab: {each.candidate.label}: {each.reason}")
    if stopped:
        note("ssdlab: stopped; the table has what had finished")
