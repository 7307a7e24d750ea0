"""Runs experiments: a drive is prepared once, and every run starts from a copy of it.

What is run is data: requests. The prepared drive comes from the user's cache, or lies in a
temporary file for as long as its runs last. A run that was stopped half way is no result. Left out:
which runs there are, and what their results are kept for; `ssdlab.experiment.parallel` shares
chains out over the cores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import cache
from ssdlab.ground.errors import Stopped

# Preconditioning takes far longer than the measurements that follow.
_PREPARING_SHARE = 0.8
_PHASES = {"fill": (0.0, 0.05), "use": (0.05, 0.2), "settle": (0.2, 1.0)}
"""Shares of preconditioning, so that a bar does not run backwards."""


@dataclass(frozen=True)
class Chain:
    """Runs that start from the same drive.

    Attributes
    ----------
    runs
        What progress calls a run (nothing where it is the only one), and what is run.
    drive
        What the drive of all runs is prepared by; None where each run's request says it.
    start_over
        How the prepared drive is then started over, as `ssdlab season` takes it.
    """

    runs: tuple[tuple[str, RunRequest], ...]
    drive: RunRequest | None = None
    start_over: str | None = None

    @classmethod
    def of(
        cls, run: RunRequest, drive: RunRequest | None = None, start_over: str | None = None
    ) -> Chain:
        """Return a chain of one run."""
        return cls((("", run),), drive, start_over)


def perform(
    chain: Chain, progress: Progress, keep: Callable[[int, Result], None] | None = None
) -> list[Result]:
    """Prepare the drive, and run everything on a copy of it.

    Parameters
    ----------
    chain
        What is run.
    progress
        As for `engine.run`, of the chain as a whole.
    keep
        Hears of each run's number and result as it comes.

    Returns
    -------
    list
        A result per run.

    Raises
    ------
    SsdlabError
        What the user can mend.
    Stopped
        `progress` returned False.
    """
    done = 0.0 if chain.drive is None else _PREPARING_SHARE
    found = []
    with _prepared(chain, _part(progress, "season" if chain.runs[0][0] else "", 0.0, done)) as file:
        step = (1 - done) / len(chain.runs)
        for number, (name, request) in enumerate(chain.runs):
            begun = done + number * step
            part = _part(progress, name, begun, begun + step)
            asked = request if file is None else request.on(file)
            found.append(run(asked, part))
            if keep is not None:
                keep(number, found[-1])
    return found


def run(request: RunRequest, progress: Progress) -> Result:
    """Run a job to its end.

    Raises
    ------
    SsdlabError
        What the user can mend.
    Stopped
        `progress` returned False.
    """
    return whole(engine.run(request, progress), request.job_name)


def whole(document: str, name: str) -> Result:
    """Read the result of a run.

    Raises
    ------
    Stopped
        The run was stopped before its end.
    """
    result = Result.from_json(document, name)
    if result.interrupted:
        raise Stopped
    return result


def prepared(drive: RunRequest, file: str, progress: Progress) -> RunRequest:
    """Return the request on a drive file in its condition, from the cache where it can be kept.

    Parameters
    ----------
    drive
        A single drive, and what brings it into its condition.
    file
        Where the drive lies otherwise.
    progress
        As for `engine.run`.
    """
    kept = cache.conditioned(drive, progress)
    if kept is not drive:
        return kept
    engine.precondition(drive, file, progress)
    return drive.on(file)


@contextmanager
def _prepared(chain: Chain, progress: Progress) -> Iterator[str | None]:
    """Keep the prepared drive in a file while the block runs; None where there is none."""
    if chain.drive is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        file = f"{folder}/drive.ssd"
        made = prepared(chain.drive, file, progress).drive
        if chain.start_over is not None:
            engine.season(RunRequest(made, start_over=chain.start_over, save=file), progress)
            made = file
        yield made


def _part(progress: Progress, name: str, first: float, last: float) -> Progress:
    """Report a step of a chain as its part of the whole."""

    def report(phase: str, share: float) -> bool:
        begin, end = _PHASES.get(phase, (0.0, 1.0))
        said = phase if name in ("", phase) else f"{name}: {phase}"
        return progress(said, first + (last - first) * (begin + (end - begin) * share))

    return report
