"""The discard chain: whether TRIM gets from the file system down to the drive.

Every layer says in ``discard_max_bytes`` whether it passes discards; 0 is no. The link that breaks
the chain is the lowest layer with 0 under which everything would take them. LVM's
``issue_discards`` is no such link: it is about lvremove and lvreduce only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ssdlab.audit.cost import cost_of_full_drive
from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import PARITY, Device, Topology
from ssdlab.audit.volumes import LVM_KINDS, group_and_volume

_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 2 (TRIM through every layer); "
    "Linux sysfs-block: discard_max_bytes"
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check what every file system and swap in use stands on."""
    reported: set[str] = set()
    passed = []
    for use in machine.topology.uses:
        if use.device not in machine.chosen:
            continue
        if all(
            drive.queue.get("rotational") == "1" for drive in machine.topology.drives(use.device)
        ):
            continue
        broken = breaks(machine.topology, use.device)
        if not broken:
            passed.append(use.place)
        for device in broken:
            if device.name not in reported:
                reported.add(device.name)
                yield _finding(machine, use.place, device)
    if passed:
        what = f"TRIM gets from {', '.join(passed)} to the drives"
        yield Finding("discard", Severity.GREEN, what, "every layer below")


def passes_discards(device: Device) -> bool:
    """Whether a layer hands discards on.

    A thin pool takes them in any case, to free its own blocks, and may keep them to itself.
    """
    options = device.details.get("options", "").split()
    keeps = {"no_discard_passdown", "ignore_discard"} & set(options)
    return bool(device.number("discard_max_bytes")) and not keeps


def breaks(topology: Topology, name: str) -> list[Device]:
    """Give the layers that take no discards although everything below them does."""
    layers = [device for device, _ in topology.layers(name)]
    deaf = {device.name for device in layers if not passes_discards(device)}
    return [
        device
        for device in layers
        if device.name in deaf
        and device.kind != "partition"
        and not any(below.device in deaf for below in device.below)
        # Some kernels call an array of SSDs rotating, so only drives are asked.
        and not (device.kind == "drive" and device.queue.get("rotational") == "1")
    ]


def _finding(machine: Machine, place: str, device: Device) -> Finding:
    what, remedy = _REASONS.get(device.kind, _OTHER)(device)
    if device.kind == "crypt":
        remedy = "\n".join([remedy, *_set_up_anew(machine.topology, device)])
    severity = Severity.YELLOW if device.kind == "drive" else Severity.RED
    where = f"{place}: {device.label} ({device.kind})"
    why = (
        "the drive never learns what was deleted and takes itself for full; " + cost_of_full_drive()
    )
    return Finding("discard", severity, what, where, why, remedy, _SOURCE)


def _crypt(device: Device) -> tuple[str, str]:
    name = shlex.quote(device.mapped_name)
    what = "the encrypted device does not pass discards on"
    if device.details.get("uuid", "").startswith("CRYPT-LUKS2"):
        return what, f"cryptsetup refresh --allow-discards --persistent {name}"
    return (
        what,
        f"cryptsetup refresh --allow-discards {name}\n"
        f"# to keep it: add discard to the options of {name} in /etc/crypttab",
    )


def _thin(device: Device) -> tuple[str, str]:
    group, pool = group_and_volume(device.mapped_name)
    return (
        "the thin pool keeps discards to itself or ignores them",
        f"lvchange --discards passdown {shlex.quote(f'{group}/{pool}')}",
    )


def _array(device: Device) -> tuple[str, str]:
    if device.details.get("level") in PARITY:
        return (
            "the array passes no discards: it does not trust that trimmed blocks read as zeroes",
            "# only if every drive reads zeroes after TRIM (hdparm -I: Deterministic read ZEROs)\n"
            "echo 'options raid456 devices_handle_discard_safely=Y' "
            "> /etc/modprobe.d/raid456.conf\n"
            "update-initramfs -u   # then restart",
        )
    return "the array does not pass discards", "# leave a tenth of the drives unused instead"


def _drive(device: Device) -> tuple[str, str]:
    if device.name.startswith("vd"):
        return (
            "the virtual drive takes no discards",
            "# on the host, in the guest's drive: discard=unmap",
        )
    return (
        "the drive, or the controller before it, takes no TRIM",
        "# leave a tenth to a fifth of it unpartitioned after a secure erase: ssdlab align --help",
    )


def _mapped(device: Device) -> tuple[str, str]:
    if device.kind == "lvm":
        return (
            "the volume was set up before what is below it passed discards",
            _reload(device),
        )
    return (
        "this layer does not pass discards",
        f"dmsetup table {shlex.quote(device.mapped_name)}   # what it is",
    )


def _set_up_anew(topology: Topology, lower: Device) -> Iterator[str]:
    """Give what makes the volumes above ask again what is below: they do when a table is loaded.

    LVM's own refresh loads none if the table is the same.
    """
    above = [each for each in topology.above(lower.name) if each.kind in LVM_KINDS]
    above.sort(key=lambda upper: sum(1 for _ in topology.layers(upper.name)))
    if any(upper.kind != "lvm" for upper in above):
        yield "# thin volumes ask again what is below when they are set up: restart"
    else:
        yield from map(_reload, above)


def _reload(volume: Device) -> str:
    name = shlex.quote(volume.mapped_name)
    return f"dmsetup table {name} | dmsetup reload {name} && dmsetup resume {name}"


_REASONS = {"crypt": _crypt, "thin": _thin, "thin-pool": _thin, "md": _array, "drive": _drive}
_OTHER = _mapped
