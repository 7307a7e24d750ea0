"""Turns of a question, and what they come to: the ratio of A to B with its interval.

    rate of an arm = 1 / sum over its counted sections of the time that a block of 4 KiB takes,
    ratio = geometric mean over turns of A's rate / B's rate,
    interval by Student's t over its logarithms (`ssdlab.experiment.comparison`)

The same jobs, in the same order, are run on a simulated drive; there all turns are one run, so that
the drive goes through what the real one went through. Where A is encrypted it has a run of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Job, Result
from ssdlab.experiment.comparison import Interval, ratio_interval
from ssdlab.experiment.experiment import story
from ssdlab.ground.errors import SsdlabError
from ssdlab.referee.asked.questions import AskedQuestion, Contrast

_A, _B = 0, 1
_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class TurnJob:
    """A job of a turn.

    Attributes
    ----------
    text
        The job file.
    encrypted
        It goes through the cipher.
    """

    text: str
    encrypted: bool = False


@dataclass(frozen=True)
class TurnsAnswer:
    """What turns come to.

    Attributes
    ----------
    pairs
        Rates of B and of A in blocks of 4 KiB a second, a turn each.
    ratio
        A / B, over all turns.
    interval
        95 % of the ratio; None of a single turn.
    """

    pairs: tuple[tuple[float, float], ...]
    ratio: float
    interval: Interval | None


def turn(question: AskedQuestion, number: int, seconds: float) -> list[TurnJob]:
    """Return the jobs of a turn: A first in even ones, B first in odd ones."""
    arms = [(arm, question.arms[arm](seconds)) for arm in _order(number)]
    if not question.encrypts:
        return [TurnJob(story(*(each for _, sections in arms for each in sections)))]
    return [TurnJob(story(*sections), arm == _A) for arm, sections in arms]


def on_drive(
    question: AskedQuestion, turns: int, seconds: float, base: RunRequest, cipher: str
) -> list[RunRequest]:
    """Return all turns as runs of a simulated drive.

    Parameters
    ----------
    cipher
        The layer that encrypts, for a question that asks for it.
    """
    of_layers: dict[tuple[str, ...], list[str]] = {}
    for number in range(turns):
        for arm in _order(number):
            encrypts = question.encrypts and arm == _A
            layers = (cipher, *base.layers) if encrypts else base.layers
            of_layers.setdefault(layers, []).extend(
                each.replace("[", f"[{number}-", 1) for each in question.arms[arm](seconds)
            )
    return [
        replace(base, job_text=story(*each), job_name=question.name, layers=layers, layout=False)
        for layers, each in of_layers.items()
    ]


def figures(question: AskedQuestion, results: Sequence[Sequence[Result]]) -> list[TurnsAnswer]:
    """Return what turns of a real target come to, by contrast; of each turn its results."""
    jobs = [_by_name(each) for each in results]
    return [_answer([_pair(one, each) for each in jobs]) for one in question.contrasts]


def simulated(question: AskedQuestion, turns: int, results: Sequence[Result]) -> list[TurnsAnswer]:
    """Return what the runs of all turns come to, by contrast."""
    jobs = _by_name(results)
    return [
        _answer([_pair(one, jobs, f"{number}-") for number in range(turns)])
        for one in question.contrasts
    ]


def _order(number: int) -> tuple[int, int]:
    return (_A, _B) if number % 2 == 0 else (_B, _A)


def _by_name(results: Sequence[Result]) -> dict[str, Job]:
    return {job.name: job for result in results for job in result.jobs}


def _pair(contrast: Contrast, jobs: Mapping[str, Job], prefix: str = "") -> tuple[float, float]:
    first, second = (_rate([jobs[prefix + name] for name in names]) for names in contrast.sections)
    return second, first


def _rate(jobs: Sequence[Job]) -> float:
    """Return how many blocks a second go through all these jobs, one behind the other."""
    for job in jobs:
        if not job.bandwidth():
            raise SsdlabError(
                f"job {job.name}: moved nothing, so that there is no ratio\n"
                "give it more time: --seconds 10"
            )
    return 1 / sum(_BLOCK_BYTES / job.bandwidth() for job in jobs)


def _answer(pairs: Sequence[tuple[float, float]]) -> TurnsAnswer:
    ratio, interval = ratio_interval(pairs)
    assert ratio is not None, "a job that moved nothing is refused before"
    return TurnsAnswer(tuple(pairs), ratio, interval)
