"""Texts of Windows and FreeBSD: what they tell is judged, and what they cannot tell is said."""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.audit.texts import audit_texts
from ssdlab.machine.verdict import Verdict

Command = Callable[..., tuple[int, str, str]]

TRIM = "NTFS DisableDeleteNotify = {0}  (text in any language)\nReFS DisableDeleteNotify = 0"
DISKS = """
Number FriendlyName              SerialNumber    MediaType   CanPool HealthStatus        Size
------ ------------              ------------    ---------   ------- ------------        ----
0      Made SSD 500GB            S3Z2NB0K0000    SSD         False   Healthy        465.76 GB
1      Made NVMe with a name     S3Z2NB0K0001    SSD         False   Unhealthy      931.51 GB
2      Made Stick                                Unspecified False   Healthy         14.91 GB
"""
VOLUMES = """
DriveLetter FriendlyName    FileSystemType DriveType HealthStatus SizeRemaining      Size
----------- ------------    -------------- --------- ------------ -------------      ----
                            FAT32          Fixed     Healthy           69.52 MB     96 MB
C           Windows         NTFS           Fixed     Healthy          120.45 GB 464.99 GB
D           Data            NTFS           Fixed     Healthy           12,10 GB 931.50 GB
E                           Unknown        CD-ROM    Healthy                0 B       0 B
"""
ONLY_SSDS = DISKS.replace("Unspecified", "SSD        ")
PARTITIONS = """
DiskNumber      : 0
PartitionNumber : 1
Offset          : {0}
Size            : 104857600

DiskNumber      : 0
PartitionNumber : 2
Offset          : 105906176
Size            : 104857600
"""
POWER = """
    Power Setting GUID: 0b2d69d7-a2a1-449c-9680-f91c70521c60  (AHCI Link Power Management)
      Possible Setting Index: 000
      Possible Setting Friendly Name: Active
      Possible Setting Index: 002
      Possible Setting Friendly Name: HIPM+DIPM
      Possible Setting Index: 004
      Possible Setting Friendly Name: Lowest
    Current AC Power Setting Index: 0x00000002
    Current DC Power Setting Index: 0x00000004

    Power Setting GUID: 6738e2c4-e8a5-4a42-b16a-e040e769756e  (Turn off hard disk after)
"""
GPART = """
=>      63  1953525105  ada0  MBR  (931G)
        63    20971503     1  freebsd  (10G)
  20971566       60346        - free -  (29M)
  21031912    20971520     2  freebsd  (10G)
  42003432  1911521736        - free -  (911G)

=>       0  20971503  ada0s1  BSD  (10G)
         0      {0}          - free -  (992k)
      {0}   2097152       1  freebsd-ufs  (1.0G)
"""
DISKINFO = """
ada0
\t512         \t# sectorsize
\t120034123776\t# mediasize in bytes (112G)
\t{0}          \t# TRIM/UNMAP support
\t{1}           \t# Rotation rate in RPM
"""
POOL = """
NAME  PROPERTY   VALUE   SOURCE
ssd   capacity   {0}%     -
ssd   autotrim   {1}     local
ssd   ashift     {2}      local
ssd   health     ONLINE   -
"""


def found(*texts: str) -> list[Finding]:
    return audit_texts({str(number): text for number, text in enumerate(texts)}).findings


def verdicts(check: str, *texts: str) -> list[tuple[str, str]]:
    findings = [each for each in found(*texts) if each.check == check]
    return sorted((each.where, str(each.severity)) for each in findings)


@pytest.mark.parametrize("value,severity", [("0", "green"), ("1", "yellow")])
def test_fsutil(value: str, severity: str) -> None:
    """0 lets TRIM through and 1 does not; the remedy is the command that Windows has for it."""
    assert ("NTFS", severity) in verdicts("trim schedule", TRIM.format(value))
    remedies = [each.remedy for each in found(TRIM.format(value)) if each.remedy]
    steps = [step for remedy in remedies for step in remedy.steps]
    assert steps == ["fsutil behavior set DisableDeleteNotify NTFS 0"] * (value == "1")
    assert ("NTFS", severity) in verdicts("trim schedule", f"DisableDeleteNotify = {value}")


def test_tables_of_powershell() -> None:
    """Columns are cut where they are, with empty cells and with numbers on the right."""
    assert verdicts("media", DISKS) == [
        ("Made NVMe with a name", "green"),
        ("Made SSD 500GB", "green"),
        ("Made Stick", "unseen"),
    ]
    assert ("Made NVMe with a name", "red") in verdicts("wear", DISKS)


def test_lists_of_powershell() -> None:
    """The same as a list."""
    disk = "FriendlyName : Made SSD\nMediaType    : SSD\nHealthStatus : Warning\n"
    assert ("Made SSD", "yellow") in verdicts("wear", disk)
    volume = "DriveLetter     : C\nSizeRemaining   : 5000000000\nSize            : 100000000000\n"
    assert ("C:", "yellow") in verdicts("spare area", f"{volume}\n{disk}\n{TRIM.format(0)}")


def test_volumes_need_to_know_of_trim_and_drive() -> None:
    """Free space is room only if TRIM is sent and all drives are SSDs."""
    full = [("C:", "green"), ("D:", "yellow")]
    assert verdicts("spare area", VOLUMES, TRIM.format(0), ONLY_SSDS) == full
    refs = "ReFS DisableDeleteNotify = 1\nNTFS DisableDeleteNotify = 0"
    assert verdicts("spare area", VOLUMES, refs, ONLY_SSDS) == full
    mixed = VOLUMES.replace("NTFS", "ReFS", 1)
    assert verdicts("spare area", mixed, refs, ONLY_SSDS) == [("C:", "yellow"), ("D:", "yellow")]
    none = [("C:", "yellow"), ("D:", "yellow")]
    assert verdicts("spare area", VOLUMES, TRIM.format(1), ONLY_SSDS) == none
    unseen = [("C:", "unseen"), ("D:", "unseen")]
    for others in ((), (TRIM.format(0),), (ONLY_SSDS,), (TRIM.format(0), DISKS)):
        assert verdicts("spare area", VOLUMES, *others) == unseen
    (text,) = (
        each.what for each in found(VOLUMES, TRIM.format(0), ONLY_SSDS) if "35%" in each.what
    )
    assert "120" not in text and round(120.45 / (464.99 - 120.45), 2) == 0.35


@pytest.mark.parametrize(
    "start,severity", [(32_256, "red"), (65_536, "yellow"), (1 << 20, "green")]
)
def test_offsets_of_partitions(start: int, severity: str) -> None:
    """The byte at which a partition begins is judged as it is on Linux."""
    found = verdicts("alignment", PARTITIONS.format(start))
    assert [each for _, each in found if each != "green"] == [severity] * (severity != "green")
    assert len(found) == 2


def test_powercfg() -> None:
    """Mains and battery are judged by the names of the text's own numbers."""
    assert verdicts("link", POWER) == [("on battery", "yellow"), ("on mains", "green")]
    (remedy,) = (each.remedy for each in found(POWER) if each.remedy)
    assert " 4; " in remedy.undo
    translated = POWER.replace("Lowest", "Niedrigste")
    assert ("on battery", "unseen") in verdicts("link", translated)
    unknown = POWER.replace("0x00000002", "0x00000009")
    assert ("on mains", "unseen") in verdicts("link", unknown)
    hidden = "  Subgroup GUID: 0012ee47-9041-4b5d-9b77-535fba8b1442  (Hard disk)\n"
    assert verdicts("link", hidden) == [("powercfg", "unseen")]


@pytest.mark.parametrize("start,severity", [(1985, "green"), (1984, "red"), (2049, "yellow")])
def test_labels_in_slices(start: int, severity: str) -> None:
    """A label counts from its slice: 63 + 1985 sectors is 1 MiB, as the forum thread has it.

    The slice itself holds no data, and is not judged: `align check` says the same.
    """
    found = verdicts("alignment", GPART.format(start))
    places = {where.partition(",")[0]: each for where, each in found}
    assert places["ada0s1a on ada0"] == severity
    assert "ada0s1 on ada0" not in places and places["ada0s2 on ada0"] == "yellow"
    alone = GPART.format(start).partition("\n\n")[2]
    assert verdicts("alignment", alone) == [("FreeBSD", "unseen")]
    assert ("0, line 3", "unseen") in verdicts("texts", alone)


def test_diskinfo_tunefs_and_zpool() -> None:
    """TRIM of the drive, of UFS, and of ZFS with its ashift and its room."""
    assert verdicts("discard", DISKINFO.format("No", 0)) == [("ada0", "yellow")]
    assert verdicts("discard", DISKINFO.format("Yes", 0)) == [("ada0", "green")]
    assert verdicts("discard", DISKINFO.format("No", 7200)) == []
    assert verdicts("media", DISKINFO.format("No", 7200)) == [("ada0", "green")]
    assert verdicts("trim schedule", "tunefs: trim: (-t)      disabled") == [("tunefs", "yellow")]
    assert verdicts("trim schedule", "tunefs: trim: (-t)      enabled") == [("tunefs", "green")]
    assert verdicts("ZFS", POOL.format(93, "on", 9)) == [*[("ssd", "green")] * 2, ("ssd", "yellow")]
    assert verdicts("ZFS", POOL.format(9, "off", 12)) == [
        *[("ssd", "green")] * 2,
        ("ssd", "yellow"),
    ]
    assert verdicts("spare area", POOL.format(93, "on", 12)) == [("ssd", "yellow")]
    assert verdicts("spare area", POOL.format(50, "on", 12)) == [("ssd", "green")]
    assert verdicts("spare area", POOL.format(50, "off", 12)) == []


def test_what_cannot_be_seen_is_said() -> None:
    """Layers, controllers and counters are in none of these texts, and what is missing is named."""
    for text, system in ((TRIM.format(0), "Windows"), (GPART.format(1985), "FreeBSD")):
        unseen = {each.check for each in found(text) if each.verdict is Verdict.NOT_LOOKED_AT}
        assert {"known faults", "encryption", "RAID controller", "wear"} <= unseen
        assert any(each.where == system for each in found(text))
    missing = {each.check for each in found(TRIM.format(0))}
    assert {"alignment", "link"} <= missing


def test_rubbish_is_refused_by_name() -> None:
    """A text that is none of these is an error with its name; cut ones end without an exception."""
    with pytest.raises(SsdlabError, match="--from letter: not the output of a known tool"):
        audit_texts({"trim": TRIM.format(0), "letter": "Dear Sir,\n\nyours\n"})
    stream = random.Random(1)
    whole = [TRIM.format(1), DISKS, VOLUMES, PARTITIONS, POWER, GPART, DISKINFO, POOL]
    for _ in range(300):
        text = stream.choice(whole)
        cut = text[: stream.randrange(len(text))] + stream.choice(["", "\0", "9" * 5000, "é" * 9])
        try:
            audit_texts({"cut": cut})
        except SsdlabError as error:
            assert "--from cut" in str(error)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_as_windows_writes_them(command: Command, tmp_path: Path, encoding: str) -> None:
    """UTF-16 of PowerShell's redirection, byte order marks and line ends are no obstacle."""
    text = TRIM.format(1).replace("\n", "\r\n")
    (tmp_path / "trim.txt").write_bytes(codecs.encode(text, encoding))
    (tmp_path / "gpart.txt").write_text(GPART.format(1985), encoding="utf-8")
    code, out, _ = command("audit", "--from", "trim.txt", "--json")
    assert code == 1 and json.loads(out)["severity"] == str(Severity.YELLOW)
    code, out, _ = command("audit", "--from", "gpart.txt", "trim.txt")
    assert code == 1 and "not looked at" in out


def test_wrong_uses(command: Command, tmp_path: Path) -> None:
    """Files that are missing or no text are named, and --from goes with no other machine."""
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\xff")
    (tmp_path / "trim.txt").write_text(TRIM.format(0), encoding="utf-8")
    for words, told in (
        (("--from", "absent"), "--from absent: no such file"),
        (("--from", "picture"), "--from picture: not a text file"),
        (("--from", "trim.txt", "absent"), "--from absent: no such file"),
        (("--from", "trim.txt", "--load", "1s"), "give one of them"),
        (("--from", "trim.txt", "--root", "x"), "leave out --root"),
    ):
        code, _, error = command("audit", *words)
        assert code == 2 and told in error, (words, error)
    assert command("audit", "--from", "trim.txt")[0] == 4
