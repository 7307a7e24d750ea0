"""What an SSD does once it is no longer new: how fast, how long and why.

import ssdlab

drive = ssdlab.drive("intel-dc-s3500-80gb", over_provisioning=0.28)
old = drive.season(to="steady")
result = old.run(rw="randwrite", bs="4k", iodepth=16, size="1g")
result.job().iops(), result.job().write_amplification
ssdlab.write_report([result], "report.html")
"""

from ssdlab.comparison import Comparison, compare
from ssdlab.drives import Drive, drive
from ssdlab.engine import profiles, theory, version
from ssdlab.errors import SsdlabError, Stopped
from ssdlab.report import write_report
from ssdlab.result import Job, Result

__all__ = [
    "Comparison",
    "Drive",
    "Job",
    "Result",
    "SsdlabError",
    "Stopped",
    "compare",
    "drive",
    "profiles",
    "theory",
    "version",
    "write_report",
]
