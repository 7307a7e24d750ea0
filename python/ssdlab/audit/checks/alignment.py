"""Alignment: whether every layer begins where the one below can take whole pieces.

A write that covers a flash page (4 KiB and more) or a RAID stripe only in part makes the layer
below read, change and write again. So the byte at which a layer begins, counted on the drive, is to
be a multiple of 4 KiB at the very least, and of 1 MiB to fit erase blocks and stripes of any usual
size; on an array, of its stripe.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import SECTOR_BYTES, Below, Device, Topology

_PAGE = 4096
_GRID = 1 << 20
_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 2 (start at multiples of 2048 sectors); "
    "Linux Documentation/ABI, alignment_offset"
)
_WHY = (
    "a 4 KiB write then covers two pages in part: both are read and written again, "
    "so small random writes cost at least twice the flash writes"
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check every layer of what is asked about."""
    good = 0
    for name in sorted(machine.chosen):
        device = machine.topology.devices[name]
        for below in device.below:
            findings = list(_edge(machine.topology, device, below))
            yield from findings
            good += not findings and below.offset_bytes is not None
    if good:
        what = f"{good} layers begin on the grid of what is below them"
        yield Finding("alignment", Severity.GREEN, what, "all layers")


def _edge(topology: Topology, device: Device, below: Below) -> Iterator[Finding]:
    if below.offset_bytes is None or below.device not in topology.devices:
        return
    lower = topology.devices[below.device]
    if not _matters(topology, device):
        return
    place = f"{device.label} on {lower.label}, byte {below.offset_bytes}"
    optimal = lower.number("optimal_io_size") or 0
    remedy = _remedy(topology, device, lower, below.offset_bytes)
    if below.offset_bytes % _PAGE:
        what = f"begins {below.offset_bytes % _PAGE} bytes beyond a 4 KiB boundary"
        yield Finding("alignment", Severity.RED, what, place, _WHY, remedy, _SOURCE)
    elif lower.kind == "md" and optimal and below.offset_bytes % optimal:
        what = f"does not begin at a stripe of the array ({optimal} bytes)"
        why = "a full stripe then straddles two: parity is read before it is written"
        yield Finding("alignment", Severity.YELLOW, what, place, why, remedy, _SOURCE)
    elif below.offset_bytes % _GRID and device.kind != "md":
        what = "does not begin on the 1 MiB grid"
        why = "pages fit, but erase blocks and stripes of the layers below may not"
        yield Finding("alignment", Severity.YELLOW, what, place, why, remedy, _SOURCE)


def _matters(topology: Topology, device: Device) -> bool:
    """Leave out an area without data of its own, such as a boot loader's."""
    used = bool(topology.users(device.name))
    holds = any(each.device == device.name for d in topology.devices.values() for each in d.below)
    return used or holds or device.size_bytes > 16 * _GRID


def _remedy(topology: Topology, device: Device, lower: Device, start: int) -> str:
    """Say what moves the layer; what is encrypted is decrypted first."""
    if device.kind == "partition":
        return _move_partition(topology, device, lower, start)
    if device.kind == "crypt":
        return (
            "# back up; this destroys what is on it\n"
            f"cryptsetup luksFormat --type luks2 --offset 32768 {lower.label}"
        )
    if device.kind in ("lvm", "mapped"):
        return (
            "# move the data away (pvmove), then begin the physical volume anew\n"
            f"pvcreate --dataalignment 1m {lower.label}"
        )
    return f"ssdlab align --help   # how to begin {device.label} on the grid"


def _move_partition(topology: Topology, device: Device, lower: Device, start: int) -> str:
    users = topology.users(device.name)
    if any(layer.kind == "crypt" for use in users for layer, _ in topology.layers(use.device)):
        return (
            "# it is encrypted: decrypt it first (cryptsetup reencrypt --decrypt), for after a\n"
            "# broken move of encrypted data nothing can be repaired; then audit again"
        )
    number = device.details.get("partition", device.name[len(lower.name) :].lstrip("p"))
    sector = -(-start // _GRID) * _GRID // SECTOR_BYTES
    room = sector - start // SECTOR_BYTES
    return "\n".join(
        [
            f"# back up first; behind it {room} sectors must be free",
            *(f"umount {use.place}" for use in users if use.place.startswith("/")),
            f"echo '{sector},' | sfdisk --move-data -N {number} {lower.label}",
            *(f"mount {device.label} {use.place}" for use in users if use.place.startswith("/")),
        ]
    )
