"""How to move a misaligned partition without losing what is in it.

All that is in a partition moves by the same distance, so the new start is the one with which the
topmost layer fits: for a layer that begins r bytes into the partition, the first s beyond the old
start with s + r a boundary. To move to the right takes as much free room behind the partition;
where there is less, what is in it is shrunk first. Left out: partitions that move over others.
"""

from __future__ import annotations

from dataclasses import replace

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.findings import check, verdict
from ssdlab.machine.align.grid import TRACK, Grid, boundaries
from ssdlab.machine.align.layout import Array, Layout, Partition, PhysicalVolume
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.places import spots
from ssdlab.machine.align.procedure import (
    ChosenPartition,
    ProcedureStep,
    back_up,
    content,
    file_system,
    refuse_encrypted,
    shrink,
    sized_partition,
)
from ssdlab.machine.align.rule import Judgement


def move(
    layout: Layout,
    grid: Grid,
    disk: ChosenPartition,
    *,
    to: int | None = None,
    free_behind: int = 0,
) -> list[ProcedureStep]:
    """Say how to move a partition to where it fits.

    Parameters
    ----------
    layout
        The partition with its size, and what is in it.
    grid
        What the data have to fit.
    disk
        How it is called.
    to
        The new start in bytes; by default the first that fits after the old one.
    free_behind
        Bytes behind the partition that belong to none.

    Returns
    -------
    list of ProcedureStep
        Empty where it fits already.

    Raises
    ------
    SsdlabError
        It is encrypted, or moving does not help; the message says what does.
    """
    refuse_encrypted(layout, "moving or shrinking")
    partition, size = sized_partition(layout)
    if to is None and verdict(check(layout, grid)) is Judgement.ALIGNED:
        return []
    target = _target(layout, partition, grid) if to is None else to
    _refuse_useless(layout, partition, target, grid)
    size -= max(0, target - partition.start - free_behind)
    if size <= 0:
        raise SsdlabError(
            f"moving by {binary_size(target - partition.start)} would leave nothing of the "
            "partition; make room behind it and say so with --free-behind"
        )
    return _steps(layout, disk, target // grid.geometry.sector_bytes, size)


def _inner(layout: Layout, partition: Partition) -> int:
    """How far into the partition the topmost layer begins."""
    placed = spots(layout)
    top = placed[-1]
    return (top.members if top.array else top.drive).start - partition.start


def _target(layout: Layout, partition: Partition, grid: Grid) -> int:
    inner = _inner(layout, partition)
    if inner % grid.data_step_bytes == 0:
        return boundaries(partition.start, grid).next
    flash = replace(grid, units=tuple(each for each in grid.units if each.kind != TRACK))
    return boundaries(partition.start + inner, flash).next - inner


def _refuse_useless(layout: Layout, partition: Partition, target: int, grid: Grid) -> None:
    layers = tuple(replace(p, start=target) if p is partition else p for p in layout.layers)
    found = check(replace(layout, layers=layers), grid)
    if verdict(found) is not Judgement.ALIGNED:
        worst = next(each for each in found if each.decides and not each.aligned)
        cause = next(each for each in found if not each.aligned and each.unit == worst.unit)
        raise SsdlabError(
            f"a start at {target // grid.geometry.sector_bytes}s does not help: {cause.name} does "
            f"not fit {cause.unit.name} there\n{cause.remedy}"
        )


def _steps(layout: Layout, disk: ChosenPartition, sector: int, size: int) -> list[ProcedureStep]:
    inside = content(layout)
    sectors = size // layout.geometry.sector_bytes
    if inside and isinstance(inside[0], Array):
        return _replace_member(inside[0], disk, sector, sectors)
    if file_system(layout) == "ufs":
        return _dump_and_restore(disk, sector, sectors)
    _, before = sized_partition(layout)
    less = shrink(layout, size, disk) if size < before else []
    return [back_up(disk), *less, _shift(layout, disk, sector), _finish(layout, disk)]


def _shift(layout: Layout, disk: ChosenPartition, sector: int) -> ProcedureStep:
    if file_system(layout) == "ntfs":
        return ProcedureStep(
            f"In GParted: Resize/Move, Align to MiB (or none), to begin at sector {sector}; "
            "GParted also corrects the start that NTFS keeps in its boot sector"
        )
    line = f"echo '{sector},' | sfdisk --move-data -N {disk.number} {disk.device}"
    inside = content(layout)
    of_lvm = bool(inside) and isinstance(inside[0], PhysicalVolume)
    stop = ("vgchange --activate n VG",) if of_lvm else ()
    return ProcedureStep(f"Move data and partition to sector {sector}", (*stop, line))


def _finish(layout: Layout, disk: ChosenPartition) -> ProcedureStep:
    kind = file_system(layout)
    if kind == "ntfs":
        text = "If Windows does not start, boot its medium and choose to repair the computer"
        return ProcedureStep(text, ("bootrec /fixmbr", "bootrec /fixboot"))
    fsck = (f"e2fsck -f {disk.partition}",) if kind == "ext4" else ()
    text = "Check the data; install the boot loader again where the machine starts from this drive"
    return ProcedureStep(text, (*fsck, f"grub-install {disk.device}"))


def _replace_member(
    array: Array, disk: ChosenPartition, sector: int, sectors: int
) -> list[ProcedureStep]:
    if array.level == "0":
        raise SsdlabError(
            "a RAID 0 cannot do without a member: back up, create partitions and array again "
            "(ssdlab align commands), and restore"
        )
    table = f"echo 'start={sector}, size={sectors}' | sfdisk -N {disk.number} {disk.device}"
    out = f"mdadm /dev/md0 --fail {disk.partition} --remove {disk.partition}"
    return [
        ProcedureStep("Back up: until the rebuild is done, the array has less redundancy or none"),
        ProcedureStep("Take the member out", (out, f"mdadm --zero-superblock {disk.partition}")),
        ProcedureStep(
            "Make its partition again; shrink the array first if it becomes too small for that",
            (table,),
        ),
        ProcedureStep(
            "Put it back, and wait for the rebuild before the next member",
            (f"mdadm /dev/md0 --add {disk.partition}", "cat /proc/mdstat"),
        ),
    ]


def _dump_and_restore(disk: ChosenPartition, sector: int, sectors: int) -> list[ProcedureStep]:
    name = f"ada0p{disk.number}"
    return [
        ProcedureStep(
            "FreeBSD has nothing that moves a partition: dump the file system to another drive",
            (f"dump -0a -f /other/data.dump /dev/{name}",),
        ),
        ProcedureStep(
            "Make the partition again, and trim it while making the file system",
            (
                f"gpart delete -i {disk.number} ada0",
                f"gpart add -t freebsd-ufs -i {disk.number} -b {sector} -s {sectors} ada0",
                f"newfs -E /dev/{name}",
            ),
        ),
        ProcedureStep(
            "Restore",
            (f"mount /dev/{name} /mnt", "cd /mnt && restore -rf /other/data.dump"),
        ),
    ]
