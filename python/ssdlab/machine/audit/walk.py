"""The audit itself: choose the devices, make every check, say what could not be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread
from ssdlab.machine.audit.answers import unread_answers
from ssdlab.machine.audit.checks import all_checks
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.monitoring import EXIT_CODES, severity_of
from ssdlab.machine.audit.remedy import advice
from ssdlab.machine.audit.schedule import unread_rows
from ssdlab.machine.verdict import count, summary
from ssdlab.real.reading import MOST_DEVICES, read_topology
from ssdlab.real.system import RecordingSystem, System
from ssdlab.real.topology import Topology

_MANY_DEVICES = {
    "zfs": "only ZFS's own tools (zpool status) know what is below its devices",
    "bcachefs": "only bcachefs's own tools know its devices",
}


@dataclass(frozen=True)
class Audit:
    """What was found on a machine.

    Attributes
    ----------
    findings
        The worst first, then what was not looked at, then what is good.
    topology
        What stands on what.
    """

    findings: list[Finding]
    topology: Topology

    @property
    def severity(self) -> Severity:
        """How bad the worst finding is."""
        return severity_of(self.findings)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return int(EXIT_CODES[self.severity])

    @property
    def summary(self) -> str:
        """How many findings look right, look wrong, and were not looked at."""
        return summary(finding.verdict for finding in self.findings)

    def to_dict(self) -> dict[str, object]:
        """Give everything as JSON."""
        counted = count(finding.verdict for finding in self.findings)
        return {
            "severity": str(self.severity),
            "summary": {verdict.key: number for verdict, number in counted.items()},
            "unread": [each.to_json() for each in self.topology.unread],
            "findings": [finding.to_dict() for finding in self.findings],
        }


def audit(system: System, places: Sequence[str] = ()) -> Audit:
    """Look at a machine.

    Parameters
    ----------
    system
        The machine, live or captured.
    places
        Devices, mount points, or folders, which stand for their mounts; links are followed.
        Without any, all that is in use.

    Raises
    ------
    SsdlabError
        A place that is no device, or is on no device.
    """
    system = RecordingSystem(system)
    topology = read_topology(system)
    machine = Machine(system, topology, frozenset(chosen_devices(system, topology, places)))
    findings = [finding for _, check in all_checks() for finding in check(machine)]
    quoted_by_readers = {each.where for each in topology.unread}
    answers = unread_answers({**system.files, **system.commands})
    topology.unread += [each for each in answers if each.where not in quoted_by_readers]
    findings += _unseen(machine, everything=not places)
    findings += [_given_up(*each) for each in system.gave_up().items()]
    unread = system.unread(lambda: _ask_everything(system, topology))
    findings += [quoted("capture", each) for each in unread]
    topology.unread.extend(unread)
    findings.sort(key=lambda finding: -finding.severity)
    return Audit(findings, topology)


def _ask_everything(system: System, topology: Topology) -> None:
    """Ask of a machine that was sent what every check asks, whichever places were chosen."""
    everything = Machine(system, topology, frozenset(chosen_devices(system, topology, ())))
    for _, check in all_checks():
        for _ in check(everything):
            pass


def device_of(system: System, topology: Topology, word: str) -> str:
    """Give the kernel's name of the device that a word stands for.

    Raises
    ------
    SsdlabError
        It stands for none.
    """
    use = topology.mounted_at(word)
    if use is not None:
        return use.device
    real = system.real(word)
    device = topology.named(word) or (topology.named(real) if real else None)
    if device is not None:
        return device.name
    if real is not None and not real.startswith(("/dev/", "/sys/", "/proc/")):
        mount = topology.mount_of(real)
        if mount is not None and mount.device:
            return mount.device
        if mount is not None:
            raise SsdlabError(
                f"{word}: is on {mount.kind} at {mount.place}, which has no block device here"
                f"\n{_known(topology)}"
            )
    raise SsdlabError(f"{word}: not a block device or a mounted folder\n{_known(topology)}")


def _known(topology: Topology) -> str:
    known = [device.label for device in topology.devices.values()]
    mounted = [use.place for use in topology.uses]
    return f"there are {', '.join([*mounted, *known][:12]) or 'none'}"


def _given_up(words: str, reason: str) -> Finding:
    """Make the finding of a tool that hung or printed without end."""
    return Finding(
        "tools",
        Severity.YELLOW,
        f"{words}: {reason}",
        words.rpartition(" ")[2],
        "a drive or controller that does not answer its tools may be failing; "
        "what it would have told is missing here",
        advice("look for resets and time-outs in the kernel's log (journalctl -k)", "none"),
        "smartctl(8), dmsetup(8): both answer within seconds",
    )


def chosen_devices(system: System, topology: Topology, places: Sequence[str]) -> set[str]:
    """Name what is asked about: the places' devices with all below and above, or all in use.

    Raises
    ------
    SsdlabError
        A place that is no device, or is on no device.
    """
    chosen: set[str] = set()
    for place in places:
        name = device_of(system, topology, place)
        chosen.update(layer.name for layer, _ in topology.layers(name))
        # What stands on a named drive belongs to it.
        chosen.update(upper.name for upper in topology.above(name))
    if not places:
        unused = (name for name, device in topology.devices.items() if device.kind == "loop")
        idle = {name for name in unused if not topology.is_used(name)}
        chosen.update(topology.devices.keys() - idle)
    return {layer.name for name in chosen for layer, _ in topology.layers(name)}


def quoted(check: str, unread: Unread) -> Finding:
    """Make the finding of what was read and is not understood."""
    said = unread.told().removeprefix(f"{unread.where} is not understood: ")
    return not_looked_at(check, f"it is not understood: {said}", unread.where)


def _unseen(machine: Machine, everything: bool) -> Iterator[Finding]:
    """Say what no check could look at."""
    for each in machine.topology.unread:
        yield quoted("devices", each)
    for each in unread_rows(machine.system):
        yield quoted("trim schedule", each)
    if everything:
        for mount in machine.topology.mounts:
            if mount.kind in _MANY_DEVICES and not mount.device:
                yield not_looked_at("devices", _MANY_DEVICES[mount.kind], mount.place)
    if len(machine.system.entries("/sys/block")) > MOST_DEVICES:
        because = f"only the first {MOST_DEVICES} block devices are"
        yield not_looked_at("devices", because, "/sys/block")
    if everything and machine.chosen and not machine.system.read("/proc/self/mountinfo"):
        because = "no mount is listed, so what stands on the devices is not known"
        yield not_looked_at("devices", because, "/proc/self/mountinfo")
    if not machine.chosen:
        because = "there is no block device: /sys/block is empty or cannot be read"
        yield not_looked_at("devices", because, "/sys/block")
    paths = [each.label for each in machine.devices if each.kind == "multipath"]
    paths += [each.label for each in machine.drives if " " in each.details.get("paths", "")]
    if paths:
        because = "multipath -ll and nvme list-subsys show whether all paths work"
        yield not_looked_at("devices", because, ", ".join(paths))
    odd = [each.label for each in machine.devices if each.kind == "mapped"]
    if odd:
        because = (
            "only dmsetup table, run as root, shows what they are, or their kind is not known here"
        )
        yield not_looked_at("devices", because, ", ".join(odd))
