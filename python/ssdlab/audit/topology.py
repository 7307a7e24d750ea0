"""What stands on what: file systems and swap, and the block devices below them down to the drives.

Read from sysfs and procfs (mountinfo). Offsets inside device-mapper devices (the payload of an
encrypted device, the data of a logical volume) are known from ``dmsetup table``, which only root
sees.

Left out: ZFS (its devices are found only by its own tools), multipath's path states.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.audit.system import System

SECTOR_BYTES = 512
MOST_DEVICES = 4096
"""How many block devices are looked at."""
PARITY = frozenset({"raid4", "raid5", "raid6"})
REDUNDANT = PARITY | {"raid1", "raid10"}
_MOST_LAYERS = 32
_QUEUE = (
    "rotational",
    "discard_max_bytes",
    "discard_granularity",
    "optimal_io_size",
    "minimum_io_size",
    "physical_block_size",
    "logical_block_size",
    "scheduler",
    "write_cache",
    "fua",
    "nr_requests",
    "read_ahead_kb",
)
_NAME = re.compile(r"[A-Za-z0-9][\w!.:-]*", re.ASCII)
_PSEUDO = re.compile(r"(ram|zram|nbd|fd|sr)\d")


@dataclass(frozen=True)
class Below:
    """A device that another stands on.

    Attributes
    ----------
    device
        Its kernel name.
    offset_bytes
        Where the upper one's data begins on it; None where that could not be seen.
    """

    device: str
    offset_bytes: int | None


@dataclass
class Device:
    """A block device.

    Attributes
    ----------
    name
        The kernel's: ``sda``, ``sda1``, ``dm-0``, ``md0``.
    kind
        ``drive``, ``partition``, ``crypt``, ``lvm``, ``thin``, ``thin-pool``, ``mapped``, ``md``,
        ``loop``, ``bcache``.
    label
        What people call it, such as ``/dev/mapper/home``.
    size_bytes
        Its size.
    below
        What it stands on.
    queue
        Attributes of its queue; a partition has those of its drive.
    details
        What else was read, by name.
    """

    name: str
    kind: str
    label: str
    size_bytes: int
    below: list[Below] = field(default_factory=list)
    queue: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The label as it is typed into a shell."""
        return shlex.quote(self.label)

    @property
    def mapped_name(self) -> str:
        """Device-mapper's name, or the kernel's."""
        return self.details.get("name", self.name)

    def number(self, attribute: str) -> int | None:
        """Give a number from its queue."""
        return whole(self.queue.get(attribute))


@dataclass(frozen=True)
class Use:
    """What a device is used for.

    Attributes
    ----------
    device
        Its kernel name.
    place
        Where it is mounted, or ``[swap]``.
    kind
        The file system, or ``swap``.
    options
        How it is mounted.
    """

    device: str
    place: str
    kind: str
    options: frozenset[str] = frozenset()

    @property
    def word(self) -> str:
        """The place as it is typed into a shell."""
        return shlex.quote(self.place)


@dataclass
class Topology:
    """All devices and what they are used for."""

    devices: dict[str, Device]
    uses: list[Use]
    _users: dict[str, list[Use]] | None = None
    _above: dict[str, list[Device]] | None = None

    def layers(self, name: str) -> Iterator[tuple[Device, int | None]]:
        """Give a device and everything below it once, top down, with offsets from ``name``.

        The offset is where the top's first byte lies on that layer; None where it is unknown or
        where data is spread, so that it has no one place.
        """
        seen: set[str] = set()
        queue: list[tuple[str, int | None, int]] = [(name, 0, 0)]
        while queue:
            current, offset, depth = queue.pop(0)
            device = self.devices.get(current)
            if device is None or current in seen or depth > _MOST_LAYERS:
                continue
            seen.add(current)
            yield device, offset
            for below in device.below:
                known = offset is not None and below.offset_bytes is not None
                place = (offset or 0) + (below.offset_bytes or 0) if known else None
                queue.append((below.device, place, depth + 1))

    def drives(self, name: str) -> list[Device]:
        """Give the drives that a device stands on."""
        return [device for device, _ in self.layers(name) if device.kind == "drive"]

    def path(self, name: str) -> str:
        """Name the layers from a device down to its drives."""
        return " > ".join(device.label for device, _ in self.layers(name))

    def users(self, name: str) -> list[Use]:
        """Give what is stored on a device, however many layers above."""
        if self._users is None:
            self._users = {}
            for use in self.uses:
                for layer, _ in self.layers(use.device):
                    self._users.setdefault(layer.name, []).append(use)
        return self._users.get(name, [])

    def above(self, name: str) -> list[Device]:
        """Give the devices that stand on one, however many layers above, sorted by name."""
        if self._above is None:
            self._above = {}
            for upper in sorted(self.devices):
                for layer, _ in self.layers(upper):
                    if layer.name != upper:
                        self._above.setdefault(layer.name, []).append(self.devices[upper])
        return self._above.get(name, [])

    def named(self, word: str) -> Device | None:
        """Find a device by what people call it, or by where it is mounted."""
        place = word.rstrip("/") or "/"
        for use in self.uses:
            if use.place == place:
                return self.devices.get(use.device)
        short = word.removeprefix("/dev/")
        for device in self.devices.values():
            if word in (device.label, device.name) or short == device.name:
                return device
        return None


def whole(text: str | None) -> int | None:
    """Read a whole number; None for anything else."""
    if text is None or not re.fullmatch(r"-?\d{1,20}", text):
        return None
    return int(text)


def read_topology(system: System) -> Topology:
    """Read what stands on what."""
    devices: dict[str, Device] = {}
    for name in system.entries("/sys/block")[:MOST_DEVICES]:
        if _PSEUDO.match(name) or not _NAME.fullmatch(name):
            continue
        for device in _with_partitions(system, name):
            if device.size_bytes > 0:
                devices[device.name] = device
    _add_offsets(system, devices)
    return Topology(devices, [*_mounts(system, devices), *_swaps(system, devices)])


def _with_partitions(system: System, name: str) -> Iterator[Device]:
    folder = f"/sys/block/{name}"
    whole_device = _device(system, name, folder)
    yield whole_device
    for entry in system.entries(folder):
        is_part = entry.startswith(name) and _NAME.fullmatch(entry)
        start = system.read(f"{folder}/{entry}/start") if is_part else None
        if start is None:
            continue
        offset = (whole(start) or 0) * SECTOR_BYTES
        partition = Device(
            name=entry,
            kind="partition",
            label=_node(entry),
            size_bytes=(whole(system.read(f"{folder}/{entry}/size")) or 0) * SECTOR_BYTES,
            below=[Below(name, offset)],
            queue=whole_device.queue,
        )
        for key in ("alignment_offset", "partition"):
            _keep(system, partition.details, key, f"{folder}/{entry}/{key}")
        yield partition


def _node(name: str) -> str:
    """Name the device's file; what sysfs writes as an exclamation mark is a slash."""
    return f"/dev/{name.replace('!', '/')}"


def _device(system: System, name: str, folder: str) -> Device:
    device = Device(
        name=name,
        kind="drive",
        label=_node(name),
        size_bytes=(whole(system.read(f"{folder}/size")) or 0) * SECTOR_BYTES,
        below=[Below(slave, None) for slave in system.entries(f"{folder}/slaves")],
    )
    for key in _QUEUE:
        _keep(system, device.queue, key, f"{folder}/queue/{key}")
    if name.startswith("dm-"):
        _read_mapped(system, device, folder)
    elif name.startswith("md"):
        _read_md(system, device, folder)
    elif name.startswith("loop"):
        device.kind = "loop"
        _keep(system, device.details, "backing_file", f"{folder}/loop/backing_file")
    elif name.startswith("bcache"):
        device.kind = "bcache"
    else:
        for key in ("model", "vendor", "rev", "firmware_rev", "queue_depth", "type"):
            _keep(system, device.details, key, f"{folder}/device/{key}")
    return device


def _keep(system: System, store: dict[str, str], key: str, path: str) -> None:
    text = system.read(path)
    if text is not None:
        store[key] = text


def _read_mapped(system: System, device: Device, folder: str) -> None:
    _keep(system, device.details, "name", f"{folder}/dm/name")
    _keep(system, device.details, "uuid", f"{folder}/dm/uuid")
    uuid = device.details.get("uuid", "")
    device.kind = "crypt" if uuid.startswith("CRYPT-") else "mapped"
    if uuid.startswith("LVM-"):
        device.kind = "lvm"
    if "name" in device.details:
        device.label = f"/dev/mapper/{device.details['name']}"


def _read_md(system: System, device: Device, folder: str) -> None:
    device.kind = "md"
    keys = ("level", "chunk_size", "mismatch_cnt", "sync_action", "last_sync_action")
    for key in (*keys, "degraded", "raid_disks", "array_state"):
        _keep(system, device.details, key, f"{folder}/md/{key}")
    offsets = {}
    for entry in system.entries(f"{folder}/md"):
        if entry.startswith("dev-"):
            sectors = whole(system.read(f"{folder}/md/{entry}/offset"))
            offsets[entry.removeprefix("dev-")] = (
                None if sectors is None else sectors * SECTOR_BYTES
            )
    device.below = [Below(each.device, offsets.get(each.device)) for each in device.below]


def _add_offsets(system: System, devices: dict[str, Device]) -> None:
    """Read device-mapper's tables: what kind a device is, and where its data begins."""
    by_number = _numbers(system, devices)
    by_name = {device.details.get("name"): device for device in devices.values()}
    for line in (system.run("dmsetup", "table") or "").splitlines():
        name, _, table = line.partition(": ")
        device = by_name.get(name)
        words = table.split()
        if device is not None and len(words) >= 3:
            _read_table(device, words, by_number)


def _read_table(device: Device, words: list[str], by_number: dict[str, Device]) -> None:
    target, arguments = words[2], words[3:]
    if target == "crypt" and len(arguments) >= 5:
        device.kind = "crypt"
        device.details["options"] = " ".join(arguments[6:])
        _set_offset(device, by_number.get(arguments[3]), whole(arguments[4]))
    elif target == "linear" and len(arguments) >= 2:
        # Of several segments the first is where the device begins.
        if words[0] == "0":
            _set_offset(device, by_number.get(arguments[0]), whole(arguments[1]))
    elif target in ("thin", "thin-pool"):
        device.kind = target
        device.details["options"] = " ".join(arguments)
        if target == "thin-pool" and len(arguments) >= 2:
            # Data goes to the second device; the first holds only the pool's own map.
            data = by_number.get(arguments[1])
            device.below = [Below(data.name, 0)] if data is not None else device.below


def _set_offset(device: Device, below: Device | None, sectors: int | None) -> None:
    if below is None or sectors is None:
        return
    others = [each for each in device.below if each.device != below.name]
    device.below = [Below(below.name, sectors * SECTOR_BYTES), *others]


def _mounts(system: System, devices: dict[str, Device]) -> Iterator[Use]:
    by_number = _numbers(system, devices)
    seen = set()
    for line in (system.read("/proc/self/mountinfo") or "").splitlines():
        front, _, back = line.partition(" - ")
        words, kinds = front.split(), back.split()
        if len(words) < 6 or len(kinds) < 3:
            continue
        # btrfs has a number of its own, so its source is asked as well.
        device = by_number.get(words[2]) or _by_label(devices, _unescape(kinds[1]))
        place = _unescape(words[4])
        if device is None or (device.name, place) in seen:
            continue
        seen.add((device.name, place))
        options = {*words[5].split(","), *kinds[2].split(",")}
        yield Use(device.name, place, kinds[0], frozenset(options))


def _numbers(system: System, devices: dict[str, Device]) -> dict[str, Device]:
    numbers = ((system.read(f"/sys/class/block/{name}/dev"), name) for name in devices)
    return {number: devices[name] for number, name in numbers if number}


def _swaps(system: System, devices: dict[str, Device]) -> Iterator[Use]:
    for line in (system.read("/proc/swaps") or "").splitlines()[1:]:
        words = line.split()
        device = _by_label(devices, _unescape(words[0])) if words else None
        if device is not None:
            yield Use(device.name, "[swap]", "swap")


def _by_label(devices: dict[str, Device], label: str) -> Device | None:
    for device in devices.values():
        if label in (device.label, f"/dev/{device.name}"):
            return device
    return None


def _unescape(text: str) -> str:
    """Undo procfs' octal escapes of blanks."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
