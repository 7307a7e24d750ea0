"""What NVMe hosts did to a drive: its `nvme-logs.json` in smartctl's logs of errors and self-tests.

Expected lines are smartctl's own forms, written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health import read_report
from ssdlab.machine.health.past import FILE, NvmePast, past_of
from ssdlab.machine.health.simulated import smart_json
from ssdlab.machine.health.smart_text import Parts, smart_text
from ssdlab.real.smart.reading import read_file

READ, FIELD = 0x8502, 0x8004
"""Status fields: an unrecovered read error, an invalid field; asking again helps with neither."""
UNDER_WAY = {"asked": 2, "state": {"under_way": {"lasts_ns": 4, "done_ns": 1}}}
ALL = Parts(True, True, True, True, True, True)


def failed(number: int, status: int = READ, sector: int = 80) -> dict[str, int]:
    return {"number": number, "queue": 1, "command": 24, "status": status, "sector": sector}


PAST = {
    "errors": {"count": 2, "entries": [failed(2), failed(1, FIELD, 0)]},
    "self_tests": [{"code": 2, "passed": False}, {"code": 1, "passed": True}],
    "sanitize": UNDER_WAY,
}


@cache
def _shown() -> dict[str, Any]:
    return engine.show("samsung-990-pro-1tb", (("capacity_bytes", "64GiB"),))


def document(folder: Path, past: object = PAST) -> dict[str, Any]:
    (folder / FILE).write_text(json.dumps(past))
    return smart_json(_shown(), "drive", past=past_of(str(folder)))


def test_errors_and_self_tests_are_printed(tmp_path: Path) -> None:
    """Each line as smartctl has it: the last one first."""
    lines = smart_text(document(tmp_path), Parts(errors=True, self_tests=True)).splitlines()
    begins = lines.index("Error Information (NVMe Log 0x01, 16 of 64 entries)")
    assert lines[begins + 1 : begins + 5] == [
        "Num   ErrCount  SQId   CmdId  Status  PELoc          LBA  NSID    VS  Message",
        "  0          2     1  0x0018  0x8502      -           80     1     -  "
        "Unrecovered Read Error",
        "  1          1     1  0x0018  0x8004      -            0     1     -  "
        "Invalid Field in Command",
        "",
    ]
    assert lines[begins + 5 :] == [
        "Self-test Log (NVMe Log 0x06, NSID 0xffffffff)",
        "Self-test status: No self-test in progress",
        "Num  Test_Description  Status                       Power_on_Hours  Failing_LBA  NSID "
        "Seg SCT Code",
        " 0   Extended          Completed: failed segments                0            -     -   "
        "0   -    -",
        " 1   Short             Completed without error                   0            -     -   "
        "-   -    -",
    ]


def test_the_document_says_the_same(tmp_path: Path) -> None:
    """Fields as smartctl 7.5 names them; the health log counts all errors there were."""
    told = document(tmp_path)
    first, second = told["nvme_error_information_log"]["table"]
    assert (first["error_count"], first["lba"], first["nsid"]) == (2, {"value": 80}, 1)
    assert first["status_field"] == {
        "value": READ >> 1,
        "do_not_retry": True,
        "status_code_type": 2,
        "status_code": 0x81,
        "string": "Unrecovered Read Error",
    }
    assert second["status_field"]["status_code_type"] == 0
    assert [
        (each["self_test_code"]["string"], each["self_test_result"]["value"])
        for each in told["nvme_self_test_log"]["table"]
    ] == [("Extended", 7), ("Short", 0)]
    assert told["nvme_smart_health_information_log"]["num_err_log_entries"] == 2


def test_both_are_read_back(tmp_path: Path) -> None:
    """No line and no field of it is unknown to `ssdlab health`."""
    told = document(tmp_path)
    printed = read_file(smart_text(told, ALL).encode(), "x")
    coded = read_report(told, "x")
    assert printed.unread == coded.unread == ()
    assert printed.nvme is not None and printed.nvme == coded.nvme
    assert printed.nvme.error_log_entries == 2


def test_more_errors_than_are_read(tmp_path: Path) -> None:
    """Of 64 that are kept smartctl reads 16, and says so."""
    entries = [failed(number) for number in range(100, 36, -1)]
    told = document(tmp_path, {**PAST, "errors": {"count": 100, "entries": entries}})
    assert len(told["nvme_error_information_log"]["table"]) == 16
    lines = smart_text(told, Parts(errors=True)).splitlines()
    assert lines[-1] == "... (48 entries not read)"
    assert " 15         85 " in lines[-2]


def test_a_status_that_has_no_name(tmp_path: Path) -> None:
    """Its type and its code are told."""
    told = document(tmp_path, {**PAST, "errors": {"count": 1, "entries": [failed(1, 0x7FE)]}})
    assert "Unknown Status 3/0xff" in smart_text(told, Parts(errors=True))


def test_a_drive_without_a_past(tmp_path: Path) -> None:
    """An empty folder, a file, a name: nothing was done to it yet."""
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file", Path("theory")):
        assert past_of(str(place)) == NvmePast()
    printed = smart_text(smart_json(_shown(), "drive"), ALL)
    assert "No Errors Logged" in printed and "No Self-tests Logged" in printed


def test_capabilities_alone(command: Callable[..., tuple[int, str, str]]) -> None:
    """Of an NVMe drive its one format; of a SATA drive it is said that there are none."""
    _, printed, error = command("smart", "-c", "samsung-990-pro-1tb")
    assert printed.splitlines()[-1] == " 0 +     512       0         0"
    assert "Model Number" not in printed and error == ""
    _, told, _ = command("smart", "-c", "--json", "samsung-990-pro-1tb")
    (namespace,) = json.loads(told)["nvme_namespaces"]
    assert namespace["size"]["blocks"] * 512 == namespace["size"]["bytes"]
    _, _, error = command("smart", "-c", "intel-dc-s3500-80gb")
    assert "tells no capabilities" in error


def _with(change: Callable[[dict[str, Any]], object]) -> str:
    content = json.loads(json.dumps(PAST))
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Expecting property name"),
        ("[]", "it: [] is no object"),
        ("[" * 100_000, ""),
        (_with(lambda past: past.pop("sanitize")), "it: the field sanitize is not there"),
        (_with(lambda past: past.update(dream=1)), "it: the field 'dream' is not known"),
        (_with(lambda past: past["errors"].pop("count")), "errors: the field count is not there"),
        (
            _with(lambda past: past["errors"]["entries"][1].update(hour=3)),
            "errors.entries[1]: the field 'hour' is not known",
        ),
        (
            _with(lambda past: past["errors"]["entries"][0].update(status=-1)),
            "errors.entries[0].status: -1 is no whole number from 0 to 65535",
        ),
        (
            _with(lambda past: past["errors"].update(count=True)),
            "errors.count: True is no whole number",
        ),
        (_with(lambda past: past.update(self_tests={})), "self_tests: {} is no list"),
        (
            _with(lambda past: past["self_tests"][0].update(passed=1)),
            "self_tests[0].passed: 1 is neither true nor false",
        ),
        ('{"errors": 1, "errors": 2}', "'errors' stands twice in an object"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: str, said: str) -> None:
    """File, place, value and remedy are named."""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(SsdlabError) as refused:
        past_of(str(tmp_path))
    first, remedy = str(refused.value).split("\n")
    assert first.startswith(f"{tmp_path / FILE}: ") and said in first
    assert remedy.startswith("remove it") and "restore it" in remedy
