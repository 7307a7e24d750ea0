"""Proof of TRIM: discards are counted where they must arrive, and sight is not guessed beyond."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders import array, behind, encrypted, plain
from layouts_deep import bcache, cached, lvm_raid, two_btrfs
from machine import MadeMachine
from ssdlab.machine.audit.prove_trim import Proof, prove_trim
from ssdlab.machine.verdict import Verdict


def proved(machine: MadeMachine, place: str, heard: str, said: str = "1 MiB trimmed") -> Proof:
    """Trim, after which the named devices have counted."""
    names = [path.split("/")[4] for path in machine.files if path.endswith("/dev")]
    for name in names:
        machine.file(f"/sys/class/block/{name}/stat", " ".join("0" * 17))

    def trim(folder: str) -> str:
        for name in heard.split():
            path = f"/sys/class/block/{name}/stat"
            assert path in machine.files, name
            machine.file(path, "0 0 0 0 0 0 0 0 0 0 0 2 0 2048 0 0 0")
        return f"{folder}: {said}"

    return prove_trim(machine.system(), place, trim)


def mirror() -> MadeMachine:
    return array().mount("md0", "/srv")


def stripes() -> MadeMachine:
    return array("raid0", "abc").mount("md0", "/srv")


def spare() -> MadeMachine:
    machine = array("raid1", "abc").mount("md0", "/srv")
    for letter, state in (("a", "in_sync"), ("b", "in_sync"), ("c", "spare")):
        machine.file(f"/sys/block/md0/md/dev-sd{letter}1/state", state)
    return machine


def ways() -> MadeMachine:
    machine = MadeMachine().drive("sda").drive("sdb")
    table = "0 9 multipath 0 0 1 1 service-time 0 2 2 {0} 1 1 {1} 1 1"
    return machine.mapped("dm-0", "mpatha", "sda sdb", table, "mpath-36").mount("dm-0", "/srv")


def nvme_ways() -> MadeMachine:
    machine = MadeMachine().drive("nvme0n1").drive("nvme0c0n1").drive("nvme0c1n1")
    return machine.mount("nvme0n1", "/srv")


def in_a_file(below: Callable[[], MadeMachine] = plain) -> MadeMachine:
    machine = below()
    if below is plain:
        machine.mount("sda1", "/home")
    return machine.loop("loop0", "/home/image").mount("loop0", "/srv")


def over_a_drive() -> MadeMachine:
    return MadeMachine().drive("sda").loop("loop0", "/dev/sda").mount("loop0", "/srv")


def in_memory() -> MadeMachine:
    machine = MadeMachine().elsewhere("/run", "tmpfs")
    return machine.loop("loop0", "/run/image").mount("loop0", "/srv")


def virtual() -> MadeMachine:
    machine = MadeMachine().drive("vda").partition("vda1", "vda", start=2048)
    return machine.mount("vda1", "/srv")


PROVEN: tuple[tuple[Callable[[], MadeMachine], str], ...] = (
    (mirror, "md0 sda1 sda sdb1 sdb"),
    (spare, "md0 sda1 sda sdb1 sdb"),
    (lvm_raid, "dm-4 dm-1 dm-3 sda1 sda sdb1 sdb"),
    (lambda: array("raid0", "ab").mount("md0", "/srv"), "sda1 sda sdb1 sdb"),
    (cached, "dm-0 sdb"),
    (lambda: cached("writecache"), "dm-0 sdb"),
    (bcache, "bcache0 sdb"),
    (ways, "dm-0 sda"),
    (ways, "dm-0 sda sdb"),
    (nvme_ways, "nvme0c1n1"),
    (nvme_ways, "nvme0n1 nvme0c0n1"),
    (lambda: two_btrfs().mount("sda", "/other"), "sda sdb"),
    (in_a_file, "loop0 sda1 sda"),
)


@pytest.mark.parametrize("build,heard", PROVEN)
def test_proven(build: Callable[[], MadeMachine], heard: str) -> None:
    """Spares, maps, caches and other paths may count nothing; all else did."""
    machine = build()
    proof = proved(machine, "/srv" if "/srv" in mounted(machine) else "/", heard)
    assert proof.verdict is Verdict.RIGHT and proof.exit_code == 0, proof.to_dict()
    assert proof.stops_at is None and proof.unseen == []


def mounted(machine: MadeMachine) -> list[str]:
    text = machine.files.get("/proc/self/mountinfo") or ""
    return [line.split()[4] for line in text.splitlines()]


BROKEN: tuple[tuple[Callable[[], MadeMachine], str, str], ...] = (
    (mirror, "md0 sda1 sda", "/dev/sdb1"),
    (lvm_raid, "dm-4 dm-1 sda1 sda", "/dev/mapper/vg-pair_rimage_1"),
    (ways, "dm-0", "/dev/sda"),
    (lambda: in_a_file(lambda: encrypted(False)), "loop0", "/dev/mapper/crypt-sda1"),
    (lambda: in_a_file(lambda: encrypted()), "loop0 dm-0", "/dev/sda1"),
    (stripes, "md0", "/dev/sda1"),
    (lambda: two_btrfs(discards=False), "sda", "/dev/sdb"),
)


@pytest.mark.parametrize("build,heard,stops", BROKEN)
def test_broken(build: Callable[[], MadeMachine], heard: str, stops: str) -> None:
    """The first layer at which discards had to arrive, and did not, is named."""
    machine = build()
    proof = proved(machine, "/srv" if "/srv" in mounted(machine) else "/", heard)
    assert (proof.verdict, proof.stops_at) == (Verdict.WRONG, stops), proof.to_dict()
    assert proof.exit_code == 3


UNSEEN: tuple[tuple[Callable[[], MadeMachine], str, str], ...] = (
    (stripes, "md0 sda1 sda", "nothing of what was trimmed lay on it"),
    (two_btrfs, "sda", "nothing of what was trimmed lay on it"),
    (over_a_drive, "loop0", "writes of zeroes"),
    (in_memory, "loop0", "is on no file system with a device here"),
    (virtual, "vda1 vda", "it is virtual"),
    (lambda: behind("NRWTD").mount("sda", "/srv"), "sda", "RAID controller"),
    (lambda: plain().mount("sda1", "/srv"), "", "sent no discards"),
)


@pytest.mark.parametrize("build,heard,because", UNSEEN)
def test_not_proven(build: Callable[[], MadeMachine], heard: str, because: str) -> None:
    """Where sight ends it is said so, and nothing is claimed."""
    machine = build()
    proof = proved(machine, "/srv" if "/srv" in mounted(machine) else "/", heard)
    assert proof.verdict is Verdict.NOT_LOOKED_AT and proof.exit_code == 4, proof.to_dict()
    assert all("not looked at, because" in line for line in proof.unseen)
    assert because in proof.unseen[0]


def test_the_upper_of_two_mounts_is_trimmed() -> None:
    """Of two mounts on one place the last one is meant, also by a folder in it."""
    machine = mirror().drive("sdx").mount("sdx", "/srv")
    for place in ("/srv", "/srv/", "/srv/folder"):
        proof = proved(machine, place, "sdx")
        assert [layer.label for layer in proof.layers] == ["/dev/sdx"]


def test_what_a_neighbour_trims_proves_nothing() -> None:
    """Discards that others sent to a shared drive do not count for a layer that heard none."""
    machine = encrypted(False)
    proof = proved(machine, "/home", "sda1 sda", "the discard operation is not supported")
    assert (proof.verdict, proof.stops_at) == (Verdict.WRONG, "/dev/mapper/crypt-sda1")


def test_a_file_system_that_holds_a_file_is_trimmed_too() -> None:
    """Holes in a loop device's file are sent on by the file system that holds it."""
    machine = in_a_file()
    trimmed: list[str] = []
    for name in ("loop0", "sda1", "sda"):
        machine.file(f"/sys/class/block/{name}/stat", " ".join("0" * 17))

    def trim(folder: str) -> str:
        trimmed.append(folder)
        return ""

    prove_trim(machine.system(), "/srv", trim)
    assert trimmed == ["/srv", "/home"]
