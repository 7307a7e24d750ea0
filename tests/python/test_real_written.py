"""Bytes written by the kernel's count and by the drive's own log, and throttling, made of words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from machine import MadeMachine
from ssdlab.bench.real.identity import DeviceIdentity
from ssdlab.bench.real.node import Node, controllers
from ssdlab.bench.real.surroundings import Throttle
from ssdlab.bench.real.written import Log
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended
from ssdlab.real.smart.report import DriveReport, NvmeHealth
from ssdlab.real.system import System

STAT = "10 0 80 1 {writes} 0 {sectors} 5 0 6 6 0 0 0 0"


def _node(name: str, drive: str = "") -> Node:
    drive = drive or name
    folder = f"/sys/block/{drive}" if drive == name else f"/sys/block/{drive}/{name}"
    return Node(f"/dev/{name}", "8:0", name, folder, drive, (), 64 << 20)


def _identity(kind: str) -> DeviceIdentity:
    return DeviceIdentity("/dev/x", "MADE", "S1", "1", kind, 1 << 30, 512, 4096)


def _log(node: Node, kind: str, system: System, told: DriveReport | None = None) -> Log:
    def ask(_words: list[str]) -> DriveReport:
        if told is None:
            raise SsdlabError("smartctl was not found")
        return told

    return Log(node, _identity(kind), system, ask)


def _counted(name: str, sectors: int) -> MadeMachine:
    made = MadeMachine().drive(name)
    return made.file(f"/sys/block/{name}/stat", STAT.format(writes=3, sectors=sectors))


def test_the_kernel_counts_sectors() -> None:
    """512 bytes each, of a partition its own; nothing where counting is off."""
    made = _counted("sda", 2000).file("/sys/block/sda/sda1/stat", STAT.format(writes=1, sectors=8))
    assert _log(_node("sda"), "sata", made.system()).kernel_bytes() == 2000 * 512
    assert _log(_node("sda1", "sda"), "sata", made.system()).kernel_bytes() == 8 * 512
    made.file("/sys/block/sda/queue/iostats", "0")
    assert _log(_node("sda"), "sata", made.system()).kernel_bytes() is None
    assert _log(_node("sda"), "sata", made.system()).counters() is None


def test_paths_of_a_namespace_are_added_up() -> None:
    """What the kernel joins counts on the hidden paths, and may have its own count off."""
    made = _counted("nvme0n1", 0).file("/sys/block/nvme0n1/queue/iostats", "0")
    for name, sectors in (("nvme0c0n1", 100), ("nvme0c1n1", 50), ("nvme0c1n2", 7)):
        made.drive(name).file(f"/sys/block/{name}/stat", STAT.format(writes=1, sectors=sectors))
    assert _log(_node("nvme0n1"), "nvme", made.system()).kernel_bytes() == 150 * 512


def test_the_drive_s_own_log_comes_first() -> None:
    """NVMe counts in units of 512 000 bytes; where no answer comes, the kernel's count is taken."""
    empty = NvmeHealth(*[None] * 11)
    told = DriveReport("/dev/nvme0", nvme=NvmeHealth(**{**vars(empty), "data_units_written": 7}))
    system = _counted("nvme0n1", 100).system()
    found = _log(_node("nvme0n1"), "nvme", system, told).counters()
    assert found is not None
    assert (found.host_bytes_written, found.source) == (7 * 512_000, "drive")
    for report in (None, DriveReport("/dev/nvme0")):
        found = _log(_node("nvme0n1"), "nvme", system, report).counters()
        assert found is not None
        assert (found.host_bytes_written, found.source) == (100 * 512, "kernel")


def test_controllers_of_a_namespace() -> None:
    """Where it hangs on its controller, and where the kernel joins several by a subsystem."""
    made = MadeMachine().drive("nvme1n1")
    place = "/sys/devices/pci0000:00/nvme/nvme0"
    made.link("/sys/block/nvme1n1/device", place)
    assert controllers(_node("nvme1n1"), made.system()) == ["/dev/nvme0"]
    joined = "/sys/devices/virtual/nvme-subsystem/nvme-subsys1"
    made.link("/sys/block/nvme1n1/device", joined)
    for name in ("nvme0", "nvme2", "nvme1n1", "subsysnqn"):
        made.file(f"{joined}/{name}", "")
    assert controllers(_node("nvme1n1"), made.system()) == ["/dev/nvme0", "/dev/nvme2"]


def test_throttling_is_what_has_grown() -> None:
    """Counts from before do not count; a drive without such counts is not said to be cool."""
    logs = iter(
        json.dumps({"temperature": 350, "warning_temp_time": minutes, "thm_temp1_trans_count": "4"})
        for minutes in (10, 10, 11)
    )

    def run(words: Sequence[str], _timeout_s: float | None) -> Ended:
        return Ended(tuple(words), 0, next(logs), "")

    made = MadeMachine().drive("nvme0n1").drive("sda")
    throttle = Throttle(_node("nvme0n1"), made.system(), run)
    assert throttle.seen()["throttled"] is False
    found = throttle.seen()
    assert found["throttled"] is True
    assert found["counts"] == {"warning_temp_time": 1, "thm_temp1_trans_count": 0}
    assert Throttle(_node("sda"), made.system(), run).seen()["throttled"] is None


def test_temperatures_come_from_the_kernel_s_sensors() -> None:
    """Thousandths of a degree, below the drive or its controller."""
    made = MadeMachine().drive("nvme0n1")
    made.file("/sys/block/nvme0n1/device/hwmon1/temp1_input", "41850")
    made.file("/sys/block/nvme0n1/device/hwmon1/temp1_max", "81850")
    made.folders["/sys/block/nvme0n1/device"] = ["hwmon1", "model"]

    def run(words: Sequence[str], _timeout_s: float | None) -> Ended:
        return Ended(tuple(words), 0, "{}", "")

    throttle = Throttle(_node("nvme0n1"), made.system(), run)
    assert throttle.temperatures() == {"temp1": 41.85}
