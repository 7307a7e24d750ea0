"""What is predicted: patterns of 4 KiB writes on the Micron 7450 PRO and MAX.

Each row was measured elsewhere so: erase and discard of the whole drive, a sequential fill of the
range (the rest stays discarded), then the pattern with 512 requests in flight; medians over 60 to
99 % of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

PRO, MAX = "micron-7450-pro-960gb", "micron-7450-max-800gb"
_SHARES = {
    PRO: (0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 1.0),
    MAX: (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
_WHOLE: tuple[tuple[str, float], ...] = (
    *((f"zipf-{theta}", 5) for theta in ("0.2", "0.4", "0.6", "0.8")),
    ("zipf-1.0", 6),
    *((f"two-zone {zone}", 9) for zone in ("5/95", "10/90", "20/80", "30/70", "40/60")),
    *((f"never-rewritten {share}", 7) for share in ("0.2", "0.4", "0.6", "0.8", "0.9")),
)


@dataclass(frozen=True)
class PredictedRow:
    """A pattern on a drive.

    Attributes
    ----------
    drive, pattern
        Profile, and the pattern's name (`ssdlab.study.twin.patterns`).
    written_share
        Share of the drive that is filled and then written.
    drive_writes
        What the pattern writes, in capacities of the drive.
    """

    drive: str
    pattern: str
    written_share: float
    drive_writes: float

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.drive}, {self.pattern}, {self.written_share:g} written"


def rows() -> list[PredictedRow]:
    """Return every row, the PRO's first.

    Examples
    --------
    >>> len(rows()), rows()[0].name
    (43, 'micron-7450-pro-960gb, uniform, 0.42 written')
    """
    return [
        row
        for drive in (PRO, MAX)
        for row in (
            *(PredictedRow(drive, "uniform", share, 5) for share in _SHARES[drive]),
            *(PredictedRow(drive, pattern, 1.0, written) for pattern, written in _WHOLE),
        )
    ]
