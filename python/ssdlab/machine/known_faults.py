"""Models and firmware that are known to fail, by a source: one list for health and audit.

The list (``data/known_faults.json``) has whole names. A name that the kernel cut is compared with
what is left of it: the patterns ``cut_model`` and ``cut_firmware``, which fit the same drives. NVMe
names are not cut. A fault with ``link`` shows only while the SATA link is managed so.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LOOKED_UP = "November 2026"
"""When makers' notices were last looked through for the list."""
_UPDATE_RISK = "some updates erase the drive: back up and read the maker's notes first"
_NO_WAY_BACK = "the older firmware seldom can be put back"


@dataclass(frozen=True)
class Fault:
    """One known fault.

    Attributes
    ----------
    model, firmware
        Patterns of the beginning of the model's name, and of the whole firmware's.
    fault, why
        What happens, and what it costs.
    remedy, risk, undo
        What to do about it.
    source
        Who says so.
    severity
        ``red`` where it costs the drive or its data, ``yellow`` where it may.
    hours
        Hours of operation at which it happens; 0 where it is no matter of time.
    link
        The link power management with which it happens; empty where that does not matter.
    unverified
        What of it could not be checked against the maker's own notice; empty where all could.
    cut_model, cut_firmware
        The same of names that the kernel cut; empty where they cannot tell.
    """

    model: str
    firmware: str
    fault: str
    why: str
    remedy: str
    source: str
    severity: str = "red"
    hours: int = 0
    link: str = ""
    unverified: str = ""
    cut_model: str = ""
    cut_firmware: str = ""
    risk: str = _UPDATE_RISK
    undo: str = _NO_WAY_BACK

    def sentence(self, model: str, firmware: str, hours: int | None = None) -> str:
        """Say of a drive that it has the fault, how sure that is, and how near it is."""
        told = f"{model}, firmware {firmware}: {self.fault}"
        if self.unverified:
            told += f" (not verified: {self.unverified})"
        if not self.hours or hours is None:
            return told
        left = self.hours - hours
        return f"{told}; {left:,} hours are left" if left > 0 else f"{told}; it is past them"


@cache
def all_faults() -> tuple[Fault, ...]:
    """Read the list."""
    content = files("ssdlab.data").joinpath("known_faults.json").read_text(encoding="utf-8")
    return tuple(Fault(**entry) for entry in json.loads(content))


def faults_of(model: str, firmware: str, *, is_cut: bool = False) -> list[Fault]:
    """Give the known faults of a drive.

    Parameters
    ----------
    model, firmware
        As the drive names itself, or as the kernel shows them.
    is_cut
        Whether they are SCSI's cut fields of an ATA drive.

    Examples
    --------
    >>> [fault.severity for fault in faults_of("Samsung SSD 980 PRO 1TB", "3B2QGXA7")]
    ['red']
    """
    return [fault for fault in all_faults() if _has(model.strip(), firmware.strip(), is_cut, fault)]


def _has(model: str, firmware: str, is_cut: bool, fault: Fault) -> bool:
    if re.match(fault.model, model) and re.fullmatch(fault.firmware, firmware):
        return True
    return bool(
        is_cut
        and fault.cut_model
        and re.match(fault.cut_model, model)
        and re.fullmatch(fault.cut_firmware, firmware)
    )
