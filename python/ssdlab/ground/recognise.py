"""What a file is, told by its content: for readers that were given one they do not read.

First come the signatures of binary formats, then names that JSON and XML have to have, then lines
that only one program prints (`data/kinds.toml`). Only the beginning is looked at. What fits nothing
is not guessed at: `what_it_is` then returns None.

Left out: what a file's name says, since names of pasted files say little.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

_LOOKED_AT_BYTES = 64 * 1024
_JSON_PART = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s*:)?|[{}\[\]]')
_SECTION = re.compile(r'\[[^\]\n{"]*[A-Za-z][^\]\n{"]*\]+\s*(?:[#;].*)?\n')
"""A line such as ``[global]``, which looks like the beginning of JSON."""


@dataclass(frozen=True)
class Kind:
    """What a file is.

    Attributes
    ----------
    name
        With its article: ``smartctl's JSON``, ``an image of a disk``.
    verb
        The command that takes it, with FILE in its place; else what to do; empty where nothing is
        to be said.
    """

    name: str
    verb: str = ""

    def told(self, file: str = "FILE") -> str:
        """Say what it is, and below that what to do with the file of that name."""
        if not self.verb:
            return f"it is {self.name}"
        does = "it is for: " if self.verb.startswith("ssdlab ") else ""
        # A name may hold what a substitution would take for its own.
        verb = re.sub(r"\bFILE\b", lambda _: file, self.verb)
        return f"it is {self.name}\n{does}{verb}"


@dataclass(frozen=True)
class _Rules:
    """What `data/kinds.toml` says: each sign with its kind, in order."""

    signs: tuple[tuple[int, bytes, Kind], ...]
    keys: tuple[tuple[frozenset[str], Kind], ...]
    elements: tuple[tuple[str, Kind], ...]
    lines: tuple[tuple[str, Kind], ...]


@cache
def _rules() -> _Rules:
    # Loaded where a file has to be told, which is seldom.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    table = files("ssdlab.data").joinpath("kinds.toml").read_text("utf-8")
    found = [
        (each, Kind(each["name"], each.get("verb", ""))) for each in tomllib.loads(table)["kind"]
    ]
    return _Rules(
        tuple((each.get("at", 0), _bytes(each["sign"]), k) for each, k in found if "sign" in each),
        tuple((frozenset(each["keys"]), k) for each, k in found if "keys" in each),
        tuple((each["element"], k) for each, k in found if "element" in each),
        tuple((each["line"], k) for each, k in found if "line" in each),
    )


def _bytes(sign: str) -> bytes:
    return sign.encode("ascii").decode("unicode_escape").encode("latin-1")


def what_it_is(content: bytes) -> Kind | None:
    """Return what a file is; None where that is not known.

    Parameters
    ----------
    content
        The file's bytes; the first 64 KiB are enough.

    Examples
    --------
    >>> what_it_is(b"smartctl 7.2 2020-12-30 r5155").name
    "smartctl's text"
    """
    head = content[:_LOOKED_AT_BYTES]
    found = next((kind for at, sign, kind in _rules().signs if head[at:].startswith(sign)), None)
    if found is not None:
        return found
    text = _text_of(head)
    if text is None:
        return _zeroes() if not head.strip(b"\0") else Kind("binary data, not text")
    if isinstance(text, Kind):
        return text
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped:
        return Kind("an empty file", "look whether the program that wrote it failed")
    return (
        _of_json(stripped)
        or _of_elements(stripped)
        or _of_lines(stripped)
        or _of_json_within(stripped)
    )


def _zeroes() -> Kind:
    """Tell what begins with nothing but zeroes: most likely a disk on which nothing is yet."""
    verb = next(k.verb for _, _, k in _rules().signs if k.name.startswith("an image of a disk"))
    return Kind("zeroes, such as an image of an empty disk", verb)


def what_the_file_is(path: str | Path) -> Kind | None:
    """Return what the file of that name is; None where it is not known or cannot be read."""
    try:
        place = Path(path)
        if place.is_dir():
            return _of_folder(place)
        if not place.is_file():
            return None
        with place.open("rb") as file:
            return what_it_is(file.read(_LOOKED_AT_BYTES))
    except (OSError, ValueError):
        return None


def _of_folder(place: Path) -> Kind | None:
    known = (
        ("study.toml", Kind("a folder of ssdlab sweep", f"ssdlab report {place} -o study.html")),
        ("plan.json", Kind("a folder of ssdlab pts", f"ssdlab report {place} -o pts.html")),
        ("commands.log", Kind("a log of ssdlab serve", f"ssdlab check {place}")),
        (
            "data.img",
            Kind("a drive of ssdlab serve", f"ssdlab run job.fio --drive {place} -o result.json"),
        ),
        ("proc", Kind("a captured tree of a machine", f"ssdlab audit --root {place}")),
    )
    return next((kind for name, kind in known if (place / name).exists()), Kind("a folder"))


def _text_of(head: bytes) -> str | Kind | None:
    """Return it as text, what it is where its encoding says that, None where it is no text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Kind(
            "text in UTF-16, as PowerShell's > writes",
            "write it again in UTF-8, in PowerShell with: … | Out-File -Encoding utf8 new.txt",
        )
    if b"\0" in head:
        return None
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A sign that the limit cut in two is no fault.
        cut = len(head) == _LOOKED_AT_BYTES and error.start > len(head) - 4
        return head[: error.start].decode("utf-8") if cut else None


def _of_json(text: str) -> Kind | None:
    if not text.startswith(("{", "[")) or re.match(_SECTION, text):
        return None
    names = _outer_names(text)
    if found := _of_keys(names):
        return found
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except RecursionError:
        return None
    except ValueError:
        return Kind("JSON that is cut short, or damaged") if names else None
    goes_on = text[end:].partition("\n")[0].strip()  # A line of a kernel's log is none.
    return None if goes_on else Kind("JSON of a program that is not known here")


def _of_json_within(text: str) -> Kind | None:
    """Look at JSON that text stands before, as fio's warnings do."""
    begin = re.search(r"^\{", text, re.MULTILINE)
    return _of_keys(_outer_names(text[begin.start() :])) if begin else None


def _outer_names(text: str) -> set[str]:
    """Return the names in the outermost object, whether it is whole or cut short."""
    names, depth = set(), 0
    for found in re.finditer(_JSON_PART, text):
        part, name = found[0], found[1]
        if name is not None:
            if depth == 1 and part.endswith(":"):
                names.add(name)
        else:
            depth += 1 if part in "[{" else -1
            if depth == 0:
                break
    return names


def _of_keys(names: set[str]) -> Kind | None:
    return next((kind for keys, kind in _rules().keys if keys <= names), None)


def _of_elements(text: str) -> Kind | None:
    if not text.startswith("<"):
        return None
    return next((k for each, k in _rules().elements if re.search(each, text, re.IGNORECASE)), None)


def _of_lines(text: str) -> Kind | None:
    # Patterns that pass over blank lines would begin anew at each of thousands.
    several = text.split("\n")
    before = ["x", *several]
    text = "\n".join(
        line for line, last in zip(several, before, strict=False) if line.strip() or last.strip()
    )
    return next((k for each, k in _rules().lines if re.search(each, text, re.MULTILINE)), None)
