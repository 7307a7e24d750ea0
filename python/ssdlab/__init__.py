"""What an SSD does once it is no longer new: how fast, how long and why.

import ssdlab

drive = ssdlab.drive("intel-dc-s3500-80gb", over_provisioning=0.28)
old = drive.season(to="steady")
result = old.run(rw="randwrite", bs="4k", iodepth=16, size="1g")
result.job().iops(), result.job().write_amplification
ssdlab.write_report([result], "report.html")
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from ssdlab.ground.lazy import loader

if "IPython" in sys.modules:
    # Results show themselves as tables in a notebook.
    importlib.import_module("ssdlab.report.notebook")

if TYPE_CHECKING:
    from ssdlab.engine import profiles, theory, version
    from ssdlab.engine.endurance import Lifetime, lifetime
    from ssdlab.engine.result import Job, Result
    from ssdlab.experiment.comparison import Comparison, compare
    from ssdlab.experiment.disk_answers import Handle, LostSector, PowerCut
    from ssdlab.experiment.disks import Disk, disk
    from ssdlab.experiment.drives import Drive, drive
    from ssdlab.ground.errors import (
        BusyError,
        DiskError,
        DroppedError,
        MediaError,
        OutOfRangeError,
        ReadOnlyError,
        SsdlabError,
        Stopped,
        UnalignedError,
    )
    from ssdlab.report import write_report
    from ssdlab.study.sweeps import sweep

__all__ = [
    "BusyError",
    "Comparison",
    "Disk",
    "DiskError",
    "Drive",
    "DroppedError",
    "Handle",
    "Job",
    "Lifetime",
    "LostSector",
    "MediaError",
    "OutOfRangeError",
    "PowerCut",
    "ReadOnlyError",
    "Result",
    "SsdlabError",
    "Stopped",
    "UnalignedError",
    "compare",
    "disk",
    "drive",
    "lifetime",
    "profiles",
    "sweep",
    "theory",
    "version",
    "write_report",
]

__getattr__ = loader(
    __name__,
    {
        ".experiment.comparison": ("Comparison", "compare"),
        ".experiment.disk_answers": ("Handle", "LostSector", "PowerCut"),
        ".experiment.disks": ("Disk", "disk"),
        ".experiment.drives": ("Drive", "drive"),
        ".engine": ("compiled", "policy", "profiles", "theory", "version"),
        ".engine.endurance": ("Lifetime", "lifetime"),
        ".ground.errors": (
            "BusyError",
            "DiskError",
            "DroppedError",
            "MediaError",
            "OutOfRangeError",
            "ReadOnlyError",
            "SsdlabError",
            "Stopped",
            "UnalignedError",
        ),
        ".report": ("write_report",),
        ".engine.result": ("Job", "Result"),
        ".study.sweeps": ("sweep",),
    },
)


def __dir__() -> list[str]:
    """Name what can be used before any of it is loaded."""
    return sorted(__all__)
