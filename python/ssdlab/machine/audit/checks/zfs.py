"""ZFS: whether its pools are whole and write whole pages, and whether TRIM is sent.

``ashift`` is the power of two of the smallest write; 12 is 4 KiB. 0 means that each device was
asked when it was added, and only zdb tells what it answered. ``zpool list`` tells which devices a
pool stands on; layers below them are not followed.

Debian's monthly cron job trims a pool whose property ``org.debian:periodic-trim`` is enable, and
without the property only pools of NVMe drives (/usr/lib/zfs-linux/trim).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.audit.schedule import timer
from ssdlab.machine.audit.states import StatedPart, judged_state
from ssdlab.real.device import Device, whole

_SOURCE = "zpoolprops(7): ashift, autotrim; forum thread on 4 KiB alignment under ZFS"
_STATED = StatedPart(
    "ZFS",
    "the pool",
    "zpoolprops(7): health; zpoolconcepts(7): the states of devices",
    cure="which drive is to be replaced must be judged by its own state (zpool status -v)",
)
_PAGE_SHIFT = 12
_PROPERTIES = ("zpool", "get", "-H", "-p", "-o", "name,property,value", "ashift,autotrim,health")
_DEVICES = ("zpool", "list", "-v", "-H", "-P", "-L")
_TIMERS = ("zfs-trim-weekly@{pool}.timer", "zfs-trim-monthly@{pool}.timer")
_CRON = "/etc/cron.d/zfsutils-linux"
_PERIODIC = ("zfs", "get", "-H", "-o", "value", "org.debian:periodic-trim")
_STATE = "/proc/spl/kstat/zfs"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every pool that zpool tells of."""
    mounted = any(mount.kind == "zfs" for mount in machine.topology.mounts)
    # The module alone has files there; a pool has a folder.
    entries = machine.system.entries
    if not mounted and not any(entries(f"{_STATE}/{name}") for name in entries(_STATE)):
        return
    pools = _properties(machine)
    if not pools:
        yield not_looked_at(
            "ZFS", "zpool does not answer: it is not installed, or fails", "zpool get"
        )
    devices = _devices(machine)
    for pool, properties in pools.items():
        below = devices.get(pool, [])
        if below and not any(device.name in machine.chosen for device in below):
            continue
        drives = [each for one in below for each in machine.topology.drives(one.name)]
        needs_trim = not drives or not all(map(machine.is_disk, drives))
        is_scheduled = needs_trim and _is_scheduled(machine, pool, drives)
        yield from judged(pool, properties, is_scheduled, needs_trim)


def judged(
    pool: str, properties: dict[str, str], is_scheduled: bool = False, needs_trim: bool = True
) -> Iterator[Finding]:
    """Judge what zpool tells of a pool; ``is_scheduled`` if something runs zpool trim."""
    health = properties.get("health", "")
    told = list(judged_state(_STATED, health, pool))
    yield from told or [Finding("ZFS", Severity.GREEN, f"its health is {health}", pool)]
    if "ashift" in properties:
        yield from _ashift(pool, properties)
    if needs_trim:
        yield from _trim(pool, properties, is_scheduled)


def _properties(machine: Machine) -> dict[str, dict[str, str]]:
    pools: dict[str, dict[str, str]] = {}
    for line in (machine.system.run(*_PROPERTIES) or "").splitlines():
        words = line.split("\t")
        if len(words) >= 3:
            pools.setdefault(words[0], {})[words[1]] = words[2].strip()
    return pools


def _devices(machine: Machine) -> dict[str, list[Device]]:
    """Give the devices of each pool that are known here."""
    pools: dict[str, list[Device]] = {}
    pool = ""
    for line in (machine.system.run(*_DEVICES) or "").splitlines():
        if not line.startswith("\t"):
            pool = line.partition("\t")[0]
        word = line.strip().partition("\t")[0]
        found = machine.topology.named(word) if word.startswith("/dev/") else None
        if found is not None:
            pools.setdefault(pool, []).append(found)
    return pools


def _ashift(pool: str, properties: dict[str, str]) -> Iterator[Finding]:
    shift = whole(properties["ashift"])
    if shift is None:
        because = f"its ashift is “{properties['ashift']}”, which is not understood"
        yield not_looked_at("ZFS", because, pool)
    elif shift == 0:
        because = f"ashift was left to ZFS; only zdb -C {shlex.quote(pool)} shows what ZFS chose"
        yield not_looked_at("ZFS", because, pool)
    elif shift < _PAGE_SHIFT:
        yield Finding(
            "ZFS",
            Severity.YELLOW,
            f"ashift is {shift}: its smallest write is {1 << shift} bytes",
            pool,
            "a write smaller than a flash page makes the drive read and write the rest of the page",
            refused(
                "ashift is set once, when a device is added: changing it takes a new pool, made "
                "with -o ashift=12 and filled from a backup"
            ),
            _SOURCE,
        )
    else:
        what = f"ashift is {shift}: its smallest write is {1 << shift} bytes"
        yield Finding("ZFS", Severity.GREEN, what, pool)


def _is_scheduled(machine: Machine, pool: str, drives: list[Device]) -> bool:
    if any(timer(machine.system, unit.format(pool=pool)).runs for unit in _TIMERS):
        return True
    cron = machine.system.read(_CRON) or ""
    if not any("trim" in line for line in cron.splitlines() if not line.startswith("#")):
        return False
    wish = machine.system.run(*_PERIODIC, pool)
    if wish in ("enable", "disable"):
        return wish == "enable"
    return bool(drives) and all(drive.name.startswith("nvme") for drive in drives)


def _trim(pool: str, properties: dict[str, str], is_scheduled: bool) -> Iterator[Finding]:
    automatic = properties.get("autotrim")
    if automatic == "on":
        yield Finding("ZFS", Severity.GREEN, "TRIM is sent as space is freed (autotrim)", pool)
    elif is_scheduled:
        yield Finding("ZFS", Severity.GREEN, "TRIM is sent on a schedule (zpool trim)", pool)
    elif automatic is None:
        yield not_looked_at("ZFS", "zpool does not report whether it trims", pool)
    elif automatic != "off":
        because = f"its autotrim is “{automatic}”, which is not understood"
        yield not_looked_at("ZFS", because, pool)
    else:
        name = shlex.quote(pool)
        yield Finding(
            "ZFS",
            Severity.YELLOW,
            "autotrim is off, and no schedule for zpool trim is known here",
            pool,
            "the drive treats deleted data as valid until it is overwritten",
            Remedy(
                "tells the drives what is freed from now on; zpool trim, what is free already",
                "none to data; on drives with a slow TRIM writes may wait",
                f"zpool set autotrim=off {name}",
                (f"zpool set autotrim=on {name}", f"zpool trim {name}"),
            ),
            _SOURCE,
        )
