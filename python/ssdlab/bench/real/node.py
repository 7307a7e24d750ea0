"""A block device of this machine, as the kernel names it: its node, number, folder and family.

Everything is found by the device's number (``/sys/dev/block/MAJOR:MINOR``), so a link such as
``/dev/disk/by-id/…`` and the node that it leads to are one device. Its family is the device with
its partitions, and for a partition the drive that it is on.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass

from ssdlab.ground.errors import SsdlabError
from ssdlab.real.device import SECTOR_BYTES, whole
from ssdlab.real.system import LiveSystem, System


@dataclass(frozen=True)
class Node:
    """A block device.

    Attributes
    ----------
    path
        Its node with all links followed, such as ``/dev/nvme0n1``.
    number
        ``MAJOR:MINOR``.
    name
        The kernel's name.
    folder
        What sysfs tells of it, such as ``/sys/block/sda``.
    drive
        The kernel's name of the whole drive; ``name`` itself where it is no partition.
    partitions
        The kernel's names of its partitions.
    size_bytes
        Its size.
    """

    path: str
    number: str
    name: str
    folder: str
    drive: str
    partitions: tuple[str, ...]
    size_bytes: int

    @property
    def is_partition(self) -> bool:
        """Whether it is a part of a drive."""
        return self.name != self.drive

    @property
    def names(self) -> tuple[str, ...]:
        """Itself and its partitions."""
        return (self.name, *self.partitions)

    @property
    def drive_folder(self) -> str:
        """What sysfs tells of the whole drive."""
        return f"/sys/block/{self.drive}"

    @property
    def is_nvme(self) -> bool:
        """Whether it speaks NVMe."""
        return self.drive.startswith("nvme")

    @property
    def is_scsi(self) -> bool:
        """Whether the kernel shows it as a SCSI disk; SATA drives are among them."""
        return self.drive.startswith("sd")

    def queue(self, system: System, attribute: str) -> str | None:
        """Give an attribute of its queue, which a partition shares with its drive."""
        return system.read(f"{self.drive_folder}/queue/{attribute}")


def number_of(path: str) -> str:
    """Give the number of a block device.

    Raises
    ------
    SsdlabError
        There is none by that name.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        raise SsdlabError(f"{path}: {error.strerror}\nname a block device, see: lsblk") from None
    if not stat.S_ISBLK(found.st_mode):
        raise SsdlabError(f"{path}: not a block device\nname one, see: lsblk")
    return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"


def find_node(path: str, system: System | None = None) -> Node:
    """Find a block device by any of its names.

    Raises
    ------
    SsdlabError
        There is none by that name, or sysfs does not tell of it.
    """
    return describe(path, number_of(path), system or LiveSystem())


def describe(path: str, number: str, system: System) -> Node:
    """Find what sysfs tells of a device by its number.

    Raises
    ------
    SsdlabError
        It does not tell of it.
    """
    folder = system.real(f"/sys/dev/block/{number}")
    if folder is None or system.read(f"{folder}/size") is None:
        raise SsdlabError(
            f"{path}: /sys/dev/block/{number} cannot be read, so its use cannot be "
            "determined\nmount sysfs at /sys"
        )
    name = folder.rpartition("/")[2]
    is_partition = system.read(f"{folder}/partition") is not None
    drive = folder.split("/")[-2] if is_partition else name
    parts = tuple(
        entry
        for entry in system.entries(folder)
        if entry.startswith(name) and system.read(f"{folder}/{entry}/partition") is not None
    )
    return Node(
        path=system.real(path) or path,
        number=number,
        name=name,
        folder=folder,
        drive=drive,
        partitions=parts,
        size_bytes=(whole(system.read(f"{folder}/size")) or 0) * SECTOR_BYTES,
    )


def controllers(node: Node, system: System) -> list[str]:
    """Name the NVMe controllers of a namespace, such as ``/dev/nvme0``.

    A controller need not have the number of its namespace where the kernel joins paths.
    """
    place = system.real(f"{node.drive_folder}/device") or ""
    name = place.rpartition("/")[2]
    if re.fullmatch(r"nvme\d+", name):
        return [f"/dev/{name}"]
    names = [each for each in system.entries(place) if re.fullmatch(r"nvme\d+", each)]
    return [f"/dev/{each}" for each in names] or [f"/dev/{node.drive.rpartition('n')[0]}"]


def device_path(name: str) -> str:
    """Name the node of a kernel's name; what sysfs writes as an exclamation mark is a slash."""
    return f"/dev/{name.replace('!', '/')}"
