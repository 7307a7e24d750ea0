"""Is TRIM ever sent? By the ``discard`` mount option, or now and then by fstrim.

Batched TRIM (fstrim.timer, weekly) is what distributions choose: it costs nothing while files are
deleted. The timer trims what ``/etc/fstab`` lists, or what is mounted where there is no fstab.
Continuous discard is as good on drives with a fast, queued TRIM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.audit.device import Use
from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.remedy import Remedy, advice
from ssdlab.audit.units import is_enabled, is_masked

_CAN_TRIM = {"ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "jfs", "nilfs2", "ntfs3"}
_TIMER = "fstrim.timer"
_CRON = ("/etc/cron.weekly/fstrim", "/etc/cron.daily/fstrim", "/etc/cron.weekly/util-linux")
_SOURCE = "Thomas-Krenn SSD e-book, ch. 2 (continuous and batched discard); fstrim(8)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every file system that stands on an SSD that takes TRIM."""
    good, ways = [], set()
    for use in machine.topology.uses:
        if use.device not in machine.chosen or not _could(machine, use):
            continue
        if way := _way(machine, use):
            good.append(use.place)
            ways.add(way)
        else:
            yield _never(machine, use)
    if good:
        what = f"TRIM is sent by {' and '.join(sorted(ways))}"
        yield Finding("trim schedule", Severity.GREEN, what, ", ".join(good))


def is_sent(machine: Machine, use: Use) -> bool:
    """Whether what is deleted there is trimmed, sooner or later."""
    return _could(machine, use) and bool(_way(machine, use))


def is_never_sent(machine: Machine, use: Use) -> bool:
    """Whether what is deleted there could be trimmed, and is not."""
    return _could(machine, use) and not _way(machine, use)


def _way(machine: Machine, use: Use) -> str:
    """Name what sends TRIM; empty where nothing does."""
    if _has_discard(use.options):
        return "the discard mount option"
    if is_enabled(machine.system, _TIMER) and _is_listed(use, _fstab(machine)):
        return "fstrim's timer"
    return "cron's fstrim" if any(machine.system.read(path) for path in _CRON) else ""


def _could(machine: Machine, use: Use) -> bool:
    top = machine.topology.devices[use.device]
    # A btrfs of several devices has no queue of its own; one that takes TRIM is enough to send it.
    asked = [top] if top.kind != "btrfs" else machine.topology.trimmed_layers(top.name)
    takes = any(device.number("discard_max_bytes") for device in asked)
    return (
        use.kind in _CAN_TRIM
        and "ro" not in use.options
        and takes
        and any(not machine.is_disk(drive) for drive in machine.topology.drives(use.device))
    )


def _has_discard(options: frozenset[str]) -> bool:
    return any(option == "discard" or option.startswith("discard=") for option in options)


def _fstab(machine: Machine) -> dict[str, frozenset[str]]:
    """Give the options of every place that the file lists."""
    table = {}
    for line in (machine.system.read("/etc/fstab") or "").splitlines():
        words = line.split()
        if len(words) >= 3 and not words[0].startswith("#"):
            options = words[3].split(",") if len(words) > 3 else []
            place = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[1])
            table[place] = frozenset(options)
    return table


def _is_listed(use: Use, table: dict[str, frozenset[str]]) -> bool:
    return not table or ("X-fstrim.notrim" not in table.get(use.place, {"X-fstrim.notrim"}))


def _never(machine: Machine, use: Use) -> Finding:
    what, remedy = _reason(machine, use)
    why = "the drive treats deleted data as valid until it is overwritten"
    return Finding("trim schedule", Severity.YELLOW, what, use.place, why, remedy, _SOURCE)


def _reason(machine: Machine, use: Use) -> tuple[str, Remedy]:
    if _has_discard(_fstab(machine).get(use.place, frozenset())):
        return "discard is in /etc/fstab, and not in effect", Remedy(
            "mounts with the option that /etc/fstab has",
            "none to data; on drives with a slow TRIM deleting takes longer",
            f"mount -o remount,nodiscard {use.word}",
            (f"mount -o remount,discard {use.word}",),
        )
    if is_enabled(machine.system, _TIMER):
        return "fstrim's timer trims what /etc/fstab lists, and not this", advice(
            f"put {use.place} into /etc/fstab, without X-fstrim.notrim",
            "none to data",
            "take the line out again",
        )
    masked = is_masked(machine.system, _TIMER)
    told = "fstrim.timer is masked" if masked else "no fstrim timer"
    steps = [f"systemctl unmask {_TIMER}"] if masked else []
    return f"TRIM could be sent and never is: no discard option, {told}", Remedy(
        "trims free space once a week",
        "none to data; drives with a broken TRIM are known to the kernel, which then sends none",
        f"systemctl {'mask' if masked else 'disable'} --now {_TIMER}",
        (*steps, f"systemctl enable --now {_TIMER}"),
    )
