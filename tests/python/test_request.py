"""A request: one type in Python and in the engine, whose options the command line gives."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab import engine
from ssdlab.engine.request import OWN, RunRequest
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

FIELDS = {field.name for field in fields(RunRequest)}
REQUEST = RunRequest("theory", (("capacity_bytes", "1GiB"),), flags=("--rw=read", "--size=1m"))


def _refused(**changes: Any) -> str:
    """Return what the engine says of a request, some of whose fields were replaced."""
    compiled = importlib.import_module("ssdlab._engine")
    with pytest.raises(compiled.EngineError) as refused:
        compiled.run(json.dumps({**json.loads(REQUEST.to_json()), **changes}), None, PendingFile)
    return str(refused.value)


def test_both_languages_have_the_same_fields() -> None:
    """What the engine takes is what Python tells it, and `OWN` stays here."""
    told = _refused(no_such_option=1)
    assert told.startswith("no_such_option 1: unknown field")
    taken = set(re.findall(r"`(\w+)`", told)) - {"no_such_option"}
    assert taken == json.loads(REQUEST.to_json()).keys() == FIELDS - set(OWN)


def _given(path: Path) -> Iterator[str]:
    """Give the fields that a file fills in."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "RunRequest",
            "dataclasses.replace",
        ):
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def test_the_command_line_gives_every_field() -> None:
    """Each field is an option or an argument of `run` or of `season`."""
    folder = Path(ssdlab.__file__).parent / "cli"
    assert {*_given(folder / "run.py"), *_given(folder / "season.py")} == FIELDS


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("span", "half", 'span "half": invalid type: string "half", expected f64'),
        ("seed", 1.5, "seed 1.5: invalid type: floating point `1.5`, expected u64"),
        (
            "condition",
            "stedy",
            'condition "stedy": unknown variant `stedy`, expected one of `fresh`',
        ),
        ("start_over", "format", 'start_over "format": expected one of "secure-erase"'),
        ("layout", None, "layout null: invalid type: null, expected a boolean"),
        ("timeline", [1], "timeline [1]: invalid length 1"),
    ],
)
def test_a_wrong_value_is_named(field: str, value: object, said: str) -> None:
    """Field, value, and what is expected."""
    assert _refused(**{field: value}).startswith(said)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("span", float("nan"), "span nan: must be a text, a finite number"),
        ("seed", -1, "seed -1: must be a whole number from 0"),
        ("timeline", (0, 1 << 64), f"timeline {1 << 64}: must be a whole number from 0"),
        ("save", Path("a.ssd"), "save a.ssd: must be a text"),
        ("drive", "\udcff.ssd", "not UTF-8"),
    ],
)
def test_what_json_does_not_hold_is_named(field: str, value: object, said: str) -> None:
    """It is refused before the engine is asked."""
    wrong: dict[str, Any] = {field: value}
    with pytest.raises(SsdlabError) as refused:
        engine.run(replace(REQUEST, **wrong))
    assert said in str(refused.value)


def test_a_run_starts_over_as_a_season_does(tmp_path: Path) -> None:
    """An option of the request holds for every call that takes one."""
    file = str(tmp_path / "used.ssd")
    engine.precondition(replace(REQUEST, condition="used"), file)
    asked = RunRequest(file, start_over="secure-erase", flags=REQUEST.flags)
    lab = json.loads(engine.run(asked))["jobs"][0]["ssdlab"]
    answer = engine.season(replace(asked, save=str(tmp_path / "erased.ssd")))
    assert lab["condition"] == answer["condition"] == "fresh"
    assert lab["started_over"] == answer["started_over"] == "secure-erase"


def test_a_drive_that_is_kept_needs_a_place() -> None:
    """A request without `save` keeps nothing."""
    with pytest.raises(SsdlabError, match="save null: name the file"):
        engine.season(replace(REQUEST, condition="filled"))
