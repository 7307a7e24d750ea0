"""LVM's names, which device-mapper holds as one: ``group-volume``, a hyphen inside doubled."""

from __future__ import annotations

from ssdlab.audit.topology import Device, Topology

LVM_KINDS = frozenset({"lvm", "thin", "thin-pool"})


def group_and_volume(name: str) -> tuple[str, str]:
    """Split a device-mapper name.

    Examples
    --------
    >>> group_and_volume("my--group-root"), group_and_volume("vg-pool-tpool")
    (('my-group', 'root'), ('vg', 'pool'))
    """
    group, _, volume = name.replace("--", "\0").partition("-")
    return group.replace("\0", "-"), volume.partition("-")[0].replace("\0", "-")


def group_of(device: Device) -> str:
    """Name the group of a logical volume."""
    return group_and_volume(device.mapped_name)[0]


def groups_above(topology: Topology, lower: Device) -> list[str]:
    """Name the groups with volumes that stand on a device, sorted."""
    above = topology.above(lower.name)
    return sorted({group_of(upper) for upper in above if upper.kind in LVM_KINDS})
