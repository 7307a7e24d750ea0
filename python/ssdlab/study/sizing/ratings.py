"""What makers rate a drive for: terabytes written (TBW), which the warranty ends with.

    years under warranty = rated bytes · drives / (bytes a day · copies · 365.25)

The cells may take more, or under a hard load less; a drive lasts as long as both allow. Ratings are
of the drives that are bought, so they lie beside the profiles (`data/ratings/written.csv`), each
with its kind and source; the user's own figure goes before. Drive writes a day (DWPD) for five
years are TBW = DWPD · capacity · 365 · 5. Left out: the years of the warranty itself, 3 or 5.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sizing.load import parse_bytes

_BYTES = 1e12
OWN = "given"
"""The kind of what the user gives."""


@dataclass(frozen=True)
class Rating:
    """What a drive is rated for.

    Attributes
    ----------
    bytes_written
        By the host, until the warranty ends.
    kind, source
        How it is known (docs/reference/glossary.md), and where from.
    """

    bytes_written: float
    kind: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"bytes": self.bytes_written, "kind": self.kind, "source": self.source}


@cache
def known() -> dict[str, Rating]:
    """Return the ratings that come with ssdlab, by the profile's name."""
    file = resources.files("ssdlab") / "data" / "ratings" / "written.csv"
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return {
        row["drive"]: Rating(float(row["terabytes_written"]) * _BYTES, row["kind"], row["source"])
        for row in rows
    }


def read_ratings(given: Sequence[str], drives: Sequence[str]) -> dict[str, Rating]:
    """Return the ratings of drives: as they are given, else those that are known.

    Parameters
    ----------
    given
        As typed: ``45TB`` where one drive is considered, else ``DRIVE=45TB``.
    drives
        What is considered.

    Raises
    ------
    SsdlabError
        A notation is wrong, or names no drive that is considered.
    """
    found = {drive: known()[drive] for drive in drives if drive in known()}
    for each in given:
        drive, equals, size = each.rpartition("=")
        if not equals and len(drives) != 1:
            raise SsdlabError(
                f"--rated-tbw {each}: which of {len(drives)} drives?\n"
                f"name it, such as --rated-tbw {drives[0]}={each}"
            )
        drive = drive if equals else drives[0]
        if drive not in drives:
            raise SsdlabError(
                f"--rated-tbw {each}: {drive or 'nothing'} is not considered\n"
                "name a drive as --drive has it, such as intel-dc-s3500-480gb=275TB"
            )
        found[drive] = Rating(parse_bytes(size, "--rated-tbw"), OWN, "--rated-tbw")
    return found
