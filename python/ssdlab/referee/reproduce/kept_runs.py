"""Keeps what each run gave as soon as it ends, so that an interrupted command goes on.

A file is named by a hash of all that is asked for, the engine and the drives' parameters among it;
a changed profile or program is run anew. When all has ended, the answers are written, and the runs
are removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ssdlab import engine
from ssdlab.engine.result import Result
from ssdlab.experiment import cache
from ssdlab.experiment.experiment import Scale
from ssdlab.ground.output import PendingFile
from ssdlab.referee.reproduce.perform import Found, Piece


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

    def keep(self, piece: Piece, found: tuple[Found, float]) -> None:
        """Keep what a run gave, and the processor seconds that it took."""
        what, seconds = found
        is_result = isinstance(what, Result)
        data = what.to_dict() if isinstance(what, Result) else what
        told = {"is_result": is_result, "seconds": seconds, "found": data}
        self.folder.mkdir(parents=True, exist_ok=True)
        with PendingFile(self._file(piece), "-o") as pending:
            pending.write(json.dumps(told, ensure_ascii=False) + "\n")

    def find(self, piece: Piece) -> tuple[Found, float] | None:
        """Return what a run gave; None where it is not kept, or not whole."""
        try:
            told = json.loads(self._file(piece).read_text("utf-8"))
            found, seconds = told["found"], float(told["seconds"])
            return (Result(found, piece.label) if told["is_result"] else found), seconds
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self, pieces: Sequence[Piece]) -> None:
        """Remove these runs, and the folder where it is empty then."""
        for piece in pieces:
            self._file(piece).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _file(self, piece: Piece) -> Path:
        drive = engine.show(piece.experiment.drive)["parameters"]
        asked = [repr(self.scale), repr(piece.experiment), piece.seed, drive, cache.engine_hash()]
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]
        name = re.sub(r"[^\w.-]+", "-", piece.label)
        return self.folder / f"{name}-{piece.seed}-{digest}.json"
