"""``ssdlab sizing``: which drive, with how much spare, in which layout, meets a load."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from ssdlab import engine
from ssdlab.cli.arguments import SEED_OPTION, read_job_source
from ssdlab.cli.console import is_terminal, note
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.ensemble import parse_count
from ssdlab.cli.formats import write_document
from ssdlab.cli.load_options import load_options, output_options, parse_shares, read_limits
from ssdlab.cli.sizing_table import as_json, normal, tell
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.engine import Progress
from ssdlab.experiment.parallel import Task
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile
from ssdlab.study.sizing import answer, effort
from ssdlab.study.sizing.candidate import SINGLE, ArrayLayout, layout, sheet
from ssdlab.study.sizing.intervals import CandidateSpread, drawn, spread, tasks
from ssdlab.study.sizing.load import of_job, plain, with_trims
from ssdlab.study.sizing.nights import remarks
from ssdlab.study.sizing.prices import read_prices
from ssdlab.study.sizing.ratings import read_ratings
from ssdlab.study.sizing.search import Asked, ranked, search
from ssdlab.study.sizing.verdict import CandidateVerdict

_DEFAULT_SPARE = "0%,10%,20%,30%"


@click.command(
    cls=Verb,
    short_help="Find which drives meet a load, with how much spare.",
    terms=(
        ("IOPS", "what the drive does without a pause, in multiples of what is asked"),
        ("WA", "bytes programmed for each byte that a drive receives, in steady state"),
        ("years", "until the cells are worn to their rating"),
        ("warranty", "years until the rated TBW is written"),
        ("capacity, throughput, tail, wear, warranty", "the limits that a drive may miss"),
    ),
    examples=(
        "ssdlab sizing --writes 200GB/day --mix 70/30 --iops 3000 --years 5 --p99 1ms",
        "ssdlab sizing --writes 2TB/week --hours 10 --years 5 --drive intel-dc-s3500-80gb",
        "ssdlab sizing mail.fio --writes 50GB/day --years 5 --write-p99 5ms",
        "ssdlab sizing --iops 9000 --mix 70/30 --p99 2ms --layout raid:level=5,disks=4 "
        "--drive intel-dc-s3500-80gb",
    ),
)
@click.argument("job", required=False, metavar="[JOB.fio]")
@load_options
@click.option(
    "--mix",
    default="0/100",
    show_default=True,
    metavar="READS/WRITES",
    help="Set reads and writes in percent.",
)
@click.option(
    "--iops", type=float, metavar="N", help="Send N requests a second, reads and writes together."
)
@click.option(
    "--years", type=float, metavar="N", help="Require cells and rated TBW to last N years."
)
@click.option(
    "--p99", metavar="TIME", help="Limit the 99th percentile of reads and writes, such as 1ms."
)
@click.option("--read-p99", metavar="TIME", help="Limit the 99th percentile of reads.")
@click.option("--write-p99", metavar="TIME", help="Limit the 99th percentile of writes.")
@click.option("--data", metavar="SIZE", help="Require room for this much data, such as 400GB.")
@click.option(
    "--drive",
    "drives",
    multiple=True,
    metavar="DRIVE",
    help="Consider this drive; may be repeated (default: all SSDs).",
)
@click.option(
    "--spare",
    default=_DEFAULT_SPARE,
    show_default=True,
    metavar="SHARE,…",
    help="Try these shares of unused space, smallest first.",
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
@click.option(
    "--rated-tbw",
    "rated",
    multiple=True,
    metavar="[DRIVE=]SIZE",
    help="Set what a drive is rated for, such as 275TB; may be repeated.",
)
@click.option("--prices", metavar="FILE.csv", help="Take prices from this table: drive,price.")
@click.option(
    "--ensemble",
    metavar="N",
    help="Draw N drives from the plausible ranges of assumed numbers, for intervals of what meets.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Run whole drives in place of a few dies; each takes minutes and gigabytes of memory.",
)
@SEED_OPTION
@output_options
def sizing(
    job: str | None,
    writes: str | None,
    bs: str,
    hours: float,
    sequential: bool,
    trim: str | None,
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
    rated: tuple[str, ...],
    prices: str | None,
    ensemble: str | None,
    exact: bool,
    seed: int,
    output_format: str,
    output: str,
) -> int:
    """Find which drives meet a load, with how much spare, in which layout.

    Closed forms decide what they can; the rest is run in steady state, a few dies of each large
    drive, and the table says which is which. Of each drive, the least share left unused that meets
    the limits is looked for. JOB.fio, which may replay a trace, takes the place of a plain load. It
    runs as it stands, on whole drives, unless any stretch of it is like any other. Exits with 3
    where nothing meets, with 4 where something could not be judged, with 5 where a drive that was
    run did not become steady.
    """
    words: dict[str, Any] = {"mix": mix, "bs": bs, "hours": hours, "sequential": sequential}
    if job is None:
        load = plain(writes=writes, iops=iops, **words)
        load = load if trim is None else with_trims(load, trim)
    else:
        _refuse_with_job(job)
        source = read_job_source([job])
        checked = engine.check_job(source.text, job, ())
        kind = {key: bool(checked[key]) for key in ("stationary", "scales")}
        load = of_job(source.text or "", job, writes=writes, iops=iops, **kind)
    limits = read_limits(years, p99, read_p99, write_p99, data)
    considered, not_tried = _drives(drives)
    ratings = read_ratings(rated, considered)
    known = [*(str(each["name"]) for each in engine.profiles()), *considered]
    prices_of = {} if prices is None else read_prices(prices, known)
    asked = Asked(load, limits, prices_of, seed, ratings, exact)
    wanted = [layout(each) for each in dict.fromkeys(layouts)]
    for each in wanted:
        engine.show(considered[0], (), each.layers)
    shares = parse_shares(spare)
    pairs = [(drive, each) for drive in considered for each in wanted]
    draws = 0 if ensemble is None else parse_count(ensemble)
    with PendingFile(output) as pending:
        found, stopped = _search(asked, pairs, shares)
        if not found:
            raise Stopped
        not_tried |= left_out(pairs, found)
        spreads: list[CandidateSpread] = []
        if draws and not stopped:
            spreads, stopped = _draw(asked, found, draws)
        if output_format == "json":
            written = as_json(found, spreads, asked, not_tried)
        else:
            on_terminal = pending.is_stdout and is_terminal(sys.stdout)
            written = normal(found, spreads, asked, terminal=on_terminal)
        write_document(written, output_format, pending)
    for remark in remarks(considered, load):
        note(f"ssdlab: {remark}")
    tell(found, spreads, not_tried, stopped)
    reasons = [(each.candidate.label, each.not_steady) for each in found]
    reasons += [(each.candidate.label, each.not_steady) for each in spreads]
    steady = tell_not_steady(reasons)
    return signals.exit_code() if stopped else worst([exit_code(found), steady])


def exit_code(found: Sequence[CandidateVerdict]) -> Exit:
    """Return the code: whether something meets, and whether all could be judged."""
    judged = [each for each in found if each.is_judged]
    codes = [] if len(judged) == len(found) else [Exit.NOT_JUDGED]
    if judged and not any(each.meets for each in judged):
        codes.append(Exit.FINDING)
    return worst(codes)


def left_out(
    pairs: Sequence[tuple[str, ArrayLayout]], found: Sequence[CandidateVerdict]
) -> dict[str, str]:
    """Name the drives and layouts that have no verdict, since the search was stopped before."""
    known = {(each.candidate.drive, each.candidate.layout) for each in found}
    missing = [f"{drive}, {each.name}" for drive, each in pairs if (drive, each) not in known]
    return dict.fromkeys(missing, "the search was stopped before")


def _refuse_with_job(job: str) -> None:
    """Refuse what describes a plain load."""
    context = click.get_current_context()
    for name in ("mix", "bs", "hours", "sequential", "trim"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise SsdlabError(f"{job}: a job file; --{name} is for plain loads\nleave it out")


def _drives(named: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Return the drives to consider, and why what is not."""
    if named:
        for each in dict.fromkeys(named):
            sheet(each)
        return list(dict.fromkeys(named)), {}
    considered, left = list[str](), dict[str, str]()
    for profile in engine.profiles():
        name = str(profile["name"])
        if profile["over_provisioning"] is None:
            left[name] = "a hard disk"
        elif name == "theory":
            left[name] = "the drive of the closed forms, which nobody sells"
        else:
            considered.append(name)
    return considered, left


def _search(
    asked: Asked, pairs: Sequence[tuple[str, ArrayLayout]], shares: Sequence[float]
) -> tuple[list[CandidateVerdict], bool]:
    """Search each drive and layout, and the best array with a drive less."""
    found: dict[tuple[str, ArrayLayout, float], CandidateVerdict] = {}

    def keep(verdict: CandidateVerdict) -> None:
        candidate = verdict.candidate
        found[candidate.drive, candidate.layout, candidate.unused] = verdict

    def searched(drive: str, each: ArrayLayout) -> Task[bool]:
        def task(progress: Progress) -> bool:
            meets = search(asked, drive, each, shares, keep, progress)
            of_pair = [verdict for key, verdict in list(found.items()) if key[:2] == (drive, each)]
            note(f"ssdlab: {answer.of_drive(of_pair, asked.load, asked.limits)}")
            return meets

        return task

    def carried_out(wanted: Sequence[tuple[str, ArrayLayout]]) -> bool:
        plan = effort.plan(asked, wanted, shares)
        note(f"ssdlab: {plan.told}")
        labels = [f"{drive}, {each.name}" for drive, each in plan.pairs]
        work = [searched(*each) for each in plan.pairs]
        return carry_out(labels, work, workers=plan.workers)[1]

    stopped = carried_out(pairs)
    chosen = answer.best(list(found.values()))
    smaller = None if chosen is None else chosen.candidate.layout.smaller()
    if not stopped and chosen is not None and smaller is not None:
        pair = (chosen.candidate.drive, smaller)
        stopped = pair not in pairs and carried_out([pair])
    return ranked(list(found.values())), stopped


def _draw(
    asked: Asked, found: Sequence[CandidateVerdict], draws: int
) -> tuple[list[CandidateSpread], bool]:
    """Draw the drives of each candidate that meets what is asked."""
    load, spreads, stopped = asked.load, list[CandidateSpread](), False
    for each in found:
        candidate = each.candidate
        if stopped or not each.meets:
            continue
        try:
            made = drawn(candidate, draws, asked.seed)
        except SsdlabError as error:
            note(f"ssdlab: {error}")
            continue
        labels = [f"{candidate.label}, draw {number + 1}" for number in range(len(made))]
        results, stopped = carry_out(labels, tasks(candidate, load, made, asked.seed))
        summary = spread(candidate, load, asked.limits, results)
        spreads += [] if summary is None else [summary]
    return spreads, stopped
