"""Alignment: whether every layer begins where the one below can take whole pieces.

A write that covers a flash page (4 KiB and more) or a RAID stripe only in part makes the layer
below read, change and write again. So the byte at which a layer begins, counted on the drive, is to
be a multiple of 4 KiB at the very least, and of 1 MiB to fit erase blocks and stripes of any usual
size; on an array, of its stripe.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import REDUNDANT, SECTOR_BYTES, Below, Device, Topology, Use, whole
from ssdlab.audit.volumes import group_of, groups_above

_PAGE = 4096
_GRID = 1 << 20
_LUKS_HEADER = 16 << 20
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
    used = bool(topology.users(device.name) or topology.above(device.name))
    return used or device.size_bytes > 16 * _GRID


def _remedy(topology: Topology, device: Device, lower: Device, start: int) -> str:
    """Say what moves the layer; what is encrypted is decrypted first."""
    if device.kind == "partition":
        return _move_partition(topology, device, lower, start)
    if device.kind == "crypt":
        return _encrypt_anew(topology, device, lower)
    if device.kind == "lvm":
        return _move_volumes(device, lower)
    return f"ssdlab align --help   # how to begin {device.label} on the grid"


def _grid_of(lower: Device) -> int:
    """Give the bytes that a start is to be a multiple of."""
    optimal = lower.number("optimal_io_size") or 0
    return math.lcm(_GRID, optimal) if lower.kind == "md" and optimal > 0 else _GRID


def _encrypt_anew(topology: Topology, device: Device, lower: Device) -> str:
    name = shlex.quote(device.mapped_name)
    users = topology.users(device.name)
    grid = _grid_of(lower)
    offset = -(-_LUKS_HEADER // grid) * grid // SECTOR_BYTES
    return "\n".join(
        [
            f"# back up what is on {device.label}: this destroys it",
            *(_out_of_use(topology, use) for use in users),
            *(
                f"vgchange --activate n {shlex.quote(group)}"
                for group in groups_above(topology, device)
            ),
            f"cryptsetup close {name}",
            f"cryptsetup luksFormat --type luks2 --offset {offset} {lower.word}",
            f"cryptsetup open --allow-discards {lower.word} {name}",
            "# then make what stood on it anew, and copy back",
        ]
    )


def _move_volumes(device: Device, lower: Device) -> str:
    group = shlex.quote(group_of(device))
    return "\n".join(
        [
            "# without stopping; /dev/NEW is a partition on the grid, at least as large",
            f"pvcreate --dataalignment {_grid_of(lower) >> 10}k /dev/NEW",
            f"vgextend {group} /dev/NEW",
            f"pvmove {lower.word} /dev/NEW",
            f"vgreduce {group} {lower.word}",
        ]
    )


def _move_partition(topology: Topology, device: Device, lower: Device, start: int) -> str:
    number = whole(device.details.get("partition")) or device.name[len(lower.name) :].lstrip("p")
    grid = _grid_of(lower)
    sector = -(-start // grid) * grid // SECTOR_BYTES
    room = sector - start // SECTOR_BYTES
    move = f"echo '{sector},' | sfdisk --move-data -N {number} {lower.word}"
    above = topology.above(device.name)
    for upper in above:
        if upper.kind == "md" and any(below.device == device.name for below in upper.below):
            return "\n".join(_move_member(upper, device, move, room))
    if any(upper.kind == "crypt" for upper in above):
        return (
            "# it is encrypted: decrypt it first (cryptsetup reencrypt --decrypt), for after a\n"
            "# broken move of encrypted data nothing can be repaired; then audit again"
        )
    users = topology.users(device.name)
    groups = [shlex.quote(group) for group in groups_above(topology, device)]
    return "\n".join(
        [
            f"# back up first; behind it {room} sectors must be free",
            *(_out_of_use(topology, use) for use in users),
            *(f"vgchange --activate n {group}" for group in groups),
            move,
            *(f"vgchange --activate y {group}" for group in groups),
            *(_into_use(topology, use) for use in users),
        ]
    )


def _move_member(array: Device, device: Device, move: str, room: int) -> list[str]:
    if array.details.get("level") not in REDUNDANT:
        return [f"# stop {array.label} first; behind it {room} sectors must be free", move]
    return [
        f"# back up first; one drive at a time; behind it {room} sectors must be free",
        f"mdadm --manage {array.word} --fail {device.word} --remove {device.word}",
        move,
        f"mdadm --manage {array.word} --add {device.word}",
        "# wait until /proc/mdstat shows the array whole again",
    ]


def _out_of_use(topology: Topology, use: Use) -> str:
    word = topology.devices[use.device].word
    return f"swapoff {word}" if use.kind == "swap" else f"umount {use.word}"


def _into_use(topology: Topology, use: Use) -> str:
    word = topology.devices[use.device].word
    return f"swapon {word}" if use.kind == "swap" else f"mount {word} {use.word}"
