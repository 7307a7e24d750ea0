"""Who uses a device, on machines made of words: each kind of use is seen, on the right device."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from machine import GIB, MadeMachine
from ssdlab.bench.real.claims import claims
from ssdlab.bench.real.identity import identify
from ssdlab.bench.real.node import Node, describe
from ssdlab.bench.real.surroundings import surroundings

Build = Callable[[MadeMachine], object]


def _machine() -> MadeMachine:
    """Make two drives, of which the first has two partitions."""
    machine = MadeMachine().drive("sda").drive("sdb").drive("sdc")
    machine.partition("sda1", "sda", start=2048, size=10 * GIB)
    return machine.partition("sda2", "sda", start=2048 + (10 << 21), size=20 * GIB)


def _node(machine: MadeMachine, name: str) -> Node:
    number = machine.files[f"/sys/class/block/{name}/dev"] or ""
    drive = name.rstrip("0123456789") if name.startswith("sd") else name
    folder = f"/sys/block/{drive}" if drive == name else f"/sys/block/{drive}/{name}"
    machine.file(f"{folder}/dev", number)
    machine.link(f"/sys/dev/block/{number}", folder)
    machine.link(f"/sys/class/block/{name}", folder)
    return describe(f"/dev/{name}", number, machine.system())


def _said(machine: MadeMachine, name: str) -> list[str]:
    node = _node(machine, name)
    return [claim.what for claim in claims(node, machine.system())]


def test_nothing_uses_an_unused_drive() -> None:
    """Neither the drive nor its partitions."""
    assert _said(_machine(), "sda") == []
    assert _said(_machine(), "sda1") == []
    node = _node(_machine(), "sda")
    assert (node.partitions, node.is_partition) == (("sda1", "sda2"), False)
    part = _node(_machine(), "sda2")
    assert (part.drive, part.is_partition, part.size_bytes) == ("sda", True, 20 * GIB)


USES: dict[str, tuple[Build, str]] = {
    "mounted": (lambda made: made.mount("sda1", "/srv"), "/dev/sda1 is mounted at /srv"),
    "mounted twice": (
        lambda made: made.mount("sda1", "/srv").mount("sda1", "/mnt"),
        "/dev/sda1 is mounted at /mnt",
    ),
    "swap": (lambda made: made.swap("sda1"), "/dev/sda1 is swap"),
    "array": (
        lambda made: made.array("md0", "raid1", {"sda1": 2048, "sdb": 2048}),
        "/dev/sda1 is part of /dev/md0",
    ),
    "array, by mdstat alone": (
        lambda made: made.file(
            "/proc/mdstat", "Personalities : [raid1]\nmd7 : active raid1 sda1[0](S) sdb[1]\n"
        ),
        "/dev/sda1 is part of /dev/md7",
    ),
    "holder": (
        lambda made: made.file("/sys/block/sda/sda1/holders/dm-3", ""),
        "/dev/sda1 is part of /dev/dm-3",
    ),
    "volume": (lambda made: made.volume("dm-0", "sda1"), "is part of /dev/mapper/vg-dm-0"),
    "encrypted": (lambda made: made.crypt("dm-0", "sda1"), "part of /dev/mapper/crypt-sda1"),
    "mounted through layers": (
        lambda made: (
            made.array("md0", "raid1", {"sda1": 0}).volume("dm-0", "md0").mount("dm-0", "/home")
        ),
        "/dev/sda1 is mounted at /home",
    ),
    "btrfs of several": (
        lambda made: made.btrfs("/data", "sda1", "sdb"),
        "/dev/sda1 is part of a mounted btrfs",
    ),
    "pool": (
        lambda made: made.command(
            "zpool status -LP", "  pool: tank\n\tNAME STATE\n\t  /dev/sda1  ONLINE  0 0 0\n"
        ),
        "/dev/sda1 is part of a ZFS pool",
    ),
    "loop": (lambda made: made.loop("loop0", "/dev/sda1"), "/dev/sda1 is below /dev/loop0"),
    "bcache": (lambda made: made.over("bcache0", "sda1"), "is part of /dev/bcache0"),
}


@pytest.mark.parametrize("name", USES)
def test_each_use_is_seen(name: str) -> None:
    """From the partition and from its drive; not from the partition beside it or another drive."""
    build, what = USES[name]
    machine = _machine()
    build(machine)
    for device in ("sda1", "sda"):
        assert any(what in said for said in _said(machine, device)), _said(machine, device)
    for other in ("sda2", "sdc"):
        assert _said(machine, other) == []


@pytest.mark.parametrize("device", ["sda", "sda1"])
def test_the_root_is_seen_through_its_layers(device: str) -> None:
    """A volume on a partition, mounted at /."""
    machine = _machine().volume("dm-0", "sda1").mount("dm-0", "/")
    machine.link("/sys/class/block/sda1", "/sys/block/sda/sda1")
    _node(machine, "dm-0")
    said = _said(machine, device)
    assert any("mounted at /" in each or "root" in each for each in said)
    assert "is below the root file system" in said


def test_an_array_is_a_target_its_members_are_none() -> None:
    """What stands below a device does not refuse it; what stands on it does."""
    machine = _machine().array("md0", "raid1", {"sdb": 0, "sdc": 0})
    assert _said(machine, "md0") == []
    assert _said(machine, "sdb") != []
    machine.mount("md0", "/srv")
    assert any("/srv" in each for each in _said(machine, "md0"))


def test_a_read_only_device_says_so() -> None:
    """With what makes it writable."""
    machine = _machine().file("/sys/block/sda/ro", "1")
    assert _said(machine, "sda") == ["is read-only"]


def test_who_it_is_comes_from_the_drive_itself() -> None:
    """smartctl's whole names before the kernel's cut ones; blanked where it is wished for."""
    machine = _machine().file("/sys/block/sda/device/vendor", "ATA")
    machine.file("/sys/block/sda/device/rev", "0302")
    cut = identify(_node(machine, "sda"), machine.system())
    assert (cut.model, cut.serial, cut.firmware, cut.kind) == ("ATA MADE SSD", "", "0302", "sata")
    answer = '{"model_name": "MADE SSD 64", "serial_number": "S1", "firmware_version": "4PC10302"}'
    machine.command("smartctl --json --info /dev/sda", answer)
    whole = identify(_node(machine, "sda"), machine.system())
    assert (whole.model, whole.serial, whole.firmware) == ("MADE SSD 64", "S1", "4PC10302")
    assert "S1" in "\n".join(whole.lines())
    assert "S1" not in str(whole.blanked().to_dict())


def test_surroundings_name_the_link_and_the_array() -> None:
    """Speed and width of PCIe, governor, scheduler, and how an array is built."""
    machine = MadeMachine().drive("nvme0n1").drive("nvme1n1")
    machine.array("md0", "raid5", {"nvme0n1": 0, "nvme1n1": 0})
    place = "/sys/devices/pci0000:00/0000:01:00.0"
    machine.link("/sys/block/nvme0n1/device", f"{place}/nvme/nvme0")
    for name, value in (("current_link_speed", "8.0 GT/s PCIe"), ("current_link_width", "4")):
        machine.file(f"{place}/{name}", value)
    governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    machine.file(governor, "powersave")
    machine.folders["/sys/devices/system/cpu"] = ["cpu0", "cpufreq"]
    drive = surroundings(_node(machine, "nvme0n1"), machine.system())
    assert drive["link"]["current_link_speed"] == "8.0 GT/s PCIe"
    assert drive["governor"] == "powersave"
    assert drive["queue"]["scheduler"] == "[none] mq-deadline"
    array = surroundings(_node(machine, "md0"), machine.system())["layers"]
    assert array[0]["level"] == "raid5" and array[0]["chunk_size"] == "524288"
    assert [each["device"] for each in array[1:]] == ["/dev/nvme0n1", "/dev/nvme1n1"]
