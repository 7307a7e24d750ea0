"""What a file is, is told from its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreign import EXAMPLES, UNKNOWN
from ssdlab.ground.recognise import _rules, what_it_is, what_the_file_is

_RECORDED = Path(__file__).parent / "smart"


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_kind_is_told_by_its_example(name: str) -> None:
    """A file of each kind is called by its name, cut short or not."""
    for content in EXAMPLES[name]:
        found = what_it_is(content)
        assert found is not None, content[:80]
        assert found.name == name, content[:80]


def test_no_rule_is_without_an_example() -> None:
    """Each rule of the table is the one that tells some example: none is shadowed or forgotten."""
    rules = _rules()
    lists = (rules.signs, rules.keys, rules.elements, rules.lines)
    known = {each[-1].name for several in lists for each in several}
    assert known <= EXAMPLES.keys()


@pytest.mark.parametrize("content", UNKNOWN)
def test_what_is_not_known_is_not_guessed_at(content: bytes) -> None:
    """A letter, a number and a line of text are of no kind."""
    assert what_it_is(content) is None


def test_recorded_drives_are_told_with_the_verb_that_reads_them() -> None:
    """Every recorded drive report is smartctl's or nvme-cli's JSON, for `ssdlab health`."""
    for path in sorted(_RECORDED.glob("*.json")):
        found = what_the_file_is(path)
        assert found is not None, path
        assert found.name in ("smartctl's JSON", "nvme-cli's smart-log"), (path, found)
        assert "ssdlab health" in found.verb


def test_warnings_before_json_do_not_hide_it() -> None:
    """Lines that stand before an object leave it known."""
    content = b"note: both iodepth >= 1 and synchronous I/O engine are selected\n"
    found = what_it_is(content + EXAMPLES["fio's JSON"][0])
    assert found is not None
    assert found.name == "fio's JSON"


def test_a_sign_that_the_limit_cuts_is_no_fault() -> None:
    """Text is text although its 65,536th byte is the first of a sign of two."""
    content = b"#" * 65_535 + "µ".encode() * 10
    assert what_it_is(content) is None


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("study.toml", "report"),
        ("plan.json", "report"),
        ("data.img", "run"),
        ("commands.log", "check"),
    ],
)
def test_folders_are_told_by_what_is_in_them(name: str, verb: str, tmp_path: Path) -> None:
    """Folders of sweep, pts and served drives are named with the verb that is for them."""
    (tmp_path / name).write_text("")
    found = what_the_file_is(tmp_path)
    assert found is not None
    assert found.told().splitlines()[1].startswith(f"it is for: ssdlab {verb} ")


def test_thousands_of_blank_lines_are_passed_over_at_once() -> None:
    """A text of 64 KiB that is nearly all line ends takes no minute, and is still told."""
    for ends in (b"\n", b" \n"):
        found = what_it_is(b"[a]\nrw=read\n" + ends * 65_536)
        assert found is not None and found.name == "a job file of fio"
