"""No alarm on a healthy drive, and no all-clear about what was not looked at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.health import examine
from ssdlab.machine.verdict import Verdict
from ssdlab.real.smart.meanings import family_of
from ssdlab.real.smart.reading import read_file
from ssdlab.real.smart.report import DriveReport
from test_health import SMART, drive, examined, load, nvme
from test_health_command import crucial, saved

Command = Callable[..., tuple[int, str, str]]


def disk(**attributes: tuple[int, int]) -> dict[str, Any]:
    """Make the report of a hard disk: attributes as ``a5=(value, raw)``."""
    return drive("HGST HUS724020ALE640", **attributes) | {
        "rotation_rate": 7200,
        "smart_status": {"passed": True},
    }


def named(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Give all attributes of a report a name."""
    for entry in content["ata_smart_attributes"]["table"]:
        entry["name"] = name
    return content


def said(content: dict[str, Any]) -> dict[str, str]:
    """Say of each finding how bad it is."""
    return {finding.what: str(finding.severity) for finding in examined(content).findings}


def test_a_healthy_hard_disk_is_ok(command: Command) -> None:
    """A disk has no life to use up: it is OK, and no life is missed."""
    names = ("hard-disk-healthy", "hard-disk-no-rotation-rate", "sas-disk-healthy")
    for name in names:
        each = examined(load(name))
        assert str(each.severity) == "OK"
        assert {finding.verdict for finding in each.findings} == {Verdict.RIGHT}
        code, out, _ = command("health", "--from", str(SMART / f"{name}.json"))
        assert code == 0
        assert "unknown" not in out


def test_an_ssd_of_unknown_life_is_no_hard_disk() -> None:
    """What does not rotate, or does not say so, is missed its life."""
    for content in (drive(), drive() | {"rotation_rate": 0}, drive(a3=(100, 9), a4=(100, 9))):
        assert str(examined(content).severity) == "UNKNOWN"
    moving = drive(a3=(99, 9), a4=(100, 12), a5=(100, 0), a7=(100, 0), a10=(100, 0))
    assert str(examined(moving).severity) == "OK"
    nytro = drive() | {"model_family": "Seagate Nytro WarpDrive and Nytro XP6000"}
    assert str(examined(nytro).severity) == "UNKNOWN"
    # A disk that tells nothing that can be judged is not OK for it.
    mute = examined(drive(a3=(99, 9), a4=(100, 12), a7=(100, 0), a10=(100, 0)))
    assert str(mute.severity) == "UNKNOWN" and not mute.nothing_to_check


@pytest.mark.parametrize(
    ("attributes", "state"),
    [
        ({"a5": (100, 0), "a197": (100, 0), "a198": (100, 0)}, "OK"),
        ({"a5": (100, 19)}, "OK"),
        ({"a5": (100, 20)}, "WARNING"),
        ({"a5": (100, 40)}, "CRITICAL"),
        ({"a197": (100, 1)}, "WARNING"),
        ({"a197": (100, 10)}, "CRITICAL"),
        ({"a198": (100, 1)}, "WARNING"),
        ({"a198": (100, 10)}, "CRITICAL"),
        ({"a5": (60, 800), "a197": (100, 64)}, "CRITICAL"),
    ],
)
def test_sectors_of_a_hard_disk(attributes: dict[str, tuple[int, int]], state: str) -> None:
    """Reallocated, pending and uncorrectable sectors are judged by their published limits."""
    assert str(examined(disk(**attributes)).severity) == state


def test_packed_sectors() -> None:
    """Where words are packed into the raw number, the count that smartctl reads is taken."""
    content = disk(a5=(100, (65535 << 16) | 3))
    content["ata_smart_attributes"]["table"][0]["raw"]["string"] = "3 (0 65535)"
    assert said(content)["reallocated sectors: 3"] == "OK"


def test_sectors_of_an_ssd() -> None:
    """An SSD's attributes are judged so under their usual names, and unless they mean else."""
    unknown = named(drive(a5=(100, 41)), "Reallocated_Sector_Ct")
    assert said(unknown)["reallocated sectors: 41"] == "CRITICAL"
    assert "reallocated sectors: 41" not in said(named(drive(a5=(100, 41)), "Unknown_Attribute"))
    # An MX500 raises 197 to 1 and takes it back: that is no alarm.
    flips = named(drive("CT500MX500SSD1", a202=(99, 1), a197=(100, 1)), "Current_Pending_Sector")
    assert str(examined(flips).severity) == "OK"


def test_sectors_can_be_acknowledged(command: Command, tmp_path: Path) -> None:
    """A known count of sectors is quiet until it grows."""
    file = saved(tmp_path / "d.json", disk(a5=(100, 25), a197=(100, 2)))
    options = ("health", "--from", file, "--baseline", "known.json")
    assert command(*options, "--acknowledge")[0] == 1
    assert command(*options)[0] == 0
    saved(tmp_path / "d.json", disk(a5=(100, 26), a197=(100, 2)))
    assert command(*options)[0] == 1


def test_sas_defects() -> None:
    """Grown and pending defects of a SAS disk are told, and judged."""
    base = load("sas-disk-healthy")
    assert said(base)["SCSI grown defects: 0"] == "OK"
    assert said(base | {"scsi_grown_defect_list": 20})["SCSI grown defects: 20"] == "WARNING"
    pending = said(base | {"scsi_pending_defects": {"count": 3}})
    assert pending["SCSI pending defects: 3"] == "WARNING"


def test_a_failed_command_alone_is_no_alarm(command: Command, tmp_path: Path) -> None:
    """Exit bit 2 is told once, with what smartctl said, and leaves the drive OK."""
    content = crucial(3)
    messages = [{"string": "Read Device Statistics failed"}, {"string": "SCT not supported"}]
    content["smartctl"] = {"exit_status": 4, "messages": messages}
    file = saved(tmp_path / "d.json", content)
    code, out, _ = command("health", "--from", file)
    assert code == 0
    assert " ".join(out.split()).count("part of the drive's report: not looked at, because") == 1
    assert "Read Device Statistics failed" in out
    code, out, _ = command("health", "--from", file, "--format", "nagios")
    assert code == 0
    # Verdict and firmware were not told by this drive either.
    assert "2 look right, 0 look wrong, 3 not looked at" in out


def test_a_drive_that_was_not_opened_is_unknown() -> None:
    """Exit bit 1 leaves a drive's health open, whatever else was told."""
    content = crucial(3) | {"smartctl": {"exit_status": 2}}
    assert str(examined(content).severity) == "UNKNOWN"


def test_spare_that_is_not_reported() -> None:
    """Spare 0 with threshold 0 is not reported; 0 with a threshold is used up."""
    virtual = examined(nvme(percentage_used=0, available_spare=0, available_spare_threshold=0))
    assert str(virtual.severity) == "OK"
    assert virtual.life and virtual.life.spare_percent is None
    left_out = [each.sentence for each in virtual.findings if not each.looked_at]
    assert left_out[0].startswith("spare blocks: not looked at, because the drive does not report")
    used_up = nvme(percentage_used=0, available_spare=0, available_spare_threshold=10)
    assert str(examined(used_up).severity) == "CRITICAL"
    # NVMe warns when spare falls below its threshold, not when it stands at it.
    at_it = nvme(percentage_used=0, available_spare=50, available_spare_threshold=50)
    assert str(examined(at_it).severity) == "OK"


def test_nvme_critical_warnings() -> None:
    """A warning whose bit nobody knows is told too; none at all looks right."""
    for warning, what, state in (
        (0, "no NVMe critical warning", "OK"),
        (2, "temperature is beyond its threshold", "WARNING"),
        (8, "media is read-only", "CRITICAL"),
        (1 << 6, "a warning whose meaning is not known here", "CRITICAL"),
    ):
        content = nvme(percentage_used=1, critical_warning=warning)
        assert said(content)[what] == state
        assert str(examined(content).severity) == state


def test_a_virtual_disk_with_smart() -> None:
    """A virtual disk that tells attributes has no life that could be missed."""
    content = drive("QEMU HARDDISK", a5=(100, 0)) | {"smart_status": {"passed": True}}
    assert str(examined(content).severity) == "OK"
    assert examined(content).findings[0].sentence.startswith("life used: not looked at, because it")


def test_a_threshold_of_age_is_no_failure() -> None:
    """Only thresholds that foretell a failure are critical."""
    content = disk(a190=(40, 60))
    entry = content["ata_smart_attributes"]["table"][0]
    entry |= {"thresh": 45, "flags": {"prefailure": False}}
    assert str(examined(content).severity) == "WARNING"
    entry |= {"flags": {"prefailure": True}}
    assert str(examined(content).severity) == "CRITICAL"


def test_a_failed_self_test() -> None:
    """A failed self-test is told, one that a later test took back is not."""
    content = disk(a5=(100, 0))
    content["ata_smart_self_test_log"] = {"extended": {"error_count_total": 2}}
    assert said(content)["failed self-tests: 2"] == "WARNING"
    content["ata_smart_self_test_log"]["extended"]["error_count_outdated"] = 2
    assert str(examined(content).severity) == "OK"


def test_all_three_verdicts_are_counted(command: Command) -> None:
    """Table, JSON and the monitors' formats count what looks right, wrong, and was not seen."""
    files = ("kingston-a400-unknown", "hard-disk-reallocated", "nvme-virtual")
    options = [word for name in files for word in ("--from", str(SMART / f"{name}.json"))]
    counts = [
        {verdict: 0 for verdict in ("right", "wrong", "not_looked_at")}
        | _counted(examined(load(name)).findings)
        for name in files
    ]
    total = {key: sum(each[key] for each in counts) for key in counts[0]}
    assert total["wrong"] == 1 and total["not_looked_at"] == 4
    phrase = f"3 drives: {total['right']} look right, 1 looks wrong, 4 not looked at"
    assert phrase in command("health", *options)[1]
    assert phrase in command("health", *options, "--format", "nagios")[1]
    told = json.loads(command("health", *options, "--json")[1])
    assert [each["checks"] for each in told] == counts
    assert {finding["verdict"] for each in told for finding in each["findings"]} == {
        "looks right",
        "looks wrong",
        "not looked at",
    }


def _counted(findings: Any) -> dict[str, int]:
    keys = [finding.verdict.key for finding in findings]
    return {key: keys.count(key) for key in keys}


@pytest.mark.parametrize(
    ("model", "firmware", "product", "family"),
    [
        ("SSDSC2BB480G7R", "", "", "Intel SATA with Dell's firmware"),
        ("SSDSC2KB038T8R", "", "DELL(tm)", "Intel SATA with Dell's firmware"),
        ("SSDSC2KB480GZR", "", "", "Intel SATA with Dell's firmware"),
        ("INTEL SSDSC2BB120G6R", "", "", "Intel SATA with Dell's firmware"),
        ("INTEL SSDSC2BB480G7", "", "", "Intel SATA ("),
        ("SSDSC2BA200G3", "", "", "Intel SATA ("),
        ("SOLIDIGM SSDSC2KB960GZ", "", "", "Intel SATA ("),
        ("SSDSC2KB038T8L 01PE328D7A09676LEN", "", "", None),
        ("MTFDDAK480TDS", "", "DELL(tm)", "Micron SATA with Dell's firmware"),
        ("MTFDDAK480TDS", "", "", "Micron and Crucial SATA"),
        ("SAMSUNG MZ7LH480HBHQ0D3", "", "DELL(tm)", "SATA with Dell's firmware, of other makers"),
        ("KINGSTON SKC400S37512G", "SAFM02.H", "", "Kingston with Phison"),
        ("KINGSTON SKC600512G", "S4500105", "", "Silicon Motion"),
        ("KINGSTON SA400S37240G", "SBFK71E0", "", "Kingston with Phison"),
        ("KINGSTON  SA400S37480G", "SBFK10D7", "", "Kingston with Phison"),
        ("KINGSTON SA400S37480G", "SAH20105", "", "Kingston A400 whose controller is not known"),
        ("KINGSTON SA400S37240G", "03070009", "", "Kingston A400 whose controller is not known"),
        ("KINGSTON SA400S37240G", "", "", "Kingston A400 whose controller is not known"),
    ],
)
def test_families(model: str, firmware: str, product: str, family: str | None) -> None:
    """Names that differ by a letter or a firmware belong to families of different meaning."""
    smartctl = "Phison Driven SSDs" if "SA400" in model else ""
    report = DriveReport("", model=model, firmware=firmware, product=product, family=smartctl)
    found = family_of(report)
    assert (found is None) == (family is None)
    assert found is None or found.name.startswith(family or "")


def test_233_of_dells_drives_is_not_life() -> None:
    """Of Dell's Intel drives 233 counts writes: its value says nothing about life."""
    content = drive("SSDSC2KB480G7R", a233=(12, 129493))
    each = examined(content)
    assert each.life and each.life.used_percent is None
    assert str(each.severity) == "UNKNOWN"


def test_an_a400_says_why_its_life_is_not_known() -> None:
    """Where the controller cannot be told, the reason is given in place of a figure."""
    content = drive("KINGSTON SA400S37480G", a231=(100, 1)) | {"firmware_version": "SAH20105"}
    reasons = [each.sentence for each in examined(content).findings if not each.looked_at]
    assert "life used: not looked at, because an A400 has Phison's controller" in reasons[0]


def test_a_report_that_only_identifies_the_drive_is_not_judged(command: Command) -> None:
    """`smartctl --info` says nothing of health: no OK, exit code 4, and the command to ask with."""
    report = SMART / "forms" / "smartctl-7.2-info-only.json"
    code, out, _ = command("health", "--from", str(report))
    said = " ".join(out.split())
    assert code == Exit.NOT_JUDGED
    assert "identifies the drive and says nothing about its health" in said
    assert "ask for all of it: smartctl -x -j /dev/nvme4" in said
    assert said.endswith("1 drive: 0 look right, 0 look wrong, 1 not looked at")


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        ({"a5": 36}, "the one attribute that has a threshold is above it"),
        ({"a5": 36, "a187": 10}, "all 2 attributes that have a threshold are above it"),
        ({}, None),
    ],
)
def test_attributes_above_their_thresholds(thresholds: dict[str, int], said: str | None) -> None:
    """Those that have one are counted, in the singular too; a threshold of 0 is none."""
    content = drive(a5=(100, 0), a9=(97, 1000), a187=(100, 0))
    for entry in content["ata_smart_attributes"]["table"]:
        entry["thresh"] = thresholds.get(entry["name"], 0)
    found = [each for each in examined(content).findings if "threshold" in each.what]
    assert [each.what for each in found] == ([] if said is None else [said])
    assert all(str(each.severity) == "OK" for each in found)


def test_no_finding_is_told_twice() -> None:
    """Of every recorded drive each check has one finding."""
    for path in sorted(SMART.glob("*.json")):
        what = [finding.what for finding in examined(load(path.stem)).findings]
        assert len(what) == len(set(what)), path.stem


def test_findings_need_nothing_but_python() -> None:
    """The audit, which runs on bare Python, can ask for findings."""
    missing = ("numpy", "scipy", "click", "rich", "ssdlab._engine")
    hidden = "".join(f"sys.modules[{name!r}] = None; " for name in missing)
    wanted = (
        "import ssdlab.machine.health.findings, ssdlab.real.smart.life, ssdlab.real.smart.report"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {hidden}{wanted}"], check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


_SELF_TESTS: dict[str, dict[str, Any]] = {
    "ATA, as the last one ended": {"ata_smart_data": {"self_test": {"status": {"value": 121}}}},
    "ATA, selective": {
        "ata_smart_selective_self_test_log": {
            "table": [
                {"status": {"value": 0x79, "string": "Completed_read_failure"}},
                {"status": {"value": 0x79, "string": "Not_testing"}},
            ]
        }
    },
    "ATA, the log without a count": {
        "ata_smart_self_test_log": {"standard": {"count": 1, "table": [{"status": {"value": 121}}]}}
    },
    "ATA, the shorter log": {
        "ata_smart_self_test_log": {
            "extended": {"count": 0},
            "standard": {"error_count_total": 1, "error_count_outdated": 0},
        }
    },
    "SCSI": {
        "scsi_self_test_0": {"result": {"value": 0, "string": "Completed"}},
        "scsi_self_test_1": {"result": {"value": 7, "string": "Failed in segment"}},
    },
    "NVMe": {
        "nvme_self_test_log": {
            "table": [{"self_test_result": {"value": 7}}, {"self_test_result": {"value": 2}}]
        }
    },
}


@pytest.mark.parametrize("log", _SELF_TESTS.values(), ids=list(_SELF_TESTS))
def test_a_failed_self_test_of_any_protocol_is_seen(log: dict[str, Any]) -> None:
    """One that failed warns; those that passed or were broken off do not."""
    assert str(examined(load("hard-disk-healthy")).severity) == "OK"
    found = said(load("hard-disk-healthy") | log)
    assert found["failed self-tests: 1"] == "WARNING"


def test_passed_and_aborted_self_tests_are_right() -> None:
    """SCSI's results 0 to 2 and 15, NVMe's 0 to 4, 8 and 9, ATA's 0 to 2 and 15 are no failures."""
    scsi = {
        f"scsi_self_test_{number}": {"result": {"value": each}}
        for number, each in enumerate((0, 1, 2, 15))
    }
    nvme_tests = [{"self_test_result": {"value": each}} for each in (0, 1, 2, 3, 4, 8, 9)]
    ata = [{"status": {"value": each}} for each in (0, 0x19, 0x29, 0xF5)]
    for log in (
        scsi,
        {"nvme_self_test_log": {"table": nvme_tests}},
        {"ata_smart_self_test_log": {"standard": {"count": 4, "table": ata}}},
    ):
        assert said(load("hard-disk-healthy") | log)["failed self-tests: 0"] == "OK"


def test_errors_that_only_one_place_counts_are_seen() -> None:
    """SCSI's verifications, ATA's log of pending defects, and its device statistics."""
    verified = {"scsi_error_counter_log": {"verify": {"total_uncorrected_errors": 212}}}
    pending = {"ata_pending_defects_log": {"size": 5, "count": 3}}
    rows = [
        {"name": "Number of Reported Uncorrectable Errors", "value": 345},
        {"name": "Number of Reallocated Logical Sectors", "value": 40},
        {"name": "Number of Realloc. Candidate Logical Sectors", "value": 1},
    ]
    statistics = {"ata_device_statistics": {"pages": [{"table": rows}]}}
    assert said(disk() | verified)["SCSI uncorrected errors: 212"] == "CRITICAL"
    assert said(disk() | pending)["ATA pending defects: 3"] == "WARNING"
    told = said(disk() | statistics)
    assert told["uncorrectable errors reported: 345"] == "WARNING"
    assert told["reallocated sectors: 40"] == "CRITICAL"
    assert told["pending sectors: 1"] == "WARNING"
    # What an attribute counts is not counted twice.
    attribute = said(disk(a5=(100, 40), a197=(100, 1)) | statistics)
    assert [what for what in attribute if "sectors" in what] == [
        "reallocated sectors: 40",
        "pending sectors: 1",
    ]


_WORSE_TEXTS = (
    (
        "smartctl-7.5-nvme.txt",
        " 0   Short             Completed without error   ",
        " 0   Extended          Completed: failed segments",
        "failed self-tests: 1",
    ),
    (
        "smartctl-7.3-sas-disk.txt",
        "# 1  Background short  Completed                   -",
        "# 1  Background long   Failed in segment -->       3",
        "failed self-tests: 1",
    ),
    (
        "smartctl-7.3-sas-disk.txt",
        "12345678          0       9876.543           0",
        "12345678          0       9876.543         212",
        "SCSI uncorrected errors: 212",
    ),
    (
        "smartctl-7.4-sata-ssd.txt",
        "Self-test execution status:      (   0)",
        "Self-test execution status:      ( 121)",
        "failed self-tests: 1",
    ),
    (
        "smartctl-7.4-sata-ssd.txt",
        "    1        0        0  Not_testing",
        "    1        0 97677316  Completed_read_failure [90% left] (123456-189000)",
        "failed self-tests: 1",
    ),
    (
        "smartctl-7.4-sata-ssd.txt",
        "Pending Defects log (GP Log 0x0c) not supported",
        "Pending Defects log (GP Log 0x0c)\nIndex                LBA    Hours\n"
        "    0         1234567    11000",
        "ATA pending defects: 1",
    ),
)


@pytest.mark.parametrize(("name", "was", "becomes", "told"), _WORSE_TEXTS)
def test_one_worse_line_of_a_text_is_seen(name: str, was: str, becomes: str, told: str) -> None:
    """A healthy drive's text with one line that tells of damage is no longer right."""
    text = (SMART / "forms" / name).read_text()
    assert text.count(was) == 1
    assert told not in _of_text(text)
    assert _of_text(text.replace(was, becomes))[told] in ("WARNING", "CRITICAL")


def test_a_self_test_that_ends_in_an_unknown_way_is_quoted() -> None:
    """Neither of SCSI's nor of NVMe's is it passed over."""
    for name, was in (
        ("smartctl-7.5-nvme.txt", "Completed without error"),
        ("smartctl-7.3-sas-disk.txt", "short  Completed"),
    ):
        text = (
            (SMART / "forms" / name).read_text().replace(was, was.replace("Completed", "Imploded"))
        )
        report = read_file(text.encode(), name)
        assert [each.why for each in report.unread] == [
            "a self-test ended in a way that is not known here"
        ]


def _of_text(text: str) -> dict[str, str]:
    findings = examine(read_file(text.encode(), "d.txt")).findings
    return {finding.what: str(finding.severity) for finding in findings}


def test_an_extended_test_that_passed_later_takes_failures_back() -> None:
    """A short one does not; failures after it count."""
    text = (SMART / "forms" / "smartctl-7.3-sas-disk.txt").read_text()
    row = next(each for each in text.splitlines() if each.startswith("# 1  Background short"))
    failed = "# 2  Background long   Failed in segment -->       3   40000   1234567 [0x3 0x11 0x0]"
    for first, told in ((row, 1), (row.replace("short", "long "), 0)):
        assert f"failed self-tests: {told}" in _of_text(text.replace(row, f"{first}\n{failed}"))
    tests = [
        {"self_test_code": {"value": code}, "self_test_result": {"value": end}}
        for code, end in ((1, 7), (2, 0), (2, 6))
    ]
    report = load("hard-disk-healthy") | {"nvme_self_test_log": {"table": tests}}
    assert "failed self-tests: 1" in said(report)


@pytest.mark.parametrize(
    "log",
    [
        {"nvme_self_test_log": {"table": [{"self_test_result2": {"value": 7}}]}},
        {"nvme_self_test_log": {"table": [{"self_test_result": {"result": 7}}]}},
        {"nvme_self_test_log": {"table": [{"self_test_result": {"value": 12}}]}},
        {"scsi_self_test_0": {"result": {"val": 6, "string": "Failed in second segment"}}},
        {"ata_pending_defects_log": {"size": 5, "table": [{"lba": 1}]}},
        {"scsi_error_counter_log": {"verify": {}}},
    ],
    ids=str,
)
def test_a_log_in_another_form_is_not_judged(log: dict[str, Any]) -> None:
    """What tells of damage is quoted where it is not understood."""
    assert str(examined(load("hard-disk-healthy") | log).severity) == "UNKNOWN"


def test_a_warning_of_the_drive_database_ends_at_an_empty_line() -> None:
    """What stands behind it is read, and no part of the warning."""
    text = (SMART / "forms" / "smartctl-7.4-sata-ssd.txt").read_text()
    mark = "SMART support is: Available"
    assert text.count(mark) == 1
    warned = text.replace(mark, f"==> WARNING: A firmware update\nmay be available\n\n{mark}")
    report = read_file(warned.encode(), "d.txt")
    assert report.warnings == ("A firmware update may be available",)
    assert report.has_smart is True


def test_the_old_name_of_the_endurance_indicator() -> None:
    """smartctl called it so before 7.0."""
    text = (SMART / "forms" / "smartctl-7.3-sas-disk.txt").read_text()
    mark = "Elements in grown defect list: "
    worn = text.replace(mark, f"SS Media used endurance indicator: 130%\n{mark}")
    assert read_file(worn.encode(), "d.txt").scsi_endurance_used == 130


def test_nvme_cli_in_a_locale_with_fahrenheit() -> None:
    """The Kelvin beside it are what the drive says."""
    text = (SMART / "forms" / "nvme-cli-2.3-smart-log.txt").read_text()
    assert (mark := "50°C (323 Kelvin)") in text
    for written, celsius in ((mark, 50), ("122 °F (323 K)", 50)):
        report = read_file(text.replace(mark, written, 1).encode(), "d.txt")
        assert (report.temperature_celsius, report.unread) == (celsius, ())
