"""The audit itself: choose the devices, make every check, say what could not be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.audit.checks import all_checks
from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.system import System
from ssdlab.audit.topology import MOST_DEVICES, Topology, read_topology
from ssdlab.errors import SsdlabError


@dataclass(frozen=True)
class Audit:
    """What was found on a machine.

    Attributes
    ----------
    findings
        The worst first.
    unseen
        What could not be looked at, and why.
    topology
        What stands on what.
    """

    findings: list[Finding]
    unseen: list[str]
    topology: Topology

    @property
    def severity(self) -> Severity:
        """How bad the worst finding is."""
        return max((finding.severity for finding in self.findings), default=Severity.GREEN)

    def to_dict(self) -> dict[str, object]:
        """Give everything as JSON."""
        return {
            "severity": str(self.severity),
            "findings": [finding.to_dict() for finding in self.findings],
            "unseen": self.unseen,
        }


def audit(system: System, places: Sequence[str] = ()) -> Audit:
    """Look at a machine.

    Parameters
    ----------
    system
        The machine, live or captured.
    places
        Devices or mount points; without any, all that is in use.

    Raises
    ------
    SsdlabError
        A place that is no device and no mount point.
    """
    topology = read_topology(system)
    machine = Machine(system, topology, frozenset(_chosen(topology, places)))
    findings = [finding for _, check in all_checks() for finding in check(machine)]
    unseen = _unseen(machine)
    findings += [_given_up(*each) for each in system.gave_up().items()]
    findings.sort(key=lambda finding: -finding.severity)
    return Audit(findings, unseen, topology)


def _given_up(words: str, reason: str) -> Finding:
    """Make the finding of a tool that hung or printed without end."""
    return Finding(
        "tools",
        Severity.YELLOW,
        f"{words}: {reason}",
        words.rpartition(" ")[2],
        "a drive or controller that does not answer its tools may be failing; "
        "what it would have told is missing here",
        "journalctl -k   # look for resets and time-outs",
        "smartctl(8), dmsetup(8): both answer within seconds",
    )


def _chosen(topology: Topology, places: Sequence[str]) -> set[str]:
    chosen: set[str] = set()
    for place in places:
        device = topology.named(place)
        if device is None:
            known = [device.label for device in topology.devices.values()]
            mounted = [use.place for use in topology.uses]
            raise SsdlabError(
                f"{place}: no block device and no mount point here\n"
                f"there are {', '.join([*mounted, *known][:12]) or 'none'}"
            )
        chosen.update(layer.name for layer, _ in topology.layers(device.name))
        # What stands on a named drive belongs to it.
        chosen.update(use.device for use in topology.users(device.name))
    if not places:
        chosen.update(name for name, device in topology.devices.items() if device.kind != "loop")
    closed = {layer.name for name in chosen for layer, _ in topology.layers(name)}
    return closed


def _unseen(machine: Machine) -> list[str]:
    said = []
    devices = [machine.topology.devices[name] for name in machine.chosen]
    mapped = [device for device in devices if device.name.startswith("dm-")]
    if mapped and all(below.offset_bytes is None for device in mapped for below in device.below):
        said.append("where encrypted devices and logical volumes begin: dmsetup table needs root")
    physical = [each for each in devices if each.kind == "drive" and not each.name.startswith("vd")]
    if physical and not any(
        machine.system.run("smartctl", "--json", "-x", "--nocheck=standby", drive.label)
        for drive in physical
    ):
        said.append("what the drives say of their wear: smartctl is missing or needs root")
    if len(machine.system.entries("/sys/block")) > MOST_DEVICES:
        said.append(f"block devices beyond the first {MOST_DEVICES}")
    if not devices:
        said.append("no block device: /sys/block is empty or cannot be read")
    return said
