"""`ssdlab health` and which drive is which: labels, history, silent drives, exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.real.smart.reading import read_report
from test_health import SMART, drive, nvme
from test_health_command import crucial, saved

Command = Callable[..., tuple[int, str, str]]
ASLEEP = {
    "smartctl": {
        "exit_status": 2,
        "messages": [{"string": "Device is in STANDBY mode, exit(2)", "severity": "information"}],
    },
    "device": {"name": "/dev/sdb", "type": "sat", "protocol": "ATA"},
}
MUTE = {
    "smartctl": {"exit_status": 2, "messages": [{"string": "/dev/sdc: Permission denied"}]},
    "device": {"name": "/dev/sdc", "type": "sat"},
}
VIRTUAL = {
    "smartctl": {"exit_status": 4},
    "device": {"name": "/dev/sdd", "type": "scsi", "protocol": "SCSI"},
    "scsi_model_name": "QEMU QEMU HARDDISK",
    "smart_support": {"available": False},
}


def behind(slot: int, serial: str = "", device: str = "/dev/bus/0") -> dict[str, Any]:
    """Make the report of a drive behind a RAID controller."""
    return crucial(slot) | {
        "device": {"name": device, "type": f"sat+megaraid,{slot}", "protocol": "ATA"},
        "serial_number": serial,
    }


def smartctl_of(place: Path, answers: dict[str, Any]) -> str:
    """Write a program that answers by the last of its arguments, as smartctl's JSON."""
    for number, answer in enumerate(answers.values()):
        saved(place / f"answer{number}.json", answer)
    cases = "".join(
        f'*"{words}") cat {place}/answer{number}.json;;' for number, words in enumerate(answers)
    )
    program = place / "smartctl"
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\n', encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def read_files(command: Command, place: Path, contents: list[Any], *options: str) -> Any:
    words = []
    for number, content in enumerate(contents):
        words += ["--from", saved(place / f"{number}.json", content)]
    return command("health", *words, *options)


def series_of(text: str) -> list[str]:
    return [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]


def test_drives_behind_one_device(command: Command, tmp_path: Path) -> None:
    """Disks behind /dev/bus/0 have labels, data and histories of their own, were it no serial."""
    slots = [behind(number) for number in (0, 6, 12)]
    _, out, _ = read_files(command, tmp_path, slots, "--format", "prometheus", "--history", "h")
    series = series_of(out)
    assert len(series) == len(set(series))
    assert all('device="bus/0"' in each for each in series)
    assert any('interface="sat+megaraid,6"' in each for each in series)
    _, out, _ = read_files(command, tmp_path, slots, "--format", "nagios")
    assert re.findall(r"'(\S+)_life_used'", out) == [
        "bus/0_megaraid,0",
        "bus/0_megaraid,6",
        "bus/0_megaraid,12",
    ]
    kept = [json.loads(line) for line in (tmp_path / "h").read_text("utf-8").splitlines()]
    assert len({each["drive"] for each in kept}) == 3


def test_labels_tell_every_drive_apart(command: Command, tmp_path: Path) -> None:
    """No two series are alike, were device, model and serial; and no drive is dropped."""
    contents = [
        crucial(1),
        crucial(2),
        crucial(3) | {"serial_number": "A"},
        crucial(3) | {"serial_number": "A", "model_name": "CT1000MX500SSD1"},
        nvme(percentage_used=1),
        nvme(percentage_used=1),
        behind(1, "S1"),
        behind(1, "S1", "/dev/sda"),
    ]
    _, out, _ = read_files(command, tmp_path, contents, "--format", "prometheus")
    series = series_of(out)
    assert len(series) == len(set(series))
    assert sum(each.startswith("smartctl_device_percentage_used") for each in series) == 8
    _, out, _ = read_files(command, tmp_path, contents, "--format", "nagios")
    data = re.findall(r"'(\S+)_life_used'", out)
    assert len(data) == len(set(data)) == 8
    assert {"bus/0_megaraid,1_S1", "sda_megaraid,1_S1"} <= set(data)


def test_labels_go_with_the_drive(command: Command, tmp_path: Path) -> None:
    """A drive that comes back under another name keeps its performance data's name."""
    for name in ("/dev/sda", "/dev/sdq"):
        content = crucial(5) | {"serial_number": "2031E4A1", "device": {"name": name}}
        file = saved(tmp_path / "d.json", content)
        _, out, _ = command("health", "--from", file, "--format", "nagios")
        assert "'2031E4A1_life_used'=5%" in out
        _, out, _ = command("health", "--from", file, "--format", "prometheus")
        assert 'model_name="CT500MX500SSD1",serial_number="2031E4A1"' in out


def test_a_drive_that_is_named_twice(command: Command, tmp_path: Path) -> None:
    """A file or device that is named twice is examined once."""
    file = saved(tmp_path / "d.json", crucial(5))
    _, out, _ = command("health", "--from", file, "--from", file, "--json")
    assert len(json.loads(out)) == 1
    smartctl = smartctl_of(tmp_path, {"/dev/null": crucial(4)})
    _, out, _ = command("health", "/dev/null", "/dev/null", "--smartctl", smartctl, "--json")
    assert len(json.loads(out)) == 1


def test_the_slot_as_it_was_asked(command: Command, tmp_path: Path) -> None:
    """The slot is kept where the report does not repeat it, and of a drive that fails."""
    answers = {"-d megaraid,3": crucial(3), "-d megaraid,4": MUTE}
    smartctl = smartctl_of(tmp_path, answers)
    for slot, code in (("megaraid,3", 0), ("megaraid,4", 4)):
        found, out, _ = command(
            "health", "/dev/null", "-d", slot, "--smartctl", smartctl, "--format", "prometheus"
        )
        assert found == code
        assert f'interface="{slot}"' in out


@pytest.mark.parametrize("form", ["table", "json", "nagios", "prometheus"])
def test_no_smartctl_and_no_drive(command: Command, tmp_path: Path, form: str) -> None:
    """Where nothing can be asked nothing is judged, in every format, with the reason."""
    empty = smartctl_of(tmp_path, {"--json": {"devices": []}})
    garbage = tmp_path / "garbage"
    garbage.write_text("#!/bin/sh\necho '{'\n", encoding="utf-8")
    garbage.chmod(0o755)
    for program, reason in (
        ("no-such-program", "no-such-program was not found"),
        (empty, "smartctl finds no drive here"),
        (str(garbage), "not whole JSON"),
    ):
        code, out, err = command("health", "--smartctl", program, "--format", form)
        assert code == (3 if form == "nagios" else 4)
        assert reason in (out if form == "nagios" else err)
        if form == "json":
            # JSON is whole, and says why there is nothing in it.
            (told,) = json.loads(out)
            assert told["severity"] == "UNKNOWN" and reason in told["findings"][0]["why"]
        assert form in ("nagios", "json") or out == ""


def test_a_missing_smartctl_hides_no_file(command: Command, tmp_path: Path) -> None:
    """A file that was read is examined although the drive beside it cannot be asked."""
    file = saved(tmp_path / "d.json", crucial(96))
    code, out, _ = command("health", "/dev/null", "--from", file, "--smartctl", "no-such-program")
    assert code == 3
    assert "96 %" in out and "no-such-program was not found" in out


def test_a_device_that_is_not_there(command: Command, tmp_path: Path) -> None:
    """A name that is none is unknown; the drive beside it is examined all the same."""
    smartctl = smartctl_of(tmp_path, {"/dev/null": crucial(4)})
    code, out, _ = command("health", "/dev/null", "/dev/none", "--smartctl", smartctl)
    assert code == 4
    assert "4 %" in out and "not looked at, because there is no such device" in out


def test_nothing_to_check(command: Command, tmp_path: Path) -> None:
    """Drives that sleep or are virtual are no alarm, are counted, and are no all-clear alone."""
    quiet = [ASLEEP, VIRTUAL]
    for form, expected in (("table", 4), ("json", 4), ("prometheus", 4), ("nagios", 3)):
        code, out, _ = read_files(command, tmp_path, quiet, "--format", form)
        assert code == expected
        assert form != "prometheus" or "severity" not in out
    _, out, _ = read_files(command, tmp_path, quiet)
    assert "not looked at, because it sleeps and is left asleep" in out
    assert "2 drives: 0 look right, 0 look wrong, 2 not looked at" in out
    code, out, _ = read_files(command, tmp_path, [crucial(3), *quiet], "--format", "nagios")
    assert code == 0
    assert out.startswith("OK - /dev/sdb: not looked at, because it sleeps")


def test_a_mute_drive_is_unknown(command: Command, tmp_path: Path) -> None:
    """A drive that tells nothing is unknown, with what smartctl said and what to do."""
    code, out, _ = read_files(command, tmp_path, [MUTE])
    words = " ".join(out.split())
    assert code == 4
    assert "not looked at, because Permission denied; run as root" in words
    raid_volume = {"device": {"name": "/dev/sda"}, "scsi_model_name": "DELL PERC H730P"}
    code, out, _ = read_files(command, tmp_path, [raid_volume])
    assert code == 4 and "-d megaraid,6" in out


def test_smart_that_is_switched_off(command: Command, tmp_path: Path) -> None:
    """A drive whose SMART is off is unknown, with how to switch it on."""
    off = {"device": {"name": "/dev/sda"}, "model_name": "ST1", "smart_support": {"enabled": False}}
    code, out, _ = read_files(command, tmp_path, [off])
    assert code == 4
    assert "its SMART is switched off; smartctl -s on /dev/sda switches it on" in out


def test_a_raid_volume_beside_its_disks(command: Command, tmp_path: Path) -> None:
    """A RAID volume is unknown alone, and no alarm where disks are asked by slot."""
    volume = {
        "device": {"name": "/dev/sda", "type": "scsi"},
        "scsi_model_name": "DELL PERC H730P",
        "smart_support": {"available": False},
    }
    assert read_files(command, tmp_path, [volume])[0] == 4
    code, out, _ = read_files(command, tmp_path, [volume, behind(6, "S1")])
    assert code == 0
    assert "not looked at, because it has no SMART, as a RAID volume" in out


def test_a_drive_that_sleeps_is_not_gone(command: Command, tmp_path: Path) -> None:
    """A drive of the history that sleeps or does not answer is not taken for one that is gone."""
    awake = crucial(3) | {"device": {"name": "/dev/sdb"}, "serial_number": "A"}
    other = crucial(3) | {"device": {"name": "/dev/sdz"}, "serial_number": "B"}
    history = ("--history", str(tmp_path / "h"), "--format", "nagios")
    read_files(command, tmp_path, [awake, other], *history)
    for quiet in (ASLEEP, MUTE | {"device": {"name": "/dev/sdb"}}):
        code, out, _ = read_files(command, tmp_path, [quiet, other], *history)
        assert code == (0 if quiet is ASLEEP else 3)
        assert "was there before" not in out
    # One that was last seen elsewhere is missed all the same.
    code, out, _ = read_files(command, tmp_path, [ASLEEP], *history)
    assert code == 2
    assert "CT500MX500SSD1 B: the drive was there before and is not now" in out


def test_drives_that_were_not_asked_are_not_missed(command: Command, tmp_path: Path) -> None:
    """With a device named, only the drive that was there before it is missed."""
    known = crucial(3) | {"device": {"name": "/dev/null"}, "serial_number": "A"}
    other = crucial(3) | {"device": {"name": "/dev/sdz"}, "serial_number": "B"}
    read_files(command, tmp_path, [known, other], "--history", str(tmp_path / "h"))
    words = ("/dev/null", "--history", str(tmp_path / "h"), "--smartctl")
    smartctl = smartctl_of(tmp_path, {"/dev/null": known})
    assert command("health", *words, smartctl)[0] == 0
    smartctl = smartctl_of(tmp_path, {"/dev/null": known | {"serial_number": "C"}})
    code, out, _ = command("health", *words, smartctl)
    assert code == 3
    assert "CT500MX500SSD1 A" in out and "CT500MX500SSD1 B" not in out


def test_a_name_cannot_move_the_cursor(command: Command, tmp_path: Path) -> None:
    """Control characters in what a drive says of itself do not reach a terminal."""
    content = crucial(1) | {"model_name": "CT500\x1b[2J\nMX500", "serial_number": "\x07S"}
    for form in ("table", "nagios", "prometheus"):
        _, out, _ = read_files(command, tmp_path, [content], "--format", form)
        assert "\x1b" not in out and "\x07" not in out


def test_numbers_beyond_all_bounds(command: Command, tmp_path: Path) -> None:
    """Absurd numbers in any place give a line in every format, not a traceback."""
    gigantic = 10**38
    table = [
        {"id": key, "name": "n", "value": gigantic, "thresh": gigantic, "raw": {"value": gigantic}}
        for key in (5, 170, 197, 198, 202, 246, 247, 248)
    ]
    contents = [
        crucial(1) | {"ata_smart_attributes": {"table": table}, "rotation_rate": gigantic},
        nvme(
            percentage_used=gigantic,
            available_spare=gigantic,
            critical_warning=gigantic,
            data_units_written=str(gigantic),
            media_errors=gigantic,
        ),
        drive() | {"power_on_time": {"hours": gigantic}, "scsi_grown_defect_list": gigantic},
    ]
    for form in ("table", "json", "nagios", "prometheus"):
        code, out, _ = read_files(command, tmp_path, contents, "--format", form, "--history", "h")
        assert code == (2 if form == "nagios" else 3)
        assert out


def test_the_address_of_a_slot() -> None:
    """The words of a drive's address are those that smartctl takes."""
    for kind, address in (
        ("megaraid,6", "/dev/bus/0 -d megaraid,6"),
        ("sat+megaraid,6", "/dev/bus/0 -d megaraid,6"),
        ("sat,12", "/dev/bus/0"),
        ("scsi", "/dev/bus/0"),
        ("areca,1/2", "/dev/bus/0 -d areca,1/2"),
    ):
        content = {"smartctl": {}, "device": {"name": "/dev/bus/0", "type": kind}}
        assert read_report(content, "x").address == address


def test_recorded_drives_in_every_format(command: Command) -> None:
    """All recorded drives together make one valid document in each format."""
    files = [word for path in sorted(SMART.glob("*.json")) for word in ("--from", str(path))]
    drives = len(files) // 2
    assert len(json.loads(command("health", *files, "--json")[1])) == drives
    series = series_of(command("health", *files, "--format", "prometheus")[1])
    assert len(series) == len(set(series))
    _, out, _ = command("health", *files, "--format", "nagios")
    assert out.count("\n") == 1 and f"{drives} drives: " in out
