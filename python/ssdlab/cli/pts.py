"""``ssdlab pts``: SNIA's Performance Test Specification on simulated and real drives.

What looks at drives and measures them is loaded once it is known what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ssdlab import engine
from ssdlab.bench import book
from ssdlab.bench.real.wishes import Wishes, is_real
from ssdlab.bench.shorter import with_cells_of, with_rounds_of
from ssdlab.cli.arguments import SEED_OPTION
from ssdlab.cli.bench_options import (
    begin,
    effort_options,
    perform,
    real_options,
    result_folder,
    show_drive,
)
from ssdlab.cli.console import note, print_json, print_table, print_text
from ssdlab.cli.drives import LAYER_OPTION, SET_OPTION, parse_settings, tell_memory
from ssdlab.cli.json_option import result_form
from ssdlab.cli.verb import Verb
from ssdlab.engine.request import RunRequest
from ssdlab.ground import signals

if TYPE_CHECKING:
    from ssdlab.bench.bench import Bench
    from ssdlab.bench.estimate import Speeds
    from ssdlab.bench.plan import Plan
    from ssdlab.bench.target import Description
    from ssdlab.bench.targets import Source


@dataclass(frozen=True)
class _Prepared:
    """A target that was looked at, and what is to be done with it."""

    name: str
    source: Source
    described: Description
    plan: Plan
    speeds: Speeds | None


_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _number_option(name: str, default: int, *, most: int, told: str) -> _Decorator:
    kind = click.IntRange(1, most)
    return click.option(name, type=kind, default=default, show_default=True, metavar="N", help=told)


@click.command(
    cls=Verb,
    short_help="Measure drives by SNIA's Performance Test Specification.",
    terms=(
        ("iops", "random, 7 mixes × 8 block sizes"),
        ("tp", "sequential, 1024 and 128 KiB"),
        ("lat", "random, one request at a time"),
        ("wsat", "random 4 KiB writes until steady, 4 × the capacity is written, or 24 hours"),
        ("hir", "random 4 KiB writes with idle times from 5 to 50 seconds"),
    ),
    examples=(
        "ssdlab pts intel-dc-s3500-80gb --dry-run",
        "ssdlab pts intel-dc-s3500-80gb -o s3500",
        "ssdlab pts intel-dc-s3500-80gb -o s3500 --resume",
        "ssdlab pts micron-7450-pro-960gb --tests iops,wsat --quick --threads 4 --depth 32",
        "ssdlab pts /dev/nvme1n1 --dry-run",
        "ssdlab pts /dev/nvme1n1 --destroy /dev/nvme1n1 -o real",
        "ssdlab pts theory --layer raid:level=5,disks=4 --json > result.json",
    ),
)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET…")
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    help="Write the result to folder DIR (default: pts-TARGET); if there are several targets, "
    "each gets a subfolder.",
)
@click.option(
    "--tests",
    default=",".join(book.DEFAULT_TESTS),
    show_default=True,
    metavar="TEST[,TEST]…",
    help="Run these tests.",
)
@_number_option("--threads", 1, most=256, told="Run N workers; lat always uses 1.")
@_number_option(
    "--depth", 32, most=4096, told="Keep N requests outstanding per worker; lat always uses 1."
)
@click.option(
    "--quick", is_flag=True, help="End a cell with reads once its mean rate is known to 1 %."
)
@effort_options
@real_options
@LAYER_OPTION
@SET_OPTION
@SEED_OPTION
@result_form
def pts(
    targets: tuple[str, ...],
    output: str | None,
    tests: str,
    threads: int,
    depth: int,
    quick: bool,
    cell_seconds: float,
    most_rounds: int | None,
    resume: bool,
    dry_run: bool,
    destroy: tuple[str, ...],
    destroy_content: tuple[str, ...],
    purge: str,
    no_serial: bool,
    layers: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int,
    output_format: str,
) -> int:
    """Measure drives by SNIA's Performance Test Specification (PTS).

    Each test purges the drive, preconditions it, and repeats rounds until the drive is steady: over
    five rounds, the tracked figure varies by at most 20 % of its average, and the line fitted
    through it rises or falls by at most 10 %. Each round is saved as it ends. XSR, ECW and DIRTH
    are not included, because no definition of them could be read.

    A simulated TARGET is a profile, a profile file or a drive file, and runs in virtual time. A
    real TARGET is a block device or an NBD URI (nbd://HOST/NAME, nbd+unix:///NAME?socket=PATH), and
    is loaded with fio. The test overwrites it, so --destroy must name it; a device in use is
    refused.
    """
    names = [name.strip() for name in tests.split(",") if name.strip()]
    load = {"tests": names, "threads": threads, "depth": depth, "quick": quick}
    load |= {"cell_seconds": cell_seconds, "most_rounds": most_rounds, "purge": purge}
    drive = {"settings": settings, "layers": layers, "seed": seed}
    wishes = Wishes(destroy, destroy_content, purge, not no_serial)
    with ExitStack() as held:
        prepared = [
            _prepared(name, load, drive, None if dry_run else wishes, held) for name in targets
        ]
        return _measure(prepared, {**load, **drive}, output, output_format, resume, dry_run)


def _measure(
    prepared: Sequence[_Prepared],
    options: Mapping[str, Any],
    output: str | None,
    output_format: str,
    resume: bool,
    dry_run: bool,
) -> int:
    """Print the effort, and measure unless it is a dry run."""
    from ssdlab.cli.pts_effort import tell_effort, tell_obstacles

    for each in prepared:
        tell_effort(each.name, each.described, each.plan, each.speeds, with_steps=dry_run)
        tell_obstacles(each.name, each.source.obstacles)
    if dry_run:
        return 0
    given, layers = parse_settings(options["settings"]), options["layers"]
    parts = [
        RunRequest(each.name, given, layers, condition="used")
        for each in prepared
        if each.source.side_by_side
        for test in each.plan.tests
        for _ in test.parts
    ]
    tell_memory(parts)
    benches = [_bench(each, output, len(prepared) > 1, options) for each in prepared]
    for bench in benches:
        begin(bench, resume)
    side_by_side = all(each.source.side_by_side for each in prepared)
    if perform(benches, [each.name for each in prepared], side_by_side):
        note("ssdlab: stopped; finished rounds are kept; continue with --resume")
        return signals.exit_code()
    results = [bench.finish() for bench in benches]
    _print([each.name for each in prepared], results, output_format)
    return 0


def _prepared(
    name: str,
    load: Mapping[str, Any],
    drive: Mapping[str, Any],
    wishes: Wishes | None,
    held: ExitStack,
) -> _Prepared:
    from ssdlab.bench.targets import source

    settings = parse_settings(drive["settings"])
    found = source(name, settings, drive["layers"], drive["seed"], wishes, show_drive)
    held.callback(found.release)
    target = found.make()
    described = target.describe()
    asked = {name: load[name] for name in ("tests", "threads", "depth", "quick")}
    plan = book.plan(**asked, seed=drive["seed"], sector_bytes=described.sector_bytes)
    plan = with_rounds_of(with_cells_of(plan, load["cell_seconds"]), load["most_rounds"])
    plan = plan.with_deviations(target.deviations())
    return _Prepared(name, found, described, plan, target.speeds())


def _bench(
    prepared: _Prepared, output: str | None, several: bool, options: Mapping[str, Any]
) -> Bench:
    from ssdlab.bench.bench import Bench
    from ssdlab.bench.command import command
    from ssdlab.bench.store import Store

    told = {"target": prepared.name, **options, "version": engine.version()}
    told["command"] = command(options, prepared.name, is_real=is_real(prepared.name))
    store = Store(result_folder(output, "pts", prepared.name, several))
    return Bench(prepared.plan, prepared.source.make, store, told)


def _print(names: Sequence[str], results: Sequence[Mapping[str, Any]], form: str) -> None:
    if form == "json":
        print_json(results[0] if len(results) == 1 else list(results))
        return
    from ssdlab.bench.table import tables

    for name, result in zip(names, results, strict=True):
        if len(results) > 1:
            print_text(f"\n{name}")
        for table in tables(result):
            print_text(f"\n{table.title}")
            print_table(table.headings, table.rows, right=table.right)
