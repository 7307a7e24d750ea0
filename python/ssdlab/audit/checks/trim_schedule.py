"""Is TRIM ever sent? By the ``discard`` mount option, or now and then by fstrim.

Batched TRIM (fstrim.timer, weekly) is what distributions choose: it costs nothing while files are
deleted. Continuous discard is as good on drives with a fast, queued TRIM.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.audit.finding import Finding, Machine, Severity
from ssdlab.audit.topology import Use

_CAN_TRIM = {"ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "jfs", "nilfs2", "ntfs3"}
_ENABLED = (
    "/etc/systemd/system/timers.target.wants/fstrim.timer",
    "/usr/lib/systemd/system/timers.target.wants/fstrim.timer",
    "/lib/systemd/system/timers.target.wants/fstrim.timer",
)
_CRON = ("/etc/cron.weekly/fstrim", "/etc/cron.daily/fstrim", "/etc/cron.weekly/util-linux")
_SOURCE = "Thomas-Krenn SSD e-book, ch. 2 (continuous and batched discard); fstrim(8)"
_REMEDY = "systemctl enable --now fstrim.timer"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every file system that stands on an SSD that takes TRIM."""
    scheduled = any(machine.system.read(path) is not None for path in (*_ENABLED, *_CRON))
    good = []
    for use in machine.topology.uses:
        if use.device in machine.chosen and _could(machine, use):
            if scheduled or _is_continuous(use):
                good.append(use.place)
            else:
                yield _never(use)
    if good:
        how = "fstrim's timer" if scheduled else "the discard mount option"
        yield Finding("trim schedule", Severity.GREEN, f"TRIM is sent by {how}", ", ".join(good))


def _could(machine: Machine, use: Use) -> bool:
    device = machine.topology.devices[use.device]
    return (
        use.kind in _CAN_TRIM
        and "ro" not in use.options
        and bool(device.number("discard_max_bytes"))
        and any(
            drive.queue.get("rotational") == "0" for drive in machine.topology.drives(use.device)
        )
    )


def _is_continuous(use: Use) -> bool:
    return any(option == "discard" or option.startswith("discard=") for option in use.options)


def _never(use: Use) -> Finding:
    return Finding(
        "trim schedule",
        Severity.YELLOW,
        "TRIM could be sent and never is: no discard option, no fstrim timer",
        use.place,
        "what was deleted stays valid for the drive until it is written anew",
        _REMEDY,
        _SOURCE,
    )
