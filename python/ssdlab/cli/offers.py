"""What a shell is offered for a value: by what the value is called in the help (its metavar).

The words lie in ``data/outline.json``, which `ssdlab.cli.outline` makes, and fio's options in
``data/fio_options.txt``, which a test of the engine writes from its own table. The engine is asked
only for the keys of a drive that is the user's own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

_DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data")
_ANY_DRIVE = "theory"
"""Whose parameters are offered where no drive is given yet: those of every SSD."""

Outline = dict[str, Any]
"""The command, a verb, one of its parameters: what help tells of it."""

SoFar = Mapping[str, Sequence[str]]
"""What the parameters of a verb were given, by their names."""


class Offer(NamedTuple):
    """A word that fits, or where the shell is to look for some.

    Attributes
    ----------
    word
        As it would stand in the line.
    kind
        ``plain``; ``file`` and ``dir`` leave it to the shell to find files and folders.
    help
        A sentence on it, or nothing.
    """

    word: str
    kind: str = "plain"
    help: str = ""

    def behind(self, name: str) -> Offer:
        """Return it with what was typed before it; the shell finds files without that."""
        return self._replace(word=f"{name}{self.word}") if self.kind == "plain" else self


@cache
def outline() -> Outline:
    """Return what `ssdlab.cli.outline` has made: ``verb``, the command itself, and ``words``."""
    with open(os.path.join(_DATA, "outline.json"), encoding="utf-8") as file:
        return dict(json.load(file))


def of_value(place: Outline, last: str, words: Sequence[str], given: SoFar) -> list[Offer]:
    """Offer what a parameter stands for; nothing for a number or a name of one's own.

    Parameters
    ----------
    place
        The parameter, in outline.
    last
        As much of its value as was typed.
    words, given
        The line before it, and what the verb's parameters were given there.
    """
    if choices := place.get("choices"):
        return _beginning(last, choices)
    metavar = place["metavar"].lower()
    first = re.split(r"[\[\],… ]+", metavar.strip("[…] "))[0]
    if "--fio-option" in metavar:
        return _fio_value_or_job(words, last)
    if metavar == "name[,name]":
        return _beginning(last, _words("scenarios"))
    if place.get("options") == ["--set"] and "=" not in last:
        return _settings(given, last)
    return _of_kind(first, last)


def _of_kind(kind: str, last: str) -> list[Offer]:
    if kind.startswith("kind:"):
        return _layers(last, _words("layers of align"))
    if kind == "kind":
        return _layers(last, _words("layers"))
    if kind == "test":
        return _listed(last, _words("tests"))
    if kind == "question":
        return _beginning(last, _words("questions"))
    if re.fullmatch(r"(folder\|)?drive(\|folder)?|base|target", kind):
        return _beginning(last, _words("drives")) or _files(last)
    if kind == "folder...":
        return [Offer(last, "dir")]
    if re.match(r"file|dir|folder|path|device|program|result|measurement|layout|a$|\w+\.\w+", kind):
        return _files(last)
    return []


def fio_options(last: str) -> list[Offer]:
    """Offer fio's options that begin so, with ``=`` where a value must follow."""
    return _beginning(last, (f"--{name}" for name in _fio())) if last else []


def _files(last: str) -> list[Offer]:
    return [Offer(last, "file")]


def _beginning(last: str, words: Iterable[str]) -> list[Offer]:
    return [Offer(word) for word in words if word.startswith(last)]


def _listed(last: str, words: Iterable[str]) -> list[Offer]:
    """Complete the last of a list with commas."""
    before, comma, part = last.rpartition(",")
    return [Offer(f"{before}{comma}{word}") for word in words if word.startswith(part)]


def _fio() -> dict[str, list[str]]:
    """Return fio's options, ending in ``=`` where they need a value, with the words they take."""
    with open(os.path.join(_DATA, "fio_options.txt"), encoding="utf-8") as file:
        rows = [line.strip().partition(" ") for line in file]
    return {name: words.split() for name, _, words in rows}


def _fio_value_or_job(words: Sequence[str], last: str) -> list[Offer]:
    """Offer words for an option of fio's that was just typed; else included jobs, or files."""
    if words and words[-1].startswith("-"):
        name = words[-1].lstrip("-")
        options = _fio()
        return _beginning(last, options.get(f"{name}=", options.get(name, []))) or _files(last)
    return _beginning(last, _words("jobs") if last else ()) or _files(last)


def _settings(given: SoFar, last: str) -> list[Offer]:
    """Offer the keys of the drive, and of the layers over it, that the command line names."""
    drives = [*given.get("drive", ()), *given.get("drives", ())]
    keys = _keys(drives[-1] if drives else _ANY_DRIVE, given.get("layers", ()))
    return _beginning(last, (f"{key}=" for key in keys))


def _keys(drive: str, layers: Sequence[str]) -> list[str]:
    if (alike := _words("drives").get(drive)) is None:
        return _keys_of_own(drive, layers)
    kinds = dict.fromkeys(layer.partition(":")[0] for layer in layers)
    over = [f"{kind}.{key}" for kind in kinds for key in _words("layers").get(kind, ())]
    return [*_words("keys")[alike], *over]


def _keys_of_own(drive: str, layers: Sequence[str]) -> list[str]:
    from ssdlab import engine
    from ssdlab.ground.errors import SsdlabError

    try:
        return [str(each["key"]) for each in engine.show(drive, (), layers)["parameters"]]
    except SsdlabError:
        # Half of a command line need not be right yet.
        return _keys(_ANY_DRIVE, layers)


def _layers(last: str, kinds: Mapping[str, Iterable[str]]) -> list[Offer]:
    """Offer kinds of layers, then the keys of the kind."""
    kind, colon, _ = last.partition(":")
    if not colon:
        return _beginning(last, kinds)
    *given, key = re.split("[:,]", last)
    before = last.removesuffix(key)
    used = {each.partition("=")[0] for each in given}
    keys = (each for each in kinds.get(kind, ()) if each.startswith(key) and each not in used)
    return [Offer(f"{before}{each}=") for each in keys]


def _words(kind: str) -> Any:
    return outline()["words"][kind]
