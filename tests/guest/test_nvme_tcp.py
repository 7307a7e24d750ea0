"""Served drives in a guest kernel over NVMe/TCP, by Debian's tools as they are.

The guest reaches this machine at 10.0.2.2. What the tools say there is held against what the drives
say of themselves here.
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

from image import HERE
from results import Results, boot_typed
from served import PROTECTED, VOLATILE, ServedDrive, end, serve

PROGRAMS = ("nvme", "ip", "smartctl", "fio", "dmesg", "timeout", "tail", "cmp", "tr", "seq", "head")
PORT = "$(cat /sys/class/nvme/nvme0/address | sed 's/.*trsvcid=//')"
LOAD = (
    "fio --name=load --filename=/dev/nvme0n1 --rw=randwrite --bs=4k --iodepth=16 --direct=1 "
    "--ioengine=libaio --time_based --runtime={seconds} --output-format=json"
)
OTHER_HOST = "nqn.2014-08.org.nvmexpress:uuid:11111111-1111-4111-8111-111111111111"
GUIDE = HERE.parents[1] / "docs/howto/nvme.md"
DRIVE_BYTES = 128 << 20
POWER = (
    "--set power.active_mw=8250 --set power.idle_mw=5000 "
    "--set power.slumber_mw=40 --set power.slumber_wake_us=1200"
)
CUT = "the plug is about to be pulled"


def guide(drive: ServedDrive) -> list[str]:
    """Return the lines of the guide, in one shell; from here the drive is elsewhere."""
    section = GUIDE.read_text(encoding="utf-8").partition("## In a kernel")[2].partition("## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    there = "\n".join(lines).replace("127.0.0.1", "10.0.2.2").replace("4420", drive.port)
    return [f"set -e\n{there}"]


def items(drive: ServedDrive, volatile: ServedDrive) -> dict[str, list[str]]:
    """Return what is typed in the guest, by name."""
    zero, noise = "head -c 4096 /dev/zero", "head -c 4096 /dev/urandom > /tmp/noise"
    read = "nvme read /dev/nvme0n1 -s {sector} -c 7 -z 4096 -d /tmp/read"
    write = "nvme write /dev/nvme0n1 -s {sector} -c 7 -z 4096 -d /tmp/noise"
    at = {"sector": 80}
    typed = {
        "guide": guide(drive),
        "discover": [f"nvme discover -t tcp -a 10.0.2.2 -s {drive.port}"],
        "connect": [drive.connect("-c 1", "-l 120"), "sleep 1", "nvme list -o json"],
        "id-ctrl": [
            "nvme id-ctrl /dev/nvme0 -o json", "nvme id-ns /dev/nvme0n1 -o json",
            "cat /sys/block/nvme0n1/wwid /sys/block/nvme0n1/uuid",
        ],
        "write": [noise, write.format(**at), read.format(**at), "cmp /tmp/noise /tmp/read"],
        "compare": [
            "nvme compare /dev/nvme0n1 -s 80 -c 7 -z 4096 -d /tmp/noise",
            f"{zero} > /tmp/zero; nvme compare /dev/nvme0n1 -s 80 -c 7 -z 4096 -d /tmp/zero",
        ],
        "verify": ["nvme verify /dev/nvme0n1 -s 0 -c 255"],
        "write-zeroes": [
            "nvme write-zeroes /dev/nvme0n1 -s 80 -c 7", read.format(**at),
            f"{zero} | cmp - /tmp/read",
        ],
        "write-uncor": [
            write.format(**at), "nvme write-uncor /dev/nvme0n1 -s 80 -c 7", read.format(**at),
            "nvme error-log /dev/nvme0 -e 1 -o json", write.format(**at), read.format(**at),
            "cmp /tmp/noise /tmp/read",
        ],
        "dsm": [
            "nvme dsm /dev/nvme0n1 -d -s 80,800 -b 8,8", read.format(**at),
            f"{zero} | cmp - /tmp/read", "nvme flush /dev/nvme0n1",
        ],
        "features": [
            "nvme get-feature /dev/nvme0 -f 7 -H", "nvme get-feature /dev/nvme0 -f 0x0b",
            "nvme set-feature /dev/nvme0 -f 0x0b -v 0x1f", "nvme get-feature /dev/nvme0 -f 0x0b",
            "nvme get-feature /dev/nvme0 -f 6", "nvme get-feature /dev/nvme0 -f 0xd0",
        ],
        "power states": [
            "nvme id-ctrl /dev/nvme0 -o json", "nvme set-feature /dev/nvme0 -f 2 -v 1",
            "nvme get-feature /dev/nvme0 -f 2", read.format(**at),
            "nvme get-feature /dev/nvme0 -f 2", "nvme set-feature /dev/nvme0 -f 2 -v 2",
            "smartctl -c /dev/nvme0",
        ],
        "logs": [
            "nvme smart-log /dev/nvme0 -o json", "nvme ocp smart-add-log /dev/nvme0 -o json",
            "nvme fw-log /dev/nvme0", "nvme effects-log /dev/nvme0",
        ],
        "smartctl": ["smartctl -a /dev/nvme0", "smartctl -x /dev/nvme0", "smartctl -H /dev/nvme0"],
        "self-test": [
            "nvme device-self-test /dev/nvme0 -s 1", "nvme self-test-log /dev/nvme0 -o json",
        ],
        "digests": [
            "nvme disconnect-all", drive.connect("-g", "-G", "-c 1", "-l 120"), "sleep 1",
            LOAD.format(seconds=2) + " --verify=crc32c --size=4m --loops=1 --time_based=0",
        ],
        "several queues": [
            # Of one processor the kernel makes one queue of each kind.
            "nvme disconnect-all", drive.connect("-W 1", "-P 1", "-c 1", "-l 120"), "sleep 1",
            "dmesg | grep 'read/poll queues' | tail -n 1",
            LOAD.format(seconds=2) + " --verify=crc32c --size=4m --loops=1 --time_based=0",
            "nvme admin-passthru /dev/nvme0 -o 8 --cdw10=0x10001 2>&1",
        ],
        "format": [
            *(
                line
                for kind in (1, 2, 0)
                for line in (
                    write.format(**at), f"nvme format /dev/nvme0n1 --ses={kind} --force",
                    read.format(**at), "cmp /tmp/noise /tmp/read",
                )
            ),
            "nvme format /dev/nvme0n1 --lbaf=1 --force",
        ],
        "sanitize": [
            *(
                line
                for action in ("2", "4", "3 -n 2 -p 0xA5A5A5A5")
                for line in (
                    write.format(**at), f"nvme sanitize /dev/nvme0 -a {action}",
                    "nvme sanitize-log /dev/nvme0 -o json", read.format(**at),
                    "cmp /tmp/noise /tmp/read",
                )
            ),
            "nvme sanitize /dev/nvme0 -a 3 -d",
        ],
        "reset under load": [
            f"{LOAD.format(seconds=6)} > /tmp/load.json & sleep 2; nvme reset /dev/nvme0; sleep 1; "
            "nvme reset /dev/nvme0; wait; cat /tmp/load.json",
        ],
        "reconnect under load": [
            f"{LOAD.format(seconds=6)} > /tmp/load.json & sleep 2; nvme disconnect-all; wait; true",
            drive.connect("-c 1", "-l 120"), "sleep 1", write.format(**at), read.format(**at),
            "cmp /tmp/noise /tmp/read",
        ],
        "two hosts": [
            # nvme-cli 2.3 finds that it is connected already, whatever host is named.
            f"echo transport=tcp,traddr=10.0.2.2,trsvcid={drive.port},nqn={drive.name},"
            f"hostnqn={OTHER_HOST},hostid={OTHER_HOST[-36:]},duplicate_connect > /dev/nvme-fabrics",
            "sleep 1", "nvme list-subsys -o json", write.format(**at),
            # The kernel makes one device of both; the second host's own queue is asked by its name.
            "nvme io-passthru /dev/nvme1 -o 2 -n 1 -l 4096 -r --cdw10=80 --cdw12=7 -b > /tmp/read",
            "cmp /tmp/noise /tmp/read", "nvme disconnect -d nvme1",
        ],
        CUT: [],
        "power": [
            f"{LOAD.format(seconds=12)} > /tmp/load.json; cat /tmp/load.json",
            "cat /sys/class/nvme/nvme0/state",
        ],
        "disconnect": ["nvme disconnect-all", "nvme list -o json"],
        "volatile": [
            volatile.connect(), "sleep 1", "nvme get-feature /dev/nvme0 -f 6",
            "nvme set-feature /dev/nvme0 -f 6 -v 0", "nvme get-feature /dev/nvme0 -f 6",
            "nvme id-ctrl /dev/nvme0 | grep vwc", "nvme disconnect-all",
        ],
    }  # fmt: skip
    return typed


@dataclass(frozen=True)
class Tried:
    """What came of it.

    Attributes
    ----------
    results
        What the guest reported.
    before, after
        What the drive said of itself before the guest booted, and afterwards.
    capabilities
        What `ssdlab smart -c` prints of it.
    """

    results: Results
    before: dict[str, Any]
    after: dict[str, Any]
    capabilities: str

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return exit code and output of each line of an item."""
        return [(code, said) for _, code, said in self.results[name]["lines"]]

    def codes(self, name: str) -> list[int]:
        """Return the exit codes of an item's lines."""
        return [code for code, _ in self.lines(name)]


def pull_the_plug(drive: ServedDrive, reports: Path, ended: threading.Event) -> None:
    """Wait until the guest says that it is ready; then the drive has no power for a second."""
    while not ended.wait(0.2):
        if reports.exists() and CUT in reports.read_text(encoding="utf-8", errors="replace"):
            time.sleep(4)
            drive.ctl("power-cut", "--seed", "1")
            time.sleep(1)
            drive.ctl("power-on")
            return


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    """Serve two drives, and boot one guest that types all lines."""
    folder = tmp_path_factory.mktemp("nvme")
    drives = [
        serve(folder / "protected", PROTECTED, *POWER.split()),
        serve(folder / "volatile", VOLATILE),
    ]
    before, ended = drives[0].ctl("stats"), threading.Event()
    arguments = (drives[0], folder / "results.jsonl", ended)
    plug = threading.Thread(target=pull_the_plug, args=arguments)
    plug.start()
    try:
        found = boot_typed(items(*drives), folder, PROGRAMS)
        command = [sys.executable, "-m", "ssdlab", "smart", "-c", str(drives[0].folder)]
        here = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        yield Tried(found, before, drives[0].ctl("stats"), here)
    finally:
        ended.set()
        plug.join()
        end(drives)


def test_it_is_found_and_connected(tried: Tried) -> None:
    """Discovery names the subsystem; the drive has the profile's model and the folder's serial."""
    assert "subtype: nvme subsystem" in tried.lines("discover")[0][1]
    assert tried.codes("connect") == [0, 0, 0]
    (device,) = json.loads(tried.lines("connect")[2][1])["Devices"]
    assert device["ModelNumber"] == "Micron 7450 PRO 960 GB"
    assert device["PhysicalSize"] == DRIVE_BYTES
    (_, controller), (_, namespace), (_, names) = tried.lines("id-ctrl")
    assert json.loads(controller)["oncs"] == 0x8F
    assert json.loads(namespace)["npwg"] == 7, "a unit of 4 KiB is eight sectors"
    wwid, uuid = names.split()
    assert wwid == f"uuid.{uuid}", "the kernel knows it by a UUID of its own, not by a number"


def test_the_guide_holds(tried: Tried) -> None:
    """Each of its lines, as it stands."""
    ((code, said),) = tried.lines("guide")
    assert code == 0, said
    for words in ("Micron 7450 PRO", "trimmed", "Physical media units written", "PASSED"):
        assert words in said


@pytest.mark.parametrize("name", ["write", "write-zeroes", "verify", "dsm"])
def test_it_is_written_and_read(tried: Tried, name: str) -> None:
    """Every line does what it should; what was zeroed or deallocated reads as zeroes."""
    assert set(tried.codes(name)) == {0}, tried.lines(name)


def test_compare_tells_what_differs(tried: Tried) -> None:
    """What was written is the same, zeroes are not."""
    same, other = tried.lines("compare")
    assert same[0] == 0 and other[0] != 0
    assert "Compare Failure" in other[1]


def test_what_is_made_unreadable_fails_until_it_is_written(tried: Tried) -> None:
    """The read fails, the log names its sector, and a write mends it."""
    assert tried.codes("write-uncor")[:2] == [0, 0]
    code, said = tried.lines("write-uncor")[2]
    assert code != 0 and "Unrecovered Read Error" in said, said
    (entry,) = json.loads(tried.lines("write-uncor")[3][1])["errors"]
    assert entry["lba"] == 80
    assert tried.codes("write-uncor")[4:] == [0, 0, 0]


def test_features(tried: Tried) -> None:
    """A value that is set comes back; a protected drive has no volatile cache, nor feature D0h."""
    queues, before, given, after, cache, unknown = tried.lines("features")
    assert queues[0] == before[0] == given[0] == after[0] == 0
    assert "0x0000001f" in after[1].lower() or "0x1f" in after[1].lower()
    assert cache[0] != 0 and unknown[0] != 0
    on, set_off, off, said = (tried.lines("volatile")[number] for number in (2, 3, 4, 5))
    assert on[1].strip().endswith("1") and set_off[0] == 0 and off[1].strip().endswith("0")
    assert "0x7" in said[1], "a volatile cache that is flushed for all namespaces"


def test_logs_are_the_drives_own(tried: Tried) -> None:
    """Host commands and bytes to flash are what the drive counted, between before and after."""
    smart, ocp, firmware, effects = tried.lines("logs")
    assert smart[0] == ocp[0] == firmware[0] == effects[0] == 0
    health = json.loads(smart[1])
    first, last = (each["counters"] for each in (tried.before, tried.after))
    assert first["host_writes"] <= int(health["host_write_commands"]) <= last["host_writes"]
    programmed = int(json.loads(ocp[1])["Physical media units written"]["lo"])
    assert first["nand_bytes_written"] <= programmed <= last["nand_bytes_written"]


def test_smartctl_reads_it(tried: Tried) -> None:
    """All of it, and the verdict."""
    assert tried.codes("smartctl") == [0, 0, 0]
    assert "test result: PASSED" in tried.lines("smartctl")[2][1]


def test_a_self_test_passes(tried: Tried) -> None:
    """The log has a short one without an error."""
    assert tried.codes("self-test") == [0, 0]
    log = json.loads(tried.lines("self-test")[1][1])
    first = next(iter(log["List of Valid Reports"]))
    assert (first["Self test result"], first["Self test code"]) == (0, 1)


def test_digests(tried: Tried) -> None:
    """With header and data digests fio's own checksums hold."""
    code, said = tried.lines("digests")[-1]
    assert code == 0, said
    assert json.loads(said[said.index("{") :])["jobs"][0]["error"] == 0


def test_several_queues(tried: Tried) -> None:
    """Writes go by one queue, reads by another; what has ended cannot be aborted."""
    lines = tried.lines("several queues")
    assert [code for code, _ in lines] == [0] * 6, lines
    assert "1/1/1 default/read/poll queues" in lines[3][1]
    assert json.loads(lines[4][1][lines[4][1].index("{") :])["jobs"][0]["error"] == 0
    assert "result: 0x00000001" in lines[5][1], lines[5][1]


def test_formats_erase(tried: Tried) -> None:
    """Each kind ends well, and nothing is left; a format that is not there is refused."""
    lines = tried.lines("format")
    for number in range(3):
        wrote, formatted, read, compared = lines[4 * number : 4 * number + 4]
        assert (wrote[0], formatted[0], read[0]) == (0, 0, 0), (wrote, formatted, read)
        assert compared[0] == 1, "what was written is still there"
    assert lines[-1][0] != 0
    erased = tried.after["counters"]["secure_erases"] - tried.before["counters"]["secure_erases"]
    assert erased == 3, "by the guide, a format and a sanitize"


def test_sanitizes_erase(tried: Tried) -> None:
    """Block erase, crypto erase and overwriting are done as the log says, and deallocate."""
    lines = tried.lines("sanitize")
    for number in range(3):
        wrote, sanitized, log, read, compared = lines[5 * number : 5 * number + 5]
        assert (wrote[0], sanitized[0], log[0], read[0]) == (0, 0, 0, 0)
        assert compared[0] == 1, "what was written is still there"
        (status,) = json.loads(log[1]).values()
        assert status["sprog"] == 65535
    assert lines[-1][0] != 0, "what shall not be deallocated is refused"
    programmed = [
        each["counters"]["padding_pages_written"] * 4096 for each in (tried.before, tried.after)
    ]
    assert programmed[1] - programmed[0] > 2 * DRIVE_BYTES, "two passes over all blocks"


def test_a_power_state_lasts_until_a_command(tried: Tried) -> None:
    """The profile's states are told; one that is set is the drive's until it reads."""
    told, given, set_to, read, woken, unknown, smart = tried.lines("power states")
    assert (told[0], given[0], set_to[0], read[0], woken[0]) == (0, 0, 0, 0, 0)
    awake, slumber = json.loads(told[1])["psds"][:2]
    assert awake["max_power"] == 825 and slumber["max_power"] == 400
    assert slumber["exit_lat"] == 1200
    assert set_to[1].strip().endswith("1") and woken[1].strip().endswith("0")
    assert unknown[0] != 0, "there is no such state"
    heading, _, table = tried.capabilities.partition("Supported Power States\n")
    lines = table.partition("\n\n")[0].splitlines()
    assert heading and len(lines) == 3
    assert all(line in smart[1].splitlines() for line in lines), (lines, smart[1])


@pytest.mark.parametrize("name", ["reset under load", "power"])
def test_a_controller_comes_back(tried: Tried, name: str) -> None:
    """After resets, and after a loss of power, the load goes on without an error."""
    code, said = tried.lines(name)[0]
    assert code == 0, said
    job = json.loads(said[said.index("{") :])["jobs"][0]
    assert job["error"] == 0 and job["write"]["total_ios"] > 0
    if name == "power":
        assert tried.lines(name)[1][1].strip() == "live"
        lost = tried.after["counters"]["unsafe_shutdowns"]
        assert lost - tried.before["counters"]["unsafe_shutdowns"] >= 1


def test_it_is_connected_anew_under_load(tried: Tried) -> None:
    """Who disconnects while fio writes connects anew, and finds the drive as it is."""
    assert tried.codes("reconnect under load") == [0] * 6, tried.lines("reconnect under load")


def test_two_hosts_share_the_drive(tried: Tried) -> None:
    """What one writes the other reads."""
    assert tried.codes("two hosts")[0] == 0, tried.lines("two hosts")[0]
    assert "nvme0" in (paths := tried.lines("two hosts")[2][1]) and "nvme1" in paths
    assert tried.codes("two hosts")[3:6] == [0, 0, 0], tried.lines("two hosts")


def test_it_is_gone_after_disconnect(tried: Tried) -> None:
    """Nothing is left, on neither side."""
    assert tried.codes("disconnect") == [0, 0]
    assert "nvme0n1" not in tried.lines("disconnect")[1][1]
    assert tried.after["connections"]["broke_protocol"] == 0
