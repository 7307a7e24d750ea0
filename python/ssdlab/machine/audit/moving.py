"""Moves a layer onto the grid: a partition by sfdisk, volumes by pvmove, and when neither is safe.

A partition is moved only while nothing on its drive is in use but what the steps themselves take
out of use, and only where the room behind it is seen to be free. A member of an array is taken out
of it for the move only if the array is clean and otherwise whole.
"""

from __future__ import annotations

import shlex

from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.audit.stripe import grid_of
from ssdlab.real.device import REDUNDANT, SECTOR_BYTES, Device, Use, whole
from ssdlab.real.topology import Topology
from ssdlab.real.volumes import group_of

_OF_THE_SYSTEM = ("/boot", "/etc", "/usr", "/var")
_TABLE_SECTORS = 34
"""What GPT keeps at the end of a drive; MBR keeps less."""
_FIRST_MBR_SECTOR = 2048
_EXTENDED_SECTORS = 2
_FIRST_LOGICAL = 5
_PLAIN = ("ext2", "ext3", "ext4", "xfs", "f2fs", "swap")
_CLEAN = ("clean", "active", "active-idle", "write-pending")


def move_partition(topology: Topology, device: Device, lower: Device, start: int) -> Remedy:
    """Move a partition to the next place on the grid, or say why not."""
    grid = grid_of(lower)
    target = -(-start // grid) * grid
    no_room = _no_room(topology, device, lower, target, start)
    number = whole(device.details.get("partition")) or 0
    if number < 1:
        return refused("the partition's number is not known")
    reason = no_room or _shape(topology, device, lower, number) or _others(topology, device, lower)
    if reason:
        return refused(reason)
    sector_bytes = lower.number("logical_block_size") or SECTOR_BYTES
    move = _Move(lower, number, start // sector_bytes, target // sector_bytes)
    above = topology.directly_above(device.name)
    arrays = [upper for upper in above if upper.kind == "md"]
    if arrays:
        return _move_member(arrays[0], device, move)
    return _move_unused(topology, device, move)


class _Move:
    """sfdisk's command there and back."""

    def __init__(self, drive: Device, number: int, start: int, target: int) -> None:
        command = f"sfdisk --move-data -N {number} {drive.word}"
        self.there, self.back = f"echo '{target},' | {command}", f"echo '{start},' | {command}"
        # sfdisk 2.38 says "Failed to resize partition" there.
        is_early = start < _FIRST_MBR_SECTOR
        self.way_back = (
            "   # on GPT; on an MBR sfdisk moves nothing to before sector 2048" if is_early else ""
        )
        self.does = f"moves partition {number} of {drive.label} from sector {start} to {target}"


def _no_room(topology: Topology, device: Device, lower: Device, target: int, start: int) -> str:
    """Say what is in the way."""
    ends = [lower.size_bytes - _TABLE_SECTORS * SECTOR_BYTES]
    for other in topology.partitions(lower.name):
        for below in other.below:
            if below.offset_bytes is not None and below.offset_bytes > start:
                ends.append(below.offset_bytes)
    free = max(0, min(ends) - start - device.size_bytes) // SECTOR_BYTES
    needed = (target - start) // SECTOR_BYTES
    if free >= needed:
        return ""
    return f"behind {device.label} {needed} sectors must be free to move it, and {free} are"


def _shape(topology: Topology, device: Device, lower: Device, number: int) -> str:
    """Say what about the partition table is in the way."""
    extended = any(
        each.size_bytes <= _EXTENDED_SECTORS * SECTOR_BYTES
        for each in topology.partitions(lower.name)
    )
    if extended and number >= _FIRST_LOGICAL:
        return f"{device.label} is a logical partition, whose own table would have to move as well"
    return ""


def _others(topology: Topology, device: Device, lower: Device) -> str:
    """Say what of the drive is in use beside the partition, or cannot be taken out of use."""
    for other in topology.partitions(lower.name):
        if other.name != device.name and topology.is_used(other.name):
            return f"{other.label} on the same drive is in use, and sfdisk needs the whole drive"
    if any(each.kind != "partition" for each in topology.directly_above(lower.name)):
        return f"{lower.label} is in use as a whole"
    return ""


def _move_unused(topology: Topology, device: Device, move: _Move) -> Remedy:
    """Move a partition with a file system, swap or volumes, taken out of use for the while."""
    reason = _cannot_stop(topology, device)
    if reason:
        return refused(reason)
    users = topology.users(device.name)
    groups = sorted(
        {group_of(each.mapped_name) for each in topology.above(device.name) if each.is_volume}
    )
    words = [shlex.quote(group) for group in groups]
    stop = [*(_out(topology, use) for use in reversed(users))]
    stop += [f"vgchange --activate n {word}" for word in words]
    start = [f"vgchange --activate y {word}" for word in words]
    start += [_back(topology, use) for use in users]
    undo = " && ".join([*stop, move.back, *start])
    return Remedy(
        move.does + (f", out of use meanwhile: {_places(users)}" if users else ""),
        "a power cut in the middle leaves it half moved: have a backup that was read back",
        undo + move.way_back,
        (*stop, move.there, *start),
    )


def _cannot_stop(topology: Topology, device: Device) -> str:
    for use in topology.users(device.name):
        if use.place == "/" or use.place.startswith(_OF_THE_SYSTEM):
            return f"{use.place} is in use by the running system, and to move it nothing may use it"
        if use.kind not in _PLAIN:
            return f"how to take {use.place} ({use.kind}) out of use and back is not known here"
        if len([each for each in topology.uses if each.device == use.device]) > 1:
            return f"what is at {use.place} is in use at several places"
    for upper in topology.above(device.name):
        if upper.kind == "crypt":
            return (
                f"{upper.label} on it is encrypted: after a move that broke off nothing of it "
                "could be repaired"
            )
        if not upper.is_volume:
            return f"{upper.label} stands on it, and how to take that out of use is not known here"
    return _group_in_use(topology, device)


def _group_in_use(topology: Topology, device: Device) -> str:
    """Say which volume elsewhere would lose its group; a group is taken out of use as a whole."""
    here = {each.name for each in topology.above(device.name)}
    groups = {group_of(topology.devices[name].mapped_name) for name in here}
    for other in topology.devices.values():
        in_group = other.is_volume and group_of(other.mapped_name) in groups
        if in_group and other.name not in here and topology.users(other.name):
            return f"{other.label} of the same group is in use on another drive"
    return ""


def _move_member(array: Device, device: Device, move: _Move) -> Remedy:
    """Move a member of a redundant array, out of it and in again."""
    reason = unsafe_to_take_out(array, device.name)
    if reason:
        return refused(reason)
    add = f"mdadm --manage {array.word} --add {device.word}"
    out = f"mdadm --manage {array.word} --fail {device.word} --remove {device.word}"
    wait = f"{{ mdadm --wait {array.word} || true; }}"
    return Remedy(
        f"takes {device.label} out of {array.label}, {move.does}, and puts it back, which copies "
        "all of it",
        "until the last step has ended a failure of another member takes the data: have a backup, "
        "and do one member at a time",
        f"{add} puts it back at any time; to the old place: {out} && {move.back} && {add}"
        + move.way_back,
        (out, move.there, add, wait, f"grep -q '^0$' /sys/block/{array.name}/md/degraded"),
        costs=f"redundancy: {array.label} has one copy less from the first step to the last",
    )


def unsafe_to_take_out(array: Device, member: str) -> str:
    """Say why a member is not to be taken out of an array; empty where it may."""
    details = array.details
    if details.get("level") not in REDUNDANT:
        return f"{array.label} is not redundant and loses everything without {member}"
    if details.get("degraded") != "0":
        return f"{array.label} is not whole, and without {member} it would lose data"
    if details.get("sync_action", "idle") != "idle":
        return f"{array.label} is being synchronised; audit again when it is done"
    if details.get("array_state", "clean") not in _CLEAN:
        return f"{array.label} is not clean ({details.get('array_state')})"
    if (whole(details.get("mismatch_cnt")) or 0) > 0:
        return f"the copies of {array.label} differ, and the one that is taken out may be the good"
    active = [below.device for below in array.below if below.role == "data"]
    if member not in active:
        return f"{member} is no active member of {array.label}"
    if len(active) < 2:
        return f"{member} is the only member of {array.label} that is here"
    return ""


def move_volumes(topology: Topology, device: Device, lower: Device) -> Remedy:
    """Move volumes to a physical volume on the grid, while they are in use."""
    volumes = [upper for upper in topology.above(lower.name) if upper.is_volume]
    for volume in volumes:
        if volume.kind not in ("lvm", "thin", "thin-pool"):
            return refused(
                f"{volume.label} is more than a plain volume ({volume.kind}): pvmove might put two "
                "of its parts onto one drive"
            )
    group = shlex.quote(group_of(device.mapped_name))
    return Remedy(
        f"moves the volumes of {group_of(device.mapped_name)} from {lower.label} to /dev/NEW, "
        "while they are in use; /dev/NEW is an empty partition on the grid, at least as large",
        "none to what is moved: pvmove goes on after a power cut where it was. Make sure that "
        "/dev/NEW is on a drive that is as good, and that no other part of a mirror is on it",
        f"vgextend {group} {lower.word}; pvmove /dev/NEW {lower.word}; "
        f"vgreduce {group} /dev/NEW; pvremove /dev/NEW",
        (
            f"pvcreate --dataalignment {grid_of(lower) >> 10}k /dev/NEW",
            f"vgextend {group} /dev/NEW",
            f"pvmove {lower.word} /dev/NEW",
            f"vgreduce {group} {lower.word}",
        ),
        costs="all data that is on /dev/NEW, which is overwritten",
    )


def _places(users: list[Use]) -> str:
    return ", ".join(use.place for use in users)


def _out(topology: Topology, use: Use) -> str:
    word = topology.devices[use.device].word
    return f"swapoff {word}" if use.kind == "swap" else f"umount {use.word}"


def _back(topology: Topology, use: Use) -> str:
    word = topology.devices[use.device].word
    if use.kind == "swap":
        return f"swapon {word}"
    options = ",".join(sorted(use.options & _KEPT))
    return f"mount {f'-o {options} ' if options else ''}{word} {use.word}"


_KEPT = frozenset(
    "ro noatime nodiratime nodev nosuid noexec discard nodiscard sync usrquota grpquota".split()
)
