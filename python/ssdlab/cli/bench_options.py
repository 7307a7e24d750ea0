"""Options and steps that the verbs share which work on a bench: ``pts`` and ``season``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ssdlab.bench.real.wishes import WAYS
from ssdlab.bench.shorter import BOOK_S
from ssdlab.cli.console import note
from ssdlab.cli.folder import output_folder
from ssdlab.cli.tasks import carry_out

if TYPE_CHECKING:
    from ssdlab.bench.bench import Bench

Function = TypeVar("Function", bound=Callable[..., object])
_EFFORT = (
    click.option(
        "--cell-seconds",
        type=click.FloatRange(0.1, 3600),
        default=f"{BOOK_S:g}",
        show_default=True,
        metavar="S",
        help="Run each cell for S seconds; any but the standard's 60 is recorded as a deviation.",
    ),
    click.option(
        "--most-rounds",
        type=click.IntRange(1, 10_000),
        metavar="N",
        help="End each part after N rounds, steady or not; recorded as a deviation.",
    ),
    click.option(
        "--resume", is_flag=True, help="Continue an interrupted run in the output folder."
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="List the steps with time and bytes to be written, and exit.",
    ),
)
_DESTROY = (
    click.option(
        "--destroy",
        multiple=True,
        metavar="DEVICE",
        help="Allow DEVICE to be overwritten; all data on it is lost.",
    ),
    click.option(
        "--destroy-content",
        multiple=True,
        metavar="DEVICE",
        help="Allow it even if DEVICE holds a partition table or another signature.",
    ),
)
_REAL = (
    *_DESTROY,
    click.option(
        "--purge",
        type=click.Choice(WAYS),
        default="best",
        show_default=True,
        help="Purge a real target this way.",
    ),
    click.option(
        "--no-serial", is_flag=True, help="Do not record the serial number of a real target."
    ),
)

EFFORT_NAMES = frozenset({"cell_seconds", "most_rounds", "resume", "dry_run"})
REAL_NAMES = frozenset({"destroy", "destroy_content", "purge", "no_serial"})


def effort_options(function: Function) -> Function:
    """Add the options that say how long it takes, and whether it goes on or only tells."""
    return _with(function, _EFFORT)


def destroy_options(function: Function) -> Function:
    """Add the options that allow a real target to be overwritten."""
    return _with(function, _DESTROY)


def real_options(function: Function) -> Function:
    """Add the options that allow a real target to be overwritten, and say how."""
    return _with(function, _REAL)


def _with(function: Function, options: Sequence[Callable[[Function], Function]]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def show_drive(lines: Sequence[str]) -> None:
    """Show which drive a real target is."""
    note("\n".join(lines))


def result_folder(output: str | None, verb: str, name: str, several: bool = False) -> Path:
    """Make the folder of a result: as ``-o`` says, or by the name of the target."""
    stem = Path(name).stem if name.endswith((".toml", ".ssd")) else _as_file_name(name)
    if output is None:
        return output_folder(f"{verb}-{stem}", "plan.json")
    return output_folder(str(Path(output) / stem) if several else output, "plan.json")


def _as_file_name(name: str) -> str:
    """Take out what is no part of a file's name, such as the slashes of a device."""
    return re.sub(r"[^\w.-]+", "-", name.removeprefix("/dev/")).strip("-")


def begin(bench: Bench, resume: bool) -> None:
    """Begin what is in the folder, or continue it; say so where there is nothing to continue."""
    if resume and not bench.begun:
        note(f"ssdlab: nothing to continue in {bench.folder}; starting")
    bench.begin(resume)


def perform(benches: Sequence[Bench], names: Sequence[str], side_by_side: bool) -> bool:
    """Do all parts; tell whether they were stopped.

    Parameters
    ----------
    benches
        Their plans.
    names
        The name of each one's target.
    side_by_side
        As many parts at once as there are cores. A real drive does one thing after the other, and
        nothing else is to disturb it.
    """
    several = len(benches) > 1
    labels, tasks = [], []
    for bench, name in zip(benches, names, strict=True):
        parts = (part.name for part in bench.parts())
        labels += [f"{name} {part}" if several else part for part in parts]
        tasks += bench.tasks()
    _, stopped = carry_out(labels, tasks, workers=None if side_by_side else 1)
    return stopped
