"""Eighty wrong and foreign files: each answer names the file, says what it is and what to do."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from test_health import SMART

Command = Callable[..., tuple[int, str, str]]
NOT = "not a drive report: it is "
TEXTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "blank": (b" \n\t\n", "empty"),
    "null": (b"null", "null"),
    "true": (b"true", "true or false"),
    "number": (b"42\n", "text of another kind"),
    "string": (b'"x"', "a single text"),
    "list": (b"[]", "a JSON list of 0 entries"),
    "numbers": (b"[1, 2]", "a JSON list of 2 entries"),
    "object": (b"{}", "an empty JSON object"),
    "other object": (b'{"a": 1, "b": 2}', "JSON of another kind, with a, b"),
    "two reports": (
        b'[{"smartctl": {}, "device": {}}, {"smartctl": {}, "device": {}}]',
        "a list of 2 reports",
    ),
    "scan": (b'{"smartctl": {"version": [7, 4]}, "devices": []}', "smartctl's list of drives"),
    "nvme list": (b'{"Devices": []}', "nvme list"),
    "nvme id-ctrl": (b'{"vid": 5197, "ssvid": 5197, "sn": "S", "mn": "M"}', "nvme id-ctrl"),
    "nvme id-ns": (b'{"nsze": 1, "ncap": 1}', "nvme id-ns"),
    "nvme errors": (b'{"errors": []}', "nvme error-log"),
    "lsblk": (b'{"blockdevices": []}', "lsblk -J"),
    "sfdisk": (b'{"partitiontable": {}}', "sfdisk -J"),
    "findmnt": (b'{"filesystems": []}', "findmnt -J"),
    "fio": (b'{"fio version": "fio-3.33", "jobs": []}', "a result of fio"),
    "capture": (b'{"files": {}, "folders": {}, "commands": {}}', "a capture of ssdlab audit"),
    "audit": (b'{"severity": "red", "summary": {}, "findings": []}', "ssdlab audit --json"),
    "health": (b'[{"drive": "x", "severity": "OK", "findings": []}]', "ssdlab health --json"),
    "show": (b'{"parameters": [], "wear": {}}', "ssdlab show --json"),
    "storcli": (b'{"Controllers": []}', "storcli"),
    "an error": (b'{"error": "no such device"}', "an error that a program reported"),
    "gzip": (gzip.compress(b"x"), "a gzip archive"),
    "xz": (b"\xfd7zXZ\0", "an xz archive"),
    "bzip2": (b"BZh9", "a bzip2 archive"),
    "zstd": (b"(\xb5/\xfd\0", "a zstd archive"),
    "png": (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    "jpeg": (b"\xff\xd8\xff\xe0", "a picture (JPEG)"),
    "gif": (b"GIF89a", "a picture (GIF)"),
    "pdf": (b"%PDF-1.7", "a PDF document"),
    "elf": (b"\x7fELF\2\1", "a program"),
    "sqlite": (b"SQLite format 3\0", "an SQLite database"),
    "zeroes": (bytes(64), "binary data"),
    "noise": (bytes(range(128, 256)) * 4, "binary data"),
    "nvme list text": (b"Node             SN       Model    Namespace\n", "nvme list"),
    "id-ctrl text": (b"NVME Identify Controller:\nvid : 0x144d\n", "nvme id-ctrl"),
    "error-log text": (b"Error Log Entries for device:nvme0 entries:64\n", "nvme error-log"),
    "scan text": (b"/dev/sda -d sat # /dev/sda [SAT], ATA device\n", "smartctl's list of drives"),
    "usage": (b"Usage: smartctl [options] device\n", "smartctl's help"),
    "lsblk text": (b"NAME   MAJ:MIN RM  SIZE RO TYPE\nsda 8:0 0 1G 0 disk\n", "lsblk"),
    "fdisk": (b"Disk /dev/sda: 1 TiB\n", "a listing of partitions"),
    "mdstat": (b"Personalities : [raid1]\n", "/proc/mdstat"),
    "hdparm": (b"\nATA device, with non-removable media\n", "hdparm -I"),
    "zpool": (b"  pool: tank\n state: ONLINE\n", "zpool status"),
    "fio text": (b"w: (g=0): rw=randwrite, bs=4k\n", "fio"),
    "dmesg": (b"[    0.000000] Linux version 6.1\n", "the kernel's log"),
    "job": (b"[global]\nrw=randread\n", "a job file"),
    "html": (b"<!DOCTYPE html><html></html>", "a web page"),
    "xml": (b"<?xml version='1.0'?><a/>", "XML"),
    "metrics": (b"# HELP x y\n# TYPE x gauge\nx 1\n", "metrics for Prometheus"),
    "plug-in": (b"OK - 1 drive: fine\n", "a monitoring plug-in's line"),
    "csv": (b"time,iops,latency\n1,2,3\n", "a table (CSV)"),
    "yaml": (b"---\ndrive: sda\n", "YAML"),
    "CrystalDiskInfo": (b"CrystalDiskInfo 9.1.1 (C) 2008\n", "CrystalDiskInfo"),
    "prose": (b"Dear all, my drive is slow.\n", "a text of another kind"),
}
CUT: dict[str, tuple[bytes, str]] = {
    "cut": (b'{"device": {"name": "/dev/sda"', "line 1: not whole JSON"),
    "comma": (b'{\n"device": {},\n}', "line 3: not whole JSON"),
    "nested": (b"[" * 100_000, "nested too deeply"),
    "digits": (b'{"a": ' + b"9" * 5000 + b"}", "not whole JSON"),
    "two documents": (b'{"smartctl": {}}\n{"smartctl": {}}\n', "line 2: something follows"),
    "two texts": (
        b"smartctl 7.4 2023\n=== START OF INFORMATION SECTION ===\n" * 2,
        "line 3: here begins the second of 2 reports",
    ),
    "refused": (
        b"smartctl 7.4 2023-08-01 r5530\nSmartctl open device: /dev/sda failed: "
        b"Permission denied\n",
        "smartctl read no drive",
    ),
}


@pytest.mark.parametrize("name", [*TEXTS, *CUT])
def test_files_that_are_no_report(command: Command, tmp_path: Path, name: str) -> None:
    """`health --from` names the file and what it is, says what to give, and judges nothing."""
    content, what = (TEXTS | CUT)[name]
    (tmp_path / "f").write_bytes(content)
    for form in ("table", "json"):
        code, out, error = command("health", "--from", "f", "--format", form)
        assert (code, out) == (2, "")
        assert error.startswith("ssdlab: f: ") and what in error
        assert name in CUT or (NOT in error and "smartctl -x -j" in error)
    code, out, _ = command("health", "--from", "f", "--format", "nagios")
    assert code == 3 and out.startswith("UNKNOWN - f: ") and out.count("\n") == 1


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ("capture",)])
def test_files_that_are_no_capture(command: Command, tmp_path: Path, name: str) -> None:
    """`audit --root` names the file and what it is, and how a capture is made."""
    content, _ = TEXTS[name]
    (tmp_path / "f").write_bytes(content)
    code, out, error = command("audit", "--root", "f")
    assert (code, out) == (2, "")
    assert "--root f: " in error and "not a capture: it is " in error
    assert "ssdlab audit --capture FILE" in error


@pytest.mark.parametrize("option", ["--history", "--baseline", "--meanings"])
def test_files_beside_a_report(command: Command, tmp_path: Path, option: str) -> None:
    """A history, baseline or database that is none is refused by name, and left as it is."""
    report = str(SMART / "nvme-smartctl-7.5.json")
    for name, (content, _) in TEXTS.items():
        if option == "--baseline" and name == "object" or not content.strip():
            continue
        place = tmp_path / "f"
        place.write_bytes(content)
        code, out, error = command("health", "--from", report, option, "f")
        assert (code, out) == (2, ""), name
        assert f"{option} f" in error or error.startswith("ssdlab: f: "), (name, error)
        assert place.read_bytes() == content


def test_a_report_in_utf_16(command: Command, tmp_path: Path) -> None:
    """What PowerShell redirects into a file, JSON or text, is read."""
    for name in ("nvme-samsung-worn.json", "forms/smartctl-6.6-nvme-failed.txt"):
        (tmp_path / "f").write_text((SMART / name).read_text(encoding="utf-8"), encoding="utf-16")
        assert command("health", "--from", "f")[0] == 3


def test_a_folder_and_an_archive(command: Command, tmp_path: Path) -> None:
    """A folder, a missing file and a zip are told as such."""
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("d.json", "{}")
    for place, said in (
        ("folder", "Is a directory"),
        ("none", "No such file"),
        ("z.zip", "a zip archive"),
    ):
        code, _, error = command("health", "--from", place)
        assert code == 2 and place in error and said in error
    code, _, error = command("audit", "--root", "folder")
    assert code == 2 and "a folder without sys in it" in error


def test_a_capture_goes_round(command: Command, tmp_path: Path) -> None:
    """A capture that is captured again says the same; a part of one is told what it lacks."""
    whole = {"files": {"/proc/1/comm": "systemd"}, "folders": {}, "commands": {}}
    (tmp_path / "c.json").write_text(json.dumps(whole), encoding="utf-8")
    code, _, told = command("audit", "--root", "c.json", "--capture", "again.json")
    assert code == 0 and "left out, since files, /proc/1/comm is not understood: “systemd”" in told
    assert command("audit", "--root", "again.json", "--capture", "third.json")[0] == 0
    first = command("audit", "--root", "again.json", "--json")
    assert command("audit", "--root", "third.json", "--json") == first
    (tmp_path / "c.json").write_text('{"files": {}, "folders": {}}', encoding="utf-8")
    code, _, error = command("audit", "--root", "c.json")
    assert code == 2 and "it is a part of one, without commands" in error
