"""Write caches: what was acknowledged must survive a power cut, by flushes or by capacitors.

A drive with a volatile cache (``write back``) is safe as long as file systems send flushes, which
they do unless barriers were turned off.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity
from ssdlab.machine.audit.remedy import Remedy
from ssdlab.real.device import Use

_OFF = {"nobarrier", "barrier=0"}
_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (write-back and power loss); ext4(5), xfs(5)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every file system whose drives have a volatile cache."""
    good = []
    for use in machine.topology.uses:
        if use.device not in machine.chosen or use.kind == "swap":
            continue
        drives = machine.topology.drives(use.device)
        volatile = [drive for drive in drives if drive.queue.get("write_cache") == "write back"]
        if volatile and use.options & _OFF:
            yield _unsafe(use, ", ".join(drive.label for drive in volatile))
        elif any(not drive.is_virtual for drive in volatile):
            # What a virtual drive's host does with a flush, nobody here can see.
            good.append(use.place)
    if good:
        what = "volatile caches are flushed by the file systems"
        yield Finding("write cache", Severity.GREEN, what, ", ".join(good))


def _unsafe(use: Use, drives: str) -> Finding:
    return Finding(
        "write cache",
        Severity.RED,
        f"barriers are off, and {drives} has a volatile write cache",
        use.place,
        "a power cut loses what was acknowledged, and can break the file system",
        Remedy(
            "lets the file system send flushes again; take nobarrier or barrier=0 out of "
            "/etc/fstab as well",
            "none to data; what waits for fsync waits for the drive again",
            f"mount -o remount,barrier=0 {use.word}",
            (f"mount -o remount,barrier=1 {use.word}",),
        ),
        _SOURCE,
    )
