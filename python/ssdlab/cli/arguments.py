"""fio's options on our command line: ours are taken, all others go to the engine.

fio accepts ``--name=value``, ``--name value`` and one dash in place of two; so do we. Whether an
option means something is for the engine to say, which knows fio's options.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ssdlab.cli.verb import Verb
from ssdlab.experiment import jobs
from ssdlab.ground.errors import SsdlabError

_ONE_DASH = re.compile(r"-[a-z][a-z_]+(=.*)?", re.DOTALL)
_LOOKS_LIKE_OPTION = re.compile(r"[a-z][a-z0-9_]*=", re.ASCII)


def whole_number(low: int, high: int) -> Callable[..., int]:
    """Make an option's callback that reads a whole number within bounds.

    Parameters
    ----------
    low, high
        The least and the greatest that is taken.
    """

    def read(context: click.Context, option: click.Parameter, value: str) -> int:
        if re.fullmatch(r"\d{1,30}", value.strip()) and low <= int(value) <= high:
            return int(value)
        name = option.opts[0]
        raise SsdlabError(f"{name} {value}: must be a whole number from {low} to {high}")

    return read


SEED_OPTION = click.option(
    "--seed",
    default="1",
    show_default=True,
    metavar="N",
    callback=whole_number(0, 2**64 - 1),
    help="Use this seed.",
)


@dataclass(frozen=True)
class JobSource:
    """What makes the jobs of a run: a job file, flags, or both.

    Attributes
    ----------
    text
        The job file's text; None without a file.
    name
        Where it came from.
    flags
        fio options as ``--name=value`` or ``--name``.
    """

    text: str | None
    name: str
    flags: tuple[str, ...]


class FioCommand(Verb):
    """A command that leaves the options it does not know to fio."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        keywords["context_settings"] = {"ignore_unknown_options": True}
        super().__init__(*arguments, **keywords)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, with fio's one-dash spelling made two dashes."""
        return super().parse_args(ctx, [_two_dashes(argument) for argument in args])

    def own_options(self) -> list[str]:
        """Name the options that are ours."""
        return [
            name
            for parameter in self.params
            if isinstance(parameter, click.Option)
            for name in parameter.opts
            if name.startswith("--")
        ]


def _two_dashes(argument: str) -> str:
    return "-" + argument if _ONE_DASH.fullmatch(argument) else argument


def _read_job_file(path: str) -> str:
    try:
        return jobs.read(path)
    except FileNotFoundError:
        if (shipped := jobs.text(path)) is not None:
            return shipped
        raise SsdlabError(
            f"no such job file: {path}\n"
            "give a fio job file, or options instead: --rw=randwrite --bs=4k\n"
            f"included jobs: {', '.join(jobs.names())}"
        ) from None


def _is_job_file(argument: str) -> bool:
    """Tell a job file from an option that lost its dashes (``direct=1``)."""
    return argument == "-" or not _LOOKS_LIKE_OPTION.match(argument) or Path(argument).is_file()


def read_job_source(arguments: Sequence[str]) -> JobSource:
    """Sort the arguments that are not ours into a job file and fio's flags.

    Parameters
    ----------
    arguments
        In the order in which they were given.

    Raises
    ------
    SsdlabError
        The job file is missing or unreadable, there is more than one, or there is no job at all.

    Examples
    --------
    >>> read_job_source(["--rw", "randread", "--direct=1"]).flags
    ('--rw=randread', '--direct=1')
    """
    files: list[str] = []
    flags: list[str] = []
    value_may_follow = False
    for argument in arguments:
        if argument.startswith("--"):
            flags.append(argument)
        elif value_may_follow and not Path(argument).is_file():
            flags[-1] += f"={argument}"
        elif _is_job_file(argument):
            files.append(argument)
        else:
            flags.append(argument)
        value_may_follow = argument.startswith("--") and "=" not in argument
    if len(files) > 1:
        raise SsdlabError(f"one job file at a time: {', '.join(files)}\nput the jobs into one file")
    if not files and not flags:
        raise SsdlabError("no job: give a fio job file, or options such as --rw=randwrite --bs=4k")
    text = _read_job_file(files[0]) if files else None
    return JobSource(text, files[0] if files else "command line", tuple(flags))


def with_own_suggestion(
    error: SsdlabError, flags: Sequence[str], own: Sequence[str]
) -> SsdlabError:
    """Add our own option that was likely meant, where fio knows none of that name."""
    for flag in flags:
        name = flag.split("=", 1)[0]
        near = difflib.get_close_matches(name, own, n=1, cutoff=0.8)
        if near and name.lstrip("-") in str(error):
            return SsdlabError(f"{error}\nssdlab's own option of that name is {near[0]}")
    return error
