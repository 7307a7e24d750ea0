"""The examples that README and the verbs' help give, as commands that can be typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click

import ssdlab.cli

ROOT = Path(__file__).parents[2]
_NEEDS_MORE = (
    "/dev/",
    "nbd",
    "--prove-trim",
    "--load",
    "cluster",
    "completion",
    "| ",
    "kubectl",
    "ssdlab check",
    "ssdlab ctl",
    "ssdlab serve",
    "ssdlab attach",
    "ssdlab detach",
)
"""Examples that want a device, a served drive, a cluster or a shell of the reader's own."""
_FILES = (".fio", ".xml", ".trace", ".json", ".toml", ".csv", ".log", ".img", ".txt", ".gz", ".ssd")


def of_help() -> Iterator[str]:
    """Give every example of every verb, and of what a verb consists of."""
    yield from _of(ssdlab.cli.ssdlab, click.Context(ssdlab.cli.ssdlab))


def _of(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from getattr(command, "examples", ())
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from _of(found, click.Context(found))


def of_readme() -> Iterator[str]:
    """Give what README and its like say in running text; console blocks have their own test."""
    documents = (ROOT / each for each in ("README.md", "docs/howto/commands.md"))
    for part in (part for each in documents for part in each.read_text("utf-8").split("`")[1::2]):
        if part.startswith("ssdlab ") and "…" not in part and " " in part and "DRIVE" not in part:
            yield " ".join(part.split())


def missing(example: str, folder: Path) -> str | None:
    """Name what an example needs that a reader would have and the folder has not."""
    for word in _NEEDS_MORE:
        if word in example:
            return word.strip()
    words = shlex.split(example)
    made = {words[place + 1] for place, word in enumerate(words[:-1]) if word in ("-o", "--output")}
    for word in words:
        name = word.rpartition("=")[2]
        if name.endswith(_FILES) and name not in made and not (folder / name).exists():
            return name
    return None
