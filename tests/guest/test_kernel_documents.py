"""What the documents describe, done in a guest kernel on served drives, over NVMe/TCP.

Each is judged by what the tools say, and by what the drives have counted themselves: the bytes
that were trimmed there, read-modify-writes, erases, bytes to flash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from results import Results, boot_typed, fio_job
from served import PROTECTED, ServedDrive, end, serve

PROGRAMS = (
    *("nvme", "ip", "fio", "smartctl", "dmesg", "tr", "seq", "timeout", "head", "wipefs"),
    "sha256sum",
)
FOUR = "/dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1"
LOGS = "for d in 0 1 2 3; do nvme ocp smart-add-log /dev/nvme$d -o json | tr -d '\\n'; echo; done"
USES = "for d in 0 1 2 3; do nvme id-ns /dev/nvme${d}n1 -o json | tr -d '\\n'; echo; done"
READS = "for d in 0 1; do nvme smart-log /dev/nvme$d -o json | tr -d '\\n'; echo; done"
USED = "nvme id-ns /dev/nvme0n1 -o json | tr -d '\\n'"
PROOF = "python3 -m ssdlab.machine.audit --prove-trim /mnt"
USED_LOG = "nvme ocp smart-add-log /dev/nvme4 -o json | tr -d '\\n'"
IDLE = "while ! grep -q idle /sys/block/md0/md/sync_action; do sleep 0.2; done"
WIPE = (
    f"mdadm -q --stop /dev/md0; for d in {FOUR}; do mdadm -q --zero-superblock $d; wipefs -qa $d; "
    "blkid=$d; done; true"
)
QUICK = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
WRITES = (
    "fio --name=w --filename={path} --rw=randwrite --bs=4k --iodepth=8 --direct=1 "
    "--ioengine=libaio --size={size} --io_size={amount} --norandommap --output-format=json"
)


FILL = (
    "fio --name=f --filename={path} --rw=write --bs=128k --iodepth=8 --direct=1 "
    "--ioengine=libaio --size={size} --output-format=json"
)
DRIVE_MIB = 128
FILE_SYSTEMS = {
    "ext4": "-q -E nodiscard",
    "btrfs": "-q -f -K -M",
    # With it mkfs.xfs 6 takes drives of less than 300 MB.
    "xfs": "-q -f -K --unsupported",
}
"""How each is made, without a discard of its own."""


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


def failing() -> list[str]:
    """Return the lines in which a member fails, is taken out, comes back and is rebuilt."""
    return [
        "mdadm -q /dev/md0 --fail /dev/nvme1n1 --remove /dev/nvme1n1; cat /proc/mdstat",
        "dd if=/dev/urandom of=/mnt/more bs=1M count=8 conv=fsync 2>&1",
        "mdadm -q /dev/md0 --add /dev/nvme1n1; sleep 0.5; " + IDLE + "; cat /proc/mdstat",
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
        USED,
        "fstrim -v /mnt",
        USED,
        "umount /mnt; cryptsetup close crypt0; wipefs -qa /dev/nvme0n1",
    ]


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


def chain() -> list[str]:
    """Return the lines that prove TRIM through an array, a cipher and a volume at once."""
    return [
        "mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --assume-clean "
        "/dev/nvme0n1 /dev/nvme1n1",
        f"echo passphrase | cryptsetup luksFormat -q {QUICK} /dev/md0",
        "echo passphrase | cryptsetup open --allow-discards /dev/md0 crypt0",
        "pvcreate -q -ff -y /dev/mapper/crypt0 && vgcreate -q vg /dev/mapper/crypt0",
        "lvcreate -q -y -l 90%VG -n lv vg",
        # The kernel would write the table of inodes later, beside what is trimmed.
        "mkfs.ext4 -q -E nodiscard,lazy_itable_init=0 /dev/vg/lv && mount /dev/vg/lv /mnt",
        "dd if=/dev/urandom of=/mnt/file bs=1M count=16 conv=fsync 2>&1",
        USES,
        "rm /mnt/file; sync",
        PROOF,
        USES,
        "umount /mnt; vgremove -q -ff -y vg; pvremove -q -ff -y /dev/mapper/crypt0; "
        "cryptsetup close crypt0",
        WIPE,
    ]


def file_system(name: str) -> list[str]:
    """Return the lines in which a file outlives a remount of an empty drive, and is trimmed."""
    mount = "mount /dev/nvme0n1 /mnt"
    return [
        "nvme format /dev/nvme0n1 --ses=1 --force && "
        f"mkfs.{name} {FILE_SYSTEMS[name]} /dev/nvme0n1 && {mount}",
        "dd if=/dev/urandom of=/mnt/file bs=1M count=16 conv=fsync 2>&1 && "
        "sha256sum /mnt/file > /tmp/sum",
        f"umount /mnt; {mount} && sha256sum -c /tmp/sum",
        USED,
        f"rm /mnt/file; umount /mnt; {mount} && fstrim -v /mnt",
        USED,
        "umount /mnt; wipefs -qa /dev/nvme0n1",
    ]


def items(drives: list[ServedDrive]) -> dict[str, list[str]]:
    """Return what is typed, by name."""
    typed = {
        "connect": [*(drive.connect() for drive in drives), "sleep 2", f"ls {FOUR} /dev/nvme4n1"],
        "RAID 1, a member fails": raid(
            1,
            *failing(),
            "cmp -n 67108864 /dev/nvme0n1 /dev/nvme1n1 -i 1048576 && echo alike",
        ),
        "RAID 5": raid(5, "cat /sys/block/md0/md/level"),
        "RAID 10, a member fails": raid(10, *failing(), "cat /sys/block/md0/md/level"),
        "a mismatch": [
            "mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 /dev/nvme0n1 /dev/nvme1n1",
            IDLE,
            "dd if=/dev/urandom of=/dev/nvme1n1 bs=4k seek=4096 count=16 oflag=direct 2>&1",
            READS,
            "echo check > /sys/block/md0/md/sync_action; sleep 0.5; " + IDLE,
            READS,
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
        "a whole chain": chain(),
        **{name: file_system(name) for name in FILE_SYSTEMS},
        "a used drive, erased": [
            USED_LOG,
            WRITES.format(path="/dev/nvme4n1", size="128m", amount="16m"), USED_LOG,
            "nvme format /dev/nvme4n1 --ses=1 --force", USED_LOG,
            WRITES.format(path="/dev/nvme4n1", size="128m", amount="16m"), USED_LOG,
        ],
        "used by the recipe": [
            "nvme format /dev/nvme4n1 --ses=1 --force", USED_LOG,
            FILL.format(path="/dev/nvme4n1", size="128m"), USED_LOG,
            # As much as the image that AnandTech's recipe restores: a quarter.
            WRITES.format(path="/dev/nvme4n1", size="128m", amount="32m"), USED_LOG,
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

    def jobs(self, name: str) -> list[dict[str, Any]]:
        """Return what fio said, job by job."""
        lines = self.results[name]["lines"]
        return [fio_job(text) for line, _, text in lines if line.startswith("fio ")]


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


@pytest.mark.parametrize("name", ["RAID 1, a member fails", "RAID 5", "RAID 10, a member fails"])
def test_arrays(tried: Tried, name: str) -> None:
    """Every line ends well, and fstrim goes through to the drives, which forget what was there."""
    lines = tried.said(name)
    failed = [text for code, text in lines if code != 0]
    assert len(failed) == (name == "RAID 5"), failed
    if name == "RAID 1, a member fails":
        assert "[2/1] [U_]" in lines[3][1] and "[2/2] [UU]" in lines[5][1]
        assert "alike" in lines[6][1]
    if name == "RAID 10, a member fails":
        assert "[4/3] [U_UU]" in lines[3][1] and "[4/4] [UUUU]" in lines[5][1]
    words = next((text for _, text in lines if "trimmed" in text), "")
    # A parity array passes discards on only where it is told that they leave zeroes.
    assert bool(words) == (name != "RAID 5")
    assert not words or trimmed(words) > 0


@pytest.mark.parametrize(
    ("name", "legs", "share"),
    [("RAID 1, a member fails", 2, 1.0), ("RAID 10, a member fails", 4, 0.5), ("RAID 5", 0, 1 / 3)],
)
def test_each_leg_forgets_its_share(tried: Tried, name: str, legs: int, share: float) -> None:
    """Of 48 MiB that are trimmed each leg's map holds its share less; with parity it keeps all."""
    full, after = tried.logs(name, USES)
    of_leg = share * (48 << 20) / 512
    fell = [before["nuse"] - now["nuse"] for before, now in zip(full, after, strict=True)]
    assert all(each > 0.8 * of_leg for each in fell[:legs]), fell
    assert all(each < 0.1 * of_leg for each in fell[legs:]), fell


def test_a_mismatch_is_found_and_mended(tried: Tried) -> None:
    """64 KiB that differ are 128 sectors of a check, for which both drives read their halves."""
    lines = tried.said("a mismatch")
    assert int(lines[6][1]) >= 128
    assert int(lines[9][1]) == 0
    before, after = tried.logs("a mismatch", READS)
    for first, last in zip(before, after, strict=True):
        read = 512_000 * (int(last["data_units_read"]) - int(first["data_units_read"]))
        # All but the array's own head.
        assert read > 0.9 * (DRIVE_MIB << 20), (before, after)


def test_a_partition_at_63_costs_read_modify_writes(tried: Tried) -> None:
    """Each 4 KiB at 63 covers two units in part, at 2048 none does; fio's two rates are told."""
    misaligned, aligned = (
        [int(look[0]["Unaligned I/O"]) for look in tried.logs(f"partition at {first}")]
        for first in (63, 2048)
    )
    jobs = [job for first in (63, 2048) for job in tried.jobs(f"partition at {first}")]
    writes = 2048
    assert [(job["error"], job["write"]["total_ios"]) for job in jobs] == [(0, writes)] * 2
    assert misaligned[1] - misaligned[0] >= writes
    assert aligned[1] - aligned[0] < writes / 100
    rates = [round(job["write"]["iops"]) for job in jobs]
    print(f"4 KiB writes at sectors 63 and 2048: {rates} IOPS under an emulated processor")


def test_encryption_passes_discards_if_it_is_told(tried: Tried) -> None:
    """Without the option fstrim fails and the drive's map stays; with it it shrinks."""
    without, given = tried.said("LUKS"), tried.said("LUKS with discards")
    assert without[4][0] != 0 and "not supported" in without[4][1]
    assert given[4][0] == 0 and trimmed(given[4][1]) > 64 << 20
    fell = {
        name: full["nuse"] - after["nuse"]
        for name in ("LUKS", "LUKS with discards")
        for (full,), (after,) in [tried.logs(name, USED)]
    }
    assert fell["LUKS"] <= 0
    assert fell["LUKS with discards"] > (64 << 20) / 512, fell


@pytest.mark.parametrize("name", ["LVM, thick", "LVM, thin"])
def test_volumes_pass_discards(tried: Tried, name: str) -> None:
    """Through a linear and a thin volume, until the drive's map holds 32 MiB less."""
    lines = tried.said(name)
    assert all(code == 0 for code, _ in lines[:-1]), lines
    assert trimmed(lines[-3][1]) > 16 << 20
    (full,), (after,) = tried.logs(name, USED)
    assert full["nuse"] - after["nuse"] > 0.8 * (32 << 20) / 512


@pytest.mark.parametrize("name", FILE_SYSTEMS)
def test_a_file_system_outlives_a_remount(tried: Tried, name: str) -> None:
    """A file is whole after a remount; when it is gone and trimmed, the drive forgets it."""
    lines = tried.said(name)
    assert all(code == 0 for code, _ in lines), lines
    assert lines[2][1] == "/mnt/file: OK\n"
    assert trimmed(lines[4][1]) > 16 << 20
    (full,), (after,) = tried.logs(name, USED)
    assert full["nuse"] - after["nuse"] > 0.8 * (16 << 20) / 512, (full["nuse"], after["nuse"])


def test_trim_is_proved_through_a_whole_chain(tried: Tried) -> None:
    """Through ext4, LVM, LUKS and RAID 1, until both drives have forgotten 16 MiB."""
    lines = tried.results["a whole chain"]["lines"]
    (_, code, said) = next(each for each in lines if each[0] == PROOF)
    assert code == 0, said
    full, after = tried.logs("a whole chain", USES)
    fell = [before["nuse"] - now["nuse"] for before, now in zip(full, after, strict=True)]
    assert all(each > 0.8 * (16 << 20) / 512 for each in fell[:2]), fell
    assert fell[2:] == [0, 0]


def programmed_per_byte(tried: Tried, name: str) -> list[float]:
    """Return the bytes programmed for each byte sent, job by job, of the drive that was used."""
    lines = tried.results[name]["lines"]
    told = [(line, text) for line, _, text in lines]
    found = []
    for place, (line, text) in enumerate(told):
        if line.startswith("fio "):
            before, after = (json.loads(told[at][1]) for at in (place - 1, place + 1))
            sent = fio_job(text)["write"]["io_bytes"]
            found.append((flash_bytes(after) - flash_bytes(before)) / sent)
    return found


def test_a_secure_erase_brings_the_first_speed_back(tried: Tried) -> None:
    """A used drive programs more than it is sent, an erased one as much; rates are told."""
    assert all(code == 0 for code, _ in tried.said("a used drive, erased"))
    of_used, of_fresh = programmed_per_byte(tried, "a used drive, erased")
    assert of_used > 1.5
    # The buffer holds a MiB of them.
    assert of_fresh == pytest.approx(1.0, abs=0.1)
    rates = [round(job["write"]["iops"]) for job in tried.jobs("a used drive, erased")]
    print(f"4 KiB writes before and after: {rates} IOPS under an emulated processor")


def test_the_recipe_makes_a_drive_used(tried: Tried) -> None:
    """Filled in order a drive programs what it is sent; overwritten at random, much more."""
    assert all(code == 0 for code, _ in tried.said("used by the recipe"))
    filled, _, later = programmed_per_byte(tried, "used by the recipe")
    assert filled == pytest.approx(1.0, abs=0.1)
    # What the drive does that `--state steady` made used (see above).
    assert later > 1.5


def test_the_drives_counted_what_was_trimmed(tried: Tried) -> None:
    """Both legs of the mirror forgot what fstrim freed, and nobody broke the protocol."""
    for drive in tried.drives[:2]:
        assert drive["counters"]["host_bytes_trimmed"] > 32 << 20
    assert all(drive["connections"]["broke_protocol"] == 0 for drive in tried.drives)
    assert tried.drives[4]["counters"]["secure_erases"] == 2


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
