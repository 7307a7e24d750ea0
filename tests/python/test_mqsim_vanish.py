"""Nothing vanishes: what an import of MQSim's files does not understand is told, or refused."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from insertions import (
    FIELD,
    VALUE,
    attributes_inserted,
    elements_inserted,
    rows_inserted,
    units_changed,
    words_inserted,
)
from test_import import VALUES, configuration
from test_import_workload import SYNTHETIC, TRACE, define, synthetic, trace

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
REQUESTS = "0 0 8 8 1\n1000 0 16 8 0\n2000 1 64 16 1\n"
INSERTED = {
    "elements": (elements_inserted, FIELD),
    "words": (words_inserted, VALUE),
    "attributes": (attributes_inserted, FIELD),
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("some.trace").write_text(REQUESTS)


def workload() -> str:
    """Give a definition of two scenarios, with flows of both kinds."""
    define(synthetic() + trace(), synthetic(Read_Percentage="50"))
    return Path("w.xml").read_text(encoding="utf-8")


def told(command: Command, name: str, content: str) -> tuple[int, str]:
    """Import a file of this content; give the exit code, and what was told."""
    Path(name).write_text(content, encoding="utf-8")
    code, _, err = command("import", name, "-o", "made")
    return code, err


@pytest.mark.parametrize("kind", INSERTED)
@pytest.mark.parametrize("given", [workload, configuration], ids=["workload", "configuration"])
def test_foreign_parts_of_xml(command: Command, given: Callable[[], str], kind: str) -> None:
    """An unknown element, words or an attribute, at every place, is named or refused."""
    content = given()
    code, said = told(command, "a.xml", content)
    assert code == 0 and FIELD not in said
    insert, word = INSERTED[kind]
    places = list(insert(ElementTree.fromstring(content)))
    assert len(places) > 20
    for changed, where in places:
        code, said = told(command, "a.xml", changed)
        assert code == 2 or (code == 0 and word in said), (where, said)


PASSED_OVER = {
    *("Percentage_of_Hot_Region", "Variance_Request_Size", "Bandwidth"),
    *("Total_Requests_To_Generate", "Seed"),
}
"""What another distribution, generator or end has no use for, and the seed of MQSim's own run."""


@pytest.mark.parametrize(
    ("given", "names"),
    [(workload, {**SYNTHETIC, **TRACE}), (configuration, VALUES)],
    ids=["workload", "configuration"],
)
def test_units_of_values(command: Command, given: Callable[[], str], names: dict[str, str]) -> None:
    """A number with a unit, a sign or a letter in it is refused, or its element is named."""
    draw, content = random.Random(36), given()
    for name in names:
        value = re.search(f"<{name}>(.*?)</{name}>", content)
        assert value is not None
        for changed in units_changed(value[1], draw, 1):
            if re.fullmatch(r"[\d.]+e\d+", changed):
                continue  # It is a number.
            changed_xml = content[: value.start(1)] + changed + content[value.end(1) :]
            code, said = told(command, "a.xml", changed_xml)
            assert code == 2 or name in said or name in PASSED_OVER, (name, changed)


def test_rows_of_a_trace(command: Command) -> None:
    """A row that is none of MQSim's, anywhere in a trace, is refused with its line."""
    for content, row in rows_inserted(REQUESTS, ("frobnication 12", "0 0 8 8 2", "a b c d e", "7")):
        code, said = told(command, "a.trace", content)
        assert code == 2 and "a.trace, line " in said, row
