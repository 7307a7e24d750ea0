"""Runs the writes of a published figure on a drive that is steady.

A drive whose whole range is written goes into steady state by the scale model. Where a part of it
is written, the drive is filled once, and the writes go on for long before they are measured: with
the rest at rest, that part gets all the spare. Left out: what a maker's own test did before.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ssdlab.engine import Progress, conditions
from ssdlab.engine.request import RunRequest
from ssdlab.experiment import runner
from ssdlab.experiment.kept import Figures, kept
from ssdlab.referee.published.rows import PublishedRate

RAMP_S = 3600
"""Of a part: at the rates that are published, it is overwritten five times and more by then."""


@dataclass(frozen=True)
class Runs:
    """All runs.

    Attributes
    ----------
    folder
        Where results are kept.
    seconds
        How long each drive is measured, in virtual time.
    """

    folder: Path
    seconds: int

    def iops(self, row: PublishedRate, progress: Progress) -> Figures:
        """Return a drive's writes a second and its write amplification."""
        request = self.request(row)

        def run() -> Figures:
            job = runner.run(request, progress).job()
            assert job.write_amplification is not None, "it wrote"
            return {"iops": job.iops(), "write_amplification": job.write_amplification}

        return kept(self.folder, row.drive, [request], run)

    def request(self, row: PublishedRate) -> RunRequest:
        """Return what is run for a figure."""
        writes = ("--rw=randwrite", f"--bs={row.block}", f"--iodepth={row.depth}", "--norandommap")
        timed = ("--time_based", f"--runtime={self.seconds}")
        part = (f"--size={row.span}", f"--ramp_time={RAMP_S}") if row.span else ()
        return RunRequest(
            row.drive,
            condition="filled" if row.span else conditions.BY_JOB,
            flags=(*writes, *timed, *part),
            cache=False,
        )
