"""The audit: how the storage of this machine is set up.

``system`` reads files and tools (live or captured); ``topology`` says what stands on what, which
``reading``, ``mapper`` and ``mounts`` find out; ``checks`` has one file a check, ``remedy`` what
mends a finding, ``walk`` makes them all, ``capture`` keeps what was read, ``prove_trim`` shows how
far TRIM gets. Needs nothing but Python: ``python3 -m ssdlab.machine.audit``.
"""

from typing import TYPE_CHECKING

from ssdlab.ground.lazy import loader

if TYPE_CHECKING:
    from ssdlab.machine.audit.finding import Finding, Severity
    from ssdlab.machine.audit.walk import Audit, audit
    from ssdlab.real.system import CapturedSystem, LiveSystem, System, open_root

__all__ = [
    "Audit",
    "CapturedSystem",
    "Finding",
    "LiveSystem",
    "Severity",
    "System",
    "audit",
    "open_root",
]

__getattr__ = loader(
    __name__,
    {
        ".finding": ("Finding", "Severity"),
        "ssdlab.real.system": ("CapturedSystem", "LiveSystem", "System", "open_root"),
        ".walk": ("Audit", "audit"),
    },
)
