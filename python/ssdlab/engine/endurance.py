"""How long the flash lasts: bytes written, drive writes a day, years.

All flash can be programmed so often as its cells are rated for, and each byte the host writes costs
WA bytes of flash, so with F flash bytes, N rated cycles and exported capacity C

    TBW  = F · N / WA                        host bytes until the cells are worn to their rating
    DWPD = TBW / (C · 365.25 · warranty years)
    years at a load = TBW / (bytes a day · 365.25)

The write amplification is that of the run; a manufacturer states endurance for the workloads of
JESD219. Left out: retention once worn, which JESD218 asks for, and blocks that wear ahead of the
others or fail early; they all shorten it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdlab.engine.result import Job, Result
from ssdlab.ground.errors import SsdlabError

DAYS_PER_YEAR = 365.25
WARRANTY_YEARS = 5.0
"""For which drive writes a day are customarily stated."""


def lifetime_years(
    flash_bytes: float, rated_cycles: float, write_amplification: float, bytes_per_day: float
) -> float:
    """Return how long the flash lasts at a load.

    Examples
    --------
    >>> round(lifetime_years(100e9, 3000, 2.0, 20e9), 2)
    20.53
    """
    return flash_bytes * rated_cycles / (write_amplification * bytes_per_day * DAYS_PER_YEAR)


@dataclass(frozen=True)
class Lifetime:
    """How long a drive lasts under the workload of a run.

    Attributes
    ----------
    capacity_bytes
        What the drive exports.
    flash_bytes
        All of its blocks that are not bad.
    rated_cycles
        Program/erase cycles that the cells are rated for.
    write_amplification
        Of the run.
    """

    capacity_bytes: float
    flash_bytes: float
    rated_cycles: float
    write_amplification: float

    @property
    def bytes_written(self) -> float:
        """Host bytes until the cells are worn to their rating."""
        return self.flash_bytes * self.rated_cycles / self.write_amplification

    @property
    def terabytes_written(self) -> float:
        """TBW, in 10^12 bytes."""
        return self.bytes_written / 1e12

    def drive_writes_per_day(self, years: float = WARRANTY_YEARS) -> float:
        """DWPD: how often a day the capacity can be written over the years."""
        return self.bytes_written / (self.capacity_bytes * DAYS_PER_YEAR * years)

    def years(self, bytes_per_day: float) -> float:
        """Years at a stated load."""
        return lifetime_years(
            self.flash_bytes, self.rated_cycles, self.write_amplification, bytes_per_day
        )


def lifetime(run: Result | Job, job: str | None = None) -> Lifetime:
    """Return how long the drive of a run lasts under its workload.

    Parameters
    ----------
    run
        A result, or one job of it.
    job
        Which job of a result, where it has several.

    Raises
    ------
    SsdlabError
        The result is not of a simulated drive, or the job wrote nothing.

    Examples
    --------
    >>> job = "jesd219-enterprise"
    >>> old = ssdlab.drive("theory").season("steady:job", job=job)  # doctest: +SKIP
    >>> ssdlab.lifetime(old.run(job)).terabytes_written  # doctest: +SKIP
    """
    found = run.job(job) if isinstance(run, Result) else run
    wear: Mapping[str, Any] = found.lab.get("wear") or {}
    if "flash_bytes" not in wear:
        raise SsdlabError(
            f"{found.name}: the result does not contain the drive's wear\n"
            "lifetime needs a result of ssdlab run on a simulated drive"
        )
    if not found.write_amplification:
        raise SsdlabError(f"{found.name}: wrote nothing, so the drive does not wear")
    return Lifetime(
        capacity_bytes=float(wear["exported_bytes"]),
        flash_bytes=float(wear["flash_bytes"]),
        rated_cycles=float(wear["rated_cycles"]),
        write_amplification=found.write_amplification,
    )
