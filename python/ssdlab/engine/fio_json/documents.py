"""Where a JSON document stands in a text, and what stands around it.

fio prints warnings before its JSON, after it, and between its lines; with ``--status-interval`` it
prints a whole document each time. Text around a document is kept: lines of a form that fio has are
what it said, others are not understood. Two documents are not one: they are refused, with the
command that takes one out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.recognise import Kind, what_it_is
from ssdlab.ground.unread import Unread

_JSON_LINE = re.compile(
    r"""\s*(?:
        [\]}],? | [\[{]                                   # an end, a beginning
      | "(?:[^"\\]|\\.)*"\s*:\s*(?:[\[{]\s*[\]}]?,? | "(?:[^"\\]|\\.)*",? | [-\w.+]+,?)
      | "(?:[^"\\]|\\.)*",? | -?\d[-\w.+]*,?              # an entry of a list
    )\s*$""",
    re.VERBOSE,
)
_NO_NUMBER = re.compile(r"(:\s*)[-+]?(?:nan|inf)\b(\(\w*\))?")
"""What C prints for a figure that is none; JSON has no word for it."""
_SAID = re.compile(
    r"""fio:\s | fio-\d\S*$ | (?:note|warning|verify|hash):\s | client\s< | \.\.\.$
      | Starting\s\d+\s | Jobs:\s\d+
      | \S[^:]*:\s(?:Laying\sout\sIO\sfile | No\sI/O\sperformed | \(g=\d+\):\srw=)
      | .*(?::\s[Ee]rror | failed | No\ssuch\sfile | Permission\sdenied | terminating\son\ssignal)
    """,
    re.VERBOSE,
)
"""Lines that fio prints beside its JSON."""
REMEDY = "write results with: ssdlab run … --output-format json --output FILE"
_NEXT = re.compile(r"^\}[ \t]*\{", re.MULTILINE)
"""Between two documents where the first does not end its line."""
_SHOWN_SIGNS = 200
_GAP = 3
"""Lines apart within a block."""


@dataclass(frozen=True)
class FoundDocument:
    """A document, and what stood around it.

    Attributes
    ----------
    content
        The object.
    said
        Lines of fio's own, in order.
    unread
        Other lines.
    """

    content: Mapping[str, Any]
    said: tuple[str, ...]
    unread: tuple[Unread, ...]


def find_document(text: str, name: str) -> FoundDocument:
    """Find the one document in a text.

    Parameters
    ----------
    text
        What fio printed, or what stands in a file.
    name
        Of the file, for messages.

    Raises
    ------
    SsdlabError
        There is none, or more than one, or it is cut short.
    """
    lines = _NEXT.sub("}\n{", text.removeprefix("\ufeff")).split("\n")
    try:
        found = _first(lines)
    except RecursionError:
        raise SsdlabError(f"{name}: nested too deep to be fio's JSON") from None
    if found is None:
        raise SsdlabError(_none(text, lines, name))
    _refuse_another(lines, found, name)
    rest = [*enumerate(lines[: found.begin], 1), *enumerate(lines[found.end :], found.end + 1)]
    around = sorted([*found.within, *rest])
    is_said = [bool(_SAID.match(line.strip())) for _, line in around]
    said = [line.strip() for (_, line), own in zip(around, is_said, strict=True) if own]
    others = [
        each for each, own in zip(around, is_said, strict=True) if each[1].strip() and not own
    ]
    more, unread = _sorted_out(others)
    return FoundDocument(found.content, (*said, *more), tuple(unread))


@dataclass(frozen=True)
class _Place:
    """A document's content; its first line, from 0, that after its last; lines not of it."""

    content: Mapping[str, Any]
    begin: int
    end: int
    within: tuple[tuple[int, str], ...] = ()


def _first(lines: list[str], from_line: int = 0) -> _Place | None:
    """Return the first document: as it stands, else without lines that cannot belong to it."""
    beginnings = list(_beginnings(lines, from_line))
    for begin in beginnings:
        if found := _decoded(lines, begin):
            return found
    if from_line or not beginnings:
        return None
    begin = beginnings[0]
    body = list(enumerate(lines[begin:], begin + 1))
    others = [(at, line) for at, line in body if line.strip() and not _JSON_LINE.match(line)]
    mended = [_NO_NUMBER.sub(r"\1null", line) for line in lines]
    for at, _ in others:
        mended[at - 1] = ""
    if found := _decoded(mended, begin):
        inside = (each for each in others if each[0] <= found.end)
        return replace(found, within=(*inside, *found.within))
    return None


def _beginnings(lines: list[str], from_line: int) -> Iterator[int]:
    """Give lines that an object begins: none that is further right than the first of them."""
    most: int | None = None
    for number in range(from_line, len(lines)):
        line = lines[number].lstrip()
        indent = len(lines[number]) - len(line)
        if line.startswith("{") and (most is None or indent <= most):
            most = indent
            yield number


def _decoded(lines: list[str], begin: int) -> _Place | None:
    """Decode an object; what follows it in its last line is not of it."""
    pieces = _until_its_end(lines, begin)
    body = "\n".join(pieces)
    at = len(body) - len(body.lstrip())
    try:
        content, end = json.JSONDecoder().raw_decode(body, at)
    except ValueError:
        return None
    last = begin + body.count("\n", 0, end) + 1
    rest = body[end:].partition("\n")[0]
    return _Place(content, begin, last, ((last, rest),) if rest.strip() else ())


def _until_its_end(lines: list[str], begin: int) -> list[str]:
    """Return the lines up to the bracket below the first, where fio puts it; else all."""
    indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
    if lines[begin].strip() == "{":
        for number in range(begin + 1, len(lines)):
            if lines[number].rstrip() in (indent + "}", indent + "},"):
                return lines[begin : number + 1]
    return lines[begin:]


def _refuse_another(lines: list[str], first: _Place, name: str) -> None:
    """Refuse a second document after the first."""
    places, end = [first.begin + 1], first.end
    while (found := _first(lines, end)) is not None:
        places.append(found.begin + 1)
        end = found.end
    if len(places) == 1:
        return
    where = ", ".join(map(str, places[:5])) + (", …" if len(places) > 5 else "")
    raise SsdlabError(
        f"{name}: {len(places)} results stand in it one after another, from lines {where}\n"
        "with --status-interval the last is of the whole run, and runs that were appended are "
        f"separate results: take one out with tail -n +{places[-1]} {name} > last.json"
    )


def _none(text: str, lines: list[str], name: str) -> str:
    """Say why there is no document."""
    kind = what_it_is(text.encode(errors="replace"))
    begin = next(_beginnings(lines, 0), None)
    if begin is not None and (kind is None or "JSON" in kind.name):
        try:
            json.JSONDecoder().raw_decode("\n".join(lines[begin:]).lstrip())
        except json.JSONDecodeError as error:
            at = f"line {begin + error.lineno}: {error.msg}"
            return f"{name}: cut short, or not JSON ({at})\n{REMEDY}"
        except ValueError:
            return f"{name}: a number in it has too many digits\n{REMEDY}"
    if kind is not None:
        return foreign(kind, name)
    words = " ".join(text.split())[:_SHOWN_SIGNS]
    return f"{name}: not JSON, and no result of fio or ssdlab: “{words}”\n{REMEDY}"


def foreign(kind: Kind | None, name: str) -> str:
    """Say that a file holds no result, what it is, and what to do."""
    what = f": {kind.told(name)}" if kind else ""
    return f"{name}: no result of fio or ssdlab{what}\n{REMEDY}"


def _blocks(others: list[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Put lines that follow each other together, but for empty ones: place, and lines."""
    block: list[tuple[int, str]] = []
    for at, line in [*others, (-1, "")]:
        if block and not 0 < at - block[-1][0] <= _GAP:
            first, last = block[0][0], block[-1][0]
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            yield where, "\n".join(each for _, each in block)
            block = []
        block.append((at, line))


def _sorted_out(others: list[tuple[int, str]]) -> tuple[list[str], list[Unread]]:
    """Tell fio's text output, as with --output-format=normal,json, from what is not fio's."""
    said, unread = [], []
    for where, quoted in _blocks(others):
        kind = what_it_is(quoted.encode(errors="replace"))
        if kind is not None and kind.name == "fio's text":
            said.append(f"(its text output stands in {where})")
        else:
            why = "it stands beside fio's JSON, and is no message of fio's"
            unread.append(Unread(where, quoted, why))
    return said, unread
