"""Drives that grow old, or lose their power, under a guest kernel, and what each reader says.

The drives are steered here, by `ssdlab ctl`, while the guest uses them over NVMe/TCP.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from results import Results, boot_typed
from served import PROTECTED, VOLATILE, ServedDrive, end, serve
from ssdlab.real.smart.reading import read_file

PROGRAMS = (
    "nvme",
    "ip",
    "smartctl",
    "smartd",
    "dmesg",
    "sha256sum",
    "tail",
    "timeout",
    "e2fsck",
    "xfs_repair",
)
SMALL_XFS = "--unsupported"
"""With it mkfs.xfs 6 takes drives of less than 300 MB."""
FIVE = " ".join(f"/dev/nvme{number}n1" for number in range(5))
WORN, SPARE, OLD = 2, 5, 6
"""The member that goes read-only, the drive that takes its place, and one to be read alone."""
CUT = {"ext4": 7, "btrfs": 8, "xfs": 9}
"""Drives that lose their power, by the file system that lies on each."""
POWER = (("power-cut", "--seed", "3"), ("power-on",))
STEPS: tuple[tuple[str, int, tuple[tuple[str, ...], ...]], ...] = (
    ("a member wears out", WORN, (("age", "--read-only"),)),
    (
        "a drive grows old",
        OLD,
        (("age", *"--used 93 --spare 8 --celsius 61 --power-on-hours 20123".split()),),
    ),
    *((f"the power of {name} fails", number, POWER) for name, number in CUT.items()),
)
"""What is done to which drive when the guest waits for it, in order."""
SMARTD = (
    "echo '/dev/nvme{0} -d nvme -H -l error' > /tmp/smartd.conf; "
    "timeout 60 smartd -q onecheck -c /tmp/smartd.conf 2>&1"
)
IDLE = "while ! grep -q idle /sys/block/md0/md/sync_action; do sleep 0.2; done"


def a_cut(name: str, made: str, checks: str) -> dict[str, list[str]]:
    """Return the lines that write to a file system, and look at it behind a loss of power."""
    device, state = f"/dev/nvme{CUT[name]}n1", f"/sys/class/nvme/nvme{CUT[name]}/state"
    return {
        f"{name} is written": [
            f"mkfs.{name} {made} {device} && mount {device} /mnt",
            "dd if=/dev/urandom of=/mnt/flushed bs=1M count=16 conv=fsync 2>&1",
            "sha256sum /mnt/flushed > /tmp/sum",
            "dd if=/dev/urandom of=/mnt/not-flushed bs=1M count=8 oflag=direct 2>&1",
        ],
        f"the power of {name} fails": [
            f"while grep -q live {state}; do sleep 0.05; done; cat {state}",
        ],
        f"{name} goes on": [
            f"while ! grep -q live {state}; do sleep 0.1; done",
            "dd if=/dev/urandom of=/mnt/after bs=1M count=4 conv=fsync 2>&1; umount /mnt",
            f"{checks} {device} 2>&1",
            f"mount {device} /mnt && sha256sum -c /tmp/sum; ls /mnt; umount /mnt",
        ],
    }


def items(drives: list[ServedDrive]) -> dict[str, list[str]]:
    """Return what is typed, by name."""
    typed = {
        "connect": [*(drive.connect("-c 1") for drive in drives), "sleep 2", f"ls {FIVE}"],
        "made": [
            f"mdadm -q --create /dev/md0 --run --level=5 --raid-devices=5 --assume-clean {FIVE}",
            "mkfs.ext4 -q -E nodiscard /dev/md0 && mount /dev/md0 /mnt",
            "dd if=/dev/urandom of=/mnt/before bs=1M count=32 conv=fsync 2>&1",
            "sha256sum /mnt/before > /tmp/sum",
            SMARTD.format(WORN),
        ],
        "a member wears out": [
            f"while ! smartctl -H /dev/nvme{WORN} | grep -q FAILED; do sleep 0.3; done",
        ],
        "written on": [
            "dd if=/dev/urandom of=/mnt/after bs=1M count=32 conv=fsync 2>&1",
            "cat /proc/mdstat",
            f"smartctl -H /dev/nvme{WORN}",
            SMARTD.format(WORN),
            "echo 3 > /proc/sys/vm/drop_caches; sha256sum -c /tmp/sum",
            "dmesg | grep -e 'md/raid' -e 'nvme2n1' | tail -n 20",
        ],
        "replaced": [
            f"mdadm -q /dev/md0 --remove /dev/nvme{WORN}n1 && "
            f"mdadm -q /dev/md0 --add /dev/nvme{SPARE}n1",
            f"sleep 1; {IDLE}; cat /proc/mdstat",
            f"echo check > /sys/block/md0/md/sync_action; sleep 0.5; {IDLE}; "
            "cat /sys/block/md0/md/mismatch_cnt",
            "echo 3 > /proc/sys/vm/drop_caches; sha256sum -c /tmp/sum",
            "umount /mnt; mdadm -q --stop /dev/md0",
        ],
        "a drive grows old": [
            f"while ! smartctl -A /dev/nvme{OLD} | grep -q 'Used: *93%'; do sleep 0.3; done",
            f"smartctl -a /dev/nvme{OLD}",
            f"nvme smart-log /dev/nvme{OLD} -o json",
        ],
        **a_cut("ext4", "-q -E nodiscard,lazy_itable_init=0", "e2fsck -fn"),
        **a_cut("btrfs", "-q -f -K -M", "btrfs check"),
        **a_cut("xfs", f"-q -f -K {SMALL_XFS}", "xfs_repair -n"),
    }
    return typed


@dataclass(frozen=True)
class Tried:
    """What the guest reported, and what was said here afterwards.

    Attributes
    ----------
    results
        Of the guest.
    health, smart, monitored
        What ``ssdlab health`` said of the worn member, with its exit code, what ``ssdlab smart -a``
        said of the old drive, and its check for Icinga of what smartctl said of it in the guest.
    counted
        What each drive has counted.
    """

    results: Results
    health: subprocess.CompletedProcess[str]
    smart: subprocess.CompletedProcess[str]
    monitored: subprocess.CompletedProcess[str]
    counted: list[dict[str, Any]]

    def said(self, name: str) -> list[tuple[int, str]]:
        """Return exit code and output of each line."""
        return [(code, text) for _, code, text in self.results[name]["lines"]]


def steer(drives: list[ServedDrive], console: Path, ended: threading.Event) -> None:
    """Do something to a drive when the guest begins to wait for that."""
    for name, number, steps in STEPS:
        while not (console.exists() and name in console.read_text("utf-8", errors="replace")):
            if ended.wait(0.2):
                return
        for words in steps:
            drives[number].ctl(*words)
            time.sleep(2)


def ssdlab(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command here."""
    return subprocess.run([sys.executable, "-m", "ssdlab", *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    """Serve ten drives, and boot one guest that uses them."""
    folder = tmp_path_factory.mktemp("aged")
    drives = [serve(folder / f"drive{number}", PROTECTED) for number in range(7)]
    drives += [serve(folder / f"drive{number}", VOLATILE) for number in CUT.values()]
    ended = threading.Event()
    steering = threading.Thread(target=steer, args=(drives, folder / "console.log", ended))
    steering.start()
    try:
        found = boot_typed(items(drives), folder, PROGRAMS)
        listing = folder / "smartctl.txt"
        listing.write_text(found["a drive grows old"]["lines"][1][2])
        yield Tried(
            found,
            ssdlab("health", str(drives[WORN].folder)),
            ssdlab("smart", "-a", str(drives[OLD].folder)),
            ssdlab("health", "--from", str(listing), "--format", "nagios"),
            [drive.ctl("stats") for drive in drives],
        )
    finally:
        ended.set()
        steering.join()
        end(drives)


def test_it_is_made(tried: Tried) -> None:
    """Five drives are an array, and smartd finds nothing."""
    assert all(code == 0 for code, _ in tried.said("connect")), tried.said("connect")
    *made, checked = tried.said("made")
    assert all(code == 0 for code, _ in made), made
    assert "Critical Warning" not in checked[1]


def test_a_member_that_goes_read_only_leaves_the_array(tried: Tried) -> None:
    """In order: the drive fails writes, md drops it and goes on, and nothing is lost."""
    written, mdstat, verdict, checked, sums, kernel = tried.said("written on")
    assert written[0] == 0, written
    assert "nvme2n1[2](F)" in mdstat[1] and "[UU_UU]" in mdstat[1], mdstat
    assert verdict[0] == 8 and "media has been placed in read only mode" in verdict[1]
    assert "Critical Warning" in checked[1], checked
    assert sums == (0, "/mnt/before: OK\n")
    assert "Disk failure on nvme2n1" in kernel[1], kernel
    assert [drive["read_only"] for drive in tried.counted[:5]] == [
        number == WORN for number in range(5)
    ]


def test_ssdlab_health_says_the_same(tried: Tried) -> None:
    """The drive's folder is CRITICAL, and says why."""
    assert tried.health.returncode == 3, tried.health.stderr
    for words in ("media is read-only", "0 % of the spare blocks are left", "CRITICAL"):
        assert words in tried.health.stdout


def test_a_new_member_is_rebuilt(tried: Tried) -> None:
    """The array is whole again, without a mismatch; the new drive was written whole."""
    added, mdstat, mismatches, sums, stopped = tried.said("replaced")
    assert added[0] == stopped[0] == 0, (added, stopped)
    assert "[UUUUU]" in mdstat[1], mdstat
    assert mismatches[1].split()[-1] == "0"
    # All but the array's own head, of 128 MiB.
    assert tried.counted[SPARE]["counters"]["host_bytes_written"] > 0.9 * (128 << 20)
    assert sums == (0, "/mnt/before: OK\n")


def test_smartctl_and_ssdlab_smart_agree(tried: Tried) -> None:
    """The kernel's own smartctl says of an old drive what `ssdlab smart` says."""
    _, (code, printed), (_, log) = tried.said("a drive grows old")
    assert code == tried.smart.returncode == 8
    theirs = read_file(printed.encode(), "x")
    ours = read_file(tried.smart.stdout.encode(), "x")
    assert theirs.nvme is not None and ours.nvme is not None
    assert theirs.nvme == ours.nvme
    assert (theirs.model, theirs.serial, theirs.firmware) == (
        ours.model,
        ours.serial,
        ours.firmware,
    )
    assert (ours.nvme.percentage_used, ours.nvme.power_on_hours) == (93, 20123)
    told = json.loads(log)
    assert (told["temperature"], told["avail_spare"]) == (61 + 273, ours.nvme.available_spare)


def test_the_check_for_icinga_reads_it(tried: Tried) -> None:
    """Of what smartctl prints in the guest `ssdlab health --format nagios` says: critical."""
    assert tried.monitored.returncode == 2, tried.monitored.stderr
    assert tried.monitored.stdout.startswith("CRITICAL")
    # As the drive itself counts, and below its limit of 10.
    left = tried.counted[OLD]["health"]["spare_percent"]
    assert left < 10
    assert f"_spare_left'={left}%" in tried.monitored.stdout


@pytest.mark.parametrize("name", CUT)
def test_a_file_system_outlives_a_cut(tried: Tried, name: str) -> None:
    """The kernel holds requests back; what was flushed is there, and the check finds nothing."""
    assert all(code == 0 for code, _ in tried.said(f"{name} is written"))
    assert "live" not in tried.said(f"the power of {name} fails")[0][1]
    _, written, checked, mounted = tried.said(f"{name} goes on")
    assert written[0] == checked[0] == 0, (written, checked)
    assert "/mnt/flushed: OK" in mounted[1] and "after" in mounted[1], mounted
    assert tried.counted[CUT[name]]["counters"]["unsafe_shutdowns"] == 1
