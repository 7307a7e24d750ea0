"""What makers publish of random writes: ``data/published/random_writes.csv``.

Left out: sequential rates and latencies, which the profiles are fitted to.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

COUNTED, FITTED, UNSURE, BURST = "counted", "fitted", "unsure", "burst"
USES = (COUNTED, FITTED, UNSURE, BURST)
"""What becomes of a figure; a word of the column `use`."""
FOUND, MEMORY = "found", "memory"
KINDS = (FOUND, MEMORY)
"""Whether the document was at hand."""


@dataclass(frozen=True)
class PublishedRate:
    """A figure of a drive.

    Attributes
    ----------
    drive
        Its profile.
    iops
        Random writes a second.
    block
        Size of a request, as fio takes it.
    depth
        Requests in flight.
    span
        The part of the drive that is written, as fio takes it; empty for all of it.
    kind
        One of `KINDS`.
    use
        One of `USES`.
    source
        Where it is published.
    why
        Why it does not count; empty where it does.
    """

    drive: str
    iops: float
    block: str
    depth: int
    span: str
    kind: str
    use: str
    source: str
    why: str

    @property
    def counts(self) -> bool:
        """Whether it is a prediction: steady, and nothing was fitted to it."""
        return self.use == COUNTED


def rows() -> list[PublishedRate]:
    """Return every figure.

    Examples
    --------
    >>> rows()[0].drive, rows()[0].iops
    ('intel-dc-s3500-80gb', 7000.0)
    """
    file = resources.files("ssdlab.data").joinpath("published/random_writes.csv")
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [_row(each) for each in csv.DictReader(lines)]


def _row(told: dict[str, str]) -> PublishedRate:
    figures = {**told, "iops": float(told["iops"]), "depth": int(told["depth"])}
    return PublishedRate(**figures)  # type: ignore[arg-type]
