"""A question: one file that says what to run and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.experiment.experiment import Experiment, Scene
from ssdlab.experiment.scale import Scale
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.provenance import Fitted
from ssdlab.referee.reproduce.results import Results
from ssdlab.referee.reproduce.specified import Specified


@dataclass(frozen=True)
class Question:
    """A question and how it is answered.

    Attributes
    ----------
    number
        Its place in the report.
    name
        What it is called on the command line.
    title
        The question.
    said
        What the documents say of it and where they disagree: (document and place, statement).
    experiments
        What is run, at a scale.
    rows
        What is compared.
    picture
        Inline SVG that a reader understands in ten seconds.
    caption
        What the picture shows.
    mechanism
        Why it comes out so.
    finding
        The answer in a paragraph, computed from the results; verdicts are what its rows have.
    seconds
        Processor time of all its runs in the quick set (x86-64 of 2023).
    stand_ins
        What stands in for something that is not known or not modelled.
    fitted
        What was fitted beside parameters of profiles.
    """

    number: int
    name: str
    title: str
    said: Sequence[tuple[str, str]]
    experiments: Callable[[Scale], Sequence[Experiment | Scene | Specified]]
    rows: Callable[[Results], list[JudgedRow]]
    picture: Callable[[Results], str]
    caption: str
    mechanism: str
    finding: Callable[[Results], str]
    seconds: float
    stand_ins: Sequence[str] = ()
    fitted: Sequence[Fitted] = ()
