"""How to give a used drive a spare area afterwards.

A share x of the exported capacity that the host never maps makes of the over-provisioning OP
(1 + OP) / (1 - x) - 1. What was written once counts as data until it is trimmed: a partition that
is only deleted, and sectors that are only hidden, leave the drive as full as it was.

The order is therefore: shrink, trim what became free, leave it alone. Left out: the makers' tools,
which do the same at the push of a button.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.grid import Grid
from ssdlab.machine.align.layout import Layout, Partition
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.procedure import (
    ChosenPartition,
    ProcedureStep,
    back_up,
    file_system,
    refuse_encrypted,
    shrink,
    sized_partition,
)


@dataclass(frozen=True)
class SparePlan:
    """What is left to the drive, and how to get there.

    Attributes
    ----------
    end
        Where partitions have to end, in bytes.
    spare_bytes
        What lies behind it.
    over_provisioning
        Before and after, where the drive's is known.
    steps
        In order.
    alternatives
        Other ways, each with its price.
    """

    end: int
    spare_bytes: int
    over_provisioning: tuple[float, float] | None
    steps: tuple[ProcedureStep, ...]
    alternatives: tuple[ProcedureStep, ...]


def effective_over_provisioning(over_provisioning: float, unmapped_share: float) -> float:
    """Give the over-provisioning of a drive of which the host maps less than is exported.

    Examples
    --------
    >>> round(effective_over_provisioning(0.07, 0.2), 4)
    0.3375
    """
    return (1 + over_provisioning) / (1 - unmapped_share) - 1


def spare(
    layout: Layout,
    grid: Grid,
    disk: ChosenPartition,
    *,
    share: float,
    capacity: int,
    over_provisioning: float | None = None,
) -> SparePlan:
    """Say how to leave a share of a used drive to the drive.

    Parameters
    ----------
    layout
        The last partition with its size, and what is in it.
    grid
        Where partitions may end.
    disk
        How it is called.
    share
        Of the exported capacity.
    capacity
        What the drive exports, in bytes.
    over_provisioning
        The drive's own, to say what it becomes.

    Raises
    ------
    SsdlabError
        It is encrypted, cannot be shrunk, or the figures make no sense.
    """
    refuse_encrypted(layout, "shrinking")
    partition, size = sized_partition(layout)
    end = _end(partition, size, grid, share, capacity)
    free = capacity - end
    after = None
    if over_provisioning is not None:
        after = (over_provisioning, effective_over_provisioning(over_provisioning, free / capacity))
    less = max(0, partition.start + size - end)
    steps = _steps(layout, less, end // grid.geometry.sector_bytes, disk)
    return SparePlan(end, free, after, tuple(steps), _alternatives(end, disk, grid))


def refuse_share(share: float) -> None:
    """Refuse a share that leaves nothing to the host, or to the drive.

    Raises
    ------
    SsdlabError
        It is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise SsdlabError(
            f"--spare {share * 100:g}%: expected more than 0% and less than 100%, such as 20%"
        )


def _end(partition: Partition, size: int, grid: Grid, share: float, capacity: int) -> int:
    refuse_share(share)
    if partition.start + size > capacity:
        raise SsdlabError(
            f"the partition ends at byte {partition.start + size}, beyond the drive's {capacity}; "
            "correct its size, or --capacity"
        )
    end = int(capacity * (1 - share)) // grid.step_bytes * grid.step_bytes
    if end <= partition.start:
        raise SsdlabError(
            f"--spare {share:.0%} leaves nothing of a partition that begins at byte "
            f"{partition.start}; ask for less"
        )
    return end


def _steps(layout: Layout, less: int, sector: int, disk: ChosenPartition) -> list[ProcedureStep]:
    """Shrink by `less` bytes, and trim from `sector` to the end of the drive."""
    kind = file_system(layout)
    if kind == "ntfs":
        return [ProcedureStep("Back up the data"), _on_windows(less)]
    _, size = sized_partition(layout)
    shrunk = shrink(layout, size - less, disk) if less else []
    trim = _trim_on_freebsd(sector) if kind == "ufs" else _trim_on_linux(sector, disk)
    return [back_up(disk), *shrunk, trim]


def _trim_on_linux(sector: int, disk: ChosenPartition) -> ProcedureStep:
    return ProcedureStep(
        f"Make a partition of all that lies behind sector {sector}, here {disk.following}, trim it "
        "(mkfs.ext4 would do that too), and delete it; if only deleted, it would stay full",
        (
            f"echo 'start={sector}' | sfdisk --append {disk.device}",
            f"blkdiscard --verbose {disk.following}",
            f"sfdisk --delete {disk.device} {disk.number + 1}",
        ),
    )


def _trim_on_freebsd(sector: int) -> ProcedureStep:
    return ProcedureStep(
        "Make a partition of the rest, trim it while making a file system, and delete it",
        (
            f"gpart add -t freebsd-ufs -i 9 -b {sector} ada0",
            "newfs -E /dev/ada0p9",
            "gpart delete -i 9 ada0",
        ),
    )


def _on_windows(less: int) -> ProcedureStep:
    mib = -(-less // 2**20)
    cut = (f"shrink desired={mib} minimum={mib}",) if mib else ()
    return ProcedureStep(
        "In diskpart: shrink the volume, make a partition of what became free, format it (quick is "
        "enough, it trims), and delete it",
        (
            "select volume C",
            *cut,
            "create partition primary",
            "format fs=ntfs quick",
            "delete partition",
        ),
    )


def _alternatives(end: int, disk: ChosenPartition, grid: Grid) -> tuple[ProcedureStep, ...]:
    sectors = end // grid.geometry.sector_bytes
    hide = ProcedureStep(
        f"SATA: hide what lies behind {binary_size(end)} (HPA), so that nobody partitions it. Only "
        "after all of the above, for hiding does not trim; then power-cycle, and on GPT put the "
        "backup table at the new end",
        (
            f"hdparm -N p{sectors} --yes-i-know-what-i-am-doing {disk.device}",
            f"sfdisk --relocate gpt-bak-std {disk.device}",
        ),
    )
    namespace = ProcedureStep(
        "NVMe with namespace management (oacs, bit 3): a smaller namespace. Nothing resizes one in "
        "place, and deleting it loses all data: back up before, restore after",
        (
            "nvme id-ctrl /dev/nvme0 | grep -E 'oacs|cntlid'",
            "nvme delete-ns /dev/nvme0 --namespace-id=1",
            f"nvme create-ns /dev/nvme0 --nsze={sectors} --ncap={sectors} --flbas=0",
            "nvme attach-ns /dev/nvme0 --namespace-id=1 --controllers=CNTLID",
        ),
    )
    anew = ProcedureStep(
        "Where TRIM does not get through, as behind a RAID controller: back up, secure-erase the "
        "drive, partition it smaller from the start, restore"
    )
    return hide, namespace, anew
