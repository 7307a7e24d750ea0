"""LVM's own RAID and btrfs of several devices: whether all legs are there and agree.

dm-raid's status (``dmsetup status``) has a letter for every leg (``A`` alive and in step, ``a``
alive and behind, ``D`` dead) and the mismatches of the last check; the older mirror target has
letters of the same kind. Only root may ask.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.real.device import PARITY, Device, whole
from ssdlab.real.volumes import group_and_volume, group_of

_SOURCE = "Linux Documentation/admin-guide/device-mapper/dm-raid (status); lvmraid(7)"
_BTRFS_SOURCE = "btrfs-device(8), btrfs-replace(8); Linux sysfs: devinfo/missing"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every volume of several legs, and every btrfs of several devices."""
    states = _states(machine)
    good = []
    for device in machine.devices:
        if device.kind in ("raid", "mirror"):
            found = list(_volume(device, states.get(device.mapped_name)))
        elif device.kind == "btrfs":
            found = list(_btrfs(machine, device))
        else:
            continue
        yield from found
        if not found and device.details.get("level") != "raid0":
            good.append(device.label)
    if good:
        yield Finding("volumes", Severity.GREEN, "every leg is there and in step", ", ".join(good))
    unknown = [each for each in machine.devices if each.is_volume and "tables" not in each.details]
    if unknown:
        because = (
            "only dmsetup table shows whether they have several legs, and only root may run it"
        )
        where = ", ".join(each.label for each in unknown)
        yield not_looked_at("volumes", because, where)


def _states(machine: Machine) -> dict[str, list[str]]:
    if not any(device.kind in ("raid", "mirror") for device in machine.devices):
        return {}
    lines = (machine.system.run("dmsetup", "status") or "").splitlines()
    split = (line.partition(": ") for line in lines)
    return {name: state.split() for name, _, state in split}


def _volume(device: Device, state: list[str] | None) -> Iterator[Finding]:
    if state is None or len(state) < 6:
        because = "dmsetup status, which shows its state, did not answer"
        yield not_looked_at("volumes", because, device.label)
        return
    legs = _letters(device, state)
    dead, behind = legs.count("D"), legs.count("a")
    if not legs:
        yield not_looked_at(
            "volumes", "dmsetup status describes its state in words not known here", device.label
        )
    elif dead:
        yield _dead(device, dead)
    elif behind and device.details.get("level") != "raid0":
        yield _behind(device, behind, state)
    mismatches = whole(state[8]) if device.kind == "raid" and len(state) > 8 else 0
    if mismatches:
        yield _mismatch(device, mismatches, is_whole=bool(legs) and not dead and not behind)


def _letters(device: Device, state: list[str]) -> str:
    """Give a letter for every leg."""
    # start, length, raid, level, legs, letters, …; a mirror lists its legs by number first.
    place = 5 if device.kind == "raid" else 6 + (whole(state[3]) or 0)
    text = state[place] if place < len(state) else ""
    # Of a mirror's leg D, F, S, R and U are failures of one kind or other.
    return re.sub("[FSRU]", "D", text) if re.fullmatch("[AaDFSRU]+", text) else ""


def _name(device: Device) -> str:
    return shlex.quote("/".join(group_and_volume(device.mapped_name)))


def _dead(device: Device, legs: int) -> Finding:
    group = shlex.quote(group_of(device.mapped_name))
    return Finding(
        "volumes",
        Severity.RED,
        f"{legs} of its legs dead or missing",
        device.label,
        "the next failure may take the data",
        Remedy(
            "recreates a leg in the group's free space, after /dev/NEW was added to the group",
            "the copy reads every sector of the other legs: one of them may fail under it, so "
            "back up first. If the old drive was only unplugged, lvchange --refresh brings it back",
            f"lvconvert --replace /dev/NEW {_name(device)} moves the new leg elsewhere; the old "
            "one does not come back",
            (
                "pvcreate /dev/NEW",
                f"vgextend {group} /dev/NEW",
                f"lvconvert --yes --repair {_name(device)}",
            ),
            costs="all data that is on /dev/NEW, which is overwritten",
        ),
        _SOURCE,
    )


def _behind(device: Device, legs: int, state: list[str]) -> Finding:
    done = state[6] if device.kind == "raid" else ""
    return Finding(
        "volumes",
        Severity.YELLOW,
        f"{legs} of its legs not in step {f'({done} sectors)' if done else ''}".rstrip(),
        device.label,
        "until it is in step another failure may take the data",
        refused("it is being copied; audit again when it is done (lvs -a -o +sync_percent)"),
        _SOURCE,
    )


def _mismatch(device: Device, sectors: int, is_whole: bool) -> Finding:
    parity = device.details.get("level") in PARITY
    name = _name(device)
    if not is_whole:
        remedy = refused("the volume is not whole; make it so first")
    elif parity:
        remedy = Remedy(
            "recomputes parity from the data, which is assumed to be right",
            "if the data is wrong, parity no longer shows it: compare files with a backup",
            "there is no way back",
            (f"lvchange --syncaction repair {name}",),
            costs="data: what parity says where it differs from the data is overwritten",
        )
    else:
        remedy = refused(
            "where two copies differ, repair overwrites one with the other and does not know which "
            f"is right: compare the files with a backup, then lvchange --syncaction check {name}"
        )
    return Finding(
        "volumes",
        Severity.RED if parity else Severity.YELLOW,
        f"{sectors} sectors did not match in the last check",
        device.label,
        "the legs differ: a drive, cable or controller may be in trouble",
        remedy,
        _SOURCE,
    )


def _btrfs(machine: Machine, device: Device) -> Iterator[Finding]:
    missing = whole(device.details.get("degraded")) or 0
    if not missing:
        return
    use = next(iter(machine.topology.users(device.name)), None)
    place = use.word if use is not None else "MOUNTPOINT"
    yield Finding(
        "volumes",
        Severity.RED,
        f"{missing} of its devices missing",
        device.label,
        "the next failure may take the data",
        Remedy(
            "copies what the missing device held to /dev/NEW; N is the missing device's number in "
            f"btrfs filesystem show {place}",
            "the copy reads the other devices: one of them may fail under it, so back up first",
            f"btrfs replace cancel {place}, while it runs",
            (f"btrfs replace start -B N /dev/NEW {place}",),
            costs="all data that is on /dev/NEW, which is overwritten",
        ),
        _BTRFS_SOURCE,
    )
