"""Chains of commands carried out in a guest kernel, just as `ssdlab align commands` prints them.

The documents' chains and ten drawn ones. Afterwards the file system on top mounts, the audit finds
nothing about alignment, and what lsblk lists fits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from image import HERE
from machine import GuestDrive
from results import Results, boot_with
from ssdlab.machine import align
from ssdlab.machine.align import Array, Crypt, Geometry, Grid, Layout, PhysicalVolume
from ssdlab.machine.align.layout import PARITY_DISKS
from ssdlab.machine.align.listings import judge, read_listing
from ssdlab.machine.align.reading import from_options

DRIVE_MIB = 512
DRIVES = [GuestDrive(DRIVE_MIB)] * 4 + [GuestDrive(), GuestDrive(controllers=2)]
NAMES = ("/dev/vda", "/dev/vdb", "/dev/vdc", "/dev/vdd")
PARTITION = "partition:start=1MiB,size=480MiB"
DOCUMENTS = {
    "LUKS, LVM and a hint (Stapelberg)": (
        PARTITION,
        "crypt",
        "lvm",
        "filesystem:type=ext4,stripe_width=128KiB",
    ),
    "a partition at 2048 (e-book)": (PARTITION, "filesystem:type=ext4"),
    "RAID 5 (e-book)": (PARTITION, "raid:level=5,disks=4,chunk=64KiB", "filesystem:type=ext4"),
    "all five layers": (PARTITION, "raid:level=1", "crypt", "lvm", "filesystem:type=ext4"),
}


def drawn(seed: int) -> tuple[str, ...]:
    """Draw partition or none, md or none, LUKS and LVM in any order or none, and a file system."""
    chance = random.Random(seed)
    stack = [PARTITION] if chance.random() < 0.8 else []
    if chance.random() < 0.6:
        level, disks = chance.choice([(0, 2), (1, 2), (5, 3), (6, 4), (10, 4)])
        stack.append(f"raid:level={level},disks={disks}")
    above = [each for each in ("crypt", "lvm") if chance.random() < 0.6]
    chance.shuffle(above)
    return (*stack, *above, f"filesystem:type={chance.choice(['ext4', 'xfs', 'btrfs'])}")


CHAINS = {**DOCUMENTS, **{f"drawn {seed}": drawn(seed) for seed in range(10)}}


def layout(options: tuple[str, ...]) -> Layout:
    return from_options(options, Geometry())


def chain(name: str) -> dict[str, Any]:
    """Give the lines that are printed, the device on top, and how to take it apart."""
    stack = layout(CHAINS[name])
    disks = next((each.disks for each in stack.layers if isinstance(each, Array)), 1)
    plan = align.plan(stack, Grid(), NAMES[:disks], new=True)
    lines = [line for each in align.commands(plan) for line in each.lines]
    return {
        "name": name,
        "lines": lines,
        "top": lines[-1].split()[-1],
        "undo": ["umount /mnt", *_undo(stack)],
    }


def _undo(stack: Layout) -> Iterator[str]:
    for layer in reversed(stack.layers):
        if isinstance(layer, PhysicalVolume):
            yield "vgchange -q -a n vg0"
        elif isinstance(layer, Crypt):
            yield "cryptsetup close crypt0"
        elif isinstance(layer, Array):
            yield "mdadm --stop /dev/md0"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Boot one guest that carries out every chain."""
    folder = tmp_path_factory.mktemp("chains")
    (folder / "chains.json").write_text(json.dumps([chain(name) for name in CHAINS]))
    files = {
        HERE / "inside.py": "/guest/common.py",
        HERE / "inside_chains.py": "/guest/inside.py",
        folder / "chains.json": "/guest/chains.json",
    }
    return boot_with(files, DRIVES, folder)


@pytest.mark.parametrize("name", CHAINS)
def test_chain(results: Results, name: str) -> None:
    """Every line runs as printed; what it makes mounts, is aligned, and is green in the audit."""
    result = results[name]
    assert result["failed"] == []
    assert {each["check"] for each in result["found"]} == expected(name), result["found"]
    assert_lsblk_fits(result["lsblk"], has_partition=PARTITION in CHAINS[name])


def expected(name: str) -> set[str]:
    """Expect nothing; of parity arrays that no discards pass, which has its own remedy."""
    arrays = (each for each in layout(CHAINS[name]).layers if isinstance(each, Array))
    has_parity = any(each.level in PARITY_DISKS for each in arrays)
    return {"discard", "spare area"} if has_parity else set()


def assert_lsblk_fits(listing: str, *, has_partition: bool) -> None:
    """Check that what lsblk lists of the first drive begins where it should."""
    devices = json.loads(listing)["blockdevices"]
    assert {each["alignment"] for each in devices} == {0}
    first = next(each for each in devices if each["name"] == "vda")
    if has_partition:
        disks = judge(read_listing(listing, "lsblk"), Grid())
        assert next(disk for disk in disks if disk.listed.name == "vda").aligned
        assert [each["start"] for each in first["children"]] == [2048]
