"""Who uses a block device, as the kernel tells it. No use can be overruled.

These are asked: ``holders`` in sysfs (md, LVM, LUKS, multipath and all else that device-mapper or
bcache puts on it), ``/proc/self/mountinfo``, ``/proc/swaps``, ``/proc/mdstat``, ``/sys/fs/btrfs``,
loop devices over it, ``zpool status``, what is below the root file system, and processes that have
it open for writing (a virtual machine, for example). Each is asked about the device and its
partitions.

Left out: mounts of other namespaces, and ZFS where its tool is missing. Both hold the device
exclusively, so that `safety` is refused when it opens it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ssdlab.bench.real.node import Node, device_path
from ssdlab.real.mounts import unescape
from ssdlab.real.reading import read_topology
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

_MD_MEMBER = re.compile(r"([\w!.-]+)\[\d+\](?:\([A-Z]\))*", re.ASCII)
_DEEPEST = 32
_WRITABLE = os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True)
class Claim:
    """One use.

    Attributes
    ----------
    what
        In words.
    remedy
        What ends it, in words.
    """

    what: str
    remedy: str


def claims(node: Node, system: System) -> list[Claim]:
    """Name every use of a device and its partitions, each once."""
    topology = read_topology(system)
    found: dict[str, Claim] = {}
    for claim in _all_claims(node, system, topology):
        found.setdefault(claim.what, claim)
    return list(found.values())


def _all_claims(node: Node, system: System, topology: Topology) -> Iterator[Claim]:
    if system.read(f"{node.folder}/ro") == "1":
        remedy = f"blockdev --setrw {node.path}, if it is meant to be written"
        yield Claim("is read-only", remedy)
    yield from _below_root(node, system)
    for ask in (_holders, _mounts, _swaps, _array_members, _btrfs, _loops, _pools):
        yield from ask(node, system)
    for name in node.names:
        for use in topology.users(name):
            yield _mounted(name, use.place) if use.kind != "swap" else _swap(name)
        for upper in topology.above(name):
            if upper.name not in node.partitions:
                yield _held(name, upper.label)


def _held(name: str, holder: str) -> Claim:
    return Claim(f"{device_path(name)} is part of {holder}", f"take {holder} apart first")


def _mounted(name: str, place: str) -> Claim:
    remedy = "use another drive" if place == "/" else f"umount {place}"
    return Claim(f"{device_path(name)} is mounted at {place}", remedy)


def _swap(name: str) -> Claim:
    return Claim(f"{device_path(name)} is swap", f"swapoff {device_path(name)}")


def _below_root(node: Node, system: System) -> Iterator[Claim]:
    """Look below the root file system, down to the drives."""
    for line in _mount_lines(system):
        if line.place == "/" and (top := _folder(system, line.number)):
            if set(_family_below(system, top)) & {node.name, *node.partitions}:
                yield Claim("is below the root file system", "use another drive")


def _family_below(system: System, folder: str, depth: int = 0) -> Iterator[str]:
    """Name a device, the drive of a partition, and all that it stands on."""
    name = folder.rpartition("/")[2]
    yield name
    if depth > _DEEPEST:
        return
    if system.read(f"{folder}/partition") is not None:
        yield folder.split("/")[-2]
    parent = folder.rpartition("/")[0] if system.read(f"{folder}/partition") else folder
    for slave in {*system.entries(f"{folder}/slaves"), *system.entries(f"{parent}/slaves")}:
        below = system.real(f"/sys/class/block/{slave}")
        if below:
            yield from _family_below(system, below, depth + 1)


def _folder(system: System, number: str) -> str | None:
    folder = system.real(f"/sys/dev/block/{number}")
    return folder if folder and system.read(f"{folder}/size") is not None else None


def _holders(node: Node, system: System) -> Iterator[Claim]:
    for name, folder in _folders(node):
        for holder in system.entries(f"{folder}/holders"):
            label = system.read(f"/sys/class/block/{holder}/dm/name")
            yield _held(name, f"/dev/mapper/{label}" if label else device_path(holder))


def _folders(node: Node) -> Iterator[tuple[str, str]]:
    yield node.name, node.folder
    for partition in node.partitions:
        yield partition, f"{node.folder}/{partition}"


@dataclass(frozen=True)
class _Mount:
    number: str
    place: str
    source: str


def _mount_lines(system: System) -> Iterator[_Mount]:
    for line in (system.read("/proc/self/mountinfo") or "").splitlines():
        front, _, back = line.partition(" - ")
        words, kinds = front.split(), back.split()
        if len(words) >= 6 and len(kinds) >= 2:
            yield _Mount(words[2], unescape(words[4]), unescape(kinds[1]))


def _mounts(node: Node, system: System) -> Iterator[Claim]:
    """Find mounts by number, and by source, which is all that btrfs tells."""
    numbers = {
        system.read(f"{folder}/dev") or (node.number if name == node.name else ""): name
        for name, folder in _folders(node)
    }
    paths = {device_path(name): name for name in node.names}
    for mount in _mount_lines(system):
        source = system.real(mount.source) if mount.source.startswith("/dev/") else None
        name = numbers.get(mount.number) or paths.get(source or mount.source)
        if name:
            yield _mounted(name, mount.place)


def _swaps(node: Node, system: System) -> Iterator[Claim]:
    for line in (system.read("/proc/swaps") or "").splitlines()[1:]:
        path = unescape(line.split()[0]) if line.split() else ""
        for name in node.names:
            if device_path(name) in (path, system.real(path)):
                yield _swap(name)


def _array_members(node: Node, system: System) -> Iterator[Claim]:
    for line in (system.read("/proc/mdstat") or "").splitlines():
        array, colon, rest = line.partition(" : ")
        for member in _MD_MEMBER.finditer(rest) if colon else ():
            if member[1] in node.names:
                yield _held(member[1], device_path(array))


def _btrfs(node: Node, system: System) -> Iterator[Claim]:
    folder = "/sys/fs/btrfs"
    for uuid in system.entries(folder):
        for name in set(system.entries(f"{folder}/{uuid}/devices")) & set(node.names):
            yield Claim(f"{device_path(name)} is part of a mounted btrfs", "unmount it")


def _loops(node: Node, system: System) -> Iterator[Claim]:
    for loop in system.entries("/sys/block"):
        backing = system.read(f"/sys/block/{loop}/loop/backing_file")
        for name in node.names:
            if backing and device_path(name) in (backing, system.real(backing)):
                remedy = f"losetup --detach /dev/{loop}"
                yield Claim(f"{device_path(name)} is below /dev/{loop}", remedy)


def file_claims(path: str, system: System) -> list[Claim]:
    """Name every use of a regular file that the kernel tells of: loop devices, swap, writers."""
    found = []
    for loop in system.entries("/sys/block"):
        backing = system.read(f"/sys/block/{loop}/loop/backing_file")
        if backing and path in (backing, system.real(backing)):
            found.append(Claim(f"{path} is below /dev/{loop}", f"losetup --detach /dev/{loop}"))
    for line in (system.read("/proc/swaps") or "").splitlines()[1:]:
        if line.split() and path in (swap := unescape(line.split()[0]), system.real(swap)):
            found.append(Claim(f"{path} is swap", f"swapoff {path}"))
    return [*found, *_writers({path}, lambda: _open_for_writing(path))]


def _pools(node: Node, system: System) -> Iterator[Claim]:
    """Ask ZFS's own tool, where there is one."""
    known = {word for line in _lines(system.run("zpool", "status", "-LP")) for word in line.split()}
    for name in node.names:
        if device_path(name) in known:
            yield Claim(f"{device_path(name)} is part of a ZFS pool", "zpool export the pool")


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines()


def writers(
    node: Node, links: Callable[[], Iterator[tuple[int, str]]] | None = None
) -> list[Claim]:
    """Name the processes other than this one that have a device open for writing.

    Parameters
    ----------
    node
        The device.
    links
        Gives process and path of everything that is open for writing; by default the machine's.
    """
    paths = {device_path(name) for name in node.names} | {node.path}
    return _writers(paths, links or (lambda: _open_for_writing("/dev/")))


def _writers(paths: set[str], links: Callable[[], Iterator[tuple[int, str]]]) -> list[Claim]:
    found = {}
    for process, path in links():
        if path in paths and process != os.getpid():
            what = f"{path} is open for writing in process {process} ({_program(process)})"
            found[what] = Claim(what, f"end process {process} first")
    return list(found.values())


def _open_for_writing(below: str) -> Iterator[tuple[int, str]]:
    for process in os.listdir("/proc"):
        if not process.isdigit():
            continue
        try:
            descriptors = os.listdir(f"/proc/{process}/fd")
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                path = os.readlink(f"/proc/{process}/fd/{descriptor}")
                if path.startswith(below) and _is_writable(process, descriptor):
                    yield int(process), path
            except OSError:
                continue


def _is_writable(process: str, descriptor: str) -> bool:
    with open(f"/proc/{process}/fdinfo/{descriptor}", encoding="ascii") as file:
        for line in file:
            if line.startswith("flags:"):
                return bool(int(line.split()[1], 8) & _WRITABLE)
    return False


def _program(process: int) -> str:
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "ended meanwhile"
