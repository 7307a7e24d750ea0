"""LVM's names, which device-mapper holds as one: ``group-volume``, a hyphen inside doubled."""

from __future__ import annotations


def group_and_volume(name: str) -> tuple[str, str]:
    """Split a device-mapper name.

    Examples
    --------
    >>> group_and_volume("my--group-root"), group_and_volume("vg-pool-tpool")
    (('my-group', 'root'), ('vg', 'pool'))
    """
    group, _, volume = name.replace("--", "\0").partition("-")
    return group.replace("\0", "-"), volume.partition("-")[0].replace("\0", "-")


def group_of(name: str) -> str:
    """Name the group of a logical volume, given device-mapper's name."""
    return group_and_volume(name)[0]
