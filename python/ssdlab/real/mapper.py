"""Device-mapper's tables: what kind a device is, where its data begins, what each part is for.

The target's name decides, never the UUID: ``CRYPT-`` stands before dm-integrity's and dm-verity's
too. Only root may ask; without tables a device stays what its UUID suggests, or ``mapped``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ssdlab.ground.unread import Unread
from ssdlab.real import forms
from ssdlab.real.device import SECTOR_BYTES, Below, Device, whole
from ssdlab.real.system import System

_Devices = dict[str, Device]
_NO_DEVICES = "No devices found"


def numbers(system: System, devices: _Devices) -> _Devices:
    """Give devices by their number, such as ``8:1``."""
    found = ((system.read(f"/sys/class/block/{name}/dev"), name) for name in devices)
    return {number: devices[name] for number, name in found if number}


def read_tables(system: System, devices: _Devices) -> list[Unread]:
    """Read every table and put what it tells into the devices; gives what is not understood."""
    unread: list[Unread] = []
    for name in devices:
        forms.read(system, "dev", f"/sys/class/block/{name}/dev", unread)
    mapped = {device.mapped_name: device for device in devices.values() if "name" in device.details}
    if not mapped:
        return unread
    by_number = numbers(system, devices)
    for line in (system.run("dmsetup", "table") or "").splitlines():
        name, _, table = line.partition(": ")
        device = mapped.get(name)
        words = table.split()
        is_table = len(words) >= 3 and words[0].isdigit() and words[1].isdigit()
        if not is_table and line != _NO_DEVICES:
            why = "a table has start, length and target (dmsetup(8))"
            unread.append(Unread(f"dmsetup table, {name}", line, why))
        elif device is not None:
            device.details["tables"] = str((whole(device.details.get("tables")) or 0) + 1)
            # Of several segments the first is where the device begins.
            if words[0] == "0":
                _read_table(device, words[2], words[3:], by_number)
    _read_states(system, mapped)
    return unread


def _read_states(system: System, mapped: _Devices) -> None:
    """Ask pools and caches whether they pass discards down: tables tell only what was wished."""
    if not any(device.kind in ("cache", "thin-pool") for device in mapped.values()):
        return
    for line in (system.run("dmsetup", "status") or "").splitlines():
        name, _, state = line.partition(": ")
        if name in mapped and "no_discard_passdown" in state.split():
            options = mapped[name].details.get("options", "")
            mapped[name].details["options"] = f"{options} no_discard_passdown"


def _read_table(device: Device, target: str, words: Sequence[str], by_number: _Devices) -> None:
    device.details["target"] = target
    reader = _READERS.get(target)
    if reader is None:
        # A volume whose table is none of these is no plain volume.
        device.kind = "mapped"
    else:
        reader(device, words, by_number)


def _part(words: Sequence[str], place: int) -> str:
    return words[place] if place < len(words) else ""


def _set(
    device: Device, by_number: _Devices, number: str, role: str = "data", sectors: str | None = None
) -> None:
    """Give one of the devices below its role and, in sectors, where data begins on it."""
    lower = by_number.get(number)
    if lower is None:
        return
    begin = whole(sectors)
    offset = None if begin is None else begin * SECTOR_BYTES
    others = [each for each in device.below if each.device != lower.name]
    mine = Below(lower.name, offset, role)
    device.below = [mine, *others] if role == "data" else [*others, mine]


def _crypt(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "crypt"
    device.details["cipher"] = _part(words, 0)
    device.details["options"] = " ".join(words[6:])
    _set(device, by_number, _part(words, 3), sectors=_part(words, 4))


def _linear(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "lvm" if device.is_volume else "linear"
    _set(device, by_number, _part(words, 0), sectors=_part(words, 1))


def _striped(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # stripes, chunk, then device and offset of each
    device.kind = "lvm" if device.is_volume else "linear"
    for place in range(2, len(words) - 1, 2):
        _set(device, by_number, words[place], sectors=words[place + 1])


def _thin(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "thin"
    device.details["options"] = " ".join(words)
    _set(device, by_number, _part(words, 0))


def _thin_pool(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "thin-pool"
    device.details["options"] = " ".join(words)
    # Data goes to the second device; the first holds only the pool's own map.
    _set(device, by_number, _part(words, 0), "metadata")
    _set(device, by_number, _part(words, 1), sectors="0")


def _cache(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # metadata, cache, origin, block size, number of features, features, policy
    device.kind = "cache"
    features = whole(_part(words, 4)) or 0
    device.details["options"] = " ".join(words[5 : 5 + max(0, features)])
    _set(device, by_number, _part(words, 0), "metadata")
    _set(device, by_number, _part(words, 1), "cache")
    _set(device, by_number, _part(words, 2), sectors="0")


def _writecache(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # p or s, origin, cache
    device.kind = "writecache"
    _set(device, by_number, _part(words, 2), "cache")
    _set(device, by_number, _part(words, 1), sectors="0")


def _integrity(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # device, reserved sectors, tag size, mode, number of options, options
    device.kind = "integrity"
    device.details["options"] = " ".join(words[5:])
    _set(device, by_number, _part(words, 0))
    for word in words[5:]:
        if word.startswith("meta_device:"):
            _set(device, by_number, word.removeprefix("meta_device:"), "metadata")


def _verity(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # version, data device, hash device
    device.kind = "verity"
    if _part(words, 2) != _part(words, 1):
        _set(device, by_number, _part(words, 2), "metadata")
    _set(device, by_number, _part(words, 1), sectors="0")


def _multipath(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "multipath"
    device.below = [Below(each.device, 0, "path") for each in device.below]


def _raid(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    # type, number of parameters, parameters, number of legs, then metadata and data of each
    device.kind = "raid"
    level = _part(words, 0)
    device.details["level"] = level.partition("_")[0]
    legs = words[3 + max(0, whole(_part(words, 1)) or 0) :]
    device.details["raid_disks"] = str(len(legs) // 2)
    for place in range(0, len(legs) - 1, 2):
        _set(device, by_number, legs[place], "metadata")
        _set(device, by_number, legs[place + 1], sectors="0")


def _mirror(device: Device, words: Sequence[str], by_number: _Devices) -> None:
    device.kind = "mirror"
    device.details["level"] = "raid1"


_READERS: dict[str, Callable[[Device, Sequence[str], _Devices], None]] = {
    "crypt": _crypt,
    "linear": _linear,
    "striped": _striped,
    "thin": _thin,
    "thin-pool": _thin_pool,
    "cache": _cache,
    "writecache": _writecache,
    "integrity": _integrity,
    "verity": _verity,
    "multipath": _multipath,
    "raid": _raid,
    "mirror": _mirror,
}
