"""The discard chain: whether TRIM gets from the file system down to the drive.

Every layer says in ``discard_max_bytes`` whether it takes discards; 0 is no. The link that breaks
the chain is the lowest layer with 0 under which everything would take them. A pool or cache may
take them and keep them to itself. Caches (dm-cache, writecache, bcache) hand discards to the device
that they cache for, never to the cache's own; the check of the spare area judges that one. LVM's
``issue_discards`` is no link: it is about lvremove and lvreduce only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ssdlab.machine.audit.cost import cost_of_full_drive
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice, leave_room, refused
from ssdlab.real.device import PARITY, Device
from ssdlab.real.topology import Topology
from ssdlab.real.volumes import group_and_volume

_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 2 (TRIM through every layer); "
    "Linux sysfs-block: discard_max_bytes"
)
_KEEPS = ("no_discard_passdown", "ignore_discard")
_CRYPT_OPTIONS = (
    "same_cpu_crypt",
    "submit_from_crypt_cpus",
    "no_read_workqueue",
    "no_write_workqueue",
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check what every file system and swap in use stands on."""
    reported: set[str] = set()
    passed, drives = [], []
    for use in machine.topology.uses:
        below = machine.topology.drives(use.device)
        only_disks = bool(below) and all(machine.is_disk(drive) for drive in below)
        if use.device not in machine.chosen or "ro" in use.options or only_disks:
            continue
        broken = breaks(machine, use.device)
        unseen = where_sight_ends(machine, use.device)
        for device in broken:
            if device.name not in reported:
                reported.add(device.name)
                yield _finding(machine, use.place, device)
        for because in unseen:
            yield not_looked_at("discard", because, use.place)
        if not broken and not unseen:
            layers = machine.topology.trimmed_layers(use.device)
            drives += [each.label for each in layers if each.kind == "drive"]
            passed.append(use.place)
    if passed:
        what = f"TRIM gets from {', '.join(passed)} to {', '.join(dict.fromkeys(drives))}"
        yield Finding("discard", Severity.GREEN, what, "every layer below")


def passes_discards(device: Device) -> bool:
    """Whether a layer hands discards on.

    A thin pool takes them in any case, to free its own blocks, and may keep them to itself; so may
    a cache. A btrfs is no device and is in nobody's way.
    """
    if device.kind == "btrfs":
        return True
    return bool(device.number("discard_max_bytes")) and not device.has(*_KEEPS)


def breaks(machine: Machine, name: str) -> list[Device]:
    """Give the layers that take no discards although everything below them does."""
    layers = machine.topology.trimmed_layers(name)
    deaf = {device.name for device in layers if not passes_discards(device)}
    return [
        device
        for device in layers
        if device.name in deaf
        and device.kind != "partition"
        and not any(below.device in deaf for below in device.below)
        # Disks need none. A virtual drive that rotates does not say what it is.
        and not (device.kind == "drive" and device.queue.get("rotational") != "0")
    ]


def where_sight_ends(machine: Machine, name: str) -> list[str]:
    """Say why the way to some drive below cannot be followed to its end."""
    layers = machine.topology.trimmed_layers(name)
    return [reason for device in layers if (reason := _end_of_sight(machine, device))]


def _end_of_sight(machine: Machine, device: Device) -> str:
    if device.kind == "drive":
        return _end_at_drive(machine, device)
    if device.is_volume and "tables" not in device.details:
        return (
            f"only dmsetup table shows whether {device.label} passes them on; only root may run it"
        )
    if device.kind == "loop":
        return _end_at_loop(device)
    if device.kind == "mapped":
        target = device.details.get("target", "")
        told = (
            f"is of a kind that is not known here ({target})"
            if target
            else "is of a kind that only root can see"
        )
        return f"{device.label} {told}"
    if device.kind == "btrfs" and device.details.get("degraded") != "0":
        return f"a device of {device.label} is missing"
    return "" if device.below else f"what is below {device.label} cannot be seen"


def _end_at_drive(machine: Machine, device: Device) -> str:
    rotates = device.queue.get("rotational")
    if passes_discards(device) or rotates == "0" or machine.is_disk(device):
        return ""
    what = "is virtual" if device.is_virtual else "may be an SSD"
    told = "calls itself a disk" if rotates == "1" else "does not say whether it rotates"
    return f"{device.label} {what}, {told}, and takes no discards"


def _end_at_loop(device: Device) -> str:
    roles = {below.role for below in device.below}
    path = device.details.get("backing_file", "its file")
    if "zeroes" in roles:
        return (
            f"{device.label} turns discards into writes of zeroes on {path}; "
            "whether the drive frees what it is told to zero is not counted"
        )
    if not roles:
        return f"{path}, which {device.label} is, is on no file system with a device here"
    return ""


def _finding(machine: Machine, place: str, device: Device) -> Finding:
    what, remedy = _REASONS.get(device.kind, _mapped)(machine, device)
    severity = Severity.YELLOW if device.kind == "drive" else Severity.RED
    where = f"{place}: {device.label} ({device.kind})"
    why = (
        "the drive never learns what was deleted, and acts as if it were full; "
        + cost_of_full_drive()
    )
    return Finding("discard", severity, what, where, why, remedy, _SOURCE)


def _crypt(machine: Machine, device: Device) -> tuple[str, Remedy]:
    what = "the encrypted device does not pass discards on"
    options = device.details.get("options", "").split()
    if any(option.startswith("integrity:") for option in options):
        return what, refused("with authentication (dm-integrity) it cannot")
    if "tables" not in device.details:
        return what, refused("only root can see its other options, which must be given again")
    name = shlex.quote(device.mapped_name)
    kept = "".join(f" --perf-{option}" for option in _CRYPT_OPTIONS if option in options)
    is_luks2 = device.details.get("uuid", "").startswith("CRYPT-LUKS2")
    persistent = " --persistent" if is_luks2 else ""
    last = "" if is_luks2 else "; to keep it over a restart, add discard to its line in crypttab"
    above, refresh = _set_up_anew(machine.topology, device)
    undo = f"cryptsetup refresh{persistent}{kept} {name}"
    return what, Remedy(
        f"lets {device.label} pass discards, and the devices above it check again; asks for the "
        f"passphrase{above}{last}",
        "anyone who reads the raw drive can see which blocks are free, and so roughly how much is "
        "stored and in which file system, but not what",
        undo,
        (f"cryptsetup refresh --allow-discards{persistent}{kept} {name}", *refresh),
    )


def _thin(machine: Machine, device: Device) -> tuple[str, Remedy]:
    what = "the thin pool keeps discards to itself or ignores them"
    group, pool = group_and_volume(device.mapped_name)
    if not device.is_volume:
        return what, refused("the pool is not LVM's, and what made it must change it")
    name = shlex.quote(f"{group}/{pool}")
    if device.has("ignore_discard"):
        return what, refused(
            f"a pool that ignores discards changes only out of use: lvchange --discards passdown "
            f"{name} when all of its volumes are inactive"
        )
    return what, Remedy(
        "lets the pool hand discards to the drive",
        "none to data; fstrim takes longer",
        f"lvchange --discards nopassdown {name}",
        (f"lvchange --discards passdown {name}",),
    )


def _array(machine: Machine, device: Device) -> tuple[str, Remedy]:
    if device.details.get("level") not in PARITY:
        what = "the array does not pass discards"
        return what, refused("the array follows its members, and says no although they take them")
    what = "the array passes no discards: it does not trust that trimmed blocks read as zeroes"
    drives = machine.topology.drives(device.name)
    unsure = [each.label for each in drives if not machine.identity(each).zeroes_after_trim]
    if unsure:
        return what, refused(
            "it is safe only if every drive promises that trimmed blocks read as zeroes "
            "(smartctl -i: TRIM Command: Available, deterministic, zeroed), and "
            f"{', '.join(unsure)} did not say so; leave a tenth of each drive unused instead"
        )
    path = "/etc/modprobe.d/raid456.conf"
    return what, Remedy(
        "tells the kernel that trimmed blocks read as zeroes, as every drive here promises; takes "
        "effect with the next start",
        "it holds for every array of RAID 4, 5 and 6 of this machine, and for drives added later: "
        "one that does not read zeroes makes parity wrong, and a rebuild then returns wrong data",
        f"rm {path}; update-initramfs -u",
        (
            f"echo 'options raid456 devices_handle_discard_safely=Y' > {path}",
            "update-initramfs -u",
        ),
        costs="data, at a rebuild, if only one drive does not keep its promise",
    )


def _drive(machine: Machine, device: Device) -> tuple[str, Remedy]:
    if device.is_virtual:
        return (
            "the virtual drive takes no discards",
            advice("set discard=unmap in the guest's drive on the host, and start the guest anew"),
        )
    return (
        "the drive, or the controller before it, takes no TRIM",
        leave_room(device),
    )


def _integrity(machine: Machine, device: Device) -> tuple[str, Remedy]:
    return "dm-integrity does not pass discards on", refused(
        "it takes discards only if it is reopened, out of use, with --allow-discards and all the "
        "options it was made with, and on some kernels not in the mode that journals data"
    )


def _mapped(machine: Machine, device: Device) -> tuple[str, Remedy]:
    if device.kind == "lvm" and device.details.get("tables"):
        return "the volume was set up before the device below passed discards", Remedy(
            "loads the same table again, so that the volume checks the device below",
            "I/O to it pauses for a moment",
            "not needed: the table is the same",
            (_reload(device),),
        )
    name = shlex.quote(device.mapped_name)
    return "this layer does not pass discards", refused(
        f"how to change that is not known here (dmsetup table {name} shows what it is)"
    )


def _set_up_anew(topology: Topology, lower: Device) -> tuple[str, list[str]]:
    """Give what makes the volumes above ask again what is below: they do when a table is loaded.

    LVM's own refresh loads none if the table is the same. Only plain volumes are loaded anew: a
    pool or an array might begin to copy.
    """
    above = [each for each in topology.above(lower.name) if each.name.startswith("dm-")]
    above.sort(key=lambda upper: sum(1 for _ in topology.layers(upper.name)))
    if any(upper.kind not in ("lvm", "linear") for upper in above):
        return ", and a restart for the devices above it", []
    return "", [_reload(upper) for upper in above]


def _reload(volume: Device) -> str:
    name = shlex.quote(volume.mapped_name)
    return f"dmsetup table {name} | dmsetup reload {name} && dmsetup resume {name}"


_REASONS = {
    "crypt": _crypt,
    "thin": _thin,
    "thin-pool": _thin,
    "md": _array,
    "drive": _drive,
    "integrity": _integrity,
}
