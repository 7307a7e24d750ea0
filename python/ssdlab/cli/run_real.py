"""``ssdlab run --target``: a job on a real drive by fio, and its simulated answer beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from ssdlab.bench.real.job import open_target
from ssdlab.bench.real.job_words import for_target
from ssdlab.bench.real.wishes import Wishes
from ssdlab.cli.arguments import JobSource
from ssdlab.cli.console import note
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.formats import document, write_document
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment.cache import run_conditioned
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile


def check_beside(
    target: str,
    alone: Mapping[str, object],
    simulated: Mapping[str, object],
    drives: Sequence[str],
) -> None:
    """Refuse what a real drive has no use of: it is in the condition that it is in.

    Raises
    ------
    SsdlabError
        An option that stands alone was given, or one of a simulated drive without any.
    """
    for name, given in alone.items():
        if given:
            raise SsdlabError(f"{name}: does not go with --target {target}\nleave one of them out")
    for name, given in simulated.items():
        if given and not drives:
            raise SsdlabError(
                f"{name}: applies to a simulated drive, and --target {target} is a real one\n"
                "leave it out, or add --drive for the simulated answer beside it"
            )


def run_target(
    target: str,
    source: JobSource,
    wishes: Wishes,
    requests: Sequence[RunRequest],
    output_format: str,
    output: str,
    *,
    shows_progress: bool,
) -> Exit:
    """Run a job on simulated drives, then on a real target, and write all results.

    Parameters
    ----------
    requests
        The simulated runs beside it.

    Raises
    ------
    SsdlabError
        The target is refused, or fio failed.
    Stopped
        It was stopped before fio had ended; nothing is written then.
    """
    # Wrong words are told before the target is touched, and it is held before time is spent.
    writes = for_target(source.text, source.name, source.flags, ()).writes
    with PendingFile(output) as pending, ExitStack() as held:
        opened = open_target(target, wishes, _show, held, writes=writes)
        job = for_target(source.text, source.name, source.flags, opened.place)
        _show(job.notices)
        beside = []
        for each in requests:
            beside.append(_one(each.drive, partial(run_conditioned, each), shows_progress))
            _show([f"{each.drive}, simulated: {_rates(beside[-1])}"])

        def real(progress: Progress) -> str:
            return opened.run(job, _show, progress, with_bins="+" in output_format)

        results = [_one(target, real, shows_progress), *beside]
        labels = [target, *(each.drive for each in requests)]
        write_document(document(results, labels, output_format), output_format, pending)
    read = [Result.from_json(each) for each in results]
    for said in read[0].said:
        note(f"ssdlab: {said}")
    reasons = [(label, each.not_steady) for label, each in zip(labels[1:], read[1:], strict=True)]
    failed = any(each.failures for each in read)
    return worst([tell_not_steady(reasons), Exit.FINDING if failed else Exit.DONE])


def _rates(result: str) -> str:
    """Say in short what to look for while fio runs."""
    jobs = Result.from_json(result).jobs
    return ", ".join(
        f"{name} {text.count(job.iops(name))} IOPS" for job in jobs for name in job.directions
    )


def _one(label: str, task: Callable[[Progress], str], shows_progress: bool) -> str:
    """Carry one run out by itself: a drive's figures are not to hang on what else is computed."""
    (found,), stopped = carry_out([label], [task], shows_progress=shows_progress)
    if stopped or found is None:
        raise Stopped
    return found


def _show(lines: Sequence[str]) -> None:
    for line in lines:
        note(f"ssdlab: {line}")
