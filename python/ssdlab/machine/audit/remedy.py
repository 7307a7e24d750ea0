"""What mends a finding: what it does, what it risks, how to undo it, and then what is typed.

A remedy that costs data or redundancy says so before anything else. Each step is typed only if
the one before it succeeded, so the steps are one command of the shell, joined by ``&&``. Where a
check is not sure that a remedy is safe there is none, and the reason is given.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from ssdlab.real.device import Device


@dataclass(frozen=True)
class Remedy:
    """One remedy, or why there is none.

    Attributes
    ----------
    does
        What it does, in one sentence.
    risk
        What can go wrong.
    undo
        How to go back: a command, or a sentence.
    steps
        What is typed, a command each; without any it is advice.
    costs
        What data or redundancy it costs; empty where it costs none.
    refused
        Why no remedy is given; then all else is empty.
    lasts
        What makes the setting last over a restart: a command, beside the steps, not one of them.
    """

    does: str = ""
    risk: str = ""
    undo: str = ""
    steps: tuple[str, ...] = ()
    costs: str = ""
    refused: str = ""
    lasts: str = ""

    @property
    def commands(self) -> str:
        """The steps as they are typed: a step that fails is the last one."""
        return " &&\n".join(self.steps)

    @property
    def text(self) -> str:
        """All of it, as lines that a shell takes: what is no command is a comment."""
        if self.refused:
            return f"# no remedy is given, because {self.refused}"
        told = {"COSTS": self.costs, "does": self.does, "risk": self.risk, "undo": self.undo}
        told["lasts"] = self.lasts
        lines = [f"# {name:<6}{line}" for name, line in told.items() if line]
        return "\n".join([*lines, *([self.commands] if self.steps else [])])

    @property
    def is_printable(self) -> bool:
        """Whether no name in it has a sign that would end a line or move the cursor."""
        parts = (self.costs, self.does, self.risk, self.undo, self.refused, self.lasts)
        return all(part.isprintable() for part in (*parts, *self.steps))

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        if self.refused:
            return {"refused": f"no remedy is given, because {self.refused}"}
        return {
            "costs": self.costs,
            "does": self.does,
            "risk": self.risk,
            "undo": self.undo,
            "steps": list(self.steps),
            "lasts": self.lasts,
        }


def refused(because: str) -> Remedy:
    """Give no remedy, and say why."""
    return Remedy(refused=because)


def advice(does: str, risk: str = "", undo: str = "", costs: str = "") -> Remedy:
    """Say what to do where no command can."""
    return Remedy(does, risk, undo, (), costs)


def leave_room(drive: Device) -> Remedy:
    """Say how a drive gets spare area that no TRIM has to find."""
    return advice(
        f"leaves a tenth of {drive.label} unpartitioned (ssdlab align --help); do it when the "
        "drive is next set up",
        costs="all data on the drive, which has to be erased first",
    )


def setting(does: str, path: str, value: str, before: str | None, rule: UdevRule) -> Remedy:
    """Write a value into a file of sysfs, which a restart forgets, and say what makes it last.

    Parameters
    ----------
    does
        What it does.
    path
        The file.
    value
        What is written.
    before
        What is in it now.
    rule
        Writes it whenever the device appears.
    """
    now = f"echo {shlex.quote(before)} > {path}, or restart" if before else "restart"
    return Remedy(
        does,
        "none to data; other requests wait for a moment",
        f"{now}; if it was made to last: rm {rule.path}",
        (f"echo {value} > {path}",),
        lasts=f"echo {shlex.quote(rule.text)} > {rule.path}",
    )


@dataclass(frozen=True)
class UdevRule:
    """A rule of udev(7) that writes a setting whenever its device appears.

    Attributes
    ----------
    name
        What its file is called, number first: later numbers are applied later.
    text
        The rule.
    """

    name: str
    text: str

    @property
    def path(self) -> str:
        """Its file."""
        return f"/etc/udev/rules.d/{self.name}.rules"


def drive_rule(name: str, drive: Device, attribute: str, value: str) -> UdevRule:
    """Make the rule of a drive, known by its model: kernel names change from start to start.

    Each model has a file of its own, so that the rule of one drive is not written over another's.
    Only a drive that tells no model is known by its kernel name.

    Examples
    --------
    >>> drive = Device("sda", "drive", "/dev/sda", 0, details={"model": "MADE SSD"})
    >>> drive_rule("60-x", drive, "queue/scheduler", "none").path
    '/etc/udev/rules.d/60-x-made-ssd.rules'
    >>> drive_rule("60-x", drive, "queue/scheduler", "none").text
    'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ATTRS{model}=="MADE SSD", \
ATTR{queue/scheduler}="none"'
    """
    model = drive.details.get("model", "").strip()
    # Whatever has a meaning in a pattern, or would end it, stands for any one sign.
    pattern = re.sub(r"[^\w .:/-]", "?", model or drive.name, flags=re.ASCII)
    known = f'ATTRS{{model}}=="{pattern}"' if model else f'KERNEL=="{pattern}"'
    told = f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", {known}'
    word = re.sub(r"[^a-z0-9]+", "-", (model or drive.name).lower()).strip("-")
    return UdevRule(f"{name}-{word}", f'{told}, ATTR{{{attribute}}}="{value}"')
