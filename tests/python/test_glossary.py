"""docs/reference/glossary.md and the code use the same words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs/reference/glossary.md").read_text("utf-8")
SOURCES = ("crates/*/src/**/*.rs", "python/ssdlab/**/*.py", "profiles/*.toml")
"""Where a name of the glossary may stand."""

FOLDERS = ("ftl", "ssd", "nand", "sim")
"""Of the device crate: their parts have words of their own."""

OF_EARLIER_SECTIONS = {
    "blocks": "block",
    "frontier": "frontier",
    "job": "job",
    "pool": "pool",
    "slc": "SLC cache",
    "spare": "spare",
    "victim": "victim",
    "link": "link",
    "write_buffer": "write buffer",
    "flash": "flash",
    "dies": "die",
}
"""Parts that stand for a word of the field, which an earlier section explains."""

WITHOUT_A_WORD = {
    "saved": "the list of what a drive file keeps",
    "slots": "a numbered place, explained under slot",
    "transfer": "times of bytes on a bus",
}
"""Files that own a struct and need no word, and why."""


def rows(glossary: str) -> Iterator[tuple[str, bool]]:
    """Give the words that the glossary explains, and whether their row says of whose they are."""
    for row in re.findall(r"^\| (\*\*[^|]+)\|", glossary, re.M):
        is_whose = re.search(r"\*\* (\(|\[|in )", row) is not None
        for group in re.findall(r"\*\*([^*]+)\*\*", row):
            yield from ((word, is_whose) for word in group.split(", "))


def ambiguous(glossary: str) -> set[str]:
    """Return the words that more than one row explains without a word of whose they are."""
    plain = Counter(word for word, is_whose in rows(glossary) if not is_whose)
    return {word for word, count in plain.items() if count > 1}


def _parts() -> Iterator[str]:
    """Give the files that own a struct."""
    for folder in FOLDERS:
        for path in sorted((ROOT / "crates/device/src" / folder).glob("*.rs")):
            owns = re.search(r"^pub(\([a-z]+\))? struct ", path.read_text("utf-8"), re.M)
            if owns and path.stem != "mod":
                yield path.stem


def _names() -> Iterator[str]:
    """Give what the glossary quotes as code, where it looks like a name of the code."""
    for quoted in re.findall(r"`([^`\n]+)`", GLOSSARY):
        if re.fullmatch(r"[a-z]+(?:[._][a-z_]+)+", quoted):
            yield quoted.rpartition(".")[2]


def test_a_word_has_one_meaning() -> None:
    """A word is explained once; where fio, SNIA or results use it otherwise, their row says so."""
    assert not ambiguous(GLOSSARY)


def test_a_word_that_is_explained_twice_is_found() -> None:
    """A second row of a word counts, also as one of several, but not where it says of whose."""
    twice = "| **die** | a |\n| **pool, die** | b |\n"
    of_whom = "| **job** [fio] | c |\n| **job** (of a die) | d |\n"
    assert ambiguous(twice + of_whom) == {"die"}


@pytest.mark.parametrize("part", sorted(set(_parts())))
def test_every_part_has_a_word(part: str) -> None:
    """A file that owns a struct is named by the glossary, or stands for a word of the field."""
    if part in WITHOUT_A_WORD:
        return
    word = OF_EARLIER_SECTIONS.get(part)
    assert word in {each for each, _ in rows(GLOSSARY)} if word else f"`{part}`" in GLOSSARY


@pytest.mark.parametrize("name", sorted(set(_names())))
def test_every_name_is_in_the_code(name: str) -> None:
    """What is quoted as a key, a counter or a file is one."""
    files = [path for pattern in SOURCES for path in ROOT.glob(pattern)]
    assert any(path.stem == name for path in files) or any(
        re.search(rf"\b{name}\b", path.read_text("utf-8")) for path in files
    )


def test_lists_name_what_is_there() -> None:
    """A part that has gone leaves the lists of this test."""
    assert set(OF_EARLIER_SECTIONS) | set(WITHOUT_A_WORD) <= set(_parts())
