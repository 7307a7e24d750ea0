"""The experiments of five documents on SSDs, ordered by question: their figures beside ours.

A question is one file in `questions`: what the documents say, what is run, how the rows are read
from it, one picture, the mechanism, the finding. A file that is added there is found; nothing else
is edited.

Only ratios are judged. A model of a drive has the mechanism and not the maker's firmware, so its
MB/s are its own, while "half as fast when misaligned" either follows from the mechanism or does
not.
"""

from typing import TYPE_CHECKING

from ssdlab.ground.lazy import loader

if TYPE_CHECKING:
    from ssdlab.experiment.experiment import Experiment
    from ssdlab.experiment.scale import FULL, QUICK, Scale
    from ssdlab.referee.reproduce.catalogue import find
    from ssdlab.referee.reproduce.perform import Performance
    from ssdlab.referee.reproduce.question import Question

__all__ = [
    "FULL",
    "QUICK",
    "Experiment",
    "Performance",
    "Question",
    "Scale",
    "find",
]

__getattr__ = loader(
    __name__,
    {
        ".catalogue": ("find",),
        "ssdlab.experiment.experiment": ("Experiment",),
        "ssdlab.experiment.scale": ("FULL", "QUICK", "Scale"),
        ".perform": ("Performance",),
        ".question": ("Question",),
    },
)
