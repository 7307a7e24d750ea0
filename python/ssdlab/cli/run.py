"""``ssdlab run``: a fio job on one drive or several, in virtual time."""

from __future__ import annotations

import dataclasses

import click

from ssdlab import engine, text
from ssdlab.cli.arguments import FioCommand, JobSource, read_job_source, with_own_suggestion
from ssdlab.cli.completion import complete_drive, complete_file
from ssdlab.cli.console import note, print_text, progress_display
from ssdlab.cli.drives import LAYER_OPTION, SET_OPTION, SPAN_OPTION, parse_settings
from ssdlab.engine import RunRequest
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.output import PendingFile, check_writable
from ssdlab.parallel import run_all, stop_on_interrupt
from ssdlab.result import Result, merge

FORMATS = ("normal", "json", "json+")
EXIT_STOPPED = 130


@click.command(
    cls=FioCommand,
    examples=(
        "ssdlab run job.fio --drive intel-dc-s3500-80gb --state steady",
        "ssdlab run --rw=randwrite --bs=4k --iodepth=16 --drive theory --drive my.toml",
        "ssdlab run job.fio --drive old.ssd --output-format json+ --output result.json",
        "ssdlab run job.fio --drive theory --layer partition:start_sector=63 --layer crypt:cores=2",
    ),
)
@click.argument(
    "arguments",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[JOB.fio] [--FIO-OPTION=VALUE]…",
    shell_complete=complete_file,
)
@click.option(
    "--drive",
    "drives",
    multiple=True,
    metavar="DRIVE",
    help="Run on this drive; repeat it to compare several side by side.",
    shell_complete=complete_drive,
)
@click.option(
    "--stack",
    "stacks",
    multiple=True,
    metavar="FILE.toml",
    help="Run on the drive and the layers of this file.",
)
@LAYER_OPTION
@SET_OPTION
@click.option("--state", type=click.Choice(engine.CONDITIONS), help="Precondition the drive first.")
@SPAN_OPTION
@click.option(
    "--seed",
    default="1",
    show_default=True,
    metavar="N",
    help="Use this seed; 1,2,3 or 1-10 make a run each.",
)
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    default="normal",
    show_default=True,
    help="Print results in this format; json+ adds latency histograms.",
)
@click.option("--output", "-o", metavar="FILE", help="Write to FILE instead of stdout.")
@click.option("--no-layout", is_flag=True, help="Do not write first what a read job will read.")
@click.option(
    "--timeline",
    metavar="START,LENGTH",
    help="Record single operations of this stretch, such as 10ms,2ms.",
)
@click.option("--save", metavar="FILE.ssd", help="Keep the drive as the job left it.")
@click.pass_context
def run(
    context: click.Context,
    arguments: tuple[str, ...],
    drives: tuple[str, ...],
    stacks: tuple[str, ...],
    layers: tuple[str, ...],
    settings: tuple[str, ...],
    state: str | None,
    span: str | None,
    seed: str,
    output_format: str,
    output: str | None,
    no_layout: bool,
    timeline: str | None,
    save: str | None,
) -> int:
    """Run a fio job on simulated drives.

    fio's own options work as flags, with a job file or without.
    """
    source = read_job_source(arguments)
    if span is not None and state is None:
        raise SsdlabError(
            f"--span {span}: applies to preconditioning, and no condition is given\n"
            "add --state, or limit the job itself with --size"
        )
    base = RunRequest(
        drive="",
        settings=parse_settings(settings),
        layers=layers,
        job_text=source.text,
        job_name=source.name,
        flags=source.flags,
        condition=state,
        span=text.parse_span(span),
        layout=not no_layout,
        timeline=None if timeline is None else text.parse_timeline(timeline),
        json_plus=output_format == "json+",
        save=save,
    )
    requests = _requests(base, (*drives, *stacks), text.parse_seeds(seed))
    try:
        return _run_and_write(requests, output_format, output)
    except SsdlabError as error:
        raise _explained(context, error, source) from None


def _explained(context: click.Context, error: SsdlabError, source: JobSource) -> SsdlabError:
    assert isinstance(context.command, FioCommand)
    return with_own_suggestion(error, source.flags, context.command.own_options())


def _requests(base: RunRequest, drives: tuple[str, ...], seeds: list[int]) -> list[RunRequest]:
    if not drives:
        raise SsdlabError("no drive: add --drive DRIVE; the profiles are listed by: ssdlab drives")
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


def _run_and_write(requests: list[RunRequest], output_format: str, output: str | None) -> int:
    pending = None if output in (None, "-") else PendingFile(str(output))
    try:
        finished, stopped = _run(requests)
        if not finished:
            raise Stopped
        labels = [_label(request, requests) for request, _ in finished]
        document = _document([result for _, result in finished], labels, output_format)
        if pending is None:
            print_text(document)
        else:
            pending.write(document.rstrip("\n") + "\n")
    finally:
        if pending is not None:
            pending.discard()
    if not stopped:
        return 0
    if len(requests) == 1:
        note("ssdlab: stopped; the figures are of what the run had done by then")
    else:
        share = f"{len(finished)} of {len(requests)} runs"
        note(f"ssdlab: stopped; kept are the {share} that had finished")
    return EXIT_STOPPED


def _run(requests: list[RunRequest]) -> tuple[list[tuple[RunRequest, str]], bool]:
    """Return the runs that finished, and whether they were stopped before all had."""
    tasks = [
        lambda progress, request=request: engine.run(request, progress) for request in requests
    ]
    labels = [_label(request, requests) for request in requests]
    with progress_display(labels) as display, stop_on_interrupt() as stop:
        results = run_all(
            tasks,
            stop=stop,
            report=display.report,
            finished=lambda index, _result: display.finish(index),
        )
    pairs = zip(requests, results, strict=True)
    finished = [(request, result) for request, result in pairs if result]
    if not stop.is_set():
        return finished, False
    # fio shows what a job had done when it was stopped. Beside whole runs that would mislead.
    whole = [pair for pair in finished if not Result.from_json(pair[1]).interrupted]
    return (whole if len(requests) > 1 else finished), len(whole) < len(requests)


def _document(results: list[str], labels: list[str], output_format: str) -> str:
    if output_format != "normal":
        return merge(results)
    texts = [engine.render(result, "normal").strip("\n") for result in results]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"== {label}\n{body}" for label, body in zip(labels, texts, strict=True))
