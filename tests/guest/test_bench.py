"""The bench in a guest kernel: what it refuses on partitions, volumes and arrays; an NVMe drive.

A shortened latency test goes over QEMU's NVMe drive: purged by format, proved by reading, its
volatile write cache off and on again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from image import HERE
from machine import GuestDrive
from results import Results, boot_with

DRIVES = [GuestDrive()] * 4 + [GuestDrive(discard=False), GuestDrive(controllers=1)]
PROGRAMS = ("fio", "nvme", "smartctl", "wipefs", "sleep")
ONE = "echo '2048,131072' | sfdisk -q /dev/vda"
PAIR = "for d in a b; do echo '2048,131072' | sfdisk -q /dev/vd$d; done"
MIRROR = "mdadm --create /dev/md0 --run --level=1 --raid-devices=2 /dev/vda1 /dev/vdb1"
QUICK = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
LUKS = f"echo passphrase | cryptsetup luksFormat -q {QUICK} /dev/vda1"
VOLUME = ("pvcreate -q /dev/vda1", "vgcreate -q vg /dev/vda1")


@dataclass(frozen=True)
class Use:
    """Something on the drives.

    Attributes
    ----------
    build, undo
        Shell lines.
    says
        By target what the refusal says, when it is named once and once more; None where leave is
        given then.
    """

    build: tuple[str, ...]
    says: dict[str, tuple[str, str | None]]
    undo: tuple[str, ...] = ()


def _both(text: str, *targets: str) -> dict[str, tuple[str, str | None]]:
    return {target: (text, text) for target in targets}


def _held(text: str, *targets: str) -> dict[str, tuple[str, str | None]]:
    return {target: (text, None) for target in targets}


USES = {
    "a mounted partition": Use(
        (ONE, "mkfs.ext4 -q /dev/vda1", "mount -o ro /dev/vda1 /mnt"),
        _both("/dev/vda1 is mounted at /mnt", "/dev/vda", "/dev/vda1"),
        ("umount /mnt",),
    ),
    "a partition table": Use((ONE,), _held("MBR partition table", "/dev/vda")),
    "a file system on a partition": Use(
        (ONE, "mkfs.ext4 -q /dev/vda1"),
        _held("/dev/vda1: ext4", "/dev/vda", "/dev/vda1"),
    ),
    "a volume that is active": Use(
        (ONE, *VOLUME, "lvcreate -q -W n -L 32m -n thick vg"),
        _both("/dev/vda1 is part of /dev/mapper/vg-thick", "/dev/vda", "/dev/vda1"),
        ("vgremove -q -f vg",),
    ),
    "a group that is not active": Use(
        (ONE, *VOLUME, "lvcreate -q -W n -L 32m -n thick vg", "vgchange -q -a n vg"),
        _held("physical volume of LVM", "/dev/vda", "/dev/vda1"),
        ("vgremove -q -f vg",),
    ),
    "members of an array": Use(
        (PAIR, MIRROR, "idle", "mdadm --readonly /dev/md0"),
        _both("is part of /dev/md0", "/dev/vda", "/dev/vda1", "/dev/vdb1"),
        ("mdadm --stop /dev/md0",),
    ),
    "members of an array that is stopped": Use(
        (PAIR, MIRROR, "idle", "mdadm --stop /dev/md0"),
        _held("member of a Linux software RAID", "/dev/vda", "/dev/vda1"),
    ),
    "an array that is mounted": Use(
        (PAIR, MIRROR, "idle", "mkfs.ext4 -q /dev/md0", "mount -o ro /dev/md0 /mnt"),
        _both("mounted at /mnt", "/dev/md0", "/dev/vda"),
        ("umount /mnt", "mdadm --stop /dev/md0"),
    ),
    "LUKS that is open": Use(
        (ONE, LUKS, "echo passphrase | cryptsetup open /dev/vda1 home"),
        _both("is part of /dev/mapper/home", "/dev/vda", "/dev/vda1"),
        ("cryptsetup close home",),
    ),
    "LUKS that is closed": Use((ONE, LUKS), _held("LUKS-encrypted data", "/dev/vda", "/dev/vda1")),
    "a btrfs of two drives": Use(
        (
            "mkfs.btrfs -q -f --mixed -d raid1 -m raid1 /dev/vda /dev/vdb",
            "mount -o ro /dev/vda /mnt",
        ),
        _both("mounted btrfs", "/dev/vda", "/dev/vdb"),
        ("umount /mnt", "btrfs device scan --forget"),
    ),
    "swap": Use(
        ("mkswap -q /dev/vda", "swapon /dev/vda"),
        _both("/dev/vda is swap", "/dev/vda"),
        ("swapoff /dev/vda",),
    ),
    "a mapping of any kind": Use(
        ("dmsetup create any --table '0 131072 linear /dev/vda 2048'",),
        _both("is part of /dev/mapper/any", "/dev/vda"),
        ("dmsetup remove any",),
    ),
    "an NVMe drive that is mounted": Use(
        ("mkfs.ext4 -q /dev/paths", "mount -o ro /dev/paths /mnt"),
        _both("is mounted at /mnt", "/dev/paths"),
        ("umount /mnt",),
    ),
}
NVME = "a latency test of an NVMe drive"


def _items() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"name": name, "build": use.build, "targets": list(use.says), "undo": use.undo}
        for name, use in USES.items()
    ]
    measured = {"name": NVME, "target": "/dev/paths", "cell_seconds": 1.0, "undo": []}
    build = ["mkfs.ext4 -q -F /dev/paths"]
    return [*items, {**measured, "build": build, "cache": "nvme get-feature /dev/nvme0 -f 6"}]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Boot one guest that asks and measures."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "bench.json").write_text(json.dumps(_items()))
    files = {
        HERE / "inside.py": "/guest/common.py",
        HERE / "inside_bench.py": "/guest/inside.py",
        folder / "bench.json": "/guest/bench.json",
    }
    return boot_with(files, DRIVES, folder, programs=PROGRAMS)


@pytest.mark.parametrize("name", USES)
def test_what_is_refused(results: Results, name: str) -> None:
    """In use: however often it is named. Not empty: until it is named again. Nothing is written."""
    result = results[name]
    assert result["failed"] == []
    for target, (once, again) in USES[name].says.items():
        unnamed, first, second = result[target]["answers"]
        assert unnamed != "given" and "nothing was written" in unnamed
        assert once in first, first
        assert "nothing was written" in first
        assert (second == "given") if again is None else (again in second), second
        assert result[target]["unchanged"]


@pytest.fixture(scope="module")
def measured(results: Results) -> dict[str, Any]:
    result = results[NVME]
    assert result["failed"] == []
    return result


def test_the_format_is_proved(measured: dict[str, Any]) -> None:
    """NVMe's format was asked for, and no sample of what was written before is left."""
    purge = measured["beginning"]["purge"]
    assert purge["asked"].startswith("nvme format /dev/nvme0n1 --ses=1")
    assert purge["proved"], purge
    assert "128 read as zeroes" in purge["checked"]
    assert "ext4" in purge["checked"]


def test_the_cache_was_off_and_is_on_again(measured: dict[str, Any]) -> None:
    """As the drive itself says, by its feature 06h."""
    assert measured["beginning"]["write_cache"] == {"found": "on", "during": "off"}
    assert measured["cache_after"].endswith("1"), measured["cache_after"]


def test_every_byte_was_written_twice_by_every_count(measured: dict[str, Any]) -> None:
    """By fio, by the kernel, and by the drive's own log in its unit of 512 000 bytes."""
    beginning = measured["beginning"]
    capacity = measured["described"]["capacity_bytes"]
    assert beginning["conditioning"]["write"]["total_bytes"] == 2 * capacity
    by_kernel = [
        job["ssdlab"]["bytes_written_by_kernel"] for job in beginning["conditioning"]["raw"]
    ]
    assert sum(by_kernel) == 2 * capacity
    before, after = beginning["counters_before"], beginning["counters_after"]
    assert before["source"] == after["source"] == "drive"
    grown = after["host_bytes_written"] - before["host_bytes_written"]
    assert abs(grown - 2 * capacity) <= 2 * 512_000


def test_it_is_marked_as_shortened(measured: dict[str, Any]) -> None:
    """The first deviation says so; each cell has figures of fio."""
    assert "SHORTENED" in measured["deviations"][0]
    assert len(measured["rounds"]) == 5
    for each in measured["rounds"]:
        assert len(each["cells"]) == 3
        for cell in each["cells"]:
            assert cell["both"]["requests"] > 0
            assert cell["both"]["max_ns"] >= cell["both"]["mean_ns"] > 0


def test_the_drive_is_described(measured: dict[str, Any]) -> None:
    """Model, serial number and firmware are QEMU's; kernel and fio are recorded."""
    told = measured["described"]
    assert told["model"] == "QEMU NVMe Ctrl" and told["serial"] == "made"
    assert told["surroundings"]["fio"].startswith("fio-")
    assert told["surroundings"]["kernel"]
