"""Work that takes long: on the cores there are, with progress, and stopped by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ssdlab.cli.console import progress_display
from ssdlab.experiment.parallel import Task, run_all, stop_on_interrupt

T = TypeVar("T")


def carry_out(
    labels: Sequence[str],
    tasks: Sequence[Task[T]],
    finished: Callable[[int, T], None] | None = None,
    *,
    shows_progress: bool = True,
    workers: int | None = None,
) -> tuple[list[T | None], bool]:
    """Do several things at once.

    Parameters
    ----------
    labels
        What progress calls each.
    tasks
        What to do, in the order in which to begin.
    finished
        Hears of each result as it comes, in the calling thread.
    shows_progress
        Whether a terminal shows how far they are.
    workers
        At most so many at once; by default one per core.

    Returns
    -------
    tuple
        A result per task, None for one that was stopped; and whether they were stopped.
    """
    with progress_display(labels, shows_progress) as display, stop_on_interrupt() as stop:

        def keep(index: int, result: T) -> None:
            display.finish(index)
            if finished is not None:
                finished(index, result)

        results = run_all(tasks, stop=stop, report=display.report, workers=workers, finished=keep)
        return results, stop.is_set()
