"""docs/reference/coverage.md, on a real kernel: each line names tests that are there and assert.

The tests boot guests, so they are read here and not run.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/coverage.md").read_text(encoding="utf-8")
HEADING = "## On a real kernel\n"
GUEST = ROOT / "tests/guest"
OF_DOCUMENTS = (
    "test_kernel_documents.py",
    "test_kernel_measurements.py",
    "test_aged_drives.py",
    "test_pages.py",
    "test_pts.py",
)
"""Files all of whose tests show something that the documents have."""
_TEST = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    system: str
    done: str
    counted: str
    said: str
    tests: str

    @property
    def named(self) -> list[tuple[str, str]]:
        """Files and functions."""
        return _TEST.findall(self.tests)


def lines(page: str) -> list[Line]:
    """Read the table."""
    rows = [row for row in page.partition(HEADING)[2].splitlines() if row.startswith("| ")]
    return [Line(*(cell.strip() for cell in row.strip("|").split("|"))) for row in rows[1:]]


LINES = lines(PAGE)


@cache
def asserting(file: str) -> set[str]:
    """Name the tests of a guest's file that assert something."""
    path = GUEST / file
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    return {
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        and each.name.startswith("test_")
        and any(isinstance(node, ast.Assert) for node in ast.walk(each))
    }


def wrong_with(line: Line) -> str:
    """Say what a line lacks; nothing where it is whole."""
    if not all((line.system, line.done, line.counted, line.said)):
        return "empty"
    if not line.named or _TEST.sub("", line.tests).strip(" ,"):
        return "names no test"
    missing = [f"{file}::{name}" for file, name in line.named if name not in asserting(file)]
    return f"no such test: {', '.join(missing)}" if missing else ""


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.system)
def test_a_line_names_tests_that_are_there(line: Line) -> None:
    """Each is a function of that name in that file, with an assertion in it."""
    assert wrong_with(line) == ""


def test_every_test_of_a_system_has_a_line() -> None:
    """And no system stands twice."""
    named = {each for line in LINES for each in line.named}
    there = {(file, name) for file in OF_DOCUMENTS for name in asserting(file)}
    assert there - named == set()
    systems = [line.system for line in LINES]
    assert sorted(systems) == sorted(set(systems))


@pytest.mark.parametrize(
    ("tests", "wrong"),
    [
        ("`test_kernel_documents.py::test_arrays`", ""),
        ("`test_kernel_documents.py::test_dreams`", "no such test"),
        ("`test_dreams.py::test_arrays`", "no such test"),
        ("`test_kernel_documents.py::test_arrays`, `test_pages.py::test_arrays`", "no such test"),
        ("`test_kernel_documents.py::raid`", "names no test"),
        ("`test_kernel_documents.py`", "names no test"),
        ("a test", "names no test"),
        ("", "names no test"),
    ],
)
def test_a_line_without_a_test_is_refused(tests: str, wrong: str) -> None:
    """A file or a test that there is not, what is no test, and nothing at all."""
    found = wrong_with(Line("RAID", "it is made", "bytes", "mdstat", tests))
    assert found.startswith(wrong) and bool(found) == bool(wrong)


@pytest.mark.parametrize("empty", range(4))
def test_a_line_with_an_empty_cell_is_refused(empty: int) -> None:
    """What a test does not ask, the line says."""
    line = Line("RAID", "it is made", "bytes", "mdstat", "`test_kernel_documents.py::test_arrays`")
    name = ("system", "done", "counted", "said")[empty]
    assert wrong_with(replace(line, **{name: ""})) == "empty"
