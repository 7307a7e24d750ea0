"""``ssdlab run``: a fio job on one drive or several, in virtual time, or on a real one."""

from __future__ import annotations

import dataclasses
from functools import partial

import click

from ssdlab import engine
from ssdlab.bench.real.wishes import Wishes
from ssdlab.cli.arguments import FioCommand, JobSource, read_job_source, with_own_suggestion
from ssdlab.cli.bench_options import destroy_options
from ssdlab.cli.console import note, print_text
from ssdlab.cli.drives import (
    EXACT_OPTION,
    LAYER_OPTION,
    SCALE_OPTION,
    SET_OPTION,
    SPAN_OPTION,
    check_exact,
    parse_settings,
    tell_memory,
    tell_not_steady,
)
from ssdlab.cli.ensemble import parse_count, run_ensembles
from ssdlab.cli.formats import document, fio_flags, write_document
from ssdlab.cli.scenario import check_alone, run_scenarios, scenario_options
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import jobs
from ssdlab.experiment.cache import run_conditioned
from ssdlab.ground import signals, text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile, check_writable, is_stdout


@click.command(
    cls=FioCommand,
    examples=(
        "ssdlab run job.fio --drive intel-dc-s3500-80gb --state steady",
        "ssdlab run --trace monday.csv.gz --drive intel-dc-s3500-80gb --iodepth=32",
        "ssdlab run --rw=randwrite --bs=4k --iodepth=16 --drive theory --drive my.toml",
        "ssdlab run baseline --drive intel-dc-s3500-80gb --drive samsung-990-pro-1tb",
        "ssdlab run --scenario everyday --drive fujitsu-mhz2250bh --drive samsung-870-qvo-1tb",
        "ssdlab run job.fio --drive old.ssd --output-format json+ --output result.json",
        "ssdlab run job.fio --drive theory --layer partition:start_sector=63 --layer crypt:cores=2",
        "ssdlab run job.fio --drive intel-dc-s3500-80gb --state steady --ensemble 8",
        "ssdlab run job.fio --target /dev/sdX --destroy /dev/sdX --drive mine.toml --state steady",
    ),
)
@click.argument(
    "arguments",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[JOB.fio] [--FIO-OPTION=VALUE]…",
)
@click.option(
    "--drive",
    "drives",
    multiple=True,
    metavar="DRIVE",
    help="Run on this drive; repeat to compare drives side by side.",
)
@click.option(
    "--target",
    metavar="DEVICE",
    help="Run on this real drive with fio: a block device, a file, or an NBD URI. Add --drive for "
    "the simulated result.",
)
@destroy_options
@click.option(
    "--stack",
    "stacks",
    multiple=True,
    metavar="FILE.toml",
    help="Run on the stack that this file describes.",
)
@LAYER_OPTION
@SET_OPTION
@SCALE_OPTION
@scenario_options
@click.option(
    "--state",
    type=click.Choice(conditions.CHOICES),
    help="Precondition the drive first. steady is steady:uniform: the whole drive is written by "
    "uniform random writes of 4 KiB (or the mapping unit) until its write amplification stands "
    "still, the same for all jobs; steady:job: by this job's own writes.",
)
@SPAN_OPTION
@EXACT_OPTION
@click.option(
    "--seed",
    default="1",
    show_default=True,
    metavar="N",
    help="Use this seed; 1,2,3 or 1-10 runs once for each.",
)
@click.option(
    "--ensemble",
    metavar="N",
    help="Draw N drives from the plausible ranges of assumed numbers; print medians and intervals, "
    "and what each figure hangs on.",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Replay this trace, as fio's --read_iolog does.",
)
@fio_flags
@click.option("--output", "-o", metavar="FILE", help="Write to FILE instead of stdout.")
@click.option("--no-layout", is_flag=True, help="Do not first write what a read job reads.")
@click.option(
    "--timeline",
    metavar="START,LENGTH",
    help="Record every operation of this interval, such as 10ms,2ms.",
)
@click.option("--save", metavar="FILE.ssd", help="Save the drive to this file after the job.")
@click.option("--no-cache", is_flag=True, help="Do not use the cache of preconditioned drives.")
@click.pass_context
def run(
    context: click.Context,
    arguments: tuple[str, ...],
    drives: tuple[str, ...],
    target: str | None,
    destroy: tuple[str, ...],
    destroy_content: tuple[str, ...],
    stacks: tuple[str, ...],
    layers: tuple[str, ...],
    settings: tuple[str, ...],
    scale: str | None,
    scenarios: tuple[str, ...],
    values: tuple[str, ...],
    state: str | None,
    span: str | None,
    exact: bool,
    seed: str,
    ensemble: str | None,
    trace: str | None,
    output_format: str,
    minimal: bool,
    sections: tuple[str, ...],
    parse_only: bool,
    eta: str,
    output: str | None,
    no_layout: bool,
    timeline: str | None,
    save: str | None,
    no_cache: bool,
) -> int:
    """Run a fio job on simulated drives, or on a real one.

    fio's own options work as flags, with or without a job file. JOB.fio is a file or an included
    job: baseline (the five jobs of the Thomas-Krenn e-book), jesd219-client, jesd219-enterprise.
    After an included job, stderr shows the fio command that runs it on a real drive.
    """
    output_format = "terse" if minimal else output_format
    if scenarios:
        of_a_job = {
            " ".join(arguments): arguments,
            "--trace": trace,
            "--section": sections,
            "--parse-only": parse_only,
            "--no-layout": no_layout,
            "--timeline": timeline,
            "--save": save,
        }
        check_alone(scenarios, output_format, of_a_job)
        source = JobSource(None, "scenario", ())
    elif values:
        raise SsdlabError(f"--scenario-set {values[0]}: no scenario is given; add --scenario NAME")
    else:
        flags = [f"--section={name}" for name in sections]
        if trace is not None:
            flags.append(f"--read_iolog={trace}")
        source = read_job_source((*arguments, *flags))
    if parse_only:
        return _check(context, source)
    if span is not None and state is None:
        raise SsdlabError(
            f"--span {span}: applies to preconditioning, and no condition is given\n"
            "add --state, or limit the job itself with --size"
        )
    check_exact(exact, state, "--state")
    base = RunRequest(
        drive="",
        settings=parse_settings(settings),
        layers=layers,
        scale=scale,
        job_text=source.text,
        job_name=source.name,
        flags=source.flags,
        condition=state,
        span=text.parse_span(span),
        exact=exact,
        layout=not no_layout,
        timeline=None if timeline is None else text.parse_timeline(timeline),
        json_plus="json+" in output_format,
        save=save,
        cache=not no_cache,
    )
    if save is not None and is_stdout(save) and is_stdout(output or "-"):
        raise SsdlabError(f"--save {save}: stdout already receives the results; add -o FILE")
    if target is not None:
        from ssdlab.cli.run_real import check_beside, run_target

        of_drives = {"--state": state, "--set": settings, "--layer": layers, "--save": save}
        of_drives |= {"--scale": scale}
        alone = {"--ensemble": ensemble, "--scenario": scenarios, "--timeline": timeline}
        check_beside(target, alone, of_drives, (*drives, *stacks))
        seeds = text.parse_seeds(seed)
        beside = _requests(base, (*drives, *stacks), seeds) if drives or stacks else []
        return run_target(
            target,
            source,
            Wishes(destroy, destroy_content),
            beside,
            output_format,
            output or "-",
            shows_progress=eta != "never",
        )
    if destroy or destroy_content:
        raise SsdlabError(
            "--destroy: names what a job on a real drive may overwrite\nadd --target DEVICE"
        )
    requests = _requests(base, (*drives, *stacks), text.parse_seeds(seed))
    several_seeds = len(text.parse_seeds(seed)) > 1
    draws = _draws(ensemble, stacks, scenarios, save, timeline, several_seeds)
    try:
        tell_memory(requests)
        shows_progress = eta != "never"
        if draws is not None:
            return run_ensembles(
                requests,
                draws,
                output_format,
                output or "-",
                shows_progress=shows_progress,
            )
        if scenarios:
            return run_scenarios(
                scenarios,
                tuple(text.parse_setting(value, "--scenario-set") for value in values),
                [(_label(request, requests), request) for request in requests],
                output_format,
                output or "-",
                shows_progress=shows_progress,
            )
        code = _run_and_write(requests, output_format, output or "-", shows_progress=shows_progress)
    except SsdlabError as error:
        raise _explained(context, error, source) from None
    _tell_fio_line(source)
    return code


def _draws(
    ensemble: str | None,
    stacks: tuple[str, ...],
    scenarios: tuple[str, ...],
    save: str | None,
    timeline: str | None,
    several_seeds: bool,
) -> int | None:
    """Read how many drives are drawn; an ensemble keeps figures alone, and draws by one seed."""
    if ensemble is None:
        return None
    alone = {
        "--stack": stacks,
        "--scenario": scenarios,
        "--save": save,
        "--timeline": timeline,
        "several seeds": several_seeds,
    }
    for name, given in alone.items():
        if given:
            message = f"--ensemble {ensemble}: does not go with {name}"
            raise SsdlabError(f"{message}\nleave one of them out")
    return parse_count(ensemble)


def _tell_fio_line(source: JobSource) -> None:
    """Say how an included job is run on a real drive; a file of that name is another job."""
    if source.text is None or source.text != jobs.text(source.name):
        return
    line = jobs.fio_line(source.name, "/dev/sdX", source.flags)
    note(
        "ssdlab: this runs the job with fio on a real drive; it OVERWRITES the drive, and all data "
        f"on it is lost:\n{line}"
    )


def _check(context: click.Context, source: JobSource) -> int:
    """Say what is wrong with a job, or what is in it."""
    try:
        checked = engine.check_job(source.text, source.name, source.flags)
    except SsdlabError as error:
        raise _explained(context, error, source) from None
    print_text(f"{source.name}: {', '.join(checked['jobs'])}")
    for notice in checked["notices"]:
        note(f"ssdlab: {notice}")
    return 0


def _explained(context: click.Context, error: SsdlabError, source: JobSource) -> SsdlabError:
    assert isinstance(context.command, FioCommand)
    return with_own_suggestion(error, source.flags, context.command.own_options())


def _requests(base: RunRequest, drives: tuple[str, ...], seeds: list[int]) -> list[RunRequest]:
    if not drives:
        raise SsdlabError("no drive: add --drive DRIVE; ssdlab drives lists the profiles")
    requests = [
        dataclasses.replace(base, drive=drive, seed=seed) for drive in drives for seed in seeds
    ]
    if base.save is not None:
        if len(requests) > 1:
            raise SsdlabError(
                f"--save {base.save}: keeps one drive; give one --drive and one --seed"
            )
        check_writable(base.save, "--save")
    return requests


def _label(request: RunRequest, requests: list[RunRequest]) -> str:
    several_seeds = len({each.seed for each in requests}) > 1
    return f"{request.drive}, seed {request.seed}" if several_seeds else request.drive


def _run_and_write(
    requests: list[RunRequest], output_format: str, output: str, *, shows_progress: bool
) -> int:
    with PendingFile(output) as pending:
        finished, stopped = _run(requests, shows_progress)
        if not finished:
            raise Stopped
        labels = [_label(request, requests) for request, _ in finished]
        results = [result for _, result in finished]
        write_document(document(results, labels, output_format), output_format, pending)
    _tell_notices(results)
    code = tell_not_steady(
        (label, Result.from_json(result).not_steady)
        for label, result in zip(labels, results, strict=True)
    )
    if not stopped:
        return int(worst([code, _failed(results)]))
    if len(requests) == 1:
        note("ssdlab: stopped; the figures cover what the run had done by then")
    else:
        share = f"{len(finished)} of {len(requests)} runs"
        note(f"ssdlab: stopped; kept the {share} that had finished")
    return signals.exit_code()


def _failed(results: list[str]) -> Exit:
    """Say whether requests failed, or a drive is worn out: the notices tell which."""
    failed = any(each.failures for each in map(Result.from_json, results))
    return Exit.FINDING if failed else Exit.DONE


def _tell_notices(results: list[str]) -> None:
    """Say once what the results say about the job, such as options without effect."""
    found = (job.lab.get("notices") for each in results for job in Result.from_json(each).jobs)
    for notice in dict.fromkeys(notice for notices in found for notice in notices or ()):
        note(f"ssdlab: {notice}")


def _run(
    requests: list[RunRequest], shows_progress: bool
) -> tuple[list[tuple[RunRequest, str]], bool]:
    """Return the runs that finished, and whether they were stopped before all had."""
    tasks = [partial(run_conditioned, request) for request in requests]
    labels = [_label(request, requests) for request in requests]
    results, stopped = carry_out(labels, tasks, shows_progress=shows_progress)
    pairs = zip(requests, results, strict=True)
    finished = [(request, result) for request, result in pairs if result]
    if not stopped:
        return finished, False
    # fio shows what a job had done when it was stopped. Beside whole runs that would mislead.
    whole = [pair for pair in finished if not Result.from_json(pair[1]).interrupted]
    unsaved = any(request.save is not None for request in requests)
    return (whole if len(requests) > 1 else finished), unsaved or len(whole) < len(requests)
