"""What an SSD does once it is no longer new: how fast, how long and why.

import ssdlab

drive = ssdlab.drive("intel-dc-s3500-80gb", over_provisioning=0.28)
old = drive.season(to="steady")
result = old.run(rw="randwrite", bs="4k", iodepth=16, size="1g")
result.job().iops(), result.job().write_amplification
ssdlab.write_report([result], "report.html")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lazy import loader

if TYPE_CHECKING:
    from ssdlab.comparison import Comparison, compare
    from ssdlab.disk_answers import Handle, LostSector, PowerCut
    from ssdlab.disks import Disk, disk
    from ssdlab.drives import Drive, drive
    from ssdlab.endurance import Lifetime, lifetime
    from ssdlab.engine import profiles, theory, version
    from ssdlab.errors import (
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
    from ssdlab.result import Job, Result
    from ssdlab.sweeps import sweep

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
        "comparison": ("Comparison", "compare"),
        "disk_answers": ("Handle", "LostSector", "PowerCut"),
        "disks": ("Disk", "disk"),
        "drives": ("Drive", "drive"),
        "engine": ("profiles", "theory", "version"),
        "endurance": ("Lifetime", "lifetime"),
        "errors": (
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
        "report": ("write_report",),
        "result": ("Job", "Result"),
        "sweeps": ("sweep",),
    },
)


def __dir__() -> list[str]:
    """Name what can be used before any of it is loaded."""
    return sorted(__all__)
