"""Nothing vanishes in the audit of what was sent: rows, values and keys that nobody knows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from insertions import rows_inserted
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import Audit, Severity
from ssdlab.machine.audit.texts import audit_texts
from test_audit_texts import (
    DISKINFO,
    DISKS,
    GPART,
    ONLY_SSDS,
    PARTITIONS,
    POOL,
    POWER,
    TRIM,
    VOLUMES,
)

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
PARTITION_TABLE = r"""
   DiskPath: \\?\scsi#disk&ven_made&prod_ssd#0000

PartitionNumber  DriveLetter Offset                                        Size Type
---------------  ----------- ------                                        ---- ----
1                            1048576                                     100 MB System
2                C           105906176                                465.66 GB Basic
"""
DISK_LISTS = """
FriendlyName      : Made SSD 500GB
SerialNumber      : S3Z2NB0K0000
MediaType         : SSD
OperationalStatus : OK
HealthStatus      : Healthy

FriendlyName      : Made NVMe
MediaType         : SSD
HealthStatus      : Warning
"""
RANGE = """
    Power Setting GUID: 6738e2c4-e8a5-4a42-b16a-e040e769756e  (Turn off hard disk after)
      GUID Alias: DISKIDLE
      Minimum Possible Setting: 0x00000000
      Maximum Possible Setting: 0xffffffff
      Possible Settings increment: 0x00000001
      Possible Settings units: Seconds
    Current AC Power Setting Index: 0x000004b0
    Current DC Power Setting Index: 0x00000258
"""
TUNEFS = """
tunefs: soft updates: (-n)                                 enabled
tunefs: trim: (-t)                                         disabled
tunefs: volume label: (-L)
"""
TEXTS = {
    "fsutil": TRIM.format(1),
    "disks": DISKS,
    "disk lists": DISK_LISTS,
    "volumes": VOLUMES,
    "partitions": PARTITIONS.format(32_256),
    "partition table": PARTITION_TABLE,
    "powercfg": POWER + RANGE,
    "gpart": GPART.format(1984),
    "diskinfo": DISKINFO.format("No", 0),
    "tunefs": TUNEFS,
    "zpool": POOL.format(93, "off", 9),
}
DRIVES = ("ada0", "ada0s1")
"""Names of drives, which may be anything."""
BESIDE = {"volumes": (TRIM.format(0), ONLY_SSDS), "disks": (TRIM.format(0), VOLUMES)}
"""What has to be known, too, before a text is judged."""


def drawn_rows(name: str) -> list[str]:
    """Give rows that no tool prints: words, numbers, properties and settings of no such name."""
    draw = random.Random(name)
    word = "".join(draw.choices("bcdfgz", k=7)).capitalize()
    number = draw.randrange(10, 10**9)
    rows = [f"{word} Level:                 {number}", f"  {number} {word}", f"{word} : soon"]
    return [*rows, f"{word} maybe {word}", f"\t{number}\t# {word}", f"{word}: 0x{number:08x}"]


def looked(name: str, text: str) -> Audit:
    """Audit a text beside those that it needs."""
    return audit_texts({"pasted": text, **{f"b{n}": t for n, t in enumerate(BESIDE.get(name, ()))}})


def judged(found: Audit) -> Counter[tuple[str, Severity]]:
    """Count what was judged, by check and severity."""
    seen = (each for each in found.findings if each.severity is not Severity.UNSEEN)
    return Counter((each.check, each.severity) for each in seen)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_a_tool_is_understood_whole(name: str) -> None:
    """Each text as its tool prints it has no row that is foreign, and something in it is judged."""
    found = looked(name, TEXTS[name])
    assert found.to_dict()["unread"] == [] and judged(found)


@pytest.mark.parametrize("name", TEXTS)
def test_a_foreign_row_of_a_text_is_quoted(name: str) -> None:
    """A row that nobody knows, at each place, is quoted with its number; nothing is judged anew."""
    before = judged(looked(name, TEXTS[name]))
    for text, row in rows_inserted(TEXTS[name], drawn_rows(name)):
        found = looked(name, text)
        number = text.splitlines().index(row) + 1
        told = {each.where: each.what for each in found.findings if each.check == "texts"}
        assert f"“{' '.join(row.split())}”" in told[f"pasted, line {number}"], text
        assert found.exit_code != 0 and judged(found) <= before, text


def foreign_values(text: str) -> Iterator[str]:
    """Give the text with each of its words as nobody writes it, where the word stood."""
    for word in re.finditer(r"[^\s:=#|]+", text):
        if word[0] in DRIVES:
            continue
        for strange in ("?", "maybe", f"{word[0]}k"):
            kept = strange.ljust(len(word[0]))
            yield text[: word.start()] + kept + text[word.end() :]


@pytest.mark.parametrize("name", TEXTS)
def test_a_foreign_value_is_neither_good_nor_bad(name: str) -> None:
    """No word in another form makes a finding, and what it takes away is quoted or refused."""
    before = judged(looked(name, TEXTS[name]))
    for text in foreign_values(TEXTS[name]):
        try:
            found = looked(name, text)
        except SsdlabError as error:
            assert "--from pasted: not the output of a known tool" in str(error)
            continue
        now = judged(found)
        assert now <= before, text
        if now < before:
            assert found.to_dict()["unread"], text


@pytest.mark.parametrize(
    ("text", "line", "lost"),
    [
        ("NTFS DisableDeleteNotify = ?\nReFS DisableDeleteNotify = 0", 1, "NTFS"),
        ("NTFS DisableDeleteNotify = yes\nReFS DisableDeleteNotify = 0", 1, "NTFS"),
        (PARTITIONS.format(32_256).replace("Offset          :", "Start           :", 1), 4, ""),
        (POOL.format(50, "maybe", 12), 4, ""),
    ],
)
def test_what_was_lost_is_told(
    command: Command, tmp_path: Path, text: str, line: int, lost: str
) -> None:
    """Table and JSON quote the line with its number, and nothing turns good or bad for it."""
    (tmp_path / "pasted.txt").write_text(text, encoding="utf-8")
    code, out, _ = command("audit", "--from", "pasted.txt")
    quoted = " ".join(text.splitlines()[line - 1].split())
    assert code == 4 and f"pasted.txt, line {line}" in out and quoted in " ".join(out.split())
    content = json.loads(command("audit", "--from", "pasted.txt", "--json")[1])
    assert [each["where"] for each in content["unread"]] == [f"pasted.txt, line {line}"]
    assert {each["severity"] for each in content["findings"]} <= {"green", "unseen"}
    assert not any(each["where"] == lost for each in content["findings"] if lost)


def test_the_same_twice_and_differently() -> None:
    """Two values of one property are no value; the same value twice is one."""
    twice = DISK_LISTS.replace("MediaType ", "HealthStatus      : Healthy\nMediaType ", 1)
    assert looked("", twice).to_dict()["unread"] == []
    contrary = twice.replace("Healthy\nMediaType", "Unhealthy\nMediaType")
    found = looked("", contrary)
    assert any("stands twice" in each.what for each in found.findings)
    assert judged(found)[("wear", Severity.RED)] == judged(found)[("wear", Severity.GREEN)] == 0
