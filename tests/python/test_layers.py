"""The package's modules name each other in one direction: no way leads back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ssdlab

PACKAGE = Path(ssdlab.__file__).parent


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imported(node: ast.AST) -> Iterator[str]:
    """Give what a module imports when it runs, in functions too; types are no arrows."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not _is_for_types(child):
            yield from _imported(child)


def arrows(package: Path) -> dict[str, set[str]]:
    """Return the modules of a package, each with those that it names."""
    texts = {
        _module(path, package.parent): path.read_text("utf-8") for path in package.rglob("*.py")
    }

    def home(name: str) -> str:
        return name if name in texts else name.rpartition(".")[0]

    return {
        module: {home(name) for name in _imported(ast.parse(text))} & texts.keys() - {module}
        for module, text in texts.items()
    }


def circle(package: Path) -> list[str]:
    """Return the first way that leads back to where it began; empty where there is none."""
    try:
        TopologicalSorter(arrows(package)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_there_is_no_circle() -> None:
    """No module leads back to itself by those that it names."""
    assert len(arrows(PACKAGE)) > 100
    assert circle(PACKAGE) == []


@pytest.mark.parametrize(
    ("back", "is_circle"),
    [
        ("from ssdlab.a import f", True),
        ("import ssdlab.a", True),
        ("def g():\n    from ssdlab import a", True),
        ("if TYPE_CHECKING:\n    from ssdlab.a import f", False),
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str, *, is_circle: bool) -> None:
    """In each spelling, and in a function; not where only types are named."""
    folder = tmp_path / "ssdlab"
    folder.mkdir()
    (folder / "a.py").write_text("from ssdlab.b import g\n")
    (folder / "b.py").write_text(back + "\n")
    assert bool(circle(folder)) is is_circle
