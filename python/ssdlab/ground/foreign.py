"""What a file is that is not the one asked for, so that its giver learns which one to give."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ssdlab.ground.recognise import what_it_is

_MAGIC = (
    (b"\x1f\x8b", "a gzip archive: unpack it first (gunzip)"),
    (b"PK\x03\x04", "a zip archive or an Office document: unpack it first"),
    (b"\xfd7zXZ", "an xz archive: unpack it first (xz -d)"),
    (b"BZh", "a bzip2 archive: unpack it first (bunzip2)"),
    (b"(\xb5/\xfd", "a zstd archive: unpack it first (unzstd)"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"SSDLAB", "a drive file of ssdlab: ssdlab show FILE --smart-json makes a report of it"),
)
_OBJECTS = (
    # fields of which all are there, and what has them
    ({"files", "folders", "commands"}, "a capture of ssdlab audit: read it with --root"),
    ({"severity", "summary", "findings"}, "what ssdlab audit --json printed"),
    ({"parameters", "wear"}, "what ssdlab show --json printed: use show --smart-json"),
    ({"fio version", "jobs"}, "a result of fio"),
    ({"jobs", "ssdlab"}, "a result of ssdlab run"),
    ({"blockdevices"}, "what lsblk -J printed"),
    ({"partitiontable"}, "what sfdisk -J printed"),
    ({"filesystems"}, "what findmnt -J printed"),
    ({"smartctl", "devices"}, "smartctl's list of drives (--scan), not a drive's report"),
    ({"Devices"}, "what nvme list -o json printed: a list of drives, not their health"),
    ({"vid", "mn"}, "what nvme id-ctrl -o json printed: the drive's identity, not its health"),
    ({"nsze", "ncap"}, "what nvme id-ns -o json printed: a namespace, not the drive's health"),
    ({"errors"}, "what nvme error-log -o json printed: single errors, not the drive's health"),
    ({"Controllers"}, "what storcli or perccli printed: ssdlab audit asks them itself"),
    ({"report", "pools"}, "what zpool -j printed"),
    ({"drives"}, "known counts of ssdlab health, or another program's list of drives"),
    ({"sysstat"}, "what iostat -o JSON printed"),
    ({"error"}, "an error that a program reported"),
)
_TEXTS = (
    (r"^Node +(Generic +)?SN +Model", "what nvme list printed: a list of drives, not their health"),
    (r"^NVME Identify Controller", "what nvme id-ctrl printed: the drive's identity"),
    (r"^Error Log Entries for device", "what nvme error-log printed"),
    (r"^/dev/\S+ -d \S+ # ", "smartctl's list of drives (--scan), not a drive's report"),
    (r"^Usage: smartctl|^smartctl: invalid|^=+ smartctl", "smartctl's help or complaint"),
    (
        r"CrystalDiskInfo",
        "what CrystalDiskInfo saved: run smartctl, which is there for Windows too",
    ),
    (r"^NAME +(MAJ:MIN|SIZE|FSTYPE)", "what lsblk printed"),
    (r"^Disk /dev/|^Disklabel type", "a listing of partitions: ssdlab align check reads it"),
    (r"^Personalities :", "/proc/mdstat"),
    (r"^\s*ATA device, with non-removable media|^/dev/\S+:\n+ *ATA", "what hdparm -I printed"),
    (r"^\s*pool: ", "what zpool status printed"),
    (r"fio-\d\.\d+$|: \(g=\d+\): rw=", "what fio printed"),
    (r"^\[\s*\d+\.\d+\] ", "the kernel's log"),
    (r"^\[(global|job\d*|\w+)\]$", "a job file or a configuration"),
    (r"<html|<!DOCTYPE", "a web page (HTML)"),
    (r"^<\?xml|^<\w+>", "XML"),
    (r"^# (HELP|TYPE) ", "metrics for Prometheus"),
    (r"^(OK|WARNING|CRITICAL|UNKNOWN) - ", "a monitoring plug-in's line"),
    (r"^%YAML|^---\n\w+:", "YAML"),
)
_LOOKED_AT = 200_000


def of_bytes(content: bytes) -> str:
    """Say what a file is that is no text; empty where nobody knows."""
    return next((what for magic, what in _MAGIC if content.startswith(magic)), "")


def of_json(content: object) -> str:
    """Say what a JSON document is; ``JSON of another kind`` where nobody knows."""
    if isinstance(content, list):
        if content and all(isinstance(each, Mapping) and "smartctl" in each for each in content):
            return f"a list of {len(content)} reports: give each drive's in a file of its own"
        entry = content[0] if content else None
        if isinstance(entry, Mapping) and {"drive", "severity", "findings"} <= entry.keys():
            return "what ssdlab health --json printed"
        return f"a JSON list of {len(content)} entries"
    if not isinstance(content, Mapping):
        return f"JSON, but a single {_kind(content)}"
    for fields, what in _OBJECTS:
        if fields <= content.keys():
            return what
    first_ones = ", ".join(map(str, list(content)[:5]))
    return f"JSON of another kind, with {first_ones}" if first_ones else "an empty JSON object"


def _kind(content: object) -> str:
    return {str: "text", bool: "true or false", type(None): "null"}.get(type(content), "number")


def of_text(content: str) -> str:
    """Say what a text is; its first line where nobody knows."""
    head = content[:_LOOKED_AT].replace("\r\n", "\n")
    if not head.strip():
        return "empty"
    for pattern, what in _TEXTS:
        if re.search(pattern, head, re.MULTILINE | re.IGNORECASE):
            return what
    known = what_it_is(head.encode())
    if known is not None:
        return known.name
    first = next(line for line in head.splitlines() if line.strip()).strip()
    shown = "".join(sign if sign.isprintable() else " " for sign in first)[:80]
    return f"a text of another kind, which begins with {json.dumps(shown, ensure_ascii=False)}"
