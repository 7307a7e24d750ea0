"""Replays what was measured: patterns on a slice of each drive, latencies on the whole drive.

What a run gave is kept (`kept`), so that an interrupted replay goes on. Left out: what the figures
are judged by (`judge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ssdlab.engine import Progress
from ssdlab.experiment import runner
from ssdlab.experiment.kept import Figures, kept
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.referee.measured import rows, transient
from ssdlab.study.twin import latency, slices

_TRANSIENT_DRIVE_WRITES = 0.55
"""So that the last minute of the first half drive write is whole."""


@dataclass(frozen=True)
class Replay:
    """A replay of rows.

    Attributes
    ----------
    folder
        Where results are kept.
    parts
        Slices run for 1/parts of a drive.
    share
        Share of the measurement's drive writes that is written; less than 1 to try it out.
    """

    folder: Path
    parts: int
    share: float = 1.0

    def pattern(self, row: rows.MeasuredRow, progress: Progress) -> Figures:
        """Return rate (MiB/s) and write amplification in a pattern."""
        written = row.drive_writes * self.share
        request = slices.writes(row.drive, self.parts, row.pattern, written)
        return kept(
            self.folder,
            f"{row.drive}-{row.pattern}-{self.parts}",
            [request],
            lambda: slices.rates(runner.run(request, progress), self.parts),
        )

    def transient(self, row: rows.MeasuredRow, progress: Progress) -> Figures:
        """Return rates (MiB/s) of the transient of uniform writes: a run of its own.

        A longer run keeps its series in longer intervals than minutes.
        """
        request = slices.writes(row.drive, self.parts, row.pattern, _TRANSIENT_DRIVE_WRITES)
        capacity = capacity_bytes(row.drive, scale=f"dies:{self.parts}")
        fresh = transient.fresh_minutes(rows.transient(row.drive), capacity * self.parts)

        def run() -> Figures:
            series = slices.written(runner.run(request, progress))
            return transient.figures(transient.minutes(series, self.parts, capacity), fresh)

        return kept(self.folder, f"{row.drive}-transient-{self.parts}", [request], run)

    def latencies(self, drive: str, loads: Sequence[int], progress: Progress) -> list[Figures]:
        """Return percentiles in µs of the probe at each rate, on the whole drive, used steadily."""
        chain = latency.loads(drive, loads)

        def run() -> Figures:
            results = runner.perform(chain, progress)
            return {
                f"{load} {key}": value
                for load, result in zip(loads, results, strict=True)
                for key, value in latency.percentiles(result).items()
            }

        name = "-".join([drive, *(str(load) for load in loads)])
        flat = kept(self.folder, name, [request for _, request in chain.runs], run)
        return [
            {key.split()[1]: value for key, value in flat.items() if key.split()[0] == str(load)}
            for load in loads
        ]
