"""The audit: how the storage of this machine is set up.

``system`` reads files and tools (live or captured); ``topology`` says what stands on what, which
``reading``, ``mapper`` and ``mounts`` find out; ``checks`` has one file a check, ``remedy`` what
mends a finding, ``walk`` makes them all, ``capture`` keeps what was read, ``prove_trim`` shows how
far TRIM gets. Needs nothing but Python: ``python3 -m ssdlab.audit``.
"""

from typing import TYPE_CHECKING

from ssdlab.lazy import loader

if TYPE_CHECKING:
    from ssdlab.audit.finding import Finding, Severity
    from ssdlab.audit.system import CapturedSystem, LiveSystem, System, open_root
    from ssdlab.audit.walk import Audit, audit

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
        "finding": ("Finding", "Severity"),
        "system": ("CapturedSystem", "LiveSystem", "System", "open_root"),
        "walk": ("Audit", "audit"),
    },
)
