"""Slices: of a large drive a few dies are run, with as much of the load as falls on them.

With per-die blocks each die collects by itself, and at random loads each gets as much, so that a
slice of 1/n of the dies, the capacity, the caches and the buffer, at 1/n of the rate, does what the
drive does (`measured/twin.py`). The link and the controller stay as fast as they are: a request
takes as long there as on the whole drive, while they are far from busy. What they let through at
most is a closed form, which bounds the IOPS of n slices:

    IOPS = min(n · IOPS of the slice, bounds of link and controller)

Of a drive of up to 2^23 mapping units all is run; of a larger one four dies, for wear alone two, or
fewer where those have more than 2^24 units. Left out: waiting at the link and the controller beyond
that of the slice, which shortens a 99th percentile of reads by up to 13 % where half of what the
drive can do is asked, and those of writes, where they only wait there (docs/sizing.md); arrays and
fio jobs, which run on whole drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from ssdlab.measured.twin import twin
from ssdlab.request import Settings
from ssdlab.sizing.candidate import Candidate, Sheet, sheet
from ssdlab.sizing.closed_form import shared_iops
from ssdlab.sizing.load import Load

_WHOLE_UNITS, _MOST_UNITS = 2**23, 2**24
_LEAST_DIES, _LEAST_DIES_OF_WEAR = 4, 2


@dataclass(frozen=True)
class Slice:
    """What is run in place of a drive.

    Attributes
    ----------
    settings
        What differs from the profile.
    parts
        As many of it are the drive; 1 where it is the whole drive.
    dies, of_dies
        Of the slice, and of the drive.
    """

    settings: Settings
    parts: int
    dies: int
    of_dies: int

    @property
    def told(self) -> str:
        """What people call it; nothing of a whole drive."""
        return f"{self.dies} of {self.of_dies} dies" if self.parts > 1 else ""


def parts_of(candidate: Candidate, load: Load, *, wear_alone: bool = False) -> int:
    """Return of how many equal parts one is run: of arrays and jobs the whole.

    Examples
    --------
    Of 64 dies with 3.7 million units each four are run.
    """
    if candidate.layout.layers or load.job is not None:
        return 1
    return _parts(candidate.drive, _LEAST_DIES_OF_WEAR if wear_alone else _LEAST_DIES)


@cache
def _parts(drive: str, least: int) -> int:
    facts = sheet(drive)
    units = facts.capacity_bytes / facts.unit_bytes
    if units <= _WHOLE_UNITS:
        return 1
    most = max(1.0, _MOST_UNITS * facts.dies / units)
    fitting = [n for n in range(1, facts.dies + 1) if facts.dies % n == 0 and n <= most]
    return facts.dies // min((n for n in fitting if n >= least), default=max(fitting))


def slice_of(candidate: Candidate, settings: Settings, parts: int) -> Slice:
    """Return one of so many parts of a candidate's drive.

    Parameters
    ----------
    settings
        What differs from the profile, on the whole drive.

    Raises
    ------
    SsdlabError
        There is no such slice.
    """
    dies = sheet(candidate.drive).dies
    if parts == 1:
        return Slice(settings, 1, dies, dies)
    small = twin(candidate.drive, parts, settings, slower=False)
    return Slice(small.settings, parts, dies // parts, dies)


def most_iops(candidate: Candidate, load: Load, drawn: Settings = ()) -> float:
    """Return what the link and the controller of the whole drive let through."""
    return shared_iops(_drawn(sheet(candidate.drive), dict(drawn)), candidate, load)


def _drawn(facts: Sheet, values: Mapping[str, str]) -> Sheet:
    """Put in what a draw sets of the link and the controller."""

    def given(key: str, scale: float, own: float) -> float:
        return float(values[key]) * scale if key in values else own

    return replace(
        facts,
        link_bytes_per_s=given("link.mb_per_s", 1e6, facts.link_bytes_per_s),
        read_command_s=given("controller.read_command_us", 1e-6, facts.read_command_s),
        write_command_s=given("controller.write_command_us", 1e-6, facts.write_command_s),
    )
