"""Settings of sysfs: what makes them last is the same setting, as a rule of udev."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from layouts import LAYOUTS
from machine import MadeMachine
from ssdlab.machine.audit import audit
from ssdlab.machine.audit.remedy import Remedy, drive_rule
from ssdlab.real.device import Device


def drive(model: str) -> Device:
    return Device("sda", "drive", "/dev/sda", 0, details={"model": model})


FOLDERS = {"block": "/sys/block/sda/", "scsi_host": "/sys/class/scsi_host/host0/"}


def settings() -> dict[str, Remedy]:
    """Give the remedies that write into sysfs what it forgets; an action is no setting."""
    found = {}
    for layout in LAYOUTS:
        for finding in audit(layout.build().system()).findings:
            steps = finding.remedy.steps if finding.remedy else ()
            if finding.remedy and len(steps) == 1 and re.match(r"echo \S+ > /sys/", steps[0]):
                found[steps[0]] = finding.remedy
    return found


def test_there_is_one_for_each_setting() -> None:
    """Scheduler, requests, queue depth, rotation and link are all there."""
    names = {step.rpartition("/")[2] for step in settings()}
    assert names == {
        "scheduler",
        "nr_requests",
        "queue_depth",
        "rotational",
        "link_power_management_policy",
    }


@pytest.mark.parametrize("step", sorted(settings()))
def test_the_rule_sets_the_same(step: str, tmp_path: Path) -> None:
    """Typed as it is printed it makes a file with one rule, which writes value and path alike."""
    remedy = settings()[step]
    (printed,) = (line for line in remedy.text.splitlines() if line.startswith("# lasts "))
    assert printed == f"# lasts {remedy.lasts}"
    place = re.search(r"/etc/udev/rules\.d/\d\d-[a-z0-9-]+\.rules$", remedy.lasts)
    assert place and remedy.undo.endswith(f"rm {place[0]}")
    typed = remedy.lasts.replace("/etc/udev/rules.d", str(tmp_path))
    subprocess.run(["bash", "-c", typed], check=True)
    (file,) = tmp_path.iterdir()
    (rule,) = file.read_text(encoding="utf-8").splitlines()
    keys = re.findall(r'([A-Z]+(?:\{[^}]+\})?)(==|=)"([^"]*)"', rule)
    assert ", ".join(f'{key}{sign}"{value}"' for key, sign, value in keys) == rule
    subsystem = next(value for key, _, value in keys if key == "SUBSYSTEM")
    written = [(key[5:-1], value) for key, sign, value in keys if sign == "="]
    told = [f"echo {value} > {FOLDERS[subsystem]}{name}" for name, value in written]
    assert told == [step]


def test_the_scheduler_comes_before_its_queue() -> None:
    """A new scheduler sets the number of requests anew, so its rule has the lower number."""
    rules = {step: remedy.lasts for step, remedy in settings().items()}
    found = {name: lasts for step, lasts in rules.items() for name in [step.rpartition("/")[2]]}
    first = found["scheduler"].rpartition("/")[2]
    assert first < found["nr_requests"].rpartition("/")[2]


@pytest.mark.parametrize("model", ['a"b', "a'b", "a*b", "a[b", "a$b", "aéb", "a\\b"])
def test_odd_models_end_no_rule(model: str) -> None:
    """Signs with a meaning match any sign, so that a model can neither end a rule nor a word."""
    rule = drive_rule("60-x", drive(model), "queue/scheduler", "none")
    assert 'ATTRS{model}=="a?b"' in rule.text
    assert re.fullmatch(r"/etc/udev/rules\.d/60-x-a-b\.rules", rule.path)


def test_a_drive_without_a_model_is_no_other_drive() -> None:
    """Its rule must not set what belongs to every drive that has one."""
    rule = drive_rule("60-x", drive(" "), "queue/scheduler", "none")
    assert 'KERNEL=="sda"' in rule.text and "model" not in rule.text


def test_rules_of_two_models_stay_beside_each_other() -> None:
    """The file of the second is another than that of the first."""
    machine = MadeMachine()
    for name, model in (("sda", "MADE SSD 1"), ("sdb", "MADE SSD 2")):
        machine.drive(name, scheduler="none [bfq]", device_model=model).mount(name, f"/{name}")
    found = audit(machine.system()).findings
    places = {each.remedy.lasts.rpartition(" ")[2] for each in found if each.remedy} - {""}
    assert len(places) == 2


def test_the_link_s_rule_leaves_other_policies_alone() -> None:
    """It lifts min_power, and does not lower what is at max_performance."""
    rules = [each.lasts for step, each in settings().items() if "link_power" in step]
    assert rules
    for lasts in rules:
        assert 'ATTR{link_power_management_policy}=="min_power*"' in lasts
