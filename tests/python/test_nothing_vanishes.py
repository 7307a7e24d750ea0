"""Nothing vanishes: what a reader of drive reports does not understand never leaves a drive OK."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from insertions import FIELD, VALUE, rows_inserted
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health import Examination, HealthSeverity, examine
from ssdlab.machine.health.baseline import read_baseline
from ssdlab.machine.health.history import read_history
from ssdlab.real.smart.reading import read_file, read_report
from test_health import RECORDED, SMART, load

pytestmark = pytest.mark.end_to_end

FORMS = SMART / "forms"
TEXTS = sorted(path.name for path in FORMS.glob("*.txt"))
NVME = [name for name in RECORDED if "nvme" in name]
Path_ = tuple[str | int, ...]


def judged(content: object) -> Examination:
    return examine(read_report(content, "drive.json"))


def at(content: Any, path: Path_) -> Any:
    for key in path:
        content = content[key]
    return content


def health_of(content: dict[str, Any]) -> dict[str, Any]:
    """Give the object that has the health log, in smartctl's or nvme-cli's form."""
    log = content.get("nvme_smart_health_information_log", content)
    assert isinstance(log, dict)
    return log


def other_forms(value: Any) -> Iterator[Any]:
    """Give a value as another program, version or mode might write it."""
    yield {"value": value}
    yield [value]
    yield None
    if isinstance(value, bool):
        yield from ("yes", "true", int(value))
    elif isinstance(value, int):
        yield from (f"{value} Celsius", f"{value} %", f"{value}.5", -value - 1, "n/a", True)
        yield 10**45


def renamed(content: dict[str, Any], key: str) -> dict[str, Any]:
    """Rename a key where it stands."""
    return {f"{name}2" if name == key else name: value for name, value in content.items()}


BAD_FIELDS = {
    "critical_warning": (4, 8, 1, 64),
    "available_spare": (3,),
    "percentage_used": (99, 255),
    "media_errors": (50,),
}
SPELLING = {"available_spare": "avail_spare", "percentage_used": "percent_used"}


@pytest.mark.parametrize("name", NVME)
def test_a_health_log_in_another_form(name: str) -> None:
    """Whatever form the deciding field of a failing NVMe drive has, the drive is not OK."""
    for field, values in BAD_FIELDS.items():
        for value in values:
            content = load(name)
            log = health_of(content)
            key = field if field in log else SPELLING.get(field, field)
            log[key] = value
            content.pop("smart_status", None)
            assert judged(content).severity is not HealthSeverity.OK
            for form in other_forms(value):
                changed = deepcopy(content)
                health_of(changed)[key] = form
                assert judged(changed).severity is not HealthSeverity.OK, (field, form)
            changed = deepcopy(content)
            log = health_of(changed)
            new = renamed(log, key)
            log.clear()
            log.update(new)
            assert judged(changed).severity is not HealthSeverity.OK, field


def test_numbers_that_are_texts() -> None:
    """Digits, hexadecimal and groups of thousands are read rightly, whatever wrote them."""
    for form in ("8", "0x08", "0X8", 8.0):
        content = load("nvme-smartctl-7.5")
        health_of(content)["critical_warning"] = form
        content.pop("smart_status")
        assert judged(content).findings[0].what == "media is read-only"
    content = load("nvme-smartctl-7.5")
    health_of(content)["media_errors"] = "1,234"
    assert any(each.what == "NVMe media errors: 1234" for each in judged(content).findings)


@pytest.mark.parametrize("name", RECORDED)
def test_a_verdict_in_another_form(name: str) -> None:
    """A drive that reports failure in any form, or under another name, is not OK."""
    content = load(name)
    if "smart_status" not in content:
        content["smart_status"] = {}
    content["smart_status"] = {"passed": False}
    for form in ("no", 0, None, {"value": False}, [False], "false"):
        assert (
            judged(content | {"smart_status": {"passed": form}}).severity is not HealthSeverity.OK
        )
    assert judged(content | {"smart_status": {"pass": False}}).severity is not HealthSeverity.OK
    assert judged(content | {"smart_status": False}).severity is not HealthSeverity.OK
    assert judged(renamed(content, "smart_status")).severity is not HealthSeverity.OK


@pytest.mark.parametrize("name", [name for name in RECORDED if "nvme" not in name])
def test_an_attribute_in_another_form(name: str) -> None:
    """A pre-fail attribute that fails is not OK whatever form one of its fields has."""
    content = load(name)
    table = content.get("ata_smart_attributes", {}).get("table", [])
    for place, row in enumerate(table):
        failing = {**row, "value": 5, "thresh": 10, "flags": {"prefailure": True}}
        changed = deepcopy(content)
        rows = changed["ata_smart_attributes"]["table"]
        rows[place] = failing
        assert judged(changed).severity is HealthSeverity.CRITICAL
        for key in ("id", "value", "thresh"):
            for form in other_forms(failing[key]):
                rows[place] = {**failing, key: form}
                assert judged(changed).severity is not HealthSeverity.OK, (row["id"], key, form)
            rows[place] = renamed(failing, key)
            assert judged(changed).severity is not HealthSeverity.OK, (row["id"], key)
        rows[place] = [failing]
        assert judged(changed).severity is not HealthSeverity.OK


DECISIVE = {
    "smart_status",
    "nvme_smart_health_information_log",
    "ata_smart_attributes",
    "ata_smart_self_test_log",
    "ata_pending_defects_log",
    "nvme_self_test_log",
    "scsi_error_counter_log",
    "scsi_self_test_0",
}


def objects(content: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Give the places of all objects on which a verdict hangs."""
    if isinstance(content, dict):
        yield path
        for key, value in content.items():
            if (path or key in DECISIVE) and key != "flags":
                yield from objects(value, (*path, key))
    elif isinstance(content, list):
        for place, value in enumerate(content):
            yield from objects(value, (*path, place))


@pytest.mark.parametrize("name", RECORDED)
def test_an_unknown_field_is_quoted(name: str) -> None:
    """A field that nobody knows, in any object, is quoted with its place and leaves health open."""
    content = load(name)
    for path in objects(content):
        changed = deepcopy(content)
        at(changed, path)["drive_is_dying"] = "soon"
        each = judged(changed)
        said = [finding.sentence for finding in each.findings]
        assert each.severity is not HealthSeverity.OK, path
        assert any("drive_is_dying" in sentence and "soon" in sentence for sentence in said), path
        unread = each.to_dict()["unread"]
        assert any(entry["where"].endswith("drive_is_dying") for entry in unread)


def test_another_format_is_not_judged() -> None:
    """smartctl's JSON of another format is not taken for the known one."""
    content = load("nvme-smartctl-7.5") | {"json_format_version": [2, 0]}
    assert judged(content).severity is HealthSeverity.UNKNOWN
    assert judged(content | {"json_format_version": [1, 3]}).severity is HealthSeverity.OK
    assert judged(content | {"json_format_version": "1.0"}).severity is HealthSeverity.UNKNOWN


@pytest.mark.parametrize("name", RECORDED)
def test_json_that_is_cut(name: str) -> None:
    """A report cut anywhere is refused with its name and the line where it breaks off."""
    whole = (SMART / f"{name}.json").read_bytes().rstrip()
    for cut in random.Random(name).sample(range(1, len(whole)), 40):
        with pytest.raises(SsdlabError, match=r"d\.json: line \d+: not whole JSON"):
            read_file(whole[:cut], "d.json")


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_understood_whole(name: str) -> None:
    """No line of a recorded text is foreign to its reader, and it says what it read."""
    report = read_file((FORMS / name).read_bytes(), name)
    assert report.unread == ()
    program, version = re.match(r"(smartctl|nvme-cli)-([\d.]+)-", name).groups()  # type: ignore[union-attr]
    assert report.form == ("nvme-cli text" if program == "nvme-cli" else f"smartctl {version} text")


@pytest.mark.parametrize("name", TEXTS)
def test_an_unknown_line_is_quoted(name: str) -> None:
    """A line that nobody knows, at every place of a text, is quoted and leaves health open."""
    lines = (FORMS / name).read_text(encoding="utf-8").splitlines()
    for line in ("Frobnication Level:                 12", "  9 x", "Remaining Writes   0"):
        for place in range(len(lines) + 1):
            text = "\n".join([*lines[:place], line, *lines[place:]])
            each = examine(read_file(text.encode(), name))
            assert each.severity is not HealthSeverity.OK, place
            quoted = [entry["quoted"].strip() for entry in each.to_dict()["unread"]]
            assert line.strip() in quoted, (place, line)


def changed_lines(line: str) -> Iterator[str]:
    """Give a row with another unit, type or sign in its number."""
    for number in re.finditer(r"(?<![\w.])\d[\d,]*%?", line):
        head, tail = line[: number.start()], line[number.end() :]
        yield f"{head}-{number[0]}{tail}"
        yield f"{head}{number[0].rstrip('%')} of many{tail}"
        yield f"{head}?{tail}"


@pytest.mark.parametrize("name", ["smartctl-7.5-nvme.txt", "nvme-cli-2.3-smart-log.txt"])
def test_a_row_of_the_log_in_another_unit(name: str) -> None:
    """A deciding row of a text with another unit, sign or type is not OK, and is quoted."""
    lines = (FORMS / name).read_text(encoding="utf-8").splitlines()
    decisive = re.compile(
        r"(Critical Warning|critical_warning|Available Spare|available_spare|Percentage Used"
        r"|percentage_used|Media and Data|media_errors)",
    )
    places = [place for place, line in enumerate(lines) if decisive.match(line)]
    assert len(places) == 5
    for place in places:
        head, _, value = lines[place].partition(":")
        for row in (*changed_lines(f"x:{value}"), "x:", "x: yes"):
            text = "\n".join([*lines[:place], f"{head}:{row[2:]}", *lines[place + 1 :]])
            each = examine(read_file(text.encode(), name))
            assert each.severity is not HealthSeverity.OK, row
        text = "\n".join([*lines[:place], f"New {lines[place]}", *lines[place + 1 :]])
        assert examine(read_file(text.encode(), name)).severity is not HealthSeverity.OK


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_is_cut(name: str) -> None:
    """A text cut before what decides is not OK, and never ends in another error."""
    text = (FORMS / name).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    decided = [
        place
        for place, line in enumerate(lines)
        if re.match(
            r"(Media and|media_err|SMART .*Error Log Version|General Purpose Log|write:)", line
        )
    ]
    for end in range(1, decided[0] if decided else len(lines)):
        try:
            each = examine(read_file("".join(lines[:end]).encode(), name))
        except SsdlabError:
            continue
        assert each.severity is not HealthSeverity.OK, lines[end - 1]


def test_a_text_and_its_json_agree() -> None:
    """The same drive as text of smartctl and as JSON gives the same figures and verdicts."""
    text = examine(read_file((FORMS / "smartctl-7.5-nvme.txt").read_bytes(), "n.txt"))
    log = {
        "critical_warning": 0,
        "temperature": 43,
        "available_spare": 100,
        "available_spare_threshold": 10,
        "percentage_used": 3,
        "data_units_read": 19683018,
        "data_units_written": 64768925,
        "media_errors": 0,
        "power_on_hours": 6726,
    }
    content = {
        "smartctl": {"version": [7, 5], "exit_status": 0},
        "device": {"name": "n.txt", "protocol": "NVMe"},
        "model_name": "WD_BLACK SN770 2TB",
        "serial_number": "S000000000001",
        "firmware_version": "731120WD",
        "smart_status": {"passed": True},
        "power_on_time": {"hours": 6726},
        "user_capacity": {"bytes": 2000398934016},
        "nvme_smart_health_information_log": log,
        "nvme_self_test_log": {"table": [{"self_test_result": {"value": 0}}]},
    }
    told, same = text.to_dict(), judged(content).to_dict()
    assert told.pop("read") == "smartctl 7.5 text" and same.pop("read") == "smartctl 7.5 JSON"
    for each in (told, same):
        each.pop("drive"), each.pop("device")
    assert told == same


def test_random_changes_are_never_an_error() -> None:
    """Drawn changes at any place give a verdict or a refusal, never another error."""
    stream = random.Random(36)
    for number in range(400):
        content = load(RECORDED[number % len(RECORDED)])
        _change(content, stream)
        with_error = json.dumps(content).encode()
        try:
            examine(read_file(with_error, "x")).to_dict()
        except SsdlabError as error:
            assert str(error).startswith("x: ")
    for name in TEXTS:
        text = (FORMS / name).read_bytes()
        for _ in range(60):
            place = stream.randrange(len(text))
            broken = text[:place] + stream.randbytes(stream.randrange(1, 9)) + text[place + 3 :]
            try:
                examine(read_file(broken, "x")).to_dict()
            except SsdlabError as error:
                assert str(error).startswith("x: ")


def _change(content: Any, stream: random.Random) -> None:
    while isinstance(content, (dict, list)) and content:
        key = stream.choice(list(content) if isinstance(content, dict) else range(len(content)))
        value = content[key]
        if stream.random() < 0.3 or not isinstance(value, (dict, list)):
            content[key] = stream.choice([*other_forms(value), "\0", {}, [], 1e308])
            return
        content = value


Command = Callable[..., tuple[int, str, str]]


def test_what_is_not_understood_reaches_every_form(command: Command, tmp_path: Path) -> None:
    """Table, JSON, Nagios' and Prometheus' form are not OK, and say or count it."""
    content = load("nvme-smartctl-7.5")
    health_of(content)["critical_warning"] = {"bits": 8}
    file = tmp_path / "d.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    code, out, _ = command("health", "--from", str(file))
    assert code == 4 and '“{"bits": 8}”' in " ".join(out.split())
    code, out, _ = command("health", "--from", str(file), "--json")
    (told,) = json.loads(out)
    assert code == 4 and told["unread"][0]["quoted"] == '{"bits": 8}'
    code, out, _ = command("health", "--from", str(file), "--format", "nagios")
    assert code == 3 and out.startswith("UNKNOWN - ") and '{"bits": 8}' in out
    code, out, _ = command("health", "--from", str(file), "--format", "prometheus")
    assert code == 4 and re.search(r"ssdlab_device_severity\{[^}]*\} 3", out)


HISTORY = "".join(
    json.dumps(
        {
            "drive": drive,
            "time_s": 86_400.0 * day,
            "used_percent": float(day),
            "host_written_bytes": None,
            "address": "/dev/sda",
        }
    )
    + "\n"
    for drive, day in (("X 1", 1), ("X 1", 2), ("Y 2", 2))
)


def refused(read: Callable[[], object], *words: str) -> None:
    """Assert that it is refused in these words, with a remedy."""
    with pytest.raises(SsdlabError) as caught:
        read()
    said = str(caught.value)
    assert "\n" in said and all(word in said for word in words), said


def test_a_foreign_line_of_a_history(tmp_path: Path) -> None:
    """A line or a field that nobody knows, and a value in another form, are refused by their line.

    So nothing is lost when the file is written anew.
    """
    file = tmp_path / "h.jsonl"
    file.write_text(HISTORY, encoding="utf-8")
    assert len(read_history(file)) == 3
    rows = ("frobnication", "[1]", '{"drive": "X 1"}', '{"time_s": 7}', "7")
    changed = [(text, row) for text, row in rows_inserted(HISTORY, rows)]
    lines = HISTORY.splitlines()
    for place, line in enumerate(lines):
        entry = json.loads(line)
        others = [{**entry, FIELD: VALUE}, {**entry, "drive": 7}, {**entry, "address": None}]
        others += [{**entry, key: form} for key in NUMBERS for form in ("7 %", [7], True, "7")]
        others.append({**entry, "time_s": None})
        changed += [("\n".join([*lines[:place], json.dumps(each)]), "") for each in others]
        twice = line.replace("{", '{"used_percent": 99.0, ', 1)
        changed.append(("\n".join([*lines[:place], twice]), twice))
    for text, row in changed:
        file.write_text(text + "\n", encoding="utf-8")
        place = text.splitlines().index(row) + 1 if row else len(text.splitlines())
        refused(lambda: read_history(file), str(file), f"line {place} ")


NUMBERS = ("time_s", "used_percent", "host_written_bytes")


def test_a_foreign_entry_of_a_baseline(command: Command, tmp_path: Path) -> None:
    """A row, a value in another form and a drive there twice are refused; a name is told."""
    file = tmp_path / "known.json"
    known = {"X 1": {"NVMe media errors": 3, "failed self-tests": 1}, "Y 2": {"a": 1}}
    text = json.dumps(known, indent=1)
    file.write_text(text, encoding="utf-8")
    assert read_baseline(str(file)) == known
    strange = [each for each, _ in rows_inserted(text, ("frobnication", '"x": "7 %",', "7"))]
    for form in ("3 of many", 3.5, None, True, [3], {"value": 3}, -1):
        strange.append(json.dumps({**known, "X 1": {"NVMe media errors": form}}))
    strange += [text.replace("Y 2", "X 1"), text.replace("failed self-tests", "NVMe media errors")]
    for content in strange:
        file.write_text(content, encoding="utf-8")
        refused(lambda: read_baseline(str(file)), str(file))
    report = SMART / "nvme-smartctl-7.5.json"
    identity = read_file(report.read_bytes(), "x").identity
    words = ("health", "--from", str(report), "--baseline", str(file))
    for name, expected in (("NVMe media errors", 0), (FIELD, 4)):
        file.write_text(json.dumps({identity: {name: 7}}), encoding="utf-8")
        code, out, _ = command(*words)
        assert code == expected and (expected == 0 or FIELD in out), out
