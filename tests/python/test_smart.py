"""``ssdlab smart``: what smartctl would print of a simulated drive, at ten points of its life."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from collectors import (
    CHECK_ASKS,
    EXPORTER_ASKS,
    SCRUTINY_ASKS,
    checked,
    exported,
    failing_for_scrutiny,
    scrutiny,
)
from ssdlab.machine.health import examine, read_report
from ssdlab.real.smart.reading import read_file
from ssdlab.real.smart.report import DriveReport

pytestmark = pytest.mark.end_to_end

GUIDE = Path(__file__).parents[2] / "docs/howto/smart.md"
Command = Callable[..., tuple[int, str, str]]


def ssdlab(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ssdlab", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


PROTOCOLS = {"nvme": "samsung-990-pro-1tb", "sata": "intel-dc-s3500-80gb", "theory": "theory"}
SIZES = {"nvme": "64GiB", "sata": "1GB", "theory": "64MiB"}
SETTINGS = {"theory": ("link.protocol=sata-ncq", "link.queue_depth=32")}


@dataclass(frozen=True)
class Point:
    """A point of a life, what makes it, and what a monitor has to say.

    Attributes
    ----------
    name
        What it is.
    aging
        Words of `ssdlab ctl FOLDER age`.
    state
        What `ssdlab health` says.
    exits
        With what `ssdlab smart` ends, of NVMe and of a maker's ATA attributes.
    says
        What `ssdlab health` blames, as a pattern.
    warning
        The bits of an NVMe drive's critical warning.
    scrutiny, check
        What scrutiny and check_smart_attributes blame of an NVMe drive, beside warning and verdict.
    """

    name: str
    aging: tuple[str, ...]
    state: str
    exits: dict[str, int] = field(default_factory=dict)
    says: str = ""
    warning: int = 0
    scrutiny: frozenset[str] = frozenset()
    check: frozenset[str] = frozenset()


_WORN = frozenset({"Percentage Used"})
_FAILS = {"nvme": 8, "sata": 24}
_WEAR = "% of the rated life is used"


def _without_spare(name: str, aging: tuple[str, ...], warning: int) -> Point:
    return Point(
        name, aging, "CRITICAL", _FAILS, says="of the spare blocks are left", warning=warning,
        scrutiny=frozenset({"available_spare"}), check=frozenset({"Available Spare"}),
    )  # fmt: skip


LIFE = (
    Point("new", (), "OK"),
    Point("used", ("--used", "40", "--power-on-hours", "9000", "--power-cycles", "30"), "OK"),
    Point("worn to 90 %", ("--used", "90"), "WARNING", says=f"90 {_WEAR}", check=_WORN),
    Point("worn to its rating", ("--used", "100"), "CRITICAL", says=f"100 {_WEAR}", check=_WORN),
    Point(
        "worn beyond it", ("--used", "130"), "CRITICAL", says=f"1[03]0 {_WEAR}",
        scrutiny=frozenset({"percentage_used"}), check=_WORN,
    ),
    _without_spare("without spare", ("--spare", "5"), warning=1),
    Point(
        "hot", ("--celsius", "75"), "CRITICAL", {"nvme": 8}, says="temperature", warning=2,
        check=frozenset({"Temperature"}),
    ),
    Point(
        "with media errors", ("--media-errors", "3"), "WARNING", says="Error_Cnt: 3|errors: 3",
        scrutiny=frozenset({"media_errors"}),
        check=frozenset({"Media and Data Integrity Errors"}),
    ),
    Point(
        "without its capacitor", ("--capacitor", "failed"), "CRITICAL", _FAILS,
        says="power-loss protection", warning=16,
    ),
    # Spare is gone, it is no longer reliable, and read-only.
    _without_spare("read-only", ("--read-only",), warning=13),
    # No limit is known for them, of nobody.
    Point("with unsafe shutdowns", ("--unsafe-shutdowns", "4"), "OK"),
)  # fmt: skip

WEAR = ("worn to 90 %", "worn to its rating", "worn beyond it")


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Serve a drive of each protocol, kept as it is when it is new."""
    place = tmp_path_factory.mktemp("life")
    served = {kind: place / kind for kind in PROTOCOLS}
    try:
        for kind, folder in served.items():
            settings = (f"capacity_bytes={SIZES[kind]}", *SETTINGS.get(kind, ()))
            words = [word for each in settings for word in ("--set", each)]
            done = ssdlab("serve", PROTOCOLS[kind], *words, "-o", str(folder), "--wait-ready")
            assert done.returncode == 0, done.stderr
            assert ssdlab("ctl", str(folder), "snapshot", "new").returncode == 0
        yield served
    finally:
        for process in place.glob("*/pid"):
            os.kill(int(process.read_text()), 15)


def _at(command: Command, folder: Path, point: Point) -> None:
    assert command("ctl", str(folder), "restore", "new")[0] == 0
    if point.aging:
        assert command("ctl", str(folder), "age", *point.aging)[0] == 0


def _same(one: DriveReport, other: DriveReport) -> None:
    """Check that the text says what the JSON says, and that each line of it is understood."""
    assert one.unread == other.unread == ()
    # Hours that only the device statistics tell stand there in a text.
    assert one.power_on_hours in (other.power_on_hours, None)
    fields = ("protocol", "model", "serial", "firmware", "capacity_bytes", "passed", "nvme")
    for name in (*fields, "rotation_rpm", "statistics"):
        assert getattr(one, name) == getattr(other, name), name
    assert [replace(each, raw=None) for each in one.attributes.values()] == [
        replace(each, raw=None) for each in other.attributes.values()
    ]


@pytest.mark.parametrize("point", LIFE, ids=lambda point: point.name)
def test_ten_points_of_a_life(drives: dict[str, Path], point: Point, command: Command) -> None:
    """Text and JSON say the same; the alarm that should come does, and no other."""
    for kind, folder in drives.items():
        _at(command, folder, point)
        code, printed, _ = command("smart", "-x", str(folder))
        coded, told, _ = command("smart", "-xj", str(folder))
        # A drive whose maker is not known has device statistics, and no threshold but its own end.
        exits = point.exits.get(kind, 8 if point.name == "read-only" else 0)
        assert code == coded == exits, (kind, printed)
        report = read_report(json.loads(told), "x")
        _same(read_file(printed.encode(), "x"), report)
        knows = (
            kind != "theory"
            or point.name in ("new", "used", "read-only", "with media errors")
            or "worn" in point.name
        )
        state = point.state if knows else "OK"
        # An NVMe drive fails when it is too hot, of others it is known what is.
        state = "WARNING" if point.name == "hot" and kind != "nvme" else state
        assert str(examine(report).severity) == state, kind
        _, judged, _ = command("health", str(folder), "--json")
        (found,) = json.loads(judged)
        assert found["severity"] == state, kind
        wrong = [
            f"{each['what']} ({each['why']})"
            for each in found["findings"]
            if each["verdict"] == "looks wrong"
        ]
        assert bool(wrong) == (state != "OK")
        assert state == "OK" or kind == "theory" or re.search(point.says, "; ".join(wrong)), wrong
        _monitors_say(point, kind, str(folder), command)


def _monitors_say(point: Point, kind: str, folder: str, command: Command) -> None:
    """Check what the collectors read and say, and that docs/howto/smart.md tells it so."""
    place = ("nvme", "sata").index(kind) if kind != "theory" else None
    if place is None:
        return
    verdict, check, hub, health = (cells[place] for cells in _told(point))
    document = json.loads(command("smart", *SCRUTINY_ASKS, folder)[1])
    passed = document["smart_status"]["passed"]
    assert verdict == ("passed" if passed else "failed")
    state, blamed = checked(command("smart", *CHECK_ASKS, folder)[1], kind)
    assert (check, health == "OK") == (state, check == "OK")
    shutdowns = 4 if point.name == "with unsafe shutdowns" else 0
    if kind == "sata":
        (counted,) = (
            each for each in document["ata_smart_attributes"]["table"] if each["id"] == 174
        )
        assert counted["raw"]["value"] == shutdowns
        return
    both = {"smart_status", "critical_warning"} if point.warning else set()
    failing = failing_for_scrutiny(document)
    assert failing == point.scrutiny | both
    assert hub == ("failed" if failing else "passed")
    assert blamed == point.check | ({"verdict", "Critical Warning"} if both else set())
    code, printed, _ = command("smart", *EXPORTER_ASKS, "--device=nvme", folder)
    metrics = exported(json.loads(printed))
    log = document["nvme_smart_health_information_log"]
    assert metrics["smartctl_device_critical_warning"] == point.warning == log["critical_warning"]
    assert metrics["smartctl_device_smartctl_exit_status"] == code == point.exits.get(kind, 0)
    assert metrics["smartctl_device_smart_status"] == passed == (not point.warning)
    assert log["unsafe_shutdowns"] == shutdowns


def _told(point: Point) -> list[tuple[str, str]]:
    """Return a row of the guide's table: of NVMe and of SATA what each reader says."""
    section = GUIDE.read_text(encoding="utf-8").partition("| point |")[2].partition("\n\n")[0]
    rows = section.splitlines()[2:]
    assert len(rows) == len(LIFE)
    cells = rows[LIFE.index(point)].replace("*", "").strip("|").split("|")[1:]
    halves = [cell.strip().partition(" / ") for cell in cells]
    return [(first, second or first) for first, _, second in halves]


def test_what_was_asked_for(drives: dict[str, Path], command: Command) -> None:
    """Each option prints its own section, as smartctl's do."""
    _at(command, drives["nvme"], LIFE[1])
    printed = {
        option: ssdlab("smart", option, str(drives["nvme"])).stdout for option in ("-i", "-H", "-A")
    }
    assert "Model Number" in printed["-i"] and "PASSED" not in printed["-i"]
    assert "PASSED" in printed["-H"] and "Percentage Used" not in printed["-H"]
    assert "Percentage Used:                    40%" in printed["-A"]
    assert "Power On Hours:                     9,000" in printed["-A"]
    capable = ssdlab("smart", "-c", str(drives["nvme"])).stdout
    assert "Supported LBA Sizes" in capable and "Percentage Used" not in capable
    assert " 0 +     5.40W       -        -    0  0  0  0        0       0" in capable
    assert " 2 -   0.0050W       -        -    2  2  2  2        0    9500" in capable
    told = json.loads(ssdlab("smart", "--json=c", "-H", str(drives["nvme"])).stdout)
    assert told["smart_status"]["passed"] is True
    assert "nvme_smart_health_information_log" not in told


def test_wrong_words_and_drives(drives: dict[str, Path], tmp_path: Path) -> None:
    """As smartctl does, it ends with 2 where a drive cannot be read; in JSON it says so, too."""
    for words, told in (
        ((str(tmp_path),), "is not a drive's folder"),
        (("-d", "sat", str(drives["nvme"])), "speaks NVMe"),
        (("-d", "megaraid,6", str(drives["nvme"])), "is no type of a simulated drive"),
        (("-l", "farm", str(drives["nvme"])), "is no log of a simulated drive"),
        ((), "needs a drive"),
        (("hitachi-deskstar-7k1000c-1tb",), "is not an SSD"),
    ):
        done = ssdlab("smart", *words)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    answer = ssdlab("smart", "--json", "-a", str(tmp_path))
    said = json.loads(answer.stdout)["smartctl"]
    assert said["exit_status"] == answer.returncode == 2
    assert "is not a drive's folder" in said["messages"][0]["string"]


def test_a_drive_without_power(drives: dict[str, Path], command: Command) -> None:
    """It does not answer until its power is back."""
    folder = str(drives["sata"])
    _at(command, drives["sata"], LIFE[0])
    assert ssdlab("ctl", folder, "power-cut").returncode == 0
    done = ssdlab("smart", folder)
    assert (done.returncode, "its power is off" in done.stderr) == (2, True)
    assert ssdlab("ctl", folder, "power-on").returncode == 0
    assert ssdlab("smart", folder).returncode == 0


def test_it_stands_in_for_smartctl(
    drives: dict[str, Path], command: Command, tmp_path: Path
) -> None:
    """Under its name it answers what collectors ask: a scan, then each drive."""
    _at(command, drives["nvme"], LIFE[2])
    stand_in = _stand_in(tmp_path)
    here = {**os.environ, "SSDLAB_DRIVES": os.pathsep.join(map(str, drives.values()))}

    def ask(*words: str) -> Any:
        done = subprocess.run(
            [stand_in, *words], env=here, stdout=subprocess.PIPE, check=True, timeout=60
        )
        return json.loads(done.stdout)

    found = ask("--json", "--scan")["devices"]
    assert [each["protocol"] for each in found] == ["NVMe", "ATA", "ATA"]
    assert [each["name"] for each in found] == ["/dev/nvme", "/dev/sata", "/dev/theory"]
    words = ("--info", "--health", "--attributes", "--tolerance=verypermissive")
    asked = ("--nocheck=standby", "--format=brief", "--log=error")
    told = ask("--json", *words, *asked, f"--device={found[0]['type']}", found[0]["name"])
    assert told["nvme_smart_health_information_log"]["percentage_used"] == 90


DATABASE = "check_smartdb.json"
LIVES = pytest.mark.parametrize("point", LIFE, ids=lambda point: point.name)


def _program(name: str) -> str:
    """Return a collector that is on the path; else the test is left out."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not on the path")
    return program


@LIVES
def test_the_check_itself(
    drives: dict[str, Path], command: Command, tmp_path: Path, point: Point
) -> None:
    """check_smart_attributes says what is said of it here, where it is on the path."""
    program = _program("check_smart_attributes")
    database = Path(program).resolve().with_name(DATABASE)
    if not database.exists():
        pytest.skip(f"{DATABASE} is not beside {program}")
    _at(command, drives["nvme"], point)
    done = subprocess.run(
        [program, "-p", _stand_in(tmp_path), "-nosudo", "-dbj", database, "-d", "/dev/nvme0"],
        env={**os.environ, "SSDLAB_DRIVES": str(_named(drives["nvme"], tmp_path / "nvme0"))},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    state, _ = checked(command("smart", *CHECK_ASKS, str(drives["nvme"]))[1], "nvme")
    assert done.returncode == {"OK": 0, "warning": 1, "critical": 2}[state], done.stdout
    assert done.stdout.upper().startswith(state.upper()), done.stdout


def _stand_in(folder: Path) -> Path:
    stand_in = folder / "smartctl"
    stand_in.symlink_to(Path(sys.executable).with_name("ssdlab"))
    return stand_in


@LIVES
def test_the_exporter_itself(
    drives: dict[str, Path], command: Command, tmp_path: Path, point: Point
) -> None:
    """smartctl_exporter tells what is said of it here, where it is on the path."""
    program = _program("smartctl_exporter")
    _at(command, drives["nvme"], point)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen(
        [program, f"--smartctl.path={_stand_in(tmp_path)}", f"--web.listen-address={place}"],
        env={**os.environ, "SSDLAB_DRIVES": str(drives["nvme"])},
    )
    try:
        told = _scraped(f"http://{place}/metrics")
    finally:
        server.kill()
        server.wait()
    read = dict(re.findall(r'^(\w+)\{[^}]*device="nvme"[^}]*\} (\S+)$', told, re.MULTILINE))
    document = json.loads(command("smart", *EXPORTER_ASKS, str(drives["nvme"]))[1])
    expected = exported(document)
    assert {name: float(read[name]) for name in expected} == expected


@LIVES
def test_scrutinys_collector_itself(
    drives: dict[str, Path], command: Command, tmp_path: Path, point: Point
) -> None:
    """It finds the drive, and hands on what scrutiny calls failed, where it is on the path."""
    program = _program("scrutiny-collector-metrics")
    _at(command, drives["nvme"], point)
    settings = tmp_path / "collector.yaml"
    settings.write_text(f"version: 1\ncommands:\n  metrics_smartctl_bin: {_stand_in(tmp_path)}\n")
    with scrutiny() as server:
        done = subprocess.run(
            [program, "run", "--config", settings, "--api-endpoint", server.place],
            env={**os.environ, "SSDLAB_DRIVES": str(drives["nvme"])},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (device,) = server.devices
    (document,) = server.documents
    assert (device["device_name"], device["device_protocol"]) == ("nvme", "NVMe")
    assert device["serial_number"] == document["serial_number"]
    both = {"smart_status", "critical_warning"} if point.warning else set()
    assert failing_for_scrutiny(document) == point.scrutiny | both


def _scraped(place: str) -> str:
    for _ in range(100):
        with suppress(OSError), urllib.request.urlopen(place, timeout=30) as answer:
            return str(answer.read().decode())
        time.sleep(0.1)
    pytest.fail(f"{place} does not answer")


def _named(folder: Path, name: Path) -> Path:
    """Give a drive another name, by which the check sees what kind it is."""
    name.symlink_to(folder)
    return name
