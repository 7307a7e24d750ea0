"""docs/explanation/design.md walks through functions that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_STEP = re.compile(r"^\| .+ \| `([\w/]+\.rs)` \| `(\w+)` \|$", re.MULTILINE)
STEPS = _STEP.findall((ROOT / "docs/explanation/design.md").read_text("utf-8"))


def test_both_walks_are_read() -> None:
    """The tables have the form that is looked for."""
    assert len(STEPS) > 20


@pytest.mark.parametrize(("file", "function"), STEPS)
def test_a_step_is_where_it_is_said_to_be(file: str, function: str) -> None:
    """The file has the function."""
    text = (ROOT / "crates" / file).read_text("utf-8")
    assert re.search(rf"\bfn {function}\b", text)
