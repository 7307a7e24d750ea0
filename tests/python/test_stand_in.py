"""The stand-in for the engine answers to the engine's own signatures."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import ssdlab
from stand_in import StandIn

STUB = Path(ssdlab.__file__).with_name("_engine.pyi")


def signatures() -> dict[str, list[str]]:
    """Parameter names of every function in the engine's stub."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: [each.arg for each in node.args.args] for node in functions}


@pytest.mark.parametrize("name", ["version", "run", "render", "scenario", "theory"])
def test_signature(name: str) -> None:
    """A test against the stand-in calls the engine as it would be called."""
    found = list(inspect.signature(getattr(StandIn(), name)).parameters)
    assert found == signatures()[name]
