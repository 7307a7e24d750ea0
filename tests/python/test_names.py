"""A word has one meaning: a class or an alias of a type is called by a name of its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ssdlab

PACKAGE = Path(ssdlab.__file__).parent
SHARED: dict[str, int] = {
    "Answer": 3,
    "Array": 2,
    "Asked": 3,
    "Bench": 2,
    "Blocks": 2,
    "Candidate": 2,
    "Cell": 2,
    "Chain": 2,
    "Client": 2,
    "Comparison": 2,
    "Disk": 2,
    "Document": 4,
    "Draw": 2,
    "Drawn": 3,
    "Drive": 3,
    "Effort": 2,
    "Ensemble": 2,
    "Figure": 2,
    "Figures": 7,
    "Finding": 3,
    "Found": 3,
    "Identity": 2,
    "Interval": 2,
    "Job": 2,
    "Judged": 2,
    "Kept": 2,
    "Layout": 2,
    "Limits": 2,
    "Mark": 2,
    "Measurement": 3,
    "Metric": 2,
    "Named": 2,
    "Number": 2,
    "Pairs": 2,
    "Perform": 2,
    "Performance": 2,
    "Plan": 3,
    "Point": 2,
    "Prediction": 2,
    "Range": 2,
    "Reader": 2,
    "Row": 3,
    "Rows": 2,
    "Rule": 2,
    "Run": 3,
    "Severity": 2,
    "Show": 2,
    "Spread": 2,
    "Step": 3,
    "Store": 2,
    "Table": 2,
    "Task": 2,
    "Tell": 2,
    "Told": 5,
    "Value": 3,
    "Verdict": 3,
    "Wishes": 2,
    "Written": 2,
}
"""Names that several modules still use, and in how many places at most: the list only shrinks."""


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
    """No name has come to mean more than before."""
    found = shared()
    assert {name: count for name, count in found.items() if count > SHARED.get(name, 1)} == {}
    assert {name for name, count in SHARED.items() if found.get(name, 1) < count} == set()


def test_an_alias_counts() -> None:
    """As a class does; a constant does not."""
    text = "Outcome = Result | str\nROWS = rows[0]\nclass Row: pass\n"
    assert [each for each in names(text) if is_type(each)] == ["Outcome", "Row"]
