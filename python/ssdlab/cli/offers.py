"""What a shell is offered for a value: by what the value is called in the help (its metavar).

Each answer is loaded when it is asked for, since a shell asks at every TAB. fio's options lie in
``data/fio_options.txt``, which a test of the engine writes from its own table.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

_ANY_DRIVE = "theory"
"""Whose parameters are offered where no drive is given yet: those of every SSD."""


def by_metavar(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer what a parameter's metavar stands for; nothing for a number or a name of one's own."""
    metavar = parameter.metavar or parameter.name or ""
    first = re.split(r"[\[\],… ]+", metavar.strip("[…] ").lower())[0].partition("|")[0]
    if "--fio-option" in metavar.lower():
        return _fio_value_or_job(context, incomplete)
    if first == "key=value":
        return _settings(context, parameter, incomplete)
    if first.startswith("kind:"):
        from ssdlab.machine.align.reading import kinds

        return _layers(incomplete, kinds())
    if first == "kind":
        return _layers(incomplete, _kinds_of_stacks())
    if first == "test":
        return _listed(incomplete, _tests())
    if first == "question":
        return _beginning(incomplete, _questions())
    if re.match(r"file|dir|folder|path|device|program|result|layout|\w+\.\w+", first):
        return files(incomplete)
    return []


def fio_options(incomplete: str) -> list[CompletionItem]:
    """Offer fio's options that begin so, with ``=`` where a value must follow."""
    return _beginning(incomplete, (f"--{name}" for name in _fio()))


def drives(incomplete: str) -> list[CompletionItem]:
    """Offer the profiles that begin so, and files where none does."""
    from ssdlab import engine

    names = (str(profile["name"]) for profile in engine.profiles())
    return _beginning(incomplete, names) or files(incomplete)


def files(incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell to offer files."""
    return [CompletionItem(incomplete, type="file")]


def folders(incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell to offer folders."""
    return [CompletionItem(incomplete, type="dir")]


def _beginning(incomplete: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _listed(incomplete: str, words: Iterable[str]) -> list[CompletionItem]:
    """Complete the last of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last)]


def _fio() -> dict[str, list[str]]:
    """Return fio's options, ending in ``=`` where they need a value, with the words they take."""
    text = (resources.files("ssdlab") / "data" / "fio_options.txt").read_text("utf-8")
    rows = (line.partition(" ") for line in text.splitlines())
    return {name: words.split() for name, _, words in rows}


def _fio_value_or_job(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Offer words for an option of fio's that was just typed; else jobs that come along, or files.

    The words of the command line so far are in the context (`ssdlab.cli.shells`).
    """
    typed: Sequence[str] = context.obj or ()
    if typed and typed[-1].startswith("-"):
        name = typed[-1].lstrip("-")
        options = _fio()
        words = options.get(f"{name}=", options.get(name, []))
        return _beginning(incomplete, words) or files(incomplete)
    from ssdlab.experiment import jobs

    return _beginning(incomplete, jobs.names() if incomplete else ()) or files(incomplete)


def _settings(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the keys of the drive, and of the layers over it, that the command line names."""
    if parameter.opts[0] != "--set" or "=" in incomplete:
        return []
    keys = _keys(_given(context, "drive", "drives"), _given(context, "layers"))
    return _beginning(incomplete, (f"{key}=" for key in keys))


def _given(context: click.Context, *names: str) -> tuple[str, ...]:
    found: list[Any] = [context.params.get(name) for name in names]
    return tuple(
        str(word)
        for each in found
        if each
        for word in (each if isinstance(each, (tuple, list)) else (each,))
    )


def _keys(drives: Sequence[str], layers: Sequence[str]) -> list[str]:
    from ssdlab import engine
    from ssdlab.ground.errors import SsdlabError

    for drive, over in ((drives[-1] if drives else _ANY_DRIVE, layers), (_ANY_DRIVE, ())):
        try:
            return [str(each["key"]) for each in engine.show(drive, (), over)["parameters"]]
        except SsdlabError:
            # Half of a command line need not be right yet.
            continue
    return []


def _layers(incomplete: str, kinds: Mapping[str, Iterable[str]]) -> list[CompletionItem]:
    """Offer kinds of layers, then the keys of the kind."""
    kind, colon, _ = incomplete.partition(":")
    if not colon:
        return _beginning(incomplete, kinds)
    *given, last = re.split("[:,]", incomplete)
    before = incomplete.removesuffix(last)
    used = {each.partition("=")[0] for each in given}
    keys = (key for key in kinds.get(kind, ()) if key.startswith(last) and key not in used)
    return [CompletionItem(f"{before}{key}=") for key in keys]


def _kinds_of_stacks() -> dict[str, list[str]]:
    from ssdlab import engine

    return {
        str(kind["name"]): [str(each["key"]).partition(".")[2] for each in kind["parameters"]]
        for kind in engine.layers()
    }


def _tests() -> Iterable[str]:
    from ssdlab.bench import book

    return book.TESTS


def _questions() -> Iterable[str]:
    """Name the questions by their files, which is quicker than loading them."""
    folder = Path(__file__).parents[1] / "referee" / "reproduce" / "questions"
    return (each.name.replace("_", "-") for each in pkgutil.iter_modules([str(folder)]))
