"""Keeps what each run gave as soon as it ends, so that an interrupted command goes on.

When all has ended, the answers are written, and the runs are removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.engine.result import Result
from ssdlab.experiment.kept import Kept, parameters_of
from ssdlab.experiment.scale import Scale
from ssdlab.referee.reproduce.perform import Piece, RunOutcome


@dataclass(frozen=True)
class KeptRuns:
    """What runs gave, in a folder.

    Attributes
    ----------
    folder
        Made when there is something to keep.
    scale
        Of all runs.
    """

    folder: Path
    scale: Scale

    def keep(self, piece: Piece, found: tuple[RunOutcome, float]) -> None:
        """Keep what a run gave, and the processor seconds that it took."""
        what, seconds = found
        is_result = isinstance(what, Result)
        data = what.to_dict() if isinstance(what, Result) else what
        told = {"is_result": is_result, "seconds": seconds, "found": data}
        Kept(self.folder).keep(*self._asked(piece), told)

    def find(self, piece: Piece) -> tuple[RunOutcome, float] | None:
        """Return what a run gave; None where it is not kept, or not whole."""
        told = Kept(self.folder).find(*self._asked(piece))
        if told is None:
            return None
        found, seconds = told["found"], float(told["seconds"])
        return (Result(found, piece.label) if told["is_result"] else found), seconds

    def remove(self, pieces: Sequence[Piece]) -> None:
        """Remove these runs, and the folder where it is empty then."""
        for piece in pieces:
            Kept(self.folder).remove(*self._asked(piece))

    def _asked(self, piece: Piece) -> tuple[str, Any]:
        drive = parameters_of(piece.experiment.drive)
        asked = [repr(self.scale), repr(piece.experiment), piece.seed, drive]
        return f"{piece.label}-{piece.seed}", asked
