"""Runs a row on every drawn drive, and says what they have in common: 5, 50 and 95 %.

Each run is on 1/64 of the dies (`crates/lab/src/scale.rs`). Left out: chance within a run, and the
slice's own error, both small beside what is drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.experiment import runner
from ssdlab.experiment.ensemble.draw import draws
from ssdlab.experiment.ensemble.ranges import known
from ssdlab.experiment.kept import Figures, kept
from ssdlab.experiment.parallel import Task
from ssdlab.experiment.scale import PAGE_BYTES, capacity_bytes
from ssdlab.referee.predicted.drawn import DrawnValues, Predicted
from ssdlab.referee.predicted.rows import PredictedRow
from ssdlab.study.twin import patterns
from ssdlab.study.twin.slices import DEPTH, rates

QUANTILES = (0.05, 0.5, 0.95)
_RANGES = "predicted/micron-7450.toml"


@dataclass(frozen=True)
class Prediction:
    """All runs of a prediction.

    Attributes
    ----------
    folder
        Where results are kept.
    parts
        Slices are 1/parts of a drive.
    count
        Drives that are drawn.
    seed
        Of the draws.
    """

    folder: Path
    parts: int
    count: int
    seed: int = 1

    def pieces(
        self, asked: Sequence[PredictedRow]
    ) -> list[tuple[PredictedRow, Task[list[Predicted]]]]:
        """Return the rows, each with the work that gives its figures, one a draw."""
        ranges = known(_RANGES)
        drawn = draws(ranges, self.count, self.seed)
        drives = {
            row.drive: [DrawnValues(row.drive, ranges, draw) for draw in drawn] for row in asked
        }
        return [(row, functools.partial(self._row, row, drives[row.drive])) for row in asked]

    def _row(
        self, row: PredictedRow, drives: Sequence[DrawnValues], progress: Progress
    ) -> list[Predicted]:
        found = []
        for number, drawn in enumerate(drives):
            done = number / len(drives)

            def told(phase: str, share: float, done: float = done) -> bool:
                return progress(phase, done + share / len(drives))

            figures = self._run(row, drawn, told)
            found.append(drawn.corrected(row, figures["write_amplification"], figures["rate"]))
        return found

    def _run(self, row: PredictedRow, drawn: DrawnValues, progress: Progress) -> Figures:
        request = self._request(row, drawn)
        return kept(
            self.folder,
            f"{row.drive}-{row.pattern}-{row.written_share:g}",
            [request],
            lambda: rates(runner.run(request, progress), self.parts),
        )

    def _request(self, row: PredictedRow, drawn: DrawnValues) -> RunRequest:
        settings, scale = drawn.settings(), f"dies:{self.parts}"
        capacity = capacity_bytes(row.drive, settings, scale)
        used = round(capacity * row.written_share) // PAGE_BYTES * PAGE_BYTES
        written = round(capacity * row.drive_writes)
        whole = capacity_bytes(row.drive, settings) // PAGE_BYTES
        pages = round(whole * row.written_share)
        return RunRequest(
            row.drive,
            settings=settings,
            scale=scale,
            condition="filled",
            span=row.written_share,
            flags=(
                *("--rw=randwrite", "--bs=4k", "--norandommap"),
                *(f"--size={used}", f"--io_size={written}"),
                f"--iodepth={max(1, DEPTH // self.parts)}",
                f"--random_distribution={patterns.distribution(row.pattern, pages)}",
            ),
            cache=False,
        )


def summarised(row: PredictedRow, found: Sequence[Predicted]) -> dict[str, Any]:
    """Return a row as plain data, with low, median and high of both figures."""
    return {
        "drive": row.drive,
        "pattern": row.pattern,
        "written_share": row.written_share,
        "drive_writes": row.drive_writes,
        "write_amplification": _interval([each.write_amplification for each in found], 3),
        "mib_per_s": _interval([each.mib_per_s for each in found], 1),
    }


def _interval(values: Sequence[float], digits: int) -> list[float]:
    import numpy as np

    return [round(float(each), digits) for each in np.quantile(values, QUANTILES)]
