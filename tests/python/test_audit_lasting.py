"""Settings of sysfs: what makes them last is the same setting, as a rule of udev."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from layouts import LAYOUTS
from ssdlab.audit import audit
from ssdlab.audit.remedy import Remedy, drive_rule

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
    place = re.search(r"/etc/udev/rules\.d/\d\d-[a-z-]+\.rules$", remedy.lasts)
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
    assert 'ATTRS{model}=="a?b"' in drive_rule("60-x", model, "queue/scheduler", "none").text
    assert 'ATTRS{model}=="?*"' in drive_rule("60-x", " ", "queue/scheduler", "none").text
