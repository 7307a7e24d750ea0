"""What sysfs, procfs and tools say in a form that is not the kernel's is noted, not guessed at."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from layouts import LAYOUTS
from machine import MadeMachine
from ssdlab.machine.audit import Severity, audit
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.finding import Finding

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
FREE_TEXT = ("/device/", "/etc/default/", "proc_name", "/etc/mdadm", "/etc/cron.d")
"""What may say anything: names that a maker chose, and settings of which the one word counts."""


def plain() -> MadeMachine:
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=2048)
    return machine.mount("sda1", "/")


def schedule_of(machine: MadeMachine) -> list[Finding]:
    return [each for each in audit(machine.system()).findings if each.check == "trim schedule"]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_finding_never_turns_green(layout: object) -> None:
    """Each file of each layout in a form of its own: what was wrong stays so, or is not seen."""
    build = layout.build  # type: ignore[attr-defined]
    base = audit(build().system())
    wrong = {each.check for each in base.findings if each.severity >= Severity.YELLOW}
    unseen = {each.what for each in base.findings if each.severity is Severity.UNSEEN}
    for path in build().files:
        if any(part in path for part in FREE_TEXT):
            continue
        for form in ("frobnicated", "7 apples"):
            machine = build()
            machine.files[path] = form
            now = audit(machine.system()).findings
            still = {each.check for each in now if each.severity >= Severity.YELLOW}
            new = {each.what for each in now if each.severity is Severity.UNSEEN} - unseen
            assert wrong <= still or new, (path, form)


def test_a_form_is_quoted_with_its_place(command: Command, tmp_path: Path) -> None:
    """Text and JSON name the file, quote it and say what was expected; nothing is all right."""
    machine = plain().file("/sys/block/sda/queue/rotational", "maybe")
    (tmp_path / "m.json").write_text(capture(machine.system()), encoding="utf-8")
    code, out, _ = command("audit", "--root", "m.json")
    assert code == 4
    assert "/sys/block/sda/queue/rotational" in out and "“maybe”: 0 or 1 was expected" in out
    content = json.loads(command("audit", "--root", "m.json", "--json")[1])
    assert content["unread"] == [
        {
            "where": "/sys/block/sda/queue/rotational",
            "quoted": "maybe",
            "why": "0 or 1 was expected",
        }
    ]


def test_a_timer_needs_its_systemd() -> None:
    """The link of a timer alone is no TRIM: systemd is process 1, and calls it active."""
    (found,) = schedule_of(plain())
    assert found.severity is Severity.GREEN and "ran last on Mon 2026-11-23" in found.what
    (found,) = schedule_of(plain().file("/proc/1/comm", "bash"))
    assert found.severity is Severity.YELLOW
    assert "systemd does not run here (process 1 is bash)" in found.what
    assert found.remedy is not None and "systemctl" not in found.remedy.text
    show = "systemctl show fstrim.timer --property=ActiveState,LastTriggerUSec"
    (found,) = schedule_of(plain().command(show, "ActiveState=inactive\nLastTriggerUSec="))
    assert found.severity is Severity.YELLOW and "enabled, but not active" in found.what
    failed = plain().command("systemctl show fstrim.service --property=Result", "Result=exit-code")
    (found,) = schedule_of(failed)
    assert found.severity is Severity.YELLOW and "failed (exit-code)" in found.what
    silent = plain()
    silent.commands[show] = None
    (found,) = schedule_of(silent)
    assert found.severity is Severity.UNSEEN and "did not answer" in found.what


def test_a_job_of_cron_needs_a_cron() -> None:
    """A file of cron's is TRIM where a cron runs, on any init; it is unseen where nobody looked."""
    machine = plain().file("/proc/1/comm", "runit")
    machine.file("/etc/periodic/weekly/fstrim", "#!/bin/sh\nexec /sbin/fstrim -a\n")
    (found,) = schedule_of(machine)
    assert found.severity is Severity.GREEN and "/etc/periodic/weekly/fstrim" in found.what
    machine.running = dict.fromkeys(("cron", "crond", "fcron", "dcron", "bcron-sched"), False)
    (found,) = schedule_of(machine)
    assert found.severity is Severity.YELLOW and "no cron runs here" in found.what
    machine.running = {}
    (found,) = schedule_of(machine)
    assert found.severity is Severity.UNSEEN and "whether a cron runs was not seen" in found.what
    machine.file("/etc/periodic/weekly/fstrim", "# fstrim -a\n").running = {"cron": True}
    assert schedule_of(machine)[0].severity is Severity.YELLOW


def test_a_capture_without_etc() -> None:
    """Nine file systems of which nothing of /etc was seen are one finding, not looked at."""
    machine = MadeMachine().drive("sda")
    for number in range(1, 10):
        machine.partition(f"sda{number}", "sda", start=2048 * number, size=1 << 20)
        machine.mount(f"sda{number}", f"/{number}")
    for path in [path for path in machine.files if path.startswith("/etc/")]:
        machine.file(path, None)
    machine.folders = {path: each for path, each in machine.folders.items() if "/etc" not in path}
    (found,) = schedule_of(machine)
    assert found.severity is Severity.UNSEEN and "nothing of /etc was seen" in found.what
    assert found.where == ", ".join(f"/{number}" for number in range(1, 10))


@pytest.mark.parametrize(
    ("listed", "wanted"),
    [
        ("noop deadline [cfq]", "noop"),
        ("deadline [cfq]", "deadline"),
        ("mq-deadline [bfq] none", "none"),
        ("mq-deadline [kyber]", "mq-deadline"),
        ("[bfq]", ""),
    ],
)
def test_a_scheduler_that_is_there(listed: str, wanted: str) -> None:
    """The remedy is the plainest scheduler that the kernel lists; without one there is none."""
    machine = plain().file("/sys/block/sda/queue/scheduler", listed)
    (found,) = [
        each
        for each in audit(machine.system()).findings
        if each.check == "scheduler" and each.severity is Severity.YELLOW
    ]
    assert found.remedy is not None
    if wanted:
        assert f"echo {wanted} > /sys/block/sda/queue/scheduler" in found.remedy.steps
        assert f'ATTR{{queue/scheduler}}="{wanted}"' in found.remedy.lasts
    else:
        assert listed in found.remedy.refused


def test_a_scheduler_that_nobody_knows() -> None:
    """One of a kernel to come is not judged."""
    machine = plain().file("/sys/block/sda/queue/scheduler", "none [warp]")
    (found,) = [each for each in audit(machine.system()).findings if each.check == "scheduler"]
    assert found.severity is Severity.UNSEEN and "warp" in found.what


def test_a_scheduler_in_another_form_is_told_at_once() -> None:
    """A pattern that could split the word in several ways would try 2^100 of them."""
    machine = plain().file("/sys/block/sda/queue/scheduler", "a" * 100 + "!")
    told = [each.what for each in audit(machine.system()).findings if "aaa!" in each.what]
    assert any("a list of schedulers was expected" in each for each in told), told


def test_one_remedy_for_one_cause() -> None:
    """In every layout findings at one place that are mended by one setting agree on its value."""
    for layout in LAYOUTS:
        written: dict[str, set[str]] = {}
        for each in audit(layout.build().system()).findings:
            for step in each.remedy.steps if each.remedy else ():
                value, _, path = step.removeprefix("echo ").partition(" > ")
                if path.startswith("/sys/") and not path.endswith("sync_action"):
                    written.setdefault(path, set()).add(value)
        assert all(len(values) == 1 for values in written.values()), layout.name


@pytest.mark.parametrize(
    ("name", "line", "code"),
    [
        ("LUKS without discards", "CRITICAL - discard, /home: /dev/mapper/crypt-sda1", 2),
        ("scheduler for disks", "WARNING - scheduler, /dev/sda: the scheduler is bfq", 1),
        ("drive with half of its life used", "OK - ", 0),
        ("SSD of a family that is not known", "UNKNOWN - ", 3),
    ],
)
def test_nagios(command: Command, tmp_path: Path, name: str, line: str, code: int) -> None:
    """A plug-in's line with the state, its codes, and data after the bar."""
    build = next(each for each in LAYOUTS if each.name == name).build
    (tmp_path / "m.json").write_text(capture(build().system()), encoding="utf-8")
    found, out, _ = command("audit", "--root", "m.json", "--format", "nagios")
    assert found == code and out.count("\n") == 1
    assert out.startswith(line), out
    assert " | 'right'=" in out


def test_prometheus(command: Command, tmp_path: Path) -> None:
    """Severity, counts and findings, each series once, with the audit's own exit code."""
    build = next(each for each in LAYOUTS if each.name == "LUKS without discards").build
    (tmp_path / "m.json").write_text(capture(build().system()), encoding="utf-8")
    code, out, _ = command("audit", "--root", "m.json", "--format", "prometheus")
    assert code == 3 and "ssdlab_audit_severity 3\n" in out
    assert 'ssdlab_audit_finding{check="discard",where="' in out
    series = [line.rpartition(" ")[0] for line in out.splitlines() if not line.startswith("#")]
    assert len(series) == len(set(series))


def test_wrong_input_is_unknown_to_a_monitor(command: Command) -> None:
    """What is exit 2 elsewhere is one line and 3 with --format nagios."""
    code, out, error = command("audit", "--root", "none.json", "--format", "nagios")
    assert (code, error) == (3, "") and out.startswith("UNKNOWN - --root none.json")
    code, _, error = command("audit", "--checklist", "--format", "nagios")
    assert code == 3
    code, _, error = command("audit", "--checklist", "--format", "prometheus")
    assert code == 2 and "does not go with --checklist" in error


def test_a_question_that_nobody_answers(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """--prove-trim without a terminal says how it goes on, before anything is written."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code, out, error = command("audit", "--prove-trim", "/")
    assert (code, out) == (2, "")
    assert "fstrim / " in error and "give --yes" in error
