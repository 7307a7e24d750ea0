"""What mends a finding: what it does, what it risks, how to undo it, and then what is typed.

A remedy that costs data or redundancy says so before anything else. Each step is typed only if
the one before it succeeded, so the steps are one command of the shell, joined by ``&&``. Where a
check is not sure that a remedy is safe there is none, and the reason is given.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass


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
    """

    does: str = ""
    risk: str = ""
    undo: str = ""
    steps: tuple[str, ...] = ()
    costs: str = ""
    refused: str = ""

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
        lines = [f"# {name:<6}{line}" for name, line in told.items() if line]
        return "\n".join([*lines, *([self.commands] if self.steps else [])])

    @property
    def is_printable(self) -> bool:
        """Whether no name in it has a sign that would end a line or move the cursor."""
        parts = (self.costs, self.does, self.risk, self.undo, self.refused, *self.steps)
        return all(part.isprintable() for part in parts)

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
        }


def refused(because: str) -> Remedy:
    """Give no remedy, and say why."""
    return Remedy(refused=because)


def advice(does: str, risk: str = "", undo: str = "", costs: str = "") -> Remedy:
    """Say what to do where no command can."""
    return Remedy(does, risk, undo, (), costs)


def setting(does: str, path: str, value: str, before: str | None, keep: str = "") -> Remedy:
    """Write a value into a file of sysfs, which a restart forgets.

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
    keep
        What makes it last.
    """
    back = f"echo {shlex.quote(before)} > {path}, or restart" if before else "restart"
    lasts = f"; to keep it over a restart: {keep}" if keep else ""
    risk = "none to data; other requests wait for a moment"
    return Remedy(does, risk, back + lasts, (f"echo {value} > {path}",))
