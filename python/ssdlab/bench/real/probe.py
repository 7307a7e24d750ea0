"""What is expected of a real target, from a moment of reading; nothing is written.

How fast it writes is unknown until it is written to. The estimate takes it to write as fast as it
reads, which no drive does for long: the time comes out too short, and the bytes too many. Too many
bytes are the safe error for the drive's life. The write amplification is assumed.
"""

from __future__ import annotations

from ssdlab.bench.estimate import Speeds
from ssdlab.bench.plan import Step, Workload
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place, commands

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
    reads = _reads(fio, place, Workload("random", 100, 4096, 1, 32))
    stream = _reads(fio, place, Workload("sequential", 100, 128 << 10, 1, 32)) * (128 << 10)
    return Speeds(
        read_iops=reads,
        read_bytes_per_s=stream,
        write_bytes_per_s=stream,
        write_amplification=_ASSUMED_AMPLIFICATION,
    )


def _reads(fio: Fio, place: Place, load: Workload) -> float:
    (words,) = commands(Step("probe", load, 1, seconds=_SECONDS), place)
    (job,) = fio.perform([*words, "--readonly"], _SECONDS).jobs
    return float(job["read"]["total_ios"]) / (int(job["job_runtime"]) / 1e3)
