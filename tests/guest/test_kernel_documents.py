"""What the documents describe, done in a guest kernel on served drives, over NVMe/TCP.

Each is judged by what the tools say, and by what the drives have counted themselves: the bytes
that were trimmed there, read-modify-writes, erases, bytes to flash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from results import Results, boot_typed
from served import PROTECTED, ServedDrive, end, serve

PROGRAMS = ("nvme", "ip", "fio", "smartctl", "dmesg", "tr", "seq", "timeout", "head", "wipefs")
FOUR = "/dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1"
LOGS = "for d in 0 1 2 3; do nvme ocp smart-add-log /dev/nvme$d -o json | tr -d '\\n'; echo; done"
USES = "for d in 0 1 2 3; do nvme id-ns /dev/nvme${d}n1 -o json | tr -d '\\n'; echo; done"
USED_LOG = "nvme ocp smart-add-log /dev/nvme4 -o json | tr -d '\\n'"
IDLE = "while ! grep -q idle /sys/block/md0/md/sync_action; do sleep 0.2; done"
WIPE = (
    f"mdadm -q --stop /dev/md0; for d in {FOUR}; do mdadm -q --zero-superblock $d; wipefs -qa $d; "
    "blkid=$d; done; true"
)
QUICK = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
WRITES = (
    "fio --name=w --filename={path} --rw=randwrite --bs=4k --iodepth=8 --direct=1 "
    "--ioengine=libaio --size={size} --io_size={amount} --norandommap --output=/dev/null"
)


def raid(level: int, *more: str) -> list[str]:
    """Return the lines that make an array with a file system, fill a half, and trim it."""
    disks = FOUR.split()[: 2 if level == 1 else 4]
    return [
        f"mdadm -q --create /dev/md0 --run --level={level} --raid-devices={len(disks)} "
        f"--assume-clean {' '.join(disks)}",
        "mkfs.ext4 -q -E nodiscard /dev/md0 && mount /dev/md0 /mnt",
        "dd if=/dev/urandom of=/mnt/file bs=1M count=48 conv=fsync 2>&1",
        *more,
        USES,
        "rm /mnt/file; sync; fstrim -v /mnt",
        USES,
        "umount /mnt",
        WIPE,
    ]


def partition(first: int) -> list[str]:
    """Return the lines that write to a partition that begins there, between two looks."""
    return [
        f"echo '{first},200000' | sfdisk -q /dev/nvme0n1; sleep 0.5",
        "sync; echo 3 > /proc/sys/vm/drop_caches",
        LOGS,
        WRITES.format(path="/dev/nvme0n1p1", size="64m", amount="8m"),
        LOGS,
        "wipefs -qa /dev/nvme0n1p1 /dev/nvme0n1; sleep 0.2",
    ]


def luks(option: str) -> list[str]:
    """Return the lines that trim a file system on an encrypted drive."""
    return [
        f"echo passphrase | cryptsetup luksFormat -q {QUICK} /dev/nvme0n1",
        f"echo passphrase | cryptsetup open {option} /dev/nvme0n1 crypt0",
        "mkfs.ext4 -q -E nodiscard /dev/mapper/crypt0 && mount /dev/mapper/crypt0 /mnt",
        LOGS,
        "fstrim -v /mnt",
        LOGS,
        "umount /mnt; cryptsetup close crypt0; wipefs -qa /dev/nvme0n1",
    ]


USED = "nvme id-ns /dev/nvme0n1 -o json | tr -d '\\n'"
PROOF = "python3 -m ssdlab.machine.audit --prove-trim /mnt"


def proof(option: str) -> list[str]:
    """Return the lines that fill an encrypted drive, make room, and prove how far TRIM gets."""
    return [
        *luks(option)[:3],
        "dd if=/dev/urandom of=/mnt/file bs=1M 2>&1; sync",
        USED,
        "rm /mnt/file; sync",
        PROOF,
        USED,
        "umount /mnt; cryptsetup close crypt0; wipefs -qa /dev/nvme0n1; "
        "nvme format /dev/nvme0n1 --ses=1 --force",
    ]


def lvm(*made: str) -> list[str]:
    """Return the lines that trim a file system on a logical volume."""
    return [
        "pvcreate -q -ff -y /dev/nvme0n1 && vgcreate -q vg /dev/nvme0n1",
        *made,
        "mkfs.ext4 -q -E nodiscard /dev/vg/lv && mount /dev/vg/lv /mnt",
        "dd if=/dev/urandom of=/mnt/file bs=1M count=32 conv=fsync 2>&1",
        USED,
        "rm /mnt/file; sync; fstrim -v /mnt",
        USED,
        "umount /mnt; vgremove -q -ff -y vg; pvremove -q -ff -y /dev/nvme0n1",
    ]


def items(drives: list[ServedDrive]) -> dict[str, list[str]]:
    """Return what is typed, by name."""
    typed = {
        "connect": [*(drive.connect() for drive in drives), "sleep 2", f"ls {FOUR} /dev/nvme4n1"],
        "RAID 1, a member fails": raid(
            1,
            "mdadm -q /dev/md0 --fail /dev/nvme1n1 --remove /dev/nvme1n1; cat /proc/mdstat",
            "dd if=/dev/urandom of=/mnt/more bs=1M count=8 conv=fsync 2>&1",
            "mdadm -q /dev/md0 --add /dev/nvme1n1; sleep 0.5; " + IDLE + "; cat /proc/mdstat",
            "cmp -n 67108864 /dev/nvme0n1 /dev/nvme1n1 -i 1048576 && echo alike",
        ),
        "RAID 5": raid(5, "cat /sys/block/md0/md/level"),
        "RAID 10": raid(10, "cat /sys/block/md0/md/level"),
        "a mismatch": [
            "mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 /dev/nvme0n1 /dev/nvme1n1",
            IDLE,
            "dd if=/dev/urandom of=/dev/nvme1n1 bs=4k seek=4096 count=16 oflag=direct 2>&1",
            "echo check > /sys/block/md0/md/sync_action; sleep 0.5; " + IDLE,
            "cat /sys/block/md0/md/mismatch_cnt",
            "echo repair > /sys/block/md0/md/sync_action; sleep 0.5; " + IDLE,
            "echo check > /sys/block/md0/md/sync_action; sleep 0.5; " + IDLE,
            "cat /sys/block/md0/md/mismatch_cnt",
            WIPE,
        ],
        "fill": ["dd if=/dev/zero of=/dev/nvme0n1 bs=1M oflag=direct 2>&1; true"],
        # In this order: parts of units that lie in the buffer are counted when they leave it.
        "partition at 2048": partition(2048),
        "partition at 63": partition(63),
        "LUKS": luks(""),
        "LUKS with discards": luks("--allow-discards"),
        "full and encrypted": proof(""),
        "full and encrypted, with discards": proof("--allow-discards"),
        "LVM, thick": lvm("lvcreate -q -y -l 90%VG -n lv vg"),
        "LVM, thin": lvm(
            "lvcreate -q -y --type thin-pool -L 80M -n pool vg",
            "lvcreate -q -y -V 64M --thinpool pool -n lv vg",
        ),
        "btrfs": [
            "mkfs.btrfs -q -f -K -M /dev/nvme0n1",
            "mount /dev/nvme0n1 /mnt",
            "dd if=/dev/urandom of=/mnt/file bs=1M count=16 conv=fsync 2>&1; "
            "umount /mnt; mount /dev/nvme0n1 /mnt; stat -c %s /mnt/file",
            "fstrim -v /mnt",
            "umount /mnt; wipefs -qa /dev/nvme0n1",
        ],
        "xfs": [
            # With it mkfs.xfs 6 takes drives of less than 300 MB.
            "mkfs.xfs -q -f -K --unsupported /dev/nvme0n1",
            "mount /dev/nvme0n1 /mnt",
            "dd if=/dev/urandom of=/mnt/file bs=1M count=16 conv=fsync 2>&1; "
            "umount /mnt; mount /dev/nvme0n1 /mnt; stat -c %s /mnt/file",
            "fstrim -v /mnt",
            "umount /mnt; wipefs -qa /dev/nvme0n1",
        ],
        "a used drive, erased": [
            USED_LOG,
            WRITES.format(path="/dev/nvme4n1", size="128m", amount="16m"), USED_LOG,
            "nvme format /dev/nvme4n1 --ses=1 --force", USED_LOG,
            WRITES.format(path="/dev/nvme4n1", size="128m", amount="16m"), USED_LOG,
        ],
    }  # fmt: skip
    return typed


class Tried:
    """What the guest reported, and what the drives have counted."""

    def __init__(self, results: Results, drives: list[ServedDrive]) -> None:
        self.results = results
        self.drives = [drive.ctl("stats") for drive in drives]

    def said(self, name: str) -> list[tuple[int, str]]:
        """Return exit code and output of each line."""
        return [(code, text) for _, code, text in self.results[name]["lines"]]

    def logs(self, name: str, asked: str = LOGS) -> list[list[dict[str, Any]]]:
        """Return what the drives' OCP logs said, look by look."""
        lines = self.results[name]["lines"]
        looks = [text for line, _, text in lines if line == asked]
        return [[json.loads(each) for each in text.splitlines() if each] for text in looks]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    """Serve four drives and a used one, and boot one guest that uses them."""
    folder = tmp_path_factory.mktemp("documents")
    drives = [serve(folder / f"drive{number}", PROTECTED) for number in range(4)]
    drives.append(serve(folder / "used", PROTECTED, "--state", "steady"))
    try:
        found = boot_typed(items(drives), folder, [*PROGRAMS, "cmp"])
        yield Tried(found, drives)
    finally:
        end(drives)


def flash_bytes(log: dict[str, Any]) -> int:
    """Return the bytes that a drive has programmed."""
    return int(log["Physical media units written"]["lo"])


def trimmed(text: str) -> int:
    """Return the bytes that fstrim says it has trimmed."""
    return int(text.partition("(")[2].partition(" ")[0])


@pytest.mark.parametrize("name", ["RAID 1, a member fails", "RAID 5", "RAID 10"])
def test_arrays(tried: Tried, name: str) -> None:
    """Every line ends well, and fstrim goes through to the drives, which forget what was there."""
    lines = tried.said(name)
    failed = [text for code, text in lines if code != 0]
    assert len(failed) == (name == "RAID 5"), failed
    if name == "RAID 1, a member fails":
        assert "[2/1] [U_]" in lines[3][1] and "[2/2] [UU]" in lines[5][1]
        assert "alike" in lines[6][1]
    words = next((text for _, text in lines if "trimmed" in text), "")
    # A parity array passes discards on only where it is told that they leave zeroes.
    assert bool(words) == (name != "RAID 5")
    assert not words or trimmed(words) > 0


@pytest.mark.parametrize(
    ("name", "legs", "share"),
    [("RAID 1, a member fails", 2, 1.0), ("RAID 10", 4, 0.5), ("RAID 5", 0, 1 / 3)],
)
def test_each_leg_forgets_its_share(tried: Tried, name: str, legs: int, share: float) -> None:
    """Of 48 MiB that are trimmed each leg's map holds its share less; with parity it keeps all."""
    full, after = tried.logs(name, USES)
    of_leg = share * (48 << 20) / 512
    fell = [before["nuse"] - now["nuse"] for before, now in zip(full, after, strict=True)]
    assert all(each > 0.8 * of_leg for each in fell[:legs]), fell
    assert all(each < 0.1 * of_leg for each in fell[legs:]), fell


def test_a_mismatch_is_found_and_mended(tried: Tried) -> None:
    """64 KiB that differ are 128 sectors of a check; after a repair there is none."""
    lines = tried.said("a mismatch")
    assert int(lines[4][1]) >= 128
    assert int(lines[7][1]) == 0


def test_a_partition_at_63_costs_read_modify_writes(tried: Tried) -> None:
    """Each 4 KiB at 63 covers two units in part; at 2048 none does."""
    misaligned, aligned = (
        [int(look[0]["Unaligned I/O"]) for look in tried.logs(f"partition at {first}")]
        for first in (63, 2048)
    )
    writes = 2048
    assert misaligned[1] - misaligned[0] >= writes
    assert aligned[1] - aligned[0] < writes / 100


def test_encryption_passes_discards_if_it_is_told(tried: Tried) -> None:
    """Without the option fstrim fails; with it the drive is told."""
    without, given = tried.said("LUKS"), tried.said("LUKS with discards")
    assert without[4][0] != 0 and "not supported" in without[4][1]
    assert given[4][0] == 0 and trimmed(given[4][1]) > 64 << 20


@pytest.mark.parametrize("name", ["LVM, thick", "LVM, thin"])
def test_volumes_pass_discards(tried: Tried, name: str) -> None:
    """Through a linear and a thin volume, until the drive's map holds 32 MiB less."""
    lines = tried.said(name)
    assert all(code == 0 for code, _ in lines[:-1]), lines
    assert trimmed(lines[-3][1]) > 16 << 20
    (full,), (after,) = tried.logs(name, USED)
    assert full["nuse"] - after["nuse"] > 0.8 * (32 << 20) / 512


@pytest.mark.parametrize("name", ["btrfs", "xfs"])
def test_a_file_system_outlives_a_remount(tried: Tried, name: str) -> None:
    """A file is there after a remount, and free space is trimmed."""
    made, mounted, file, freed, undone = tried.said(name)
    assert (made[0], mounted[0], freed[0], undone[0]) == (0, 0, 0, 0), (made, mounted, freed)
    assert file[1].strip().endswith(str(16 << 20))
    assert trimmed(freed[1]) > 16 << 20


def test_a_secure_erase_brings_the_first_speed_back(tried: Tried) -> None:
    """A used drive programs more than it is sent, an erased one as much."""
    used, later, erased, fresh = (look[0] for look in tried.logs("a used drive, erased", USED_LOG))
    of_used = (flash_bytes(later) - flash_bytes(used)) / (16 << 20)
    of_fresh = (flash_bytes(fresh) - flash_bytes(erased)) / (16 << 20)
    assert of_used > 1.5
    # The buffer holds a MiB of them.
    assert of_fresh == pytest.approx(1.0, abs=0.1)


def test_the_drives_counted_what_was_trimmed(tried: Tried) -> None:
    """Both legs of the mirror forgot what fstrim freed, and nobody broke the protocol."""
    for drive in tried.drives[:2]:
        assert drive["counters"]["host_bytes_trimmed"] > 32 << 20
    assert all(drive["connections"]["broke_protocol"] == 0 for drive in tried.drives)
    assert tried.drives[4]["counters"]["secure_erases"] == 1


@pytest.mark.parametrize(
    ("name", "arrives"),
    [("full and encrypted", False), ("full and encrypted, with discards", True)],
)
def test_the_proof_of_trim_agrees_with_the_drive(tried: Tried, name: str, arrives: bool) -> None:
    """What `ssdlab audit --prove-trim` says of each layer is what the drive says of its map."""
    lines = tried.results[name]["lines"]
    (_, code, said) = next(each for each in lines if each[0] == PROOF)
    looks = [json.loads(text) for line, _, text in lines if line == USED]
    full, after = (each["nuse"] / each["nsze"] for each in looks)
    assert full > 0.8, "random data fill the drive"
    assert (after < 0.5) == arrives, (full, after)
    assert (code == 0) == arrives, said
