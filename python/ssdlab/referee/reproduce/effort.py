"""How long questions take, told before they are run: processor time that they took elsewhere.

Each question says how long all its runs take in the quick set.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.experiment.parallel import cores
from ssdlab.experiment.scale import Scale
from ssdlab.ground import text
from ssdlab.referee.reproduce.perform import Piece

_FULL_TIMES = 10
"""The full set takes so many times as long as the quick one."""


def told(scale: Scale, missing: Sequence[Piece], planned: int) -> str:
    """Say how long the runs take that are not kept yet."""
    kept = planned - len(missing)
    runs = f"{len(missing)} runs" if not kept else f"{len(missing)} of {planned} runs are left, and"
    return f"{runs} take about {text.long_time(seconds(scale, missing, planned) / cores())} here"


def seconds(scale: Scale, missing: Sequence[Piece], planned: int) -> float:
    """Return the processor time of runs: of all runs of their questions, their share."""
    times = 1 if scale.name == "quick" else _FULL_TIMES
    asked = {piece.question.name: piece.question.seconds for piece in missing}
    of_questions = sum(asked.values()) * times
    return of_questions * len(missing) / max(1, planned)
