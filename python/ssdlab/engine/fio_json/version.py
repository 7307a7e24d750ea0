"""Versions of fio, and the units that each writes.

before 2.1.14   no total_ios
before 2.2.6    iops cut to a whole number
2.2.12 - 2.19   bins (json+) by the number of the bin, not by its latency
before 2.21     io_bytes in KiB
before 2.99     slat, clat, lat in µs; from 2.99 on slat_ns, clat_ns, lat_ns in ns
before 3.2      no bw_bytes; bw is KiB/s in all versions
before 3.4      percentiles that were not asked for as "0.00": 0
from 3.18       N in each block of latencies, and percentiles only where there are samples
"""

from __future__ import annotations

import re
from dataclasses import dataclass

VersionNumber = tuple[int, ...]

FIRST: VersionNumber = (2, 0, 10)
"""The first that writes JSON."""
NEWEST: VersionNumber = (3, 42)
"""The newest whose source was read."""
COUNTS, WHOLE_BINS, BYTES, NANOSECONDS, BANDWIDTH_BYTES, NO_FILLING, PERCENTILES_ASKED, SAMPLES = (
    (2, 1, 14), (2, 20), (2, 21), (2, 99), (3, 2), (3, 4), (3, 4), (3, 18),
)  # fmt: skip
_FORM = re.compile(r"fio-(\d{1,3}(?:\.\d{1,3}){1,3})(?:-ssdlab-(\S+)|-\S*)?")


@dataclass(frozen=True)
class Version:
    """A version of fio.

    Attributes
    ----------
    text
        As fio writes it: ``fio-3.33``.
    number
        To compare with; that of the newest known where the text is not understood.
    is_ours
        Whether ssdlab wrote it, in that version's form.
    why_unknown
        Why figures may be read wrongly; empty where the version is known.
    """

    text: str
    number: VersionNumber
    is_ours: bool = False
    why_unknown: str = ""

    def __str__(self) -> str:
        """Name it."""
        return self.text or "fio of unknown version"

    @property
    def unit_ns(self) -> int:
        """Nanoseconds of its unit of latencies."""
        return 1 if self.number >= NANOSECONDS else 1000

    @property
    def unit_bytes(self) -> int:
        """Bytes of its unit of ``io_bytes``."""
        return 1 if self.number >= BYTES else 1024

    def latency(self, kind: str) -> str:
        """Name a block of latencies, ``clat`` or ``clat_ns``."""
        return f"{kind}_ns" if self.number >= NANOSECONDS else kind


def version_of(text: object) -> Version:
    """Read what stands as ``fio version``.

    Examples
    --------
    >>> version_of("fio-2.2.10").unit_ns, version_of("fio-3.41-12-gabcdef").number
    (1000, (3, 41))
    """
    if not isinstance(text, str):
        return Version("", NEWEST, False, "no version of fio stands there; read as the newest")
    found = _FORM.fullmatch(text.strip())
    if found is None:
        why = "no version of fio, such as fio-3.33; its units are read as the newest one's"
        return Version(text, NEWEST, False, why)
    number = tuple(int(part) for part in found[1].split("."))
    newest, first = (".".join(map(str, each)) for each in (NEWEST, FIRST))
    if number[: len(NEWEST)] > NEWEST:
        why = f"newer than {newest}, the newest known here; its units are read as that one's"
        return Version(text, NEWEST, bool(found[2]), why)
    if number < FIRST:
        why = f"older than {first}, the first that writes JSON"
        return Version(text, number, False, why)
    return Version(text, number, bool(found[2]))
