"""A word has one meaning: a class or an alias of a type is called by a name of its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ssdlab

PACKAGE = Path(ssdlab.__file__).parent


def names(text: str) -> Iterator[str]:
    """Give the public classes of a module, and its aliases of types."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def shared() -> dict[str, int]:
    """Return the names of types that more than one module of the package defines."""
    texts = (path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    counted = Counter(name for text in texts for name in names(text) if is_type(name))
    return {name: count for name, count in sorted(counted.items()) if count > 1}


def is_type(name: str) -> bool:
    """Tell whether a name is written as types are.

    Examples
    --------
    >>> [is_type(each) for each in ("Row", "_Row", "ROWS", "T")]
    [True, False, False, False]
    """
    return name[0].isupper() and not name.isupper()


def test_a_word_has_one_meaning() -> None:
    """No two modules call a class, or an alias, by the same name."""
    assert shared() == {}


def test_an_alias_counts() -> None:
    """As a class does; a constant does not."""
    text = "Outcome = Result | str\nROWS = rows[0]\nclass Row: pass\n"
    assert [each for each in names(text) if is_type(each)] == ["Outcome", "Row"]
