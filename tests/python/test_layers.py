"""The package's modules name each other in one direction: no way leads back, and no wing up.

An arrow is an import, in a function and for types alone, too. Between wings the name of a module in
a string counts as well: it may be imported by it, and what lies beside a module is read by it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ssdlab

PACKAGE = Path(ssdlab.__file__).parent
_LOW = frozenset({"ground", "data"})
_RUNS = _LOW | {"engine", "experiment", "report"}
NAMES = {
    "data": frozenset[str](),
    "ground": frozenset({"data"}),
    "real": _LOW,
    "engine": _LOW,
    "experiment": _LOW | {"engine"},
    "report": _LOW | {"engine", "experiment"},
    "study": _RUNS,
    "bench": _RUNS | {"real"},
    "machine": _RUNS | {"real"},
    "live": _RUNS,
    "referee": _RUNS | {"real", "study", "bench", "machine"},
    "cli": _RUNS | {"real", "study", "bench", "machine", "live", "referee"},
}
"""The wings, and what each may name (docs/explanation/design.md)."""
EXCEPTIONS = {
    ("ssdlab.study.fitting.read_pts", f"ssdlab.bench.report.{name}"): "a fit reads what pts wrote"
    for name in ("reading", "sources")
}
"""Arrows between wings that stand beside each other, and why."""


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _imported(text: str) -> Iterator[str]:
    """Give what a module imports at any time."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _in_strings(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # The package's own name is that of the command.
            yield node.value if "." in node.value else ""


def _texts(package: Path) -> dict[str, str]:
    return {
        _module(path, package.parent): path.read_text("utf-8") for path in package.rglob("*.py")
    }


@cache
def arrows(package: Path, *, with_strings: bool = False) -> dict[str, set[str]]:
    """Return the modules of a package, each with those that it names."""
    texts = _texts(package)

    def home(name: str) -> str:
        return name if name in texts else name.rpartition(".")[0]

    def named(text: str) -> set[str]:
        found = {home(name) for name in _imported(text)}
        return found | set(_in_strings(text)) if with_strings else found

    return {module: named(text) & texts.keys() - {module} for module, text in texts.items()}


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
        ("if TYPE_CHECKING:\n    from ssdlab.a import f", True),
        ("import ssdlab.c", False),
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str, *, is_circle: bool) -> None:
    """In each spelling, in a function, and where only types are named."""
    folder = tmp_path / "ssdlab"
    folder.mkdir()
    (folder / "a.py").write_text("from ssdlab.b import g\n")
    (folder / "b.py").write_text(back + "\n")
    assert bool(circle(folder)) is is_circle


def _wing(module: str) -> str:
    """Return a module's wing; the face, which is what users and machines begin with, has none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in NAMES else "face"


def wrong_arrows(package: Path) -> list[str]:
    """Return arrows between wings that lead up or beside, but the listed ones."""
    named = arrows(package, with_strings=True)
    pairs = ((module, other) for module, others in named.items() for other in others)
    return sorted(
        f"{module} -> {other}"
        for module, other in pairs
        if _wing(module) not in {_wing(other), "face"}
        and _wing(other) not in NAMES[_wing(module)]
        and (module, other) not in EXCEPTIONS
    )


def test_wings_name_what_lies_below() -> None:
    """Each wing names those that it may name, and no other; every exception is needed."""
    assert wrong_arrows(PACKAGE) == []
    named = arrows(PACKAGE, with_strings=True)
    assert {pair for pair in EXCEPTIONS if pair[1] not in named[pair[0]]} == set()
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders == NAMES.keys()


@pytest.mark.parametrize(
    ("wing", "line", "is_wrong"),
    [
        ("ground", "from ssdlab.engine import run", True),
        ("study", "if TYPE_CHECKING:\n    from ssdlab.referee import f", True),
        ("bench", "importlib.import_module('ssdlab.machine')", True),
        ("live", "from ssdlab import drive", True),
        ("referee", "from ssdlab.bench import f", False),
        ("cli", "import ssdlab.referee", False),
    ],
)
def test_an_arrow_up_is_found(tmp_path: Path, wing: str, line: str, *, is_wrong: bool) -> None:
    """Up, beside, for types, by a string, to the face; not down."""
    folder = tmp_path / "ssdlab"
    for each in NAMES:
        (folder / each).mkdir(parents=True)
        (folder / each / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / wing / "module.py").write_text(line + "\n")
    assert bool(wrong_arrows(folder)) is is_wrong


def test_a_request_takes_few_folders() -> None:
    """From the command to the engine: at most five folders, none twice."""
    script = Path(__file__).parents[2] / "scripts/walk.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    folders = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert folders[0] == "cli" and folders[-1] == "engine", done.stderr
    assert len(folders) == len(set(folders)) <= 5
