"""The health of real drives: what smartctl and nvme-cli say, read as each vendor means it.

``report`` reads JSON, ``meanings`` knows the vendors' attributes, ``life`` makes figures of them,
``findings`` and ``counts`` judge, ``history`` draws the line to the end, ``examination`` is all of
one drive, ``monitoring`` speaks to monitors, ``live`` asks the drives of this machine. Nothing here
writes to a drive.
"""

from typing import TYPE_CHECKING

from ssdlab.ground.lazy import loader

if TYPE_CHECKING:
    from ssdlab.machine.health.examination import Examination, examine
    from ssdlab.machine.health.finding import HealthFinding, HealthLimits, HealthSeverity
    from ssdlab.real.smart.reading import read_report
    from ssdlab.real.smart.report import DriveReport

__all__ = [
    "DriveReport",
    "Examination",
    "HealthFinding",
    "HealthLimits",
    "HealthSeverity",
    "examine",
    "read_report",
]

__getattr__ = loader(
    __name__,
    {
        ".examination": ("Examination", "examine"),
        ".finding": ("HealthFinding", "HealthLimits", "HealthSeverity"),
        "ssdlab.real.smart.reading": ("read_report",),
        "ssdlab.real.smart.report": ("DriveReport",),
    },
)
