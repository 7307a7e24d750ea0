"""``ssdlab season``: precondition or purge a drive, and keep it for reuse.

What only a real drive or an ensemble needs is loaded with it: both take longer than an answer may.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ssdlab import engine
from ssdlab.bench.real.wishes import is_real, is_uri
from ssdlab.bench.recipes import RECIPES
from ssdlab.cli.arguments import SEED_OPTION, FioCommand, JobSource, read_job_source
from ssdlab.cli.bench_options import EFFORT_NAMES, REAL_NAMES, effort_options, real_options
from ssdlab.cli.console import fitted, note, print_json, print_text
from ssdlab.cli.drives import (
    EXACT_OPTION,
    SCALE_OPTION,
    SET_OPTION,
    SPAN_OPTION,
    check_exact,
    condition_in_words,
    parse_settings,
    tell_memory,
    tell_not_steady,
)
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.experiment import cache
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import check_writable, is_stdout

_OF_BOTH = frozenset({"drive", "output", "seed"})
_OF_REAL = _OF_BOTH | EFFORT_NAMES | REAL_NAMES | {"recipe"}
_OF_RECIPE = _OF_BOTH | {"recipe", "settings", "cell_seconds", "most_rounds", "as_json"}
_OF_SIMULATED = _OF_BOTH | {
    *("arguments", "condition", "start_over", "job", "settings", "scale", "span", "exact"),
    *("ensemble", "as_json"),
}


@click.command(
    cls=FioCommand,
    short_help="Precondition a drive.",
    terms=(
        ("--to fresh", "keeps the drive as it comes out of the box"),
        ("--to filled", "writes the exported range once, 128 KiB sequential"),
        ("--to used", "fills the drive, then overwrites the capacity once, 4 KiB random"),
        (
            "--to steady",
            "as used, then uniform random writes of 4 KiB (or the mapping unit) over the drive "
            "until write amplification stands still: steady:uniform, the same for all jobs",
        ),
        ("--to steady:job", "as used, then the writes of --job, in whole passes, until it does"),
        ("--start-over secure-erase", "erases every block; only the wear stays"),
        ("--start-over crypto-erase", "destroys the key; blocks stay full until trimmed"),
        ("--start-over trim", "trims the whole drive; garbage collection erases the blocks later"),
        ("--start-over overwrite", "programs and erases every block: as new, but for more wear"),
        *((f"--recipe {name}", each.title) for name, each in RECIPES.items()),
    ),
    examples=(
        "ssdlab season intel-dc-s3500-80gb --to steady -o old.ssd",
        "ssdlab season my.toml --to steady:job --job mail.fio",
        "ssdlab season old.ssd --start-over secure-erase -o new.ssd",
        "ssdlab season intel-dc-s3500-80gb --to steady --ensemble 32",
        "ssdlab season intel-x25-m-g2-80gb --recipe anandtech -o used.ssd",
        "ssdlab season /dev/nvme1n1 --recipe snia --dry-run",
        "ssdlab season /dev/nvme1n1 --recipe snia --destroy /dev/nvme1n1 -o seasoned",
        "ssdlab season /dev/nvme1n1 --recipe snia --destroy /dev/nvme1n1 -o seasoned --resume",
    ),
)
@click.argument("drive")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[--FIO-OPTION=VALUE]…")
@click.option(
    "--to",
    "condition",
    type=click.Choice(conditions.CHOICES),
    help="Bring a simulated drive into this condition.",
)
@click.option(
    "--recipe",
    type=click.Choice(tuple(RECIPES)),
    help="Purge the drive, simulated or real, then precondition it by this recipe.",
)
@click.option(
    "--start-over",
    type=click.Choice(engine.START_OVER),
    help="Purge a simulated drive this way first; without --to, only purge it.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE.ssd|DIR",
    help="Save a simulated drive to this file (default: DRIVE-CONDITION.ssd), or record the steps "
    "on a real drive in this folder (default: season-DRIVE).",
)
@click.option(
    "--job",
    metavar="JOB.fio",
    help="Reach steady:job with this job's writes; by default, with 4 KiB random writes.",
)
@SET_OPTION
@SCALE_OPTION
@SPAN_OPTION
@EXACT_OPTION
@SEED_OPTION
@click.option(
    "--ensemble",
    metavar="N",
    help="Draw N drives from the plausible ranges of assumed numbers, bring each into steady "
    "state, and print medians and intervals. No drive is kept, so -o is refused.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print what was done as JSON; with --ensemble its figures, which ssdlab compare and "
    "report read.",
)
@effort_options
@real_options
def season(
    drive: str,
    arguments: tuple[str, ...],
    condition: str | None,
    recipe: str | None,
    start_over: str | None,
    output: str | None,
    job: str | None,
    settings: tuple[str, ...],
    scale: str | None,
    span: str | None,
    exact: bool,
    seed: int,
    ensemble: str | None,
    as_json: bool,
    **real: Any,
) -> int:
    """Precondition a drive.

    A simulated DRIVE is a profile, a profile file or a drive file; the result is saved as a drive
    file. A real DRIVE is a block device or an NBD URI, and fio loads it. It is overwritten, so
    --destroy must name it; a device in use is refused. Each step is recorded as it ends, and the
    record shows what proves the drive ready.
    """
    if is_real(drive):
        from ssdlab.bench.real.node import number_of
        from ssdlab.cli.season_real import RealSeasonOptions, season_real

        if not is_uri(drive):
            number_of(drive)
        _refuse_but(_OF_REAL, f"{drive}: is a real drive", "simulated drives")

        return season_real(RealSeasonOptions(drive, recipe, seed, output, **real))
    if recipe is not None:
        return _by_recipe(drive, recipe, parse_settings(settings), seed, output, real, as_json)
    _refuse_but(_OF_SIMULATED, f"{drive}: is a simulated drive", "real drives")
    _check_asked(condition, start_over)
    check_exact(exact, condition, "--to")
    words = list(arguments) if job is None else [job, *arguments]
    source = read_job_source(words) if words else JobSource(None, "command line", ())
    conditions.check_job_counts(condition, source.text, source.flags)
    wanted = RunRequest(
        drive=drive,
        settings=parse_settings(settings),
        scale=scale,
        job_text=source.text,
        job_name=source.name,
        flags=source.flags,
        start_over=start_over,
        condition=condition,
        span=text.parse_span(span),
        exact=exact,
        seed=seed,
    )
    if ensemble is not None:
        from ssdlab.cli.season_ensemble import check_alone, season_ensemble

        check_alone(ensemble, condition, start_over, output)
        tell_memory([wanted])
        return season_ensemble(wanted, ensemble, as_json=as_json)
    place = _place(drive, condition or str(start_over), output)
    if as_json and is_stdout(place):
        raise SsdlabError(f"-o {place}: the drive goes there; leave --json out, or name a file")
    kept = dataclasses.replace(wanted, save=place, must_be_new=not Path(place).exists())
    tell_memory([kept])
    return _tell(_season(kept), place, as_json=as_json)


def _by_recipe(
    drive: str,
    recipe: str,
    settings: Settings,
    seed: int,
    output: str | None,
    more: Mapping[str, Any],
    as_json: bool,
) -> Exit:
    """Carry a recipe out on a simulated drive."""
    given = "a simulated drive that is preconditioned by a recipe"
    _refuse_but(_OF_RECIPE, f"{drive}: is {given}", "others")
    from ssdlab.cli.season_recipe import RecipeOptions, season_recipe

    request = RunRequest(drive, settings=settings, seed=seed)
    engine.show(drive, settings)
    place = _place(drive, recipe, output)
    asked = RecipeOptions(request, recipe, place, more["cell_seconds"], more["most_rounds"])
    return season_recipe(asked, as_json=as_json)


def _check_asked(condition: str | None, start_over: str | None) -> None:
    if condition is None and start_over is None:
        raise SsdlabError(
            "nothing to do: give --to or --start-over\n"
            f"conditions: {', '.join(conditions.CHOICES)}; "
            f"ways to purge: {', '.join(engine.START_OVER)}"
        )


def _tell(answer: dict[str, Any], place: str, *, as_json: bool) -> Exit:
    if as_json:
        print_json(answer)
    elif is_stdout(place):
        note(_told(answer, "stdout"))
    else:
        print_text(_told(answer, place))
    if answer.get("way") is not None:
        note(f"ssdlab: {answer['way']}")
    code = tell_not_steady([(place, answer.get("not_steady"))])
    if code:
        note("ssdlab: the drive is saved as it is")
    return code


def _refuse_but(fitting: frozenset[str], what: str, others: str) -> None:
    """Refuse an option that was given and is for other drives."""
    context = click.get_current_context()
    for each in context.command.params:
        name = str(each.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in fitting:
            shown = "a fio option" if name == "arguments" else each.opts[0]
            raise SsdlabError(f"{what}; {shown} is for {others}\nleave it out")


def _place(drive: str, suffix: str, output: str | None) -> str:
    if output is not None:
        check_writable(output, "-o")
        return output
    stem = Path(drive).stem if drive.endswith((".toml", ".ssd")) else drive
    place = f"{stem}-{suffix.replace(chr(58), chr(45))}.ssd"
    if Path(place).exists():
        raise SsdlabError(f"{place} exists already; name the file to write with -o")
    check_writable(place, "-o")
    return place


def _season(wanted: RunRequest) -> dict[str, Any]:
    def task(progress: engine.Progress) -> dict[str, Any]:
        # Uniform writes are every run's, so that the drive may lie in the cache already.
        is_shared = wanted.condition == conditions.UNIFORM
        asked = cache.conditioned(wanted, progress) if is_shared else wanted
        return engine.season(asked, progress)

    (answer,), _ = carry_out([wanted.drive], [task])
    if answer is None:
        raise Stopped
    return answer


def _told(answer: dict[str, Any], place: str) -> str:
    lines = [f"{place}: {condition_in_words(answer)}"]
    if answer.get("conditioned_by"):
        state = "NOT steady" if answer.get("not_steady") else "steady"
        is_steady = conditions.is_steady(answer["condition"])
        lines.append(f"{f'{state} under' if is_steady else 'by'} {answer['conditioned_by']}")
    if answer.get("start_over_ns") is not None:
        took, erased = text.duration(answer["start_over_ns"]), answer["start_over_blocks_erased"]
        lines.append(f"the purge took {took}; {erased:,} blocks were erased; their wear stays")
    rounds = answer.get("rounds") or []
    if rounds:
        from ssdlab.experiment.ensemble.seasons import last_amplification

        reached = "reached" if answer.get("steady_reached") else "not reached"
        whose = " of the scale model" if answer.get("scale_model") else ""
        lines.append(
            f"steady state {reached} after {len(rounds)} rounds{whose}; "
            f"write amplification {text.ratio(last_amplification(answer))}"
        )
    return "\n".join(map(fitted, lines))
