"""The audit of a machine that is not here and is no Linux: what its own tools printed.

Each text is recognised by what stands in it. What such texts can never tell is said each time.
"""

from __future__ import annotations

from collections.abc import Mapping

from ssdlab.audit import freebsd, windows
from ssdlab.audit.finding import Finding, not_looked_at
from ssdlab.audit.topology import Topology
from ssdlab.audit.walk import Audit
from ssdlab.errors import SsdlabError

_READ = (
    "it reads: PowerShell's Get-PhysicalDisk, Get-Volume, Get-Partition; fsutil behavior query "
    "DisableDeleteNotify; powercfg /qh; gpart show; diskinfo -v; tunefs -p; zpool get all"
)
_WEAR = "the drives' own counters tell smartctl --json -x, which ssdlab health --from reads"
_UNTOLD = {
    "Windows": (
        ("known faults", "model and firmware are compared with the list on Linux only"),
        ("encryption", "BitLocker and other layers between volume and drive are not in these"),
        ("RAID controller", "what a controller or Storage Spaces makes of TRIM is not in these"),
        ("wear", _WEAR),
    ),
    "FreeBSD": (
        ("known faults", "model and firmware are compared with the list on Linux only"),
        ("encryption", "GELI and other layers between file system and drive are not in these"),
        ("RAID controller", "controllers and gmirror are not in these"),
        ("wear", _WEAR),
    ),
}
_TRIM_WINDOWS = "whether TRIM is sent tells fsutil behavior query DisableDeleteNotify"
_LINK_WINDOWS = "powercfg /qh shows the link's setting, which powercfg /q may hide"
_ALIGNED = {
    "Windows": "where partitions begin tells Get-Partition with its property Offset",
    "FreeBSD": "where partitions begin tells gpart show",
}


def audit_texts(texts: Mapping[str, str]) -> Audit:
    """Look at texts of one machine, by their names.

    Raises
    ------
    SsdlabError
        One of them is none that is read here.
    """
    kinds: dict[str, list[str]] = {}
    for name, text in texts.items():
        known = {
            system: read
            for system, read in (("Windows", windows.findings), ("FreeBSD", freebsd.findings))
            if next(iter(read(text)), None) is not None
        }
        if not known:
            raise SsdlabError(f"--from {name}: none of the texts that are read here\n{_READ}")
        for system in known:
            kinds.setdefault(system, []).append(text)
    found: list[Finding] = []
    for system, together in kinds.items():
        read = windows.findings if system == "Windows" else freebsd.findings
        found += read("\n\n".join(together))
        found += _untold(system, {each.check for each in found})
    found.sort(key=lambda finding: -finding.severity)
    return Audit(found, Topology({}, []))


def _untold(system: str, told: set[str]) -> list[Finding]:
    """Say what none of the texts had."""
    missing = [(check, because) for check, because in _UNTOLD[system] if check not in told]
    if "alignment" not in told:
        missing.append(("alignment", _ALIGNED[system]))
    if system == "Windows" and "trim schedule" not in told:
        missing.append(("trim schedule", _TRIM_WINDOWS))
    if system == "Windows" and "link" not in told:
        missing.append(("link", _LINK_WINDOWS))
    return [not_looked_at(check, because, system) for check, because in missing]
