"""The experiments of five documents on SSDs, ordered by question: their figures beside ours.

A question is one file in `questions`: what the documents say, what is run, how the rows are read
from it, one picture, the mechanism, the verdict. A file that is added there is found; nothing else
is edited.

Only ratios are judged. A model of a drive has the mechanism and not the maker's firmware, so its
MB/s are its own, while "half as fast when misaligned" either follows from the mechanism or does
not.
"""

from ssdlab.reproduce.catalogue import find, questions
from ssdlab.reproduce.experiment import FULL, QUICK, Experiment, Scale
from ssdlab.reproduce.perform import Performance
from ssdlab.reproduce.question import Question

__all__ = [
    "FULL",
    "QUICK",
    "Experiment",
    "Performance",
    "Question",
    "Scale",
    "find",
    "questions",
]
