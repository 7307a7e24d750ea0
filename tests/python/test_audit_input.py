"""The audit of what strangers send and of tools that misbehave: it ends, and says so."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from layouts import LAYOUTS
from machine import MadeMachine
from process import HANG_S
from ssdlab.machine.audit import Severity, audit
from ssdlab.machine.audit.capture import capture
from ssdlab.real.reading import MOST_DEVICES, read_topology
from ssdlab.real.system import CapturedSystem, LiveSystem, open_root

Command = Callable[..., tuple[int, str, str]]
SMARTCTL = "smartctl --json -x --nocheck=standby /dev/sda"


def test_a_tree_with_a_loop_ends() -> None:
    """Devices that stand on each other, which no kernel shows, end the walk all the same."""
    machine = MadeMachine().drive("sda")
    machine.mapped("dm-0", "a", "sda", "0 1 linear {below} 0", "LVM-a")
    machine.folders["/sys/block/dm-0/slaves"] = ["dm-1"]
    machine.mapped("dm-1", "b", "dm-0", "0 1 linear {below} 0", "LVM-b")
    machine.mount("dm-1", "/")
    layers = [device.name for device, _ in read_topology(machine.system()).layers("dm-1")]
    assert layers == ["dm-1", "dm-0", "sda"]
    audit(machine.system())


def test_broken_trees() -> None:
    """Cut, absurd and missing files give findings or none, never an exception."""
    stream = random.Random(1)
    rubbish = ["", "-1", "9" * 19, "9" * 4000, "x", "\0", "[none", "0 0", "é", None]
    for round_number in range(300):
        machine = LAYOUTS[round_number % len(LAYOUTS)].build()
        for path in stream.sample(sorted(machine.files), k=min(8, len(machine.files))):
            machine.files[path] = stream.choice(rubbish)
        for folder in stream.sample(sorted(machine.folders), k=2):
            machine.folders[folder] = stream.choice([[], ["..", "sda", "md0"], ["\n"]])
        audit(machine.system())


def _tool(folder: Path, name: str, text: str) -> None:
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    tool.chmod(0o755)


def test_a_tool_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that hangs is given up after its time with what it started, and not asked again."""
    (tmp_path / "asked").touch()
    _tool(tmp_path, "hangs", f"echo x >> {tmp_path}/asked; sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    system, start = LiveSystem(timeout_s=0.3), time.monotonic()
    assert system.run("hangs") is None and system.run("hangs") is None
    assert system.gave_up() == {"hangs": "no answer within 0.3 s"}
    # A busy machine may give it up before it has begun.
    assert (tmp_path / "asked").read_text(encoding="utf-8") in ("", "x\n")
    assert time.monotonic() - start < HANG_S


@pytest.mark.parametrize("name", ["cat /dev/zero", "yes"])
def test_a_tool_that_answers_without_end(name: str) -> None:
    """What a tool prints is bounded while it is read."""
    system = LiveSystem()
    assert system.run(*name.split()) is None
    assert system.gave_up() == {name: "more than 16 MiB of answer, given up"}


def test_what_was_given_up_is_a_finding(tmp_path: Path) -> None:
    """A drive that its tool cannot reach is a finding, in a capture of that machine too."""
    made = MadeMachine().drive("sda").partition("sda1", "sda", start=2048).mount("sda1", "/")
    system = made.system()
    system.gave_up()[SMARTCTL] = "no answer within 20 s"
    place = tmp_path / "capture.json"
    place.write_text(capture(system), encoding="utf-8")
    for each in (system, open_root(str(place))):
        found = [one for one in audit(each).findings if one.severity >= Severity.YELLOW]
        assert [(one.check, one.where) for one in found] == [("tools", "/dev/sda")]
        assert "no answer within 20 s" in found[0].what


def test_tools_that_print_rubbish() -> None:
    """Cut, nested and absurd answers of every tool give findings or none, never an exception."""
    log = {"percentage_used": 10**400, "available_spare": "9" * 5000, "media_errors": -1}
    whole = json.dumps({"model_name": "X", "nvme_smart_health_information_log": log})
    rubbish = ["", "[" * 100_000, '{"a":' * 100_000, "1e999", "\0", "null", "[1]", whole]
    rubbish += [whole[:cut] for cut in range(1, len(whole), 211)]
    drives = [1, {}, {"DG/VD": [], "Cache": 7}, {"DG/VD": "0/$(x)", "Cache": "RWB"}]
    rubbish += [
        json.dumps({"Controllers": [{"Response Data": {"Virtual Drives": [drive]}}]})
        for drive in drives
    ]
    rubbish += ["a: 0 1 linear", "vg-a: 0 1 thin-pool", "a: x y crypt 1 2 3 4 5 6 7 8 9"]
    commands = [SMARTCTL, "dmsetup table", "storcli64 /cALL/vALL show J", "arcconf GETCONFIG 1 LD"]
    for answer in rubbish:
        machine = MadeMachine().drive("sda", device_model="MR9361", device_vendor="AVAGO")
        machine.mount("sda", "/")
        answers: dict[str, str | None] = dict.fromkeys(commands, answer)
        system = CapturedSystem(machine.files, machine.folders, answers)
        remedies = (each.remedy for each in audit(system).findings)
        assert all("$" not in remedy.text for remedy in remedies if remedy)


def test_a_report_cut_short_is_a_finding() -> None:
    """What smartctl says of a drive and cannot be read is said to be so."""
    machine = MadeMachine().drive("sda").command(SMARTCTL, '{"model_name": "X", "nvme')
    found = [each for each in audit(machine.system()).findings if each.check == "wear"]
    assert [str(each.severity) for each in found] == ["unseen"]
    assert "cannot be read" in found[0].what


def test_a_huge_machine_ends() -> None:
    """Thousands of drives and mounts are looked at; what is left out is said."""
    machine = MadeMachine()
    drives = MOST_DEVICES + 10
    for number in range(drives):
        machine.drive(f"sd{number}")
    line = "30 1 8:{0} / /m{1} rw - ext4 /dev/x rw\n"
    mounts = "".join(line.format(number % drives, number) for number in range(20_000))
    machine.file("/proc/self/mountinfo", mounts)
    found = [each.what for each in audit(machine.system()).findings]
    assert f"not looked at, because only the first {MOST_DEVICES} block devices are" in found


def test_a_tree_with_pipes_and_loops_of_links(tmp_path: Path) -> None:
    """A folder with files that wait, point to themselves or never end is read all the same."""
    drive = tmp_path / "sys/block/sda"
    (drive / "queue").mkdir(parents=True)
    (drive / "size").write_text("2048", encoding="utf-8")
    os.mkfifo(drive / "queue/rotational")
    (drive / "queue/scheduler").symlink_to("scheduler")
    (drive / "queue/nr_requests").symlink_to("/dev/zero")
    (drive / "sda").symlink_to(drive)
    (tmp_path / "sys/block/loop").symlink_to(tmp_path / "sys/block")
    system = open_root(str(tmp_path))
    assert list(read_topology(system).devices) == ["sda"]
    assert system.read("/sys/block/sda/queue/rotational") == ""
    audit(system)


def test_links_stay_in_the_tree(tmp_path: Path) -> None:
    """A link leads where it led on the machine that was captured, never to a file of this one."""
    wants = tmp_path / "etc/systemd/system/timers.target.wants"
    wants.mkdir(parents=True)
    (tmp_path / "lib/systemd").mkdir(parents=True)
    (tmp_path / "sys").mkdir()
    (tmp_path / "lib/systemd/fstrim.timer").write_text("[Timer]", encoding="utf-8")
    (wants / "fstrim.timer").symlink_to("/lib/systemd/fstrim.timer")
    (wants / "near.timer").symlink_to("../../../../lib/systemd/fstrim.timer")
    outside = tmp_path.parent / "outside"
    outside.write_text("secret", encoding="utf-8")
    (wants / "outside").symlink_to(outside)
    (wants / "above").symlink_to("../../../../../../../outside")
    system, folder = open_root(str(tmp_path)), "/etc/systemd/system/timers.target.wants"
    assert system.read(f"{folder}/fstrim.timer") == system.read(f"{folder}/near.timer") == "[Timer]"
    assert system.read(f"{folder}/outside") is None and system.read(f"{folder}/above") is None
    assert system.entries("/../../..") == ["etc", "lib", "sys"]


def test_roots_without_end(command: Command) -> None:
    """A capture that never ends is refused."""
    code, _, error = command("audit", "--root", "/dev/zero")
    assert code == 2 and "not a capture" in error


def test_names_that_would_move_the_cursor(command: Command, tmp_path: Path) -> None:
    """Control characters of a tree that was sent in do not reach the terminal."""
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=63)
    machine.mount("sda1", r"/\033[2J")
    (tmp_path / "m.json").write_text(capture(machine.system()), encoding="utf-8")
    _, out, _ = command("audit", "--root", "m.json")
    assert "\033" not in out and "/?[2J" in out
