"""The turns of ``ssdlab measure`` on a real target, one after the other, each kept as it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from ssdlab.bench.real.cipher import CipherRate, mapping
from ssdlab.bench.real.job import OpenTarget, open_target
from ssdlab.bench.real.job_words import for_target
from ssdlab.bench.real.safety import Show
from ssdlab.bench.real.wishes import Wishes
from ssdlab.cli.console import note
from ssdlab.cli.measure_answer import as_data
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress
from ssdlab.engine.result import Result
from ssdlab.ground import text
from ssdlab.ground.output import PendingFile, check_writable
from ssdlab.referee.asked.questions import AskedQuestion
from ssdlab.referee.asked.turns import figures, turn


def take_turns(
    asked: AskedQuestion,
    target: str,
    wishes: Wishes,
    turns: int,
    seconds: float,
    output: str | None,
    rate: CipherRate | None,
) -> tuple[list[list[Result]], bool]:
    """Take the turns.

    Parameters
    ----------
    output
        Where the answer is kept after each turn; None keeps it nowhere.
    rate
        What the kernel says of its cipher.

    Returns
    -------
    tuple
        Of each finished turn its results; and whether the rest was stopped.

    Raises
    ------
    SsdlabError
        The target is refused, or fio failed.
    """
    if output is not None:
        check_writable(output, "--output")
    finished: list[list[Result]] = []

    def keep(_index: int, results: list[Result]) -> None:
        finished.append(results)
        if output is not None:
            data = as_data(asked, target, figures(asked, finished), None, rate)
            with PendingFile(output) as pending:
                pending.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")

    tell = _Once()
    with ExitStack() as held:
        opened = open_target(target, wishes, tell, held, writes=True)
        _tell_writes(asked, opened, turns)
        over = opened
        if asked.encrypts:
            assert opened.permission is not None
            over = opened.through(held.enter_context(mapping(opened.permission)))
        tasks = [_turn(asked, opened, over, number, seconds, tell) for number in range(turns)]
        labels = [f"turn {number + 1}" for number in range(turns)]
        _, stopped = carry_out(labels, tasks, keep, workers=1)
    return finished, stopped


def _turn(
    asked: AskedQuestion,
    plain: OpenTarget,
    encrypted: OpenTarget,
    number: int,
    seconds: float,
    tell: Show,
) -> Callable[[Progress], list[Result]]:
    jobs = []
    for each in turn(asked, number, seconds):
        opened = encrypted if each.encrypted else plain
        jobs.append((opened, for_target(each.text, asked.name, (), opened.place)))
    return lambda progress: [
        Result.from_json(opened.run(job, tell, progress)) for opened, job in jobs
    ]


def _tell_writes(asked: AskedQuestion, opened: OpenTarget, turns: int) -> None:
    """Say beforehand what wears the drive, and takes its time."""
    if opened.permission is None or asked.prepared_writes < 1:
        return
    size = opened.permission.size_bytes
    note(
        f"ssdlab: each turn writes {asked.prepared_writes:g} times the target's "
        f"{text.size(size)}, {turns} turns {text.size(turns * asked.prepared_writes * size)}"
    )


class _Once:
    """Tells each line once: every fio of every turn says the same."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, lines: Sequence[str]) -> None:
        for line in lines:
            if line not in self._told:
                self._told.add(line)
                note(f"ssdlab: {line}")
