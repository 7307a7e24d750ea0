"""What is expected of a simulated drive: measured on a new one, in moments.

A fresh drive writes some megabytes in sequence and reads them at random. The write amplification of
its steady state comes from theory, or is assumed where no formula covers the drive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab import engine
from ssdlab.bench.estimate import Speeds
from ssdlab.engine.held import HeldDrive
from ssdlab.engine.request import RunRequest
from ssdlab.engine.shown import sizes
from ssdlab.ground.errors import SsdlabError

_WRITTEN = 256 << 20
_READS = 50_000
_ASSUMED_AMPLIFICATION = 3.0
"""Between 2, at 28 % spare, and 4 to 5, at 7 %, by theory."""


def speeds(request: RunRequest) -> Speeds:
    """Return the speeds of a drive.

    Parameters
    ----------
    request
        Its drive, settings and layers.
    """
    held = HeldDrive(request)
    shown = held.show()
    size = min(_WRITTEN, sizes(shown).capacity_bytes // 2)
    places = f"filename=/dev/ssd\niodepth=32\nsize={size}\n"
    (write,) = held.run(f"[probe]\nrw=write\nbs=128k\n{places}", 1)
    (read,) = held.run(f"[probe]\nrw=read\nbs=128k\n{places}", 1)
    random = f"[probe]\nrw=randread\nbs=4k\nnorandommap=1\nio_size={_READS * 4096}\n{places}"
    (reads,) = held.run(random, 1)
    return Speeds(
        read_iops=float(reads["read"]["iops"]),
        read_bytes_per_s=float(read["read"]["bw_bytes"]),
        write_bytes_per_s=float(write["write"]["bw_bytes"]),
        write_amplification=_amplification(shown),
        requests_per_s=_READS / _machine_s(reads),
        written_bytes_per_s=size / _machine_s(write),
    )


def _machine_s(job: Mapping[str, Any]) -> float:
    """Processor time of a job, which other programs do not disturb; never 0."""
    return max(float(job["ssdlab"]["cpu_s"]), 1e-3)


def _amplification(shown: Mapping[str, Any]) -> float:
    found = sizes(shown)
    if not found.has_flash:
        return 1.0
    try:
        answer = engine.theory(found.flash.spare_share)
    except SsdlabError:
        return _ASSUMED_AMPLIFICATION
    return float(answer["write_amplification"])
