"""What is expected of a real target: read for a moment, without a byte written.

How fast it writes, nobody knows before it is written to. It is taken to write as fast as it reads,
which no drive does for long, so that times are too short and bytes too many: both err on the safe
side of what a drive has to bear. The write amplification is assumed.
"""

from __future__ import annotations

from ssdlab.pts.estimate import Speeds
from ssdlab.pts.plan import Load, Step
from ssdlab.pts.real.fio_program import Fio
from ssdlab.pts.real.fio_words import Place, commands

_SECONDS = 0.5
_ASSUMED_AMPLIFICATION = 3.0
"""Between 2, at 28 % spare, and 4 to 5, at 7 %, by theory."""


def speeds(fio: Fio, place: Place) -> Speeds:
    """Return what is expected of a target.

    Parameters
    ----------
    fio
        The program.
    place
        The target.

    Raises
    ------
    SsdlabError
        It cannot be read.
    """
    reads = _reads(fio, place, Load("random", 100, 4096, 1, 32))
    stream = _reads(fio, place, Load("sequential", 100, 128 << 10, 1, 32)) * (128 << 10)
    return Speeds(
        read_iops=reads,
        read_bytes_per_s=stream,
        write_bytes_per_s=stream,
        write_amplification=_ASSUMED_AMPLIFICATION,
    )


def _reads(fio: Fio, place: Place, load: Load) -> float:
    (words,) = commands(Step("probe", load, 1, seconds=_SECONDS), place)
    (job,) = fio.perform([*words, "--readonly"], _SECONDS).jobs
    return float(job["read"]["total_ios"]) / (int(job["job_runtime"]) / 1e3)
