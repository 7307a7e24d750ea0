"""Steps that change a drive with data on it, what they need to know, and when there are none.

Shrinking is common to moving a partition and to leaving room for the drive: first what is in the
partition, then the partition. What is encrypted is neither moved nor shrunk. Left out: what is
spread over several partitions, but for members of a redundant array.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.layout import Crypt, FileSystem, Layer, Layout, Partition, PhysicalVolume
from ssdlab.machine.align.tools import device_of

_WHY = {
    "luks": "the file system inside still uses the blocks that a smaller partition would cut off",
    "plain": "there is not even a header that says where the ciphertext begins",
    "veracrypt": "the backup header lies at the end of the volume, and system encryption counts "
    "sectors from the start of the drive",
    "bitlocker": "its metadata lie at places of the volume that only Windows keeps track of",
}
_DECRYPT = {
    "luks2": "cryptsetup reencrypt --decrypt --header HEADER DEVICE, with HEADER a new file on "
    "another drive (cryptsetup 2.6)",
    "luks1": "cryptsetup reencrypt --decrypt DEVICE, with the device closed (cryptsetup 2.6)",
    "plain": "nothing decrypts it in place: copy the data to another drive",
    "veracrypt": "System > Permanently Decrypt System Partition/Drive, or for another volume "
    "Volumes > Permanently Decrypt",
    "truecrypt": "System > Permanently Decrypt System Partition/Drive; from another volume copy "
    "the data to another drive",
    "bitlocker": "manage-bde -off X: and wait until manage-bde -status X: says 0 %",
}


@dataclass(frozen=True)
class ProcedureStep:
    """Something to be done, and what to type for it."""

    text: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChosenPartition:
    """The drive, and which of its partitions is meant."""

    device: str = "/dev/sdX"
    number: int = 1

    @property
    def partition(self) -> str:
        """The partition's device."""
        return device_of(self.device, self.number)

    @property
    def following(self) -> str:
        """The device of the partition made next."""
        return device_of(self.device, self.number + 1)


def refuse_encrypted(layout: Layout, doing: str) -> None:
    """Refuse to advise where anything in the layout is encrypted.

    Raises
    ------
    SsdlabError
        There is encryption; the message says why that matters and how to decrypt.
    """
    crypt = layout.encryption
    if crypt is None:
        return
    family = crypt.format.rstrip("12").replace("truecrypt", "veracrypt")
    raise SsdlabError(
        f"{crypt.name}: no advice on {doing} while it is encrypted: the data would be lost\n"
        "why: the tools see ciphertext only, so none can shrink or check what is inside, and no "
        f"fsck can mend what an interrupted move leaves; {_WHY[family]}\n"
        f"how far: {_reach(layout, crypt)}\n"
        f"decrypt first: {_DECRYPT[crypt.format]}\n"
        "then ask again without the crypt layer, and encrypt again when all is done"
    )


def _reach(layout: Layout, crypt: Crypt) -> str:
    below = layout.layers[: layout.layers.index(crypt)]
    if any(isinstance(each, Partition) for each in below):
        return "this partition; others of the drive may be changed, unless they are encrypted too"
    return "the whole drive is encrypted, so none of its partitions may be changed"


def sized_partition(layout: Layout) -> tuple[Partition, int]:
    """Give the partition and its size.

    Raises
    ------
    SsdlabError
        Either is missing.
    """
    partition = layout.partition
    if partition is None or partition.size is None:
        raise SsdlabError(
            "which partition, and how large? give both, such as "
            "--layer partition:start_sector=63,size=100GiB"
        )
    return partition, partition.size


def content(layout: Layout) -> tuple[Layer, ...]:
    """Give the layers in the partition."""
    partition, _ = sized_partition(layout)
    return layout.layers[layout.layers.index(partition) + 1 :]


def file_system(layout: Layout) -> str:
    """Give the type of the file system on top, or nothing."""
    top = layout.layers[-1]
    return top.type if isinstance(top, FileSystem) else ""


def back_up(disk: ChosenPartition) -> ProcedureStep:
    """Begin with what everything else may destroy."""
    return ProcedureStep(
        "Back up the data and the partition table: what is interrupted cannot be taken back. Work "
        "from a live system, with nothing on the drive mounted",
        (f"sfdisk --dump {disk.device} > table.sfdisk",),
    )


def shrink(layout: Layout, size: int, disk: ChosenPartition) -> list[ProcedureStep]:
    """Say how to shrink the partition and what is in it to `size` bytes.

    Raises
    ------
    SsdlabError
        What is in it cannot be shrunk; the message says what can be done instead.
    """
    inside = content(layout)
    sectors = size // layout.geometry.sector_bytes
    table = f"echo ', {sectors}' | sfdisk -N {disk.number} {disk.device}"
    steps = [_shrink_content(inside[0], size, disk)] if inside else []
    return [*steps, ProcedureStep("Shrink the partition to the same size", (table,))]


def _shrink_content(lowest: Layer, size: int, disk: ChosenPartition) -> ProcedureStep:
    kib = size // 1024
    if isinstance(lowest, PhysicalVolume):
        return ProcedureStep(
            "Shrink the physical volume; where it refuses, pvmove its last extents away",
            (f"pvresize --setphysicalvolumesize {kib}k {disk.partition}",),
        )
    kind = lowest.type if isinstance(lowest, FileSystem) else lowest.name
    resize = f"ntfsresize --size {size} {disk.partition}"
    known: dict[str, tuple[str, ...]] = {
        "ext4": (f"e2fsck -f {disk.partition}", f"resize2fs {disk.partition} {kib}K"),
        "ntfs": (resize.replace("--size", "--no-action --size"), resize),
        "btrfs": (
            f"mount {disk.partition} /mnt",
            f"btrfs filesystem resize {kib}K /mnt",
            "umount /mnt",
        ),
    }
    if kind not in known:
        raise SsdlabError(
            f"{kind}: cannot be shrunk in place; back up its files, create an aligned partition "
            "(ssdlab align commands), and restore them"
        )
    return ProcedureStep(f"Shrink the {kind} to {kib} KiB", known[kind])
