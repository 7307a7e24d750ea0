"""Nothing vanishes in the audit of what was sent: rows, values and keys that nobody knows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builders import adaptec, behind, generation, patrolled, smart_array, with_queue
from insertions import FIELD, VALUE, fields_inserted, rows_inserted
from layouts import LAYOUTS
from layouts_host import pool
from machine import MadeMachine
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import Audit, Severity, audit
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.texts import audit_texts
from ssdlab.real.system import open_root
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
NOT_NEEDED = ("links", "running", "samples")
"""Parts without which a capture is one all the same."""
FREE = "journalctl"
"""The kernel's log may say anything; what of it counts are the words that are looked for."""
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


def fine() -> MadeMachine:
    """Give the one layout in which everything is looked at, and good."""
    found = next(each for each in LAYOUTS if each.name == "drive with half of its life used")
    return found.build()


def sent(tmp_path: Path, content: object) -> Audit:
    """Audit a capture with such content."""
    place = tmp_path / "m.json"
    place.write_text(json.dumps(content), encoding="utf-8")
    return audit(open_root(str(place)))


def test_a_capture_is_understood_whole(tmp_path: Path) -> None:
    """A capture of each layout has nothing that is foreign, whichever place is asked about."""
    for layout in LAYOUTS:
        made = layout.build().system()
        found, there = sent(tmp_path, json.loads(capture(made))), audit(made)
        assert found.to_dict()["unread"] == there.to_dict()["unread"], layout.name
        assert (found.exit_code, found.summary) == (there.exit_code, there.summary), layout.name
    content = json.loads(capture(fine().system()))
    (tmp_path / "m.json").write_text(json.dumps(content), encoding="utf-8")
    assert audit(open_root(str(tmp_path / "m.json")), ["/"]).to_dict()["unread"] == []


@pytest.mark.parametrize("places", [[], ["/"]])
def test_a_foreign_key_of_a_capture_is_quoted(tmp_path: Path, places: list[str]) -> None:
    """A key that nobody knows, in each object, is quoted with its place, and is not all right."""
    content = json.loads(capture(fine().system()))
    assert sent(tmp_path, content).exit_code == 0
    seen = 0
    for changed, path in fields_inserted(content):
        if path == ("gave_up",):
            continue
        (tmp_path / "m.json").write_text(json.dumps(changed), encoding="utf-8")
        found = audit(open_root(str(tmp_path / "m.json")), places)
        told = [each for each in found.findings if each.check == "capture"]
        assert found.exit_code == 4, path
        assert any(FIELD in f"{each.where} {each.what}" and VALUE in each.what for each in told)
        assert any(FIELD in str(each) for each in found.to_dict()["unread"])  # type: ignore[attr-defined]
        seen += 1
    assert seen > 6


@pytest.mark.parametrize("value", [7, ["x", 7], {"a": "b"}, 1.5, False])
def test_a_foreign_value_of_a_capture_is_quoted(tmp_path: Path, value: object) -> None:
    """Each answer in another type is quoted with its place, and is not all right."""
    content = json.loads(capture(fine().system()))
    for part in (name for name in content if content[name]):
        for key in content[part]:
            changed = json.loads(json.dumps(content))
            changed[part][key] = value
            found = sent(tmp_path, changed)
            where = [each.where for each in found.findings if each.check == "capture"]
            assert found.exit_code != 0 and f"{part}, {key}" in where, (part, key)
        found = sent(tmp_path, {**content, part: value} if part in NOT_NEEDED else content)
        if part in NOT_NEEDED and not isinstance(value, dict):
            assert found.exit_code != 0
            assert any(each.where == part for each in found.findings)


def test_a_foreign_row_of_an_answer_is_quoted(tmp_path: Path) -> None:
    """A row that nobody knows, in each file and each answer of a tool, is quoted or refused."""
    content = json.loads(capture(fine().system()))
    for part in ("files", "commands"):
        for key, text in content[part].items():
            if not text or key.startswith(FREE):
                continue
            for changed, row in rows_inserted(text, drawn_rows(key)[:4]):
                found = sent(tmp_path, {**content, part: {**content[part], key: changed.strip()}})
                assert found.exit_code != 0, (key, changed)
                word = max(re.findall(r"[A-Za-z]{6,}", row), key=len)
                said = " ".join(each.what + each.where for each in found.findings)
                assert word in said or key.startswith("smartctl"), (key, changed)


FREE_KEYS = ("/proc/cpuinfo", "arcconf", "ssacli")
"""Answers with keys of each version's own: a row with a key and a value is none that is foreign."""


def is_foreign(key: str, row: str) -> bool:
    """Whether what was asked has no such row: keys of its own, or rows that go on."""
    if key.startswith(FREE_KEYS):
        return ":" not in row
    return not (key.endswith("mdadm.conf") and row.startswith((" ", "\t")))


def test_a_foreign_row_of_every_layouts_answers_is_quoted(tmp_path: Path) -> None:
    """The same for what any layout tells: tables and states, swap, pools, arrays, controllers."""
    draw = random.Random(36)
    tried: Counter[str] = Counter()
    for layout in LAYOUTS:
        content = json.loads(capture(layout.build().system()))
        for part in ("files", "commands"):
            for key, text in content[part].items():
                kind = re.sub(r"(sd|nvme|md|dm-|vd|loop|bcache)[a-z0-9]*", "D", key)
                if not text or key.startswith(FREE) or tried[kind] == 2:
                    continue
                tried[kind] += 1
                rows = [row for row in drawn_rows(key)[:4] if is_foreign(key, row)]
                for changed, row in draw.sample([*rows_inserted(text, rows)], min(len(rows), 2)):
                    answers = {**content[part], key: changed.strip()}
                    found = sent(tmp_path, {**content, part: answers})
                    word = max(re.findall(r"[A-Za-z]{6,}", row), key=len)
                    said = " ".join(each.what + each.where for each in found.findings)
                    assert found.exit_code != 0, (layout.name, key, changed)
                    assert word in said or key.startswith("smartctl"), (layout.name, key, changed)
    assert len(tried) > 50


@pytest.mark.parametrize(
    ("check", "build"),
    [
        ("RAID controller", lambda: behind("NRWTX")),
        ("RAID controller", lambda: behind("")),
        ("RAID controller", lambda: with_queue(behind("RWBD", media="soon-7"), rotational="1")),
        ("RAID controller", lambda: adaptec("soon-7", "Disabled")),
        ("RAID controller", lambda: adaptec("Disabled", "Offline")),
        ("RAID controller", lambda: renamed(adaptec("Off", "Off"), "Write-cache setting")),
        ("RAID controller", lambda: smart_array("soon-7", "OK", "Idle")),
        ("RAID controller", lambda: smart_array("Disabled", "soon-7", "Idle")),
        ("RAID patrol", lambda: smart_array("Disabled", "OK", "soon-7")),
        ("RAID patrol", lambda: patrolled("soon-7", "Disabled")),
        ("RAID patrol", lambda: patrolled("Disabled", "soon-7")),
        ("RAID patrol", lambda: adaptec("Disabled", "Disabled", scrub="soon-7")),
        ("RAID generation", lambda: generation("soon-7")),
        ("devices", lambda: renamed(pool(12, "on"), "ashift\t")),
    ],
)
def test_a_controllers_word_that_nobody_knows(check: str, build: Callable[[], MadeMachine]) -> None:
    """A value or a key in another form than the tool's leaves the controller not judged."""
    found = [each for each in audit(build().system()).findings if each.check == check]
    assert any(each.severity is Severity.UNSEEN for each in found), found
    assert not any(each.severity is Severity.GREEN for each in found), found


def renamed(machine: MadeMachine, key: str) -> MadeMachine:
    """Give another name to a key in every answer that has it."""
    for command, answer in machine.commands.items():
        machine.commands[command] = answer and answer.replace(key, f"drive_is_{key}")
    return machine


def test_rows_of_mdadms_configuration() -> None:
    """A row of no keyword is quoted; keywords that are cut and rows that go on are none."""
    name = next(each for each in LAYOUTS if each.name.startswith("RAID 1")).build
    for row, is_known in (
        ("ARRAY /dev/md0 UUID=1\n  name=x:0", True),
        ("mailaddr root", True),
        ("Frobnication Level: 12", False),
    ):
        machine = name().file("/etc/mdadm/mdadm.conf", f"MAILADDR root\n{row}")
        said = [each for each in audit(machine.system()).findings if row in each.what]
        assert bool(said) != is_known, row
        assert all(each.where == "/etc/mdadm/mdadm.conf, line 2" for each in said)


def test_a_command_of_a_folder_that_nobody_runs(tmp_path: Path) -> None:
    """In a folder that is laid out like a root an answer to no question is quoted."""
    (tmp_path / "sys" / "block").mkdir(parents=True)
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "drive_is_dying").write_text("soon-7", encoding="utf-8")
    found = audit(open_root(str(tmp_path)))
    (told,) = (each for each in found.findings if each.check == "capture")
    assert told.where == "commands/drive_is_dying" and "soon-7" in told.what
