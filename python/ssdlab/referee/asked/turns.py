"""Turns of a question, and what they come to: the ratio of A to B with its interval.

    ratio = geometric mean over turns of IOPS of A / IOPS of B,
    interval by Student's t over its logarithms (`ssdlab.experiment.comparison`)

The same jobs, in the same order, are run on a simulated drive; there all turns are one run, so that
the drive goes through what the real one went through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment.comparison import Interval, ratio_interval
from ssdlab.experiment.experiment import story
from ssdlab.referee.asked.questions import AskedQuestion


@dataclass(frozen=True)
class TurnsAnswer:
    """What turns come to.

    Attributes
    ----------
    pairs
        IOPS of B and of A, a turn each.
    ratio
        A / B, over all turns.
    interval
        95 % of the ratio; None of a single turn.
    """

    pairs: tuple[tuple[float, float], ...]
    ratio: float
    interval: Interval | None


def turn(question: AskedQuestion, number: int, seconds: float) -> str:
    """Return the job of a turn: A first in even ones, B first in odd ones."""
    return story(*_sections(question, number, seconds))


def on_drive(question: AskedQuestion, turns: int, seconds: float, base: RunRequest) -> RunRequest:
    """Return all turns as one run of a simulated drive."""
    parts = [
        each.replace("[", f"[{number}-", 1)
        for number in range(turns)
        for each in _sections(question, number, seconds)
    ]
    return RunRequest(
        **{**vars(base), "job_text": story(*parts), "job_name": question.name, "layout": False}
    )


def figures(question: AskedQuestion, results: Sequence[Result]) -> TurnsAnswer:
    """Return what the turns of a real target come to, a result each."""
    pairs = []
    for each in results:
        iops = {job.name: job.iops("write") for job in each.jobs if "write" in job.directions}
        pairs.append(_pair(question, iops, ""))
    return _answer(pairs)


def simulated(question: AskedQuestion, turns: int, result: Result) -> TurnsAnswer:
    """Return what a run of all turns comes to."""
    iops = {job.name: job.iops("write") for job in result.jobs if "write" in job.directions}
    return _answer([_pair(question, iops, f"{number}-") for number in range(turns)])


def _sections(question: AskedQuestion, number: int, seconds: float) -> list[str]:
    arms = [list(arm(seconds).values()) for arm in question.arms]
    return [each for arm in (arms if number % 2 == 0 else arms[::-1]) for each in arm]


def _pair(question: AskedQuestion, iops: dict[str, float], prefix: str) -> tuple[float, float]:
    first, second = ([*arm(1.0)][-1] for arm in question.arms)
    return iops[prefix + second], iops[prefix + first]


def _answer(pairs: Sequence[tuple[float, float]]) -> TurnsAnswer:
    ratio, interval = ratio_interval(pairs)
    assert ratio is not None, "a job that moved nothing is refused before"
    return TurnsAnswer(tuple(pairs), ratio, interval)
