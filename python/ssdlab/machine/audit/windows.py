"""What Windows tells of its storage, from texts that its own tools printed.

It reads fsutil's DisableDeleteNotify, powercfg's AHCI link power management, and PowerShell's
Get-PhysicalDisk, Get-Volume and Get-Partition as tables or lists. A value that is not understood
is refused where it stands, and counts neither as good nor as bad.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.machine.align.listings import idle_reason
from ssdlab.machine.align.rule import PAGE_BYTES, Judgement, judge_byte
from ssdlab.machine.audit import powercfg, powershell
from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.pasted import Pasted
from ssdlab.machine.audit.powershell import PowerShellRow
from ssdlab.machine.audit.remedy import Remedy, advice, refused
from ssdlab.machine.audit.room import WANTED
from ssdlab.machine.audit.states import StatedPart, judged_state

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
ASK_FSUTIL = "fsutil behavior query DisableDeleteNotify tells whether TRIM is sent"
_NOTIFY = "DisableDeleteNotify"
_ANSWER = re.compile(
    rf"(?:(NTFS|ReFS)\s+)?{_NOTIFY}\s*(?:=\s*([01])(?:\s+\(.*\))?|(is not currently set))"
)
_TYPED = re.compile(r".*\bfsutil(?:\.exe)?\s+behavior\s+(?:query|set)\b.*", re.IGNORECASE)
_FSUTIL = "Microsoft Learn: fsutil behavior, DisableDeleteNotify (0: TRIM is sent)"
_POWERSHELL = "Microsoft Learn: Get-PhysicalDisk, Get-Volume, Get-Partition"
_STATED = StatedPart(
    "wear",
    "the drive",
    "Microsoft Learn: Storage Spaces, health and operational states",
    "has failed or is about to",
    "what is on it may be lost",
    "it has to be judged by its own counters: back up, then ssdlab health reads smartctl's answer",
)


def findings(pasted: Pasted) -> Iterator[Finding]:
    """Give what texts tell, and mark their lines; nothing where they are none of these."""
    notified = _notify(pasted)
    for name, value in notified.answers:
        yield _trim(name, value)
    for name in notified.unset:
        yield not_looked_at("trim schedule", f"{_NOTIFY} is not set for it", name or "NTFS")
    yield from powercfg.link(pasted)
    rows = powershell.rows(pasted)
    # A drive that is not understood may be of any kind.
    media = {row.told.get("MediaType", "?") for row in rows if row.kind == "disk"}
    for row in rows:
        # A refused row of a table tells nothing; it is quoted.
        if not row.told:
            continue
        if row.kind == "disk":
            yield from _disk(row)
        elif row.kind == "volume":
            yield from _volume(row, notified.trims(), media)
        else:
            yield _partition(row.told)


@dataclass
class _Notified:
    """fsutil's answers: file system (older Windows names none: NTFS) and value."""

    answers: list[tuple[str, str]] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    doubtful: set[str] = field(default_factory=set)

    def trims(self) -> dict[str, bool]:
        """Give which file systems send TRIM, where nothing that was refused may contradict it."""
        told: dict[str, bool] = {}
        for name, value in self.answers:
            where = name or "NTFS"
            told[where] = value == "0" and told.get(where, True)
        return {name: sent for name, sent in told.items() if name not in self.doubtful}


def _notify(pasted: Pasted) -> _Notified:
    found = _Notified()
    for line in pasted.lines:
        text = line.text.strip()
        if _NOTIFY.lower() not in text.lower():
            continue
        answer = _ANSWER.fullmatch(text)
        if answer is None and _TYPED.fullmatch(text):
            line.take()
        elif answer is None:
            line.refuse("“NTFS” or “ReFS”, the name, and “= 0” or “= 1” were expected")
            named = {name for name in ("NTFS", "ReFS") if name in text}
            found.doubtful |= named or {"NTFS", "ReFS"}
        else:
            line.take()
            if answer[3]:
                found.unset.append(answer[1] or "")
            else:
                found.answers.append((answer[1] or "", answer[2]))
    return found


def _trim(name: str, value: str) -> Finding:
    where = name or "NTFS"
    if value == "0":
        what = "TRIM is sent (DisableDeleteNotify is 0)"
        return Finding("trim schedule", Severity.GREEN, what, where)
    word = f"DisableDeleteNotify {name} " if name else "DisableDeleteNotify "
    return Finding(
        "trim schedule",
        Severity.YELLOW,
        f"TRIM is turned off (DisableDeleteNotify is {value})",
        where,
        "the drive treats deleted data as valid until it is overwritten",
        Remedy(
            "lets the file system send TRIM, from an administrator's prompt",
            "none to data; on drives with a slow TRIM deleting takes longer",
            f"fsutil behavior set {word}1",
            (f"fsutil behavior set {word}0",),
        ),
        _FSUTIL,
    )


def _disk(row: PowerShellRow) -> Iterator[Finding]:
    told = row.told
    number = told.get("Number") or told.get("DeviceId") or "?"
    where = told.get("FriendlyName") or told.get("Model") or f"disk {number}"
    kind = told.get("MediaType")
    if kind in ("SSD", "HDD", "SCM"):
        yield Finding("media", Severity.GREEN, f"Windows takes it for {kind}", where)
    elif kind:
        yield not_looked_at("media", f"Windows does not know what it is ({kind})", where)
    else:
        yield not_looked_at("media", "its MediaType is not understood", where)
    yield from _health(row, where)


def _health(row: PowerShellRow, where: str) -> Iterator[Finding]:
    """Judge both words that Windows has for it: a drive may be healthy and yet about to fail."""
    health, status = row.told.get("HealthStatus", ""), row.told.get("OperationalStatus", "")
    told = list(judged_state(_STATED, status, where)) if status else []
    yield from told
    if health == "Healthy" and row.is_whole:
        if not told:
            yield Finding("wear", Severity.GREEN, "Windows calls it healthy", where)
    elif health and health != "Healthy":
        severity = Severity.RED if health == "Unhealthy" else Severity.YELLOW
        remedy = advice("back up, then ask the drive itself: smartctl, and ssdlab health reads it")
        why = "the drive or its driver reports failures"
        what = f"Windows calls it {health.lower()}"
        yield Finding("wear", severity, what, where, why, remedy, _POWERSHELL)
    elif not row.is_whole:
        yield not_looked_at("wear", "not all that is told of it is understood", where)


def _volume(row: PowerShellRow, trim: dict[str, bool], media: set[str]) -> Iterator[Finding]:
    told = row.told
    if told.get("DriveType", "Fixed") != "Fixed":
        return
    where = f"{told['DriveLetter']}:" if told.get("DriveLetter") else "a volume"
    size, left = _bytes(told.get("Size", "")), _bytes(told.get("SizeRemaining", ""))
    if size is None or left is None or left > size or not row.is_whole:
        because = "its sizes are not understood, or not all that is told of it is"
        yield not_looked_at("spare area", because, where)
        return
    if not size or not told.get("DriveLetter"):
        return
    kind = told.get("FileSystemType") or told.get("FileSystem")
    trims = trim.get("ReFS" if kind == "ReFS" else "NTFS")
    if media != {"SSD"}:
        because = "Get-PhysicalDisk shows no SSD, or other drives too, so it may not be on an SSD"
        yield not_looked_at("spare area", because, where)
        return
    if trims is None:
        yield not_looked_at("spare area", ASK_FSUTIL, where)
        return
    yield _room(where, size, left, trims)


def _room(where: str, size: int, left: int, trims: bool) -> Finding:
    share = left / max(size - left, size / 100) if trims else 0.0
    what = f"spare in the volume is {share:.0%} of what is taken"
    if share >= WANTED:
        return Finding("spare area", Severity.GREEN, what, where)
    return Finding(
        "spare area",
        Severity.YELLOW,
        f"{what}{'' if trims else ': without TRIM free space does not count'}",
        where,
        "the fuller a drive is, the more data it moves for every random write",
        advice("turn TRIM on, or free space until a tenth of the volume is free"),
        _POWERSHELL,
    )


def _partition(told: dict[str, str]) -> Finding:
    number = told.get("PartitionNumber", "?")
    where = f"disk {told.get('DiskNumber', '?')}, partition {number}"
    if idle := idle_reason(told.get("Type", "")):
        return Finding("alignment", Severity.GREEN, idle, where)
    if "Offset" not in told:
        because = "the text does not show its Offset in a form that is known here"
        return not_looked_at("alignment", because, where)
    return aligned(where, int(told["Offset"]))


def aligned(where: str, start: int) -> Finding:
    """Judge the byte at which a partition begins on its drive, by the rule of `ssdlab align`."""
    found = judge_byte(start)
    if found is Judgement.ALIGNED:
        return Finding("alignment", Severity.GREEN, "begins on the 1 MiB grid", where)
    is_odd = found is Judgement.MISALIGNED
    return Finding(
        "alignment",
        Severity.RED if is_odd else Severity.YELLOW,
        f"begins {start % PAGE_BYTES} bytes beyond a 4 KiB boundary"
        if is_odd
        else "does not begin on the 1 MiB grid, which is good practice",
        f"{where}, byte {start}",
        "a 4 KiB write then covers two pages in part"
        if is_odd
        else "pages fit, but erase blocks may not",
        refused("how to move it on this system is not known here (ssdlab align move --help)"),
        "Thomas-Krenn SSD e-book, ch. 2 (start at multiples of 2048 sectors)",
    )


def _bytes(text: str) -> int | None:
    """Read bytes, as a number or with PowerShell's binary units."""
    found = re.fullmatch(r"(\d{1,20}(?:[.,]\d{1,6})?)\s*([KMGTP]?B)?", text.strip())
    if found is None:
        return None
    return int(float(found[1].replace(",", ".")) * _UNITS[found[2] or "B"])
