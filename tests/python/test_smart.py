"""``ssdlab smart``: what smartctl would print of a simulated drive, at ten points of its life."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from ssdlab.machine.health import examine, read_report
from ssdlab.real.smart.reading import read_file
from ssdlab.real.smart.report import DriveReport

pytestmark = pytest.mark.end_to_end

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
    """

    name: str
    aging: tuple[str, ...]
    state: str
    exits: dict[str, int] = field(default_factory=dict)


LIFE = (
    Point("new", (), "OK"),
    Point("used", ("--used", "40", "--power-on-hours", "9000", "--power-cycles", "30"), "OK"),
    Point("worn to 90 %", ("--used", "90"), "WARNING"),
    Point("worn to its rating", ("--used", "100"), "CRITICAL"),
    Point("worn beyond it", ("--used", "130"), "CRITICAL"),
    Point("without spare", ("--spare", "5"), "CRITICAL", {"nvme": 8, "sata": 24}),
    Point("hot", ("--celsius", "75"), "CRITICAL", {"nvme": 8}),
    Point("with media errors", ("--media-errors", "3"), "WARNING"),
    Point("without its capacitor", ("--capacitor", "failed"), "CRITICAL", {"nvme": 8, "sata": 24}),
    Point("read-only", ("--read-only",), "CRITICAL", {"nvme": 8, "sata": 24}),
)

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
            kind != "theory" or point.name in ("new", "used", "read-only") or "worn" in point.name
        )
        state = point.state if knows else "OK"
        # An NVMe drive fails when it is too hot, of others it is known what is.
        state = "WARNING" if point.name == "hot" and kind != "nvme" else state
        assert str(examine(report).severity) == state, kind
        _, judged, _ = command("health", str(folder), "--json")
        assert json.loads(judged)[0]["severity"] == state, kind


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
    told = json.loads(ssdlab("smart", "--json=c", "-H", str(drives["nvme"])).stdout)
    assert told["smart_status"]["passed"] is True
    assert "nvme_smart_health_information_log" not in told


def test_wrong_words_and_drives(drives: dict[str, Path], tmp_path: Path) -> None:
    """As smartctl does, it ends with 2 where a drive cannot be read; in JSON it says so, too."""
    for words, told in (
        ((str(tmp_path),), "is no folder of a drive"),
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
    assert "is no folder of a drive" in said["messages"][0]["string"]


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
    stand_in = tmp_path / "smartctl"
    stand_in.symlink_to(Path(sys.executable).with_name("ssdlab"))
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
