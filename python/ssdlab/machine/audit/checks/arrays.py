"""Linux software RAID: whether it holds together, is checked, and tells when it fails.

``mismatch_cnt`` counts 512-byte sectors that differed in the last check. On RAID 4, 5 and 6 any is
a sign of trouble. On RAID 1 and 10 a page that was changed while it was written (swap,
memory-mapped files) leaves a harmless one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.audit.schedule import best, cron, timer
from ssdlab.machine.audit.states import StatedPart, judged_state
from ssdlab.machine.audit.units import is_masked
from ssdlab.real.device import PARITY, REDUNDANT, Device, whole

_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (checkarray, mismatch_cnt, MAILADDR); md(4)"
_STATED = StatedPart("arrays", "the array", "Linux Documentation/admin-guide/md (array_state)")
_TIMERS = ("mdcheck_start.timer", "raid-check.timer")
_CONFIGURATIONS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
_ROW = re.compile(
    r"\s*$|\s*#|\s+\S|(?:DEV\w*|ARR\w*|MAI\w*|PRO\w*|CRE\w*|HOME\w*|AUTO|POL\w*|PART-\w+|SYSFS|"
    r"MONITORDELAY|ENCRYPTION_NO_VERIFY)\b",
    re.IGNORECASE,
)
"""A row of mdadm.conf(5): its keywords may be cut, and a row with blanks before it goes on."""
_CRON = (
    # what cron runs, its switch, and the value that turns it off
    ("checkarray", "/etc/default/mdadm", "AUTOCHECK", "false"),
    ("raid-check", "/etc/sysconfig/raid-check", "ENABLED", "no"),
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check every array that is asked about."""
    arrays = [device for device in machine.devices if device.kind == "md"]
    good = []
    for array in arrays:
        found = list(_array(machine, array))
        yield from found
        if not found and array.details.get("level") in REDUNDANT:
            good.append(array.label)
    if any(array.details.get("level") in REDUNDANT for array in arrays):
        house = (
            [*_schedule(machine), *_mail(machine)] if machine.system.holds("/etc") else [_blind()]
        )
        yield from house
        if good and not house:
            what = "complete, consistent and checked"
            yield Finding("arrays", Severity.GREEN, what, ", ".join(good))


def _blind() -> Finding:
    because = "nothing of /etc was seen, where their regular check and its mail are set up"
    return not_looked_at("arrays", because, "regular check of the arrays")


def _array(machine: Machine, array: Device) -> Iterator[Finding]:
    state = array.details.get("array_state", "clean")
    if array.size_bytes == 0 or state == "inactive":
        yield _inactive(array)
        return
    told = list(judged_state(_STATED, state, array.label))
    yield from told
    # Of a broken one too many members are gone: to add one, as below, does not mend it.
    if told or array.details.get("level") not in REDUNDANT:
        return
    missing = whole(array.details.get("degraded")) or 0
    if missing > 0:
        what = f"{missing} of its drives missing"
        why = "the next failure may take the data"
        yield Finding("arrays", Severity.RED, what, array.label, why, _add(array), _SOURCE)
    mismatches = whole(array.details.get("mismatch_cnt")) or 0
    if mismatches > 0:
        yield _mismatch(machine, array, mismatches)


def _inactive(array: Device) -> Finding:
    members = ", ".join(below.device for below in array.below)
    return Finding(
        "arrays",
        Severity.RED,
        f"an array that was not started; of it there are {members}",
        array.label,
        "its data cannot be reached: members are missing or do not fit together",
        refused(
            "which members are current must be judged first (mdadm --examine of each, Events and "
            "Update Time): to start it with an old one loses what was written since"
        ),
        _SOURCE,
    )


def _add(array: Device) -> Remedy:
    if array.details.get("sync_action", "idle") != "idle":
        return refused(f"{array.label} is being rebuilt already; audit again when it is done")
    return Remedy(
        f"puts /dev/NEW into {array.label} and copies to it what the missing drive held; /dev/NEW "
        "is at least as large as the other members, on a drive that is not in the array yet",
        "the copy reads every sector of the other members: one of them may fail under "
        "it, so back up first",
        f"mdadm --manage {array.word} --fail /dev/NEW --remove /dev/NEW",
        (f"mdadm --detail {array.word}", f"mdadm --manage {array.word} --add /dev/NEW"),
        costs="all data that is on /dev/NEW, which is overwritten",
    )


def _mismatch(machine: Machine, array: Device, sectors: int) -> Finding:
    users = machine.topology.users(array.name)
    only_swap = bool(users) and all(use.kind == "swap" for use in users)
    if array.details.get("level") in PARITY:
        severity = Severity.RED
        why = "data and parity differ: a drive, cable or controller is in trouble"
    elif only_swap:
        severity, why = Severity.YELLOW, "on a mirror with swap this is usually harmless"
    else:
        severity = Severity.YELLOW
        why = "the copies differ; harmless only where memory-mapped files were written"
    what = f"{sectors} sectors did not match in the last check"
    return Finding("arrays", severity, what, array.label, why, _repair(array, only_swap), _SOURCE)


def _repair(array: Device, only_swap: bool) -> Remedy:
    action = f"/sys/block/{array.name}/md/sync_action"
    if array.details.get("degraded") != "0" or array.details.get("sync_action", "idle") != "idle":
        return refused(f"{array.label} is not whole or not idle; make it so, then audit again")
    parity = array.details.get("level") in PARITY
    if not parity and not only_swap:
        return refused(
            "where two copies differ, repair overwrites one with the other and does not know which "
            "is right: compare the files with a backup, look at the members with ssdlab health, "
            f"and check again (echo check > {action})"
        )
    lost = "what parity says where it differs from the data" if parity else "one of two copies"
    return Remedy(
        "recomputes parity from the data, which is assumed to be right, and checks again"
        if parity
        else "copies one half over the other, and checks again; of swap neither is needed",
        "if the data is wrong, parity no longer shows it: compare files with a backup and "
        "look at the members with ssdlab health first"
        if parity
        else "none to what runs",
        "there is no way back",
        (
            f"echo repair > {action}",
            f"{{ mdadm --wait {array.word} || true; }}",
            f"echo check > {action}",
            f"{{ mdadm --wait {array.word} || true; }}",
        ),
        costs=f"data: {lost} is overwritten",
    )


def _schedule(machine: Machine) -> Iterator[Finding]:
    jobs, off = [timer(machine.system, unit) for unit in _TIMERS], []
    for program, switch, key, value in _CRON:
        job, said = cron(machine.system, program), machine.system.read(switch) or ""
        is_off = re.search(rf"^\s*{key}\s*=\s*[\"']?{value}\b", said, re.MULTILINE)
        if is_off and job.runs is not False:
            off.append((switch, key, value))
        elif not is_off:
            jobs.append(job)
    job = best(iter(jobs))
    if job.runs:
        return
    if job.runs is None:
        yield not_looked_at("arrays", job.said, "regular check of the arrays")
        return
    idle = [each.said for each in jobs if "but" in each.said]
    yield Finding(
        "arrays",
        Severity.YELLOW,
        f"the regular check of the arrays is turned off ({off[0][1]}={off[0][2]} in {off[0][0]})"
        if off
        else "; ".join(["no regular check of the arrays is scheduled", *idle]),
        "mdcheck_start.timer, /etc/cron.d/mdadm",
        "errors in data that is never read show when a drive fails, which is too late",
        _schedule_remedy(machine, off),
        _SOURCE,
    )


def _schedule_remedy(machine: Machine, off: list[tuple[str, str, str]]) -> Remedy:
    if off:
        switch, key, value = off[0]
        now = {"false": "true", "no": "yes"}[value]
        pattern = f"s/^ *{key}=.*/{key}={now}/"
        return Remedy(
            "turns the regular check on",
            "none to data; while it runs, once a month, the array is slower",
            f"sed -i 's/^{key}=.*/{key}={value}/' {switch}",
            (f"sed -i '{pattern}' {switch}",),
        )
    timers = ("mdcheck_start.timer", "mdcheck_continue.timer")
    unmask = [f"systemctl unmask {each}" for each in timers if is_masked(machine.system, each)]
    return Remedy(
        "lets every array be read and compared once a month",
        "none to data; while it runs the array is slower",
        f"systemctl disable --now {' '.join(timers)}",
        (*unmask, f"systemctl enable --now {' '.join(timers)}"),
    )


def _mail(machine: Machine) -> Iterator[Finding]:
    texts = [machine.system.read(path) for path in _CONFIGURATIONS]
    for path, text in zip(_CONFIGURATIONS, texts, strict=True):
        for number, row in enumerate((text or "").splitlines(), 1):
            if not _ROW.match(row):
                because = f"it is not understood: “{row.strip()}”: mdadm has no such keyword"
                yield not_looked_at("arrays", because, f"{path}, line {number}")
    if any(
        text and re.search(r"^\s*(MAILADDR|PROGRAM)\s+\S", text, re.MULTILINE) for text in texts
    ):
        return
    path = _CONFIGURATIONS[1 if texts[0] is None and texts[1] is not None else 0]
    yield Finding(
        "arrays",
        Severity.YELLOW,
        "nobody is told when a drive of an array fails: MAILADDR is not set",
        path,
        "a degraded array keeps working, until the next drive fails",
        Remedy(
            "lets mdadm send mail to root when a drive fails; the machine must be able to send it",
            "none",
            f"take the line out of {path}",
            (f"echo 'MAILADDR root' >> {path}", "systemctl restart mdmonitor"),
        ),
        _SOURCE,
    )
