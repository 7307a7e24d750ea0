"""Performs the questions on drives that are drawn, one draw after the other.

What a draw gave is kept in a folder, so an interrupted ensemble goes on. A draw in which a drive
cannot work leaves that question out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.engine import Progress
from ssdlab.experiment.kept import Kept, parameters_of
from ssdlab.experiment.parallel import Task
from ssdlab.experiment.scale import Scale
from ssdlab.ground.errors import SsdlabError
from ssdlab.referee.reproduce import intervals
from ssdlab.referee.reproduce.assumed import Assumed, assumptions
from ssdlab.referee.reproduce.intervals import DrawnRows
from ssdlab.referee.reproduce.perform import Performance, RunOutcome
from ssdlab.referee.reproduce.question import Question

Attempt = tuple[RunOutcome, float] | None
"""What a run gave; None where no such drive can work."""

Carry = Callable[[Sequence[str], Sequence[Task[Attempt]], Callable[[int, Attempt], None]], bool]
"""Carries tasks out under their labels, hands on what they gave; tells whether it was stopped."""


@dataclass(frozen=True)
class QuestionEnsemble:
    """Draws of all questions.

    Attributes
    ----------
    questions
        What is asked.
    scale
        Sizes and seeds.
    count
        How many draws.
    folder
        Where what they gave is kept.
    seed
        Of the draws.
    """

    questions: Sequence[Question]
    scale: Scale
    count: int
    folder: Path
    seed: int = 1

    def perform(self, carry: Carry) -> list[DrawnRows]:
        """Perform every draw; return those that ended, fewer if it was stopped."""
        found: list[DrawnRows] = []
        for number, assumed in enumerate(assumptions(self.count, self.seed), 1):
            if not self._draw(number, assumed, carry):
                break
            found.append(self._kept(number, assumed))
        return found

    def _draw(self, number: int, assumed: Assumed, carry: Carry) -> bool:
        """Perform the questions of a draw that are not kept; tell whether all of them ended."""
        missing = [each for each in self.questions if self._kept_of(number, each, assumed) is None]
        performance = Performance(missing, self.scale, assumed)
        pieces = performance.pieces()
        labels = [f"draw {number} of {self.count}: {piece.label}" for piece in pieces]

        def keep(index: int, found: Attempt) -> None:
            if found is not None:
                performance.keep(pieces[index], found)

        tasks = [_attempt(task) for task in performance.tasks(pieces)]
        if tasks and carry(labels, tasks, keep):
            return False
        figures = {
            question.name: intervals.figures(question.rows(results))
            for question, results in performance.answered()
        }
        for question in missing:
            told = figures.get(question.name, {})
            Kept(self.folder).keep(*self._asked(number, question, assumed), told)
        return True

    def _kept(self, number: int, assumed: Assumed) -> DrawnRows:
        """Return what a draw gave; a question that it could not answer is left out."""
        found = {each.name: self._kept_of(number, each, assumed) for each in self.questions}
        return {name: figures for name, figures in found.items() if figures}

    def _kept_of(self, number: int, question: Question, assumed: Assumed) -> Any:
        return Kept(self.folder).find(*self._asked(number, question, assumed))

    def _asked(self, number: int, question: Question, assumed: Assumed) -> tuple[str, Any]:
        """Return a name, and all that is asked for, the drives' parameters among it."""
        drawn = [assumed.on(each) for each in question.experiments(self.scale)]
        shown = [parameters_of(drive) for drive in sorted({each.drive for each in drawn})]
        return f"draw-{number}-{question.name}", [repr(self.scale), [*map(repr, drawn)], shown]


def _attempt(task: Task[tuple[RunOutcome, float]]) -> Task[Attempt]:
    def run(progress: Progress) -> Attempt:
        try:
            return task(progress)
        except SsdlabError:
            return None

    return run
