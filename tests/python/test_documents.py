"""Documents: links lead somewhere, the short ones stay short, and tables are whole."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TABLES = sorted(ROOT.glob("docs/explanation/validation/*.csv"))


def _anchors(document: Path) -> set[str]:
    """Return the names that a document's headings have as anchors."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def _broken(document: Path) -> list[str]:
    """Return the links of a document within the repository that lead nowhere."""
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", document.read_text("utf-8"))
    broken = []
    for path, anchor in links:
        leads_to = (document.parent / path).resolve() if path else document
        if not leads_to.exists() or anchor and anchor not in _anchors(leads_to):
            broken.append(f"{path}#{anchor}")
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Files exist, and have the headings that are linked."""
    assert _broken(document) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A file that is not there, and a heading that is not."""
    (tmp_path / "b.md").write_text("# By hand, once\n", encoding="utf-8")
    document = tmp_path / "a.md"
    document.write_text("[a](b.md#by-hand-once) [b](b.md#by-foot) [c](c.md)\n", encoding="utf-8")
    assert _broken(document) == ["b.md#by-foot", "c.md#"]


@pytest.mark.parametrize(
    ("name", "most"), [("README.md", 6_000), ("docs/explanation/validation.md", 15_000)]
)
def test_it_stays_short(name: str, most: int) -> None:
    """So many bytes at most."""
    assert (ROOT / name).stat().st_size <= most


@pytest.mark.parametrize("table", TABLES, ids=lambda each: each.stem)
def test_a_table_is_whole_and_linked(table: Path) -> None:
    """Each row has the columns of the heading, each of which has a name."""
    with table.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert rows
    assert "" not in heading
    assert [row for row in rows if len(row) != len(heading)] == []
    said = (ROOT / "docs/explanation/validation.md").read_text(encoding="utf-8")
    assert f"(validation/{table.name})" in said


@pytest.mark.parametrize("document", ["docs/explanation/design.md", "CONTRIBUTING.md"])
def test_files_that_are_named_are_there(document: str) -> None:
    """Each by the end of its path: where a file or its folder moves, its name here goes along."""
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|rs))`", text))
    assert named, document
    sources = [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("[a-z]*/**/*.py")]
    ends = {str(each) for each in sources}
    assert [each for each in named if not any(path.endswith(f"/{each}") for path in ends)] == []
