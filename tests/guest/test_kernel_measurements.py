"""What the documents measure, measured in a guest kernel on served drives over NVMe/TCP.

Five fio jobs, schedulers, spare area in three ways, the price of a cipher, the monthly scrub. An
emulated processor is slower than the drives: what they counted is judged, and rates are printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from results import Results, boot_typed, fio_job
from served import PROTECTED, ServedDrive, end, serve

CHECKARRAY, CRON = Path("/usr/share/mdadm/checkarray"), Path("/etc/cron.d/mdadm")
PROGRAMS = (
    *("nvme", "ip", "fio", "tr", "wipefs", "timeout", "getopt", "awk", "pgrep", "ionice"),
    *("renice", "seq", "id", "cut", "blkdiscard", "egrep", "date", "ps", "dmesg"),
)
LOG = "nvme ocp smart-add-log /dev/nvme{0} -o json | tr -d '\\n'"
HEALTH = "nvme smart-log /dev/nvme{0} -o json | tr -d '\\n'"
FIVE_JOBS = {
    "readtp": "--rw=read --bs=1024k --size=24m",
    "writetp": "--rw=write --bs=1024k --size=24m",
    "readiops": "--rw=randread --bs=4k --size=8m",
    "writeiops": "--rw=randwrite --bs=4k --size=8m",
    "mixediops": "--rw=randrw --bs=4k --size=8m",
}
"""The e-book's, but for their sizes."""
ALL_OF_THEM = "--direct=1 --refill_buffers --ioengine=libaio --iodepth=16 --output-format=json"
SCHEDULERS = ("none", "mq-deadline", "bfq", "none")
READS = f"fio --name=r --rw=randread --bs=4k --size=4m {ALL_OF_THEM} --filename="
WRITES = (
    "fio --name=w --rw=randwrite --bs=16k --iodepth=8 --direct=1 --ioengine=libaio "
    "--norandommap --size={size} --io_size={amount} --output=/dev/null --filename={path}"
)
FORGET = "blkdiscard -f /dev/"
CIPHER = f"fio --name=c --rw=write --bs=128k --size=16m {ALL_OF_THEM} --filename="
QUICK = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
MONTHLY = (
    # It is run in the first week of a month, and leaves arrays alone younger than two weeks.
    'date -s "$(date -d "+2 months" +%Y-%m-03)" > /dev/null; echo AUTOCHECK=true > '
    "/etc/default/mdadm; sed -n 's/^[0-9].* root //p' /guest/cron | sed 's/[\\]%/%/g' > /tmp/job; "
    "grep -q checkarray /tmp/job && bash /tmp/job"
)
"""Does what Debian's table for cron says."""
IDLE = "while ! grep -q idle /sys/block/md0/md/sync_action; do sleep 0.2; done"


def overwritten(number: int, path: str, size: str, *made: str) -> list[str]:
    """Return the lines that overwrite a part of a used drive, and then measure it."""
    return [
        *made,
        WRITES.format(path=path, size=size, amount="32m"),
        LOG.format(number),
        HEALTH.format(number),
        WRITES.format(path=path, size=size, amount="24m"),
        LOG.format(number),
        HEALTH.format(number),
    ]


def items(drives: list[ServedDrive]) -> dict[str, list[str]]:
    """Return what is typed, by name."""
    filled = "dd if=/dev/urandom of=/mnt/f bs=1M count=72 conv=fsync 2>&1"
    typed = {
        "connect": [*(drive.connect("-c 1") for drive in drives), "sleep 2; ls /dev/nvme5n1"],
        "five jobs": [
            "mkfs.ext4 -q -E nodiscard /dev/nvme0n1 && mount /dev/nvme0n1 /mnt",
            *(
                line
                for name, job in FIVE_JOBS.items()
                for line in (
                    HEALTH.format(0),
                    f"fio --name={name} --directory=/mnt {job} {ALL_OF_THEM}; sync",
                )
            ),
            HEALTH.format(0),
            "umount /mnt",
        ],
        "schedulers": [
            HEALTH.format(0),
            *(
                line
                for name in SCHEDULERS
                for line in (
                    f"echo {name} > /sys/block/nvme0c0n1/queue/scheduler; "
                    "cat /sys/block/nvme0c0n1/queue/scheduler",
                    READS + "/dev/nvme0n1",
                )
            ),
            HEALTH.format(0),
        ],
        "all of it": overwritten(1, "/dev/nvme1n1", "124m"),
        "spare by partition": overwritten(
            2,
            "/dev/nvme2n1p1",
            "88m",
            f"{FORGET}nvme2n1; echo '2048,180224' | sfdisk -q /dev/nvme2n1; sleep 0.5",
        ),
        "spare by file system": overwritten(
            3,
            "/mnt/f",
            "72m",
            f"{FORGET}nvme3n1",
            "mkfs.ext4 -q -b 4096 -E nodiscard /dev/nvme3n1 92160k && mount /dev/nvme3n1 /mnt",
            filled,
        ),
        "spare by trimming": [
            "umount /mnt",
            *overwritten(
                4,
                "/mnt/f",
                "72m",
                "mkfs.ext4 -q -b 4096 -E nodiscard /dev/nvme4n1 && mount /dev/nvme4n1 /mnt",
                filled,
                "fstrim -v /mnt",
            ),
            "umount /mnt",
        ],
        "cipher": [
            "timeout 100 cryptsetup benchmark -c aes-xts -s 256",
            HEALTH.format(5),
            CIPHER + "/dev/nvme5n1",
            f"echo passphrase | cryptsetup luksFormat -q {QUICK} /dev/nvme5n1 && "
            "echo passphrase | cryptsetup open /dev/nvme5n1 crypt0",
            HEALTH.format(5),
            CIPHER + "/dev/mapper/crypt0",
            HEALTH.format(5),
            "cryptsetup close crypt0; wipefs -qa /dev/nvme5n1",
        ],
        "scrub": [
            "wipefs -qa /dev/nvme0n1 /dev/nvme1n1; mdadm -q --create /dev/md0 --run --level=1 "
            "--assume-clean --raid-devices=2 --size=32M /dev/nvme0n1 /dev/nvme1n1",
            "dd if=/dev/zero of=/dev/md0 bs=1M oflag=direct 2>&1; true",
            *map(HEALTH.format, (0, 1)),
            f"{MONTHLY} 2>&1; sleep 0.5; {IDLE}",
            "cat /sys/block/md0/md/mismatch_cnt",
            "dmesg | grep data-check",
            *map(HEALTH.format, (0, 1)),
            "mdadm -q --stop /dev/md0",
        ],
    }
    return typed


class Tried:
    """What the guest reported."""

    def __init__(self, results: Results) -> None:
        self.results = results

    def said(self, name: str) -> list[tuple[str, int, str]]:
        """Return each line with its exit code and output."""
        return [(line, code, text) for line, code, text in self.results[name]["lines"]]

    def looks(self, name: str, what: str) -> list[dict[str, Any]]:
        """Return what one of the drives' logs said, look by look."""
        return [json.loads(text) for line, _, text in self.said(name) if what in line]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    """Serve six drives, and boot one guest that uses them."""
    for missing in (each for each in (CHECKARRAY, CRON) if not each.exists()):
        pytest.skip(f"{missing} is not here: run scripts/install-tools.sh")
    folder = tmp_path_factory.mktemp("measured")
    used = ("--state", "steady")
    drives = [serve(folder / f"drive{number}", PROTECTED, *used) for number in range(6)]
    try:
        more = {CHECKARRAY: str(CHECKARRAY), CRON: "/guest/cron"}
        yield Tried(boot_typed(items(drives), folder, PROGRAMS, more))
    finally:
        end(drives)


def jobs(tried: Tried, name: str) -> list[dict[str, Any]]:
    """Return what fio said, job by job."""
    return [fio_job(text) for line, _, text in tried.said(name) if line.startswith("fio ")]


def written_units(log: dict[str, Any]) -> int:
    """Return the bytes that the host has written, in thousands of sectors, as bytes."""
    return int(log["data_units_written"]) * 512_000


@pytest.mark.parametrize("number", range(len(FIVE_JOBS)), ids=list(FIVE_JOBS))
def test_the_five_jobs(tried: Tried, number: int) -> None:
    """The drive has taken the bytes that fio says it has read and written."""
    job, looks = jobs(tried, "five jobs")[number], tried.looks("five jobs", "smart-log")
    before, after = looks[number], looks[number + 1]
    assert job["error"] == 0
    for way, units in (("read", "data_units_read"), ("write", "data_units_written")):
        moved = 512_000 * (int(after[units]) - int(before[units]))
        # Rounded up to a unit; the file system reads and writes of its own besides.
        assert moved >= job[way]["io_bytes"] - 512_000, way
    rates = {way: round(job[way]["iops"]) for way in ("read", "write")}
    print(f"{job['jobname']}: {rates} IOPS under an emulated processor")


def test_schedulers_are_set(tried: Tried) -> None:
    """Each is the one in brackets, and every read arrives at the drive under each."""
    shown = [text for line, _, text in tried.said("schedulers") if line.startswith("echo")]
    assert [text.partition("[")[2].partition("]")[0] for text in shown] == list(SCHEDULERS)
    found = jobs(tried, "schedulers")
    assert all(job["error"] == 0 and job["read"]["total_ios"] == 1024 for job in found)
    before, after = (
        int(log["host_read_commands"]) for log in tried.looks("schedulers", "smart-log")
    )
    assert after - before >= 1024 * len(SCHEDULERS)
    rates = [round(job["read"]["iops"]) for job in found]
    print(f"4 KiB reads: {dict(zip(SCHEDULERS, rates, strict=True))} IOPS")


def amplification(tried: Tried, name: str) -> float:
    """Return the write amplification of the last writes."""
    flash = [int(log["Physical media units written"]["lo"]) for log in tried.looks(name, "ocp")]
    host = [written_units(log) for log in tried.looks(name, "nvme smart-log")]
    return (flash[1] - flash[0]) / (host[1] - host[0])


def test_spare_area_in_three_ways(tried: Tried) -> None:
    """A smaller partition, a smaller file system and trimmed space all lower the amplification."""
    whole = amplification(tried, "all of it")
    assert whole > 1.3, whole
    for name in ("spare by partition", "spare by file system", "spare by trimming"):
        assert all(code == 0 for _, code, _ in tried.said(name)), tried.said(name)
        less = amplification(tried, name)
        print(f"{name}: {less:.2f}, without {whole:.2f}")
        # The log tells the host's bytes in units of half a megabyte.
        assert 0.94 <= less < 0.9 * whole, name


def test_the_cipher_costs_time_and_no_writes(tried: Tried) -> None:
    """Plain or encrypted, the same bytes arrive; what it costs is printed."""
    plain, encrypted = jobs(tried, "cipher")
    before, between, after, *_ = [*map(written_units, tried.looks("cipher", "smart-log")), 0]
    assert between - before >= plain["write"]["io_bytes"] - 512_000
    assert after - between == pytest.approx(encrypted["write"]["io_bytes"], abs=1_100_000)
    assert "aes-xts" in tried.said("cipher")[0][2]
    ratio = encrypted["write"]["bw"] / plain["write"]["bw"]
    print(f"dm-crypt: {ratio:.2f} times the rate without, on an emulated processor")


def test_the_monthly_scrub_reads_both(tried: Tried) -> None:
    """Debian's line for cron starts it; each drive has read its half, and nothing differs."""
    lines = tried.said("scrub")
    assert lines[4][1] == 0, lines[4]
    assert lines[5][2].strip() == "0"
    assert "data-check of RAID array md0" in lines[6][2], lines[6]
    for number in (0, 1):
        logs = tried.looks("scrub", f"smart-log /dev/nvme{number}")
        before, after = (int(log["data_units_read"]) for log in logs)
        # Of its first and its last unit the log tells the whole.
        assert (after - before + 1) * 512_000 >= 32 << 20, number
