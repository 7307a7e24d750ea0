"""What Windows tells of its storage, from texts that its own tools printed.

It reads fsutil's DisableDeleteNotify, powercfg's AHCI link power management, and PowerShell's
Get-PhysicalDisk, Get-Volume and Get-Partition as tables or lists. Property names are English in
every language of Windows. The names of powercfg's settings may be translated; one that is not
known here is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.machine.align.listings import idle_reason
from ssdlab.machine.align.rule import PAGE_BYTES, Judgement, judge_byte
from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice, refused
from ssdlab.machine.audit.room import WANTED
from ssdlab.real.device import whole

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
_LINK = "0b2d69d7-a2a1-449c-9680-f91c70521c60"
_HARD_DISK = "0012ee47-9041-4b5d-9b77-535fba8b1442"
"""The group of settings that it is in, which powercfg /q lists without it."""
_AWAKE = frozenset({"active", "hipm", "dipm", "hipm+dipm"})
_LOWEST = "lowest"
ASK_FSUTIL = "fsutil behavior query DisableDeleteNotify tells whether TRIM is sent"
_FSUTIL = "Microsoft Learn: fsutil behavior, DisableDeleteNotify (0: TRIM is sent)"
_POWERCFG = "Microsoft Learn: AHCI Link Power Management - HIPM/DIPM; powercfg /qh"
_POWERSHELL = "Microsoft Learn: Get-PhysicalDisk, Get-Volume, Get-Partition"
Rows = list[dict[str, str]]


def findings(text: str) -> Iterator[Finding]:
    """Give what a text tells; nothing where it is none of these."""
    yield from _trim(text)
    yield from _link(text)
    rows = [*_tables(text), *_lists(text)]
    media = {row["MediaType"] for row in rows if "MediaType" in row}
    for row in rows:
        if "MediaType" in row:
            yield from _disk(row)
        elif "SizeRemaining" in row:
            yield from _volume(row, _trims(text), media)
        elif "PartitionNumber" in row and "Offset" in row:
            yield _partition(row)


def _notify(text: str) -> list[tuple[str, str]]:
    """Give file system (older Windows names none: NTFS) and value of fsutil's answer."""
    return re.findall(r"(?:(NTFS|ReFS)\s+)?DisableDeleteNotify\s*=\s*(\d)", text)


def _trims(text: str) -> dict[str, bool]:
    """Give which file systems send TRIM; empty where fsutil's answer is not in the text."""
    return {name or "NTFS": value == "0" for name, value in _notify(text)}


def _trim(text: str) -> Iterator[Finding]:
    for name, value in _notify(text):
        where = name or "NTFS"
        if value == "0":
            what = "TRIM is sent (DisableDeleteNotify is 0)"
            yield Finding("trim schedule", Severity.GREEN, what, where)
            continue
        word = f"DisableDeleteNotify {name} " if name else "DisableDeleteNotify "
        yield Finding(
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


def _link(text: str) -> Iterator[Finding]:
    """Judge the setting on mains and on battery, by the names that the text gives its numbers."""
    begin = text.lower().find(_LINK)
    if begin < 0:
        if _HARD_DISK in text.lower():
            yield not_looked_at(
                "link", "the setting is hidden here: powercfg /qh shows it", "powercfg"
            )
        return
    part = re.split("guid:", text[begin:], maxsplit=1, flags=re.IGNORECASE)[0]
    names = {
        int(number): name.strip()
        for number, name in re.findall(r":\s*(\d{3})\s*\n[^\n]*:\s*([^\n]+)", part)
    }
    indices = [int(each, 16) for each in re.findall(r"0x([0-9a-fA-F]{8})", part)[-2:]]
    for where, index in zip(("on mains", "on battery"), indices, strict=False):
        name = names.get(index, "")
        if not name:
            because = f"its setting is {index}, which the text does not name"
            yield not_looked_at("link", because, where)
        elif _LOWEST in name.lower():
            yield _sleepy(where, name, index)
        elif name.lower() in _AWAKE:
            yield Finding("link", Severity.GREEN, f"link power management: {name}", where)
        else:
            because = f"what its setting {name} means is not known here"
            yield not_looked_at("link", because, where)


def _sleepy(where: str, name: str, index: int) -> Finding:
    word = "setacvalueindex" if where == "on mains" else "setdcvalueindex"
    command = f"powercfg /{word} scheme_current sub_disk {_LINK}"
    return Finding(
        "link",
        Severity.YELLOW,
        f"link power management is {name}",
        where,
        "some drives hang until their link is reset when it sleeps so deeply",
        Remedy(
            "keeps the link awake",
            "none to data; a notebook uses a little more power",
            f"{command} {index}; powercfg /setactive scheme_current",
            (f"{command} 0", "powercfg /setactive scheme_current"),
        ),
        _POWERCFG,
    )


def _disk(row: dict[str, str]) -> Iterator[Finding]:
    where = row.get("FriendlyName") or row.get("Model") or f"disk {row.get('Number', '?')}"
    kind, health = row["MediaType"], row.get("HealthStatus", "")
    if kind in ("SSD", "HDD", "SCM"):
        yield Finding("media", Severity.GREEN, f"Windows takes it for {kind}", where)
    else:
        because = f"Windows does not know what it is ({kind or 'no MediaType'})"
        yield not_looked_at("media", because, where)
    if health == "Healthy":
        yield Finding("wear", Severity.GREEN, "Windows calls it healthy", where)
    elif health:
        severity = Severity.RED if health == "Unhealthy" else Severity.YELLOW
        remedy = advice("back up, then ask the drive itself: smartctl, and ssdlab health reads it")
        why = "the drive or its driver reports failures"
        what = f"Windows calls it {health.lower()}"
        yield Finding("wear", severity, what, where, why, remedy, _POWERSHELL)


def _volume(row: dict[str, str], told: dict[str, bool], media: set[str]) -> Iterator[Finding]:
    size, left = _bytes(row.get("Size", "")), _bytes(row["SizeRemaining"])
    if not size or left is None or not row.get("DriveLetter") or left > size:
        return
    where = f"{row['DriveLetter']}:"
    if row.get("DriveType", "Fixed") != "Fixed":
        return
    kind = row.get("FileSystemType") or row.get("FileSystem")
    trims = told.get("ReFS" if kind == "ReFS" else "NTFS")
    if media != {"SSD"}:
        because = "Get-PhysicalDisk shows no SSD, or other drives too, so it may not be on an SSD"
        yield not_looked_at("spare area", because, where)
        return
    if trims is None:
        yield not_looked_at("spare area", ASK_FSUTIL, where)
        return
    share = left / max(size - left, size / 100) if trims else 0.0
    what = f"spare in the volume is {share:.0%} of what is taken"
    if share >= WANTED:
        yield Finding("spare area", Severity.GREEN, what, where)
    else:
        yield Finding(
            "spare area",
            Severity.YELLOW,
            f"{what}{'' if trims else ': without TRIM free space does not count'}",
            where,
            "the fuller a drive is, the more data it moves for every random write",
            advice("turn TRIM on, or free space until a tenth of the volume is free"),
            _POWERSHELL,
        )


def _partition(row: dict[str, str]) -> Finding:
    where = f"disk {row.get('DiskNumber', '?')}, partition {row['PartitionNumber']}"
    start = whole(row["Offset"])
    if start is None:
        return not_looked_at("alignment", "its offset is no number of bytes", where)
    if idle_reason(row.get("Type", "")):
        return Finding("alignment", Severity.GREEN, idle_reason(row["Type"]), where)
    return aligned(where, start)


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


def _tables(text: str) -> Iterator[dict[str, str]]:
    """Read tables: a line of names, a line of dashes, and lines in these columns."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if number == 0 or not re.fullmatch(r"\s*-+(\s+-+)+\s*", line):
            continue
        header = lines[number - 1]
        # A column reaches from its dashes or its name, whichever begins first, to the next.
        names = list(re.finditer(r"\S+", header))
        dashes = list(re.finditer(r"-+", line))
        if len(names) != len(dashes):
            continue
        for row in lines[number + 1 :]:
            if not row.strip():
                break
            yield _cells(row, [name[0] for name in names], [dash.span() for dash in dashes])


def _cells(row: str, names: list[str], spans: list[tuple[int, int]]) -> dict[str, str]:
    """Cut a row between its columns, where it has blanks."""
    cells, begin = {}, 0
    for place, name in enumerate(names):
        last = place == len(names) - 1
        end = len(row) if last else _blank(row, spans[place][1], spans[place + 1][0])
        cells[name] = row[begin:end].strip()
        begin = end
    return cells


def _blank(row: str, low: int, high: int) -> int:
    """Find where one column ends: numbers on the right begin before their name does."""
    if not row[high : high + 1].strip():
        return high
    gap = row.rfind(" ", low, high)
    return gap if gap >= 0 else max(high, row.find(" ", high))


def _lists(text: str) -> Iterator[dict[str, str]]:
    """Read lists: a name, a colon and a value a line, and an empty line between objects."""
    for block in re.split(r"\n\s*\n", text):
        pairs = re.findall(r"^(\w+)\s*: ?(.*)$", block, re.MULTILINE)
        if len(pairs) > 2:
            yield {name: value.strip() for name, value in pairs}
