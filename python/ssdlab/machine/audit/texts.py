"""The audit of a machine that does not run Linux: what its own tools printed.

Each text is recognised by what stands in it. What such texts can never tell is said each time, and
each line that no reader understands is quoted with its number.
"""

from __future__ import annotations

from collections.abc import Mapping

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import freebsd, windows
from ssdlab.machine.audit.finding import Finding, not_looked_at
from ssdlab.machine.audit.pasted import Pasted, PastedLine, lines_of, not_understood
from ssdlab.machine.audit.walk import Audit, quoted
from ssdlab.real.topology import Topology

_READ = (
    "known tools: Get-PhysicalDisk, Get-Volume, Get-Partition; fsutil behavior query "
    "DisableDeleteNotify; powercfg /qh; gpart show; diskinfo -v; tunefs -p; zpool get all"
)
_READERS = {"Windows": windows.findings, "FreeBSD": freebsd.findings}
_KNOWN_FAULTS = ("known faults", "model and firmware are compared with the list only on Linux")
_WEAR = ("wear", "smartctl --json -x prints the drives' counters, which ssdlab health --from reads")
_UNTOLD = {
    "Windows": (
        _KNOWN_FAULTS,
        ("encryption", "these texts do not show BitLocker or other layers below the volumes"),
        ("RAID controller", "these texts do not show what controllers or Storage Spaces do"),
        _WEAR,
        ("alignment", "Get-Partition shows where partitions begin, in its property Offset"),
        ("trim schedule", windows.ASK_FSUTIL),
        ("link", "powercfg /qh shows the link's setting, which powercfg /q may hide"),
    ),
    "FreeBSD": (
        _KNOWN_FAULTS,
        ("encryption", "these texts do not show GELI or other layers below the file systems"),
        ("RAID controller", "these texts do not show controllers or gmirror"),
        _WEAR,
        ("alignment", "gpart show shows where partitions begin"),
    ),
}


def audit_texts(texts: Mapping[str, str]) -> Audit:
    """Look at texts of one machine, by their names.

    Raises
    ------
    SsdlabError
        One of them is none that is read here.
    """
    files = {name: lines_of(name, text) for name, text in texts.items()}
    kinds: dict[str, list[list[PastedLine]]] = {}
    for name, lines in files.items():
        known = [system for system in _READERS if _is_known(system, lines_of(name, texts[name]))]
        if not known:
            raise SsdlabError(f"--from {name}: not the output of a known tool\n{_READ}")
        for system in known:
            kinds.setdefault(system, []).append(lines)
    found: list[Finding] = []
    for system, together in kinds.items():
        told = list(_READERS[system](Pasted(together)))
        found += [*told, *_untold(system, {each.check for each in told})]
    unread = [each for lines in files.values() for each in not_understood(lines)]
    found += [quoted("texts", each) for each in unread]
    found.sort(key=lambda finding: -finding.severity)
    return Audit(found, Topology({}, [], unread=unread))


def _is_known(system: str, lines: list[PastedLine]) -> bool:
    """Whether a reader finds anything in a file, were it only a line that it refuses."""
    told = list(_READERS[system](Pasted([lines])))
    return bool(told) or any(line.is_taken or line.refusal for line in lines)


def _untold(system: str, told: set[str]) -> list[Finding]:
    """Say what none of the texts had."""
    return [
        not_looked_at(check, because, system)
        for check, because in _UNTOLD[system]
        if check not in told
    ]
