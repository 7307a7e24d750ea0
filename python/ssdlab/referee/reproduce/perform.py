"""Runs the experiments of the questions on the cores there are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.engine import Progress
from ssdlab.engine.result import Result
from ssdlab.experiment import runner
from ssdlab.experiment.experiment import Scene
from ssdlab.experiment.parallel import Task
from ssdlab.experiment.scale import Scale
from ssdlab.ground.errors import Stopped
from ssdlab.referee.reproduce.assumed import AnyExperiment, Assumed
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results
from ssdlab.referee.reproduce.specified import Specified

RunOutcome = Result | dict[str, Any]
"""What a run gives: a result, or what a scenario or a part of SNIA's test tells."""


@dataclass(frozen=True)
class Piece:
    """One run of one experiment."""

    question: Question
    experiment: AnyExperiment
    seed: int

    @property
    def label(self) -> str:
        """What progress calls it."""
        return f"{self.question.name}, {self.experiment.name}"

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from all others."""
        return self.question.name, self.experiment.name, self.seed


@dataclass
class Performance:
    """One performance of some questions.

    Attributes
    ----------
    questions
        What is asked.
    scale
        Sizes and seeds.
    assumed
        What the drives assume; None leaves them as their profiles are.
    cpu_s
        Processor seconds that each question took so far.
    """

    questions: Sequence[Question]
    scale: Scale
    assumed: Assumed | None = None
    cpu_s: dict[str, float] = field(default_factory=dict)
    _planned: list[Piece] = field(default_factory=list)
    _found: dict[tuple[str, str, int], RunOutcome] = field(default_factory=dict)

    def pieces(self) -> list[Piece]:
        """Return all that is to be run."""
        return [
            Piece(question, self._drawn(experiment), seed)
            for question in self.questions
            for experiment in question.experiments(self.scale)
            for seed in self.scale.seeds
        ]

    def planned(self) -> list[Piece]:
        """Plan all pieces, once."""
        if not self._planned:
            self._planned.extend(self.pieces())
        return self._planned

    def tasks(self, pieces: Sequence[Piece]) -> list[Task[tuple[RunOutcome, float]]]:
        """Return the work, which is planned then; what comes of it goes to `keep`."""
        known = {piece.key for piece in self._planned}
        self._planned.extend(piece for piece in pieces if piece.key not in known)
        return [self._task(piece) for piece in pieces]

    def keep(self, piece: Piece, found: tuple[RunOutcome, float]) -> None:
        """Keep what a piece gave."""
        self._found[piece.key], seconds = found
        name = piece.question.name
        self.cpu_s[name] = self.cpu_s.get(name, 0.0) + seconds

    def answered(self) -> list[tuple[Question, Results]]:
        """Return the questions of which every run has finished, and its results.

        They stand as planned, in whatever order the runs finished: some rows read the first.
        """
        answers = []
        for question in self.questions:
            pieces = [piece for piece in self._planned if piece.question.name == question.name]
            if pieces and all(piece.key in self._found for piece in pieces):
                results = Results()
                for piece in pieces:
                    results.add(piece.experiment.name, self._found[piece.key])
                answers.append((question, results))
        return answers

    def _drawn(self, experiment: AnyExperiment) -> AnyExperiment:
        return experiment if self.assumed is None else self.assumed.on(experiment)

    def _task(self, piece: Piece) -> Task[tuple[RunOutcome, float]]:
        def task(progress: Progress) -> tuple[RunOutcome, float]:
            before = time.thread_time()
            return _perform(self.scale, piece, progress), time.thread_time() - before

        return task


def _perform(scale: Scale, piece: Piece, progress: Progress) -> RunOutcome:
    if isinstance(piece.experiment, Scene):
        if not progress("scenario", 0.0):
            raise Stopped
        return piece.experiment.perform(piece.seed)
    if isinstance(piece.experiment, Specified):
        return piece.experiment.perform(scale, piece.seed, progress)
    return runner.perform(piece.experiment.chain(scale, piece.seed), progress)[0]
