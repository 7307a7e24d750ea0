"""What a file is that is neither a listing of partitions nor a layout, and which verb reads it.

Only for messages: nothing is read by what is said here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program of Windows"),
    (b"SQLite format 3", "an SQLite database"),
    (b"RIFF", "a sound, video or WebP file"),
    (b"LUKS\xba\xbe", "an encrypted device (LUKS)"),
    (b"EFI PART", "a GUID partition table in binary form"),
)
_TAR_MARK, _TAR_PLACE = b"ustar", 257
_BOOT_MARK, _BOOT_PLACE = b"\x55\xaa", 510
_LOOKED_AT = 400
_LIST_IT = "list its partitions: fdisk -l FILE, or sgdisk -p FILE"
_WITH_LAYERS = "describe its layers with --layer, such as --layer partition:start=1MiB --layer lvm"


@dataclass(frozen=True)
class Foreign:
    """What a file is, and what to do with it; nothing where that is not known."""

    what: str
    instead: str = ""


def of_bytes(content: bytes) -> Foreign | None:
    """Recognise a file that is no text."""
    if content[_TAR_PLACE : _TAR_PLACE + len(_TAR_MARK)] == _TAR_MARK:
        return Foreign("a tar archive")
    for mark, what in _MAGIC:
        if content.startswith(mark):
            return Foreign(what)
    if content[_BOOT_PLACE : _BOOT_PLACE + 2] == _BOOT_MARK:
        return Foreign("the first sectors of a disk, or its image", _LIST_IT)
    return None


_JSON_KEYS = (
    ("fio version", Foreign("a result of fio", "ssdlab report, compare or fit read it")),
    ("smartctl", Foreign("what smartctl --json printed", "ssdlab health reads it")),
    ("critical_warning", Foreign("what nvme smart-log printed", "ssdlab health reads it")),
    ("nvme_smart_health_information_log", Foreign("a SMART log", "ssdlab health reads it")),
    ("Devices", Foreign("what nvme list printed", "it shows no partitions; fdisk -l does")),
    ("filesystems", Foreign("what findmnt printed", "it shows no partitions; fdisk -l does")),
    ("report", Foreign("what LVM reported", _WITH_LAYERS)),
    ("sysstat", Foreign("what iostat or sar printed")),
    ("files", Foreign("a capture of ssdlab audit", "ssdlab audit --root reads it")),
)
_TEXTS = (
    (
        r"smartctl \d+\.\d+|=== START OF (?:INFORMATION|READ SMART)",
        Foreign("what smartctl printed", "ssdlab health reads it"),
    ),
    (r"(?i)\s*<!doctype html|\s*<html|\s*<\w+>.*</\w+>", Foreign("an HTML page", "give the text")),
    (r"\s*<\?xml|\s*<\w[\w:.-]*(?: [\w:.-]+=\"[^\"]*\")*\s*/?>", Foreign("an XML file")),
    (
        r"fio-\d+\.\d+|\S+: \(g=\d+\): rw=",
        Foreign("what fio printed", "ssdlab report reads its --output-format=json"),
    ),
    (
        r"\[global\]|(?:rw|readwrite|ioengine|bs|iodepth|filename|runtime)\s*=",
        Foreign("a job file of fio", "ssdlab run runs it"),
    ),
    (
        r"Filesystem\s+(?:\S+\s+)+Mounted on|Filesystem\s+Type",
        Foreign("what df printed", "it shows no partitions; fdisk -l does"),
    ),
    (r"\S+ on /\S* type \w+ \(", Foreign("what mount printed", "fdisk -l shows partitions")),
    (
        r"Personalities :|md\d+ : (?:in)?active|/dev/md\S*:\s*$|\s*Raid Level :",
        Foreign("what mdadm or /proc/mdstat tells", _WITH_LAYERS),
    ),
    (
        r"\s*PV\s+VG\s+Fmt|\s*LV\s+VG\s+Attr|\s*VG\s+#PV|\s*--- (?:Physical|Logical) volume",
        Foreign("what LVM printed", _WITH_LAYERS),
    ),
    (
        r"\s*pool: \S+|\s*NAME\s+SIZE\s+ALLOC\s+FREE|\s*NAME\s+STATE\s+READ\s+WRITE\s+CKSUM|"
        r"\s*state: ONLINE",
        Foreign("what zpool printed", "gpart show or sgdisk -p shows its disks' partitions"),
    ),
    (r"LUKS header information", Foreign("what cryptsetup luksDump printed", _WITH_LAYERS)),
    (
        r"\S+: \d+ \d+ (?:linear|crypt|striped|thin|raid|snapshot|cache|multipath) ",
        Foreign("what dmsetup table printed", _WITH_LAYERS),
    ),
    (
        r"Node\s+(?:Generic\s+)?SN\s+Model",
        Foreign("what nvme list printed", "it shows no partitions; fdisk -l does"),
    ),
    (r"Device\s+(?:r/s|tps)\b|avg-cpu:", Foreign("what iostat printed")),
    (r"\[\s*\d+\.\d{6}\]", Foreign("a log of the kernel", "fdisk -l shows partitions")),
    (r"UUID=\S+\s+/\S*\s+\w+\s|# /etc/fstab", Foreign("an fstab", "fdisk -l shows partitions")),
    (r"#!", Foreign("a script")),
    (r"(?:From|Subject|Received): ", Foreign("an e-mail", "give the listing alone")),
    (r"(?:diff --git|--- a/|@@ -\d+)", Foreign("a patch")),
    (r"-----BEGIN ", Foreign("a key or certificate")),
    (r"(?:import|from) \w+|def \w+\(|#include [<\"]", Foreign("a program's source")),
    (r"---\s*$|\w+:\s*$", Foreign("a YAML file")),
)
_COMMAS = re.compile(r"[^,;\t]*(?:[,;\t][^,;\t]*){2,}")


def of_text(text: str) -> Foreign | None:
    """Recognise a text by its first lines."""
    if not text.strip():
        return Foreign("an empty file" if not text else "a file of blanks only")
    from_json = _of_json(text) if text.lstrip()[0] in "{[" else None
    if from_json is not None:
        return from_json
    lines = [line[:_LOOKED_AT] for line in text.splitlines() if line.strip()][:40]
    for pattern, found in _TEXTS:
        if any(re.match(pattern, line) for line in lines):
            return found
    counts = {len(re.findall(r"[,;\t]", line)) for line in lines}
    if len(counts) == 1 and all(_COMMAS.fullmatch(line) for line in lines):
        return Foreign("a table of values with separators (CSV)")
    return None


def _of_json(text: str) -> Foreign | None:
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(root, list):
        return Foreign("a JSON list")
    for key, found in _JSON_KEYS:
        if key in root:
            return found
    return Foreign("a JSON object of another program")
