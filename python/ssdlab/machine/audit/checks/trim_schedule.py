"""Is TRIM ever sent? By the ``discard`` mount option, or now and then by fstrim.

Batched TRIM (fstrim.timer, weekly) is what distributions choose: it costs nothing while files are
deleted. The timer trims what ``/etc/fstab`` lists, or what is mounted where there is no fstab; a
job of cron trims what it names. Whether either is carried out, ``schedule`` looks at.
Continuous discard is as good on drives with a fast, queued TRIM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice
from ssdlab.machine.audit.schedule import ScheduledJob, best, cron, cron_runs, init_of, timer
from ssdlab.machine.audit.units import is_masked
from ssdlab.real.device import Use

_CAN_TRIM = {"ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "jfs", "nilfs2", "ntfs3"}
_TIMER = "fstrim.timer"
_PROGRAM = "fstrim"
_PLACE_ROW = re.compile(r"\S+\s+(/\S*|none|swap)\s+\S+")
_SOURCE = "Thomas-Krenn SSD e-book, ch. 2 (continuous and batched discard); fstrim(8)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check every file system that stands on an SSD that takes TRIM."""
    good: dict[str, list[str]] = {}
    never: dict[str, list[Use]] = {}
    unseen: dict[str, list[str]] = {}
    for use in machine.topology.uses:
        if use.device not in machine.chosen or not _could(machine, use):
            continue
        job = _job(machine, use)
        if job.runs:
            good.setdefault(job.said, []).append(use.place)
        elif job.runs is None:
            unseen.setdefault(job.said, []).append(use.place)
        else:
            never.setdefault(_reason(machine, use)[0], []).append(use)
    for row in _odd_rows(machine):
        because = f"a row of /etc/fstab is not understood: “{row}”"
        yield not_looked_at("trim schedule", because, "/etc/fstab")
    for uses in never.values():
        yield _never(machine, uses)
    for because, places in unseen.items():
        yield not_looked_at("trim schedule", because, ", ".join(places))
    for way, places in good.items():
        what = f"TRIM is sent by {way}"
        yield Finding("trim schedule", Severity.GREEN, what, ", ".join(places))


def is_sent(machine: Machine, use: Use) -> bool:
    """Whether what is deleted there is seen to be trimmed, sooner or later."""
    return _could(machine, use) and _job(machine, use).runs is True


def is_never_sent(machine: Machine, use: Use) -> bool:
    """Whether what is deleted there could be trimmed, and is not."""
    return _could(machine, use) and _job(machine, use).runs is False


def is_unseen(machine: Machine, use: Use) -> str:
    """Say why it cannot be seen whether what is deleted there is trimmed; empty where it can."""
    job = _job(machine, use) if _could(machine, use) else ScheduledJob(False, "")
    return job.said if job.runs is None else ""


def _job(machine: Machine, use: Use) -> ScheduledJob:
    """Say what sends TRIM there."""
    if _has_discard(use.options):
        return ScheduledJob(True, "the discard mount option")
    if not machine.once("/etc", lambda: machine.system.holds("/etc")):
        return ScheduledJob(
            None, "nothing of /etc was seen, where timers and cron's jobs are set up"
        )
    by_timer = _timer(machine)
    if by_timer.runs is not False and not _is_listed(use, _fstab(machine)):
        by_timer = ScheduledJob(False, "fstrim's timer trims what /etc/fstab lists, and not this")
    return best(iter((by_timer, _cron(machine))))


def _timer(machine: Machine) -> ScheduledJob:
    return machine.once(_TIMER, lambda: timer(machine.system, _TIMER))


def _cron(machine: Machine) -> ScheduledJob:
    return machine.once(_PROGRAM, lambda: cron(machine.system, _PROGRAM))


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
    return machine.once("/etc/fstab", lambda: _read_fstab(machine))


def _read_fstab(machine: Machine) -> dict[str, frozenset[str]]:
    table = {}
    for line in (machine.system.read("/etc/fstab") or "").splitlines():
        words = line.split()
        if len(words) >= 3 and not words[0].startswith("#"):
            options = words[3].split(",") if len(words) > 3 else []
            place = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[1])
            table[place] = frozenset(options)
    return table


def _odd_rows(machine: Machine) -> list[str]:
    """Give the rows of the file that list no place (fstab(5)); swap has none, or a word for it."""
    rows = (machine.system.read("/etc/fstab") or "").splitlines()
    used = (row.strip() for row in rows if row.strip() and not row.lstrip().startswith("#"))
    return [row for row in used if not _PLACE_ROW.match(row)]


def _is_listed(use: Use, table: dict[str, frozenset[str]]) -> bool:
    return not table or ("X-fstrim.notrim" not in table.get(use.place, {"X-fstrim.notrim"}))


def _never(machine: Machine, uses: list[Use]) -> Finding:
    what, remedy = _reason(machine, uses[0])
    why = "the drive treats deleted data as valid until it is overwritten"
    where = ", ".join(use.place for use in uses)
    return Finding("trim schedule", Severity.YELLOW, what, where, why, remedy, _SOURCE)


def _reason(machine: Machine, use: Use) -> tuple[str, Remedy]:
    if _has_discard(_fstab(machine).get(use.place, frozenset())):
        return f"discard is in /etc/fstab for {use.place}, and not in effect", Remedy(
            "mounts with the option that /etc/fstab has",
            "none to data; on drives with a slow TRIM deleting takes longer",
            f"mount -o remount,nodiscard {use.word}",
            (f"mount -o remount,discard {use.word}",),
        )
    job = _timer(machine)
    if job.runs is not False:
        return f"fstrim's timer trims what /etc/fstab lists, and not {use.place}", advice(
            f"put {use.place} into /etc/fstab, without X-fstrim.notrim",
            "none to data",
            "take the line out again",
        )
    by_cron = _cron(machine).said
    what = f"TRIM could be sent and never is: no discard option; {job.said}; {by_cron}"
    return what, _schedule(machine, job)


def _schedule(machine: Machine, job: ScheduledJob) -> Remedy:
    """Have fstrim run by what runs on this machine."""
    risk = "none to data; drives with a broken TRIM are known to the kernel, which then sends none"
    if "failed" in job.said:
        return advice(
            "look why fstrim failed (journalctl -u fstrim.service), mend that, and run it once: "
            "systemctl start fstrim.service",
            risk,
        )
    if init_of(machine.system) in ("systemd", ""):
        masked = is_masked(machine.system, _TIMER)
        steps = [f"systemctl unmask {_TIMER}"] if masked else []
        return Remedy(
            "trims free space once a week",
            risk,
            f"systemctl {'mask' if masked else 'disable'} --now {_TIMER}",
            (*steps, f"systemctl enable --now {_TIMER}"),
        )
    if cron_runs(machine.system):
        path = "/etc/cron.d/fstrim"
        line = "0 5 * * 0 root fstrim --all --quiet-unsupported"
        return Remedy(
            "trims free space once a week", risk, f"rm {path}", (f"echo '{line}' > {path}",)
        )
    return advice(
        "have what starts programs regularly on this machine run fstrim --all once a week; in a "
        "container, have its host do so",
        risk,
    )
