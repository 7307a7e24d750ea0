"""Foreign rows, fields, elements and units, at every place of an input that is understood."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any
from xml.etree import ElementTree

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.unread import Unread

Path_ = tuple[str | int, ...]
FIELD, VALUE = "drive_is_dying", "soon-7"
"""A field that nobody knows, and what it says."""


def rows_inserted(text: str, rows: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the text with each of the rows at each place, and the row."""
    lines = text.splitlines()
    for row in rows:
        for place in range(len(lines) + 1):
            yield "\n".join([*lines[:place], row, *lines[place:]]) + "\n", row


def objects(content: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Give the place of every object; of a list's entries the first and the last."""
    if isinstance(content, dict):
        yield path
        for key, value in content.items():
            yield from objects(value, (*path, key))
    elif isinstance(content, list):
        for place in sorted({0, len(content) - 1} & set(range(len(content)))):
            yield from objects(content[place], (*path, place))


def at(content: Any, path: Path_) -> Any:
    """Return what stands there."""
    for key in path:
        content = content[key]
    return content


def fields_inserted(content: Any) -> Iterator[tuple[Any, Path_]]:
    """Give the document with a field that nobody knows in each of its objects, and where."""
    for path in objects(content):
        changed = deepcopy(content)
        at(changed, path)[FIELD] = VALUE
        yield changed, path


def elements_inserted(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Give the XML with an element that nobody knows at each place in each element, and where."""
    for parent, place in _places(root):
        parent.insert(place, _unknown())
        yield ElementTree.tostring(root, encoding="unicode"), f"{place} in <{parent.tag}>"
        del parent[place]


def words_inserted(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Give the XML with words before, between and behind the elements of each, and where."""
    for parent, place in _places(root):
        if len(parent):
            mark = ElementTree.Comment("here")
            mark.tail = VALUE
            parent.insert(place, mark)
            yield ElementTree.tostring(root, encoding="unicode"), f"{place} in <{parent.tag}>"
            del parent[place]


def attributes_inserted(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Give the XML with an attribute that nobody knows at each element, and where."""
    for each in root.iter():
        each.set(FIELD, VALUE)
        yield ElementTree.tostring(root, encoding="unicode"), each.tag
        del each.attrib[FIELD]


def _places(root: ElementTree.Element) -> list[tuple[ElementTree.Element, int]]:
    return [(parent, place) for parent in root.iter() for place in range(len(parent) + 1)]


def _unknown() -> ElementTree.Element:
    element = ElementTree.Element(FIELD)
    element.text = VALUE
    return element


def units_changed(text: str, draw: random.Random, count: int) -> Iterator[str]:
    """Give the text with a unit, a sign or a letter at so many drawn digits."""
    digits = [place for place, sign in enumerate(text) if sign.isdigit()]
    for place in draw.sample(digits, min(count, len(digits))):
        yield text[: place + 1] + draw.choice(("k", " IOPS", "?", "e", "µs")) + text[place + 1 :]


def is_told(read: Callable[[], object], *words: str) -> str:
    """Say what is wrong with the answer to an input that has a foreign part; nothing if none.

    The reader refuses it, or gives it as not understood; each in these words.
    """
    try:
        found = read()
    except SsdlabError as error:
        said, how = str(error), "refused"
        if "\n" not in said:
            return f"no remedy: {said}"
    else:
        several = found if isinstance(found, list) else []
        said = "\n".join(each.told() for each in several if isinstance(each, Unread))
        how = "read"
    missing = [word for word in words if word not in said]
    return f"{how} without {missing}: {said}" if missing else ""
