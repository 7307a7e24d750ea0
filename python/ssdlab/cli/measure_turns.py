"""The turns of ``ssdlab measure`` on a real target, one after the other, each kept as it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ssdlab.bench.real.cipher import mapping
from ssdlab.bench.real.job import OpenTarget, open_target
from ssdlab.bench.real.job_words import for_target
from ssdlab.bench.real.safety import ShowLines
from ssdlab.bench.real.wishes import Wishes
from ssdlab.cli.console import note
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress
from ssdlab.engine.result import Result
from ssdlab.ground import text
from ssdlab.referee.asked.questions import AskedQuestion
from ssdlab.referee.asked.turns import turn


@dataclass(frozen=True)
class AskedTarget:
    """A target that is held, and what lies over it.

    Attributes
    ----------
    plain, encrypted
        It, and the same through the cipher where the question asks for one.
    tell
        Tells the user a line.
    """

    plain: OpenTarget
    encrypted: OpenTarget
    tell: ShowLines


def open_asked(asked: AskedQuestion, target: str, wishes: Wishes, held: ExitStack) -> AskedTarget:
    """Give a target to a question until `held` is closed.

    Raises
    ------
    SsdlabError
        The target is refused; nothing was written.
    """
    tell = _Once()
    plain = open_target(target, wishes, tell, held, writes=True)
    for each in turn(asked, 0, 1.0):
        plain.check(for_target(each.text, asked.name, (), plain.place))
    if not asked.encrypts:
        return AskedTarget(plain, plain, tell)
    assert plain.permission is not None, "it was opened for writing"
    over = plain.through(held.enter_context(mapping(plain.permission)))
    return AskedTarget(plain, over, tell)


def take_turns(
    asked: AskedQuestion,
    target: AskedTarget,
    turns: int,
    seconds: float,
    keep: Callable[[Sequence[Sequence[Result]]], None],
) -> tuple[list[list[Result]], bool]:
    """Take the turns.

    Parameters
    ----------
    keep
        Is handed the results of all turns so far, whenever one has ended.

    Returns
    -------
    tuple
        Of each finished turn its results; and whether the rest was stopped.

    Raises
    ------
    SsdlabError
        fio failed.
    """
    finished: list[list[Result]] = []

    def add(_index: int, results: list[Result]) -> None:
        finished.append(results)
        keep(finished)

    _tell_writes(asked, target, turns)
    tasks = [_turn(asked, target, number, seconds) for number in range(turns)]
    labels = [f"turn {number + 1}" for number in range(turns)]
    _, stopped = carry_out(labels, tasks, add, workers=1)
    return finished, stopped


def _turn(
    asked: AskedQuestion, target: AskedTarget, number: int, seconds: float
) -> Callable[[Progress], list[Result]]:
    jobs = []
    for each in turn(asked, number, seconds):
        opened = target.encrypted if each.encrypted else target.plain
        jobs.append((opened, for_target(each.text, asked.name, (), opened.place)))
    return lambda progress: [
        Result.from_json(opened.run(job, target.tell, progress)) for opened, job in jobs
    ]


def _tell_writes(asked: AskedQuestion, target: AskedTarget, turns: int) -> None:
    """Say beforehand what wears the drive, and takes its time."""
    permission = target.plain.permission
    if permission is None or asked.prepared_writes < 1:
        return
    size = permission.size_bytes
    target.tell(
        [
            f"each turn writes {asked.prepared_writes:g} times the target's {text.size(size)}, "
            f"{turns} turns {text.size(turns * asked.prepared_writes * size)}"
        ]
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
